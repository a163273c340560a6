//! `report.html` in a real browser: the page of a run of the real binary is loaded, its script works, and nothing leaves.
//!
//! Without a Chromium on the machine these say so and look at the file alone.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::bench::Bench;
use fleetload::sandbox::Scenario;

/// The names that Chromium goes by.
const BROWSERS: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/// A day on which some devices and people are refused, so that pages have something to show.
const REFUSALS: &str = r#"
[[fault]]
operation = "addDevice"
kind = "invalid_state"
times = 4

[[fault]]
operation = "addDevice"
kind = "general_error"
times = 3

[[fault]]
operation = "addDevice"
kind = "id_missing"
times = 1
"#;

/// The browser of this machine.
fn browser() -> Option<PathBuf> {
    let paths = std::env::var_os("PATH")?;
    let found = std::env::split_paths(&paths)
        .flat_map(|folder| BROWSERS.map(|name| folder.join(name)))
        .find(|path| path.is_file());
    if found.is_none() {
        #[expect(clippy::print_stderr, reason = "a test that was not done says so")]
        {
            eprintln!("skipped: none of {BROWSERS:?} is installed, so no page was loaded");
        }
    }
    found
}

/// What a page came to in the browser.
struct Loaded {
    /// The document after its script.
    dom: String,
    /// What was said on the console.
    console: Vec<String>,
}

/// Loads a page with what follows `#` in its address.
fn load(browser: &Path, page: &Path, fragment: &str) -> Loaded {
    let profile = tempfile::tempdir().expect("a folder");
    let output = Command::new(browser)
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--enable-logging=stderr",
            "--dump-dom",
        ])
        .arg(format!("--user-data-dir={}", profile.path().display()))
        .arg(format!("file://{}{fragment}", page.display()))
        .stdin(Stdio::null())
        .output()
        .expect("the browser starts");
    let said = String::from_utf8_lossy(&output.stderr);
    Loaded {
        dom: String::from_utf8(output.stdout).expect("UTF-8"),
        console: said.lines().filter(|line| line.contains("CONSOLE")).map(str::to_owned).collect(),
    }
}

/// The sample workbook, run on a day with refusals: the folder of its reports.
fn reported() -> (Bench, PathBuf) {
    let bench = Bench::new(Scenario::default());
    bench.write("refusals.toml", REFUSALS);
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("samples/onboarding.xlsx");
    let sample = sample.to_str().expect("a UTF-8 path");
    let outcome = bench.fleetload(&["run", sample, "--sandbox", "--scenario", "refusals.toml"]);
    assert_eq!(outcome.code, 4, "{}{}", outcome.stdout, outcome.stderr);
    let folder = bench.path("reports/1");
    (bench, folder)
}

/// The rows of the searchable table: their opening tags, each with that of its group.
fn rows(dom: &str) -> Vec<String> {
    let (_, table) = dom.split_once("id=\"rows\"").expect("the table");
    let (table, _) = table.split_once("</table>").expect("its end");
    let opening = |text: &str| text.split('>').next().unwrap_or_default().to_owned();
    table
        .split("<tbody")
        .skip(1)
        .flat_map(|group| {
            let rows: Vec<String> =
                group.split("<tr").skip(1).map(opening).filter(|tag| !tag.contains("class=")).collect();
            rows.into_iter().map(move |row| format!("{}|{row}", opening(group)))
        })
        .collect()
}

fn is_hidden(tag: &str) -> bool {
    tag.contains(" hidden")
}

#[test]
fn the_page_is_searched_by_its_address_and_says_nothing_on_the_console() {
    let (_bench, folder) = reported();
    let page = folder.join("report.html");
    let text = std::fs::read_to_string(&page).expect("the page");
    let all = rows(&text);
    assert!(all.len() >= 7 && !all.iter().any(|tag| is_hidden(tag)), "without the script every row is there");
    let Some(browser) = browser() else { return };

    let loaded = load(&browser, &page, "");
    assert_eq!(loaded.console, Vec::<String>::new());
    assert_eq!(rows(&loaded.dom).iter().filter(|tag| is_hidden(tag)).count(), 0);
    assert!(loaded.dom.contains(&format!("{} rows</p>", all.len())), "the script counted them");
    assert!(text.contains("role=\"search\" hidden>"), "without the script there is nothing to type in");
    assert!(!loaded.dom.contains("role=\"search\" hidden"), "with it there is");

    let wanted = |tag: &&String| tag.contains("data-code=\"invalidState\"");
    let of_code = all.iter().filter(wanted).count();
    assert!((1..all.len()).contains(&of_code), "{all:?}");
    for fragment in ["#q=invalidState", "#code=invalidState", "#q=INVALIDstate&status=rejected"] {
        let loaded = load(&browser, &page, fragment);
        assert_eq!(loaded.console, Vec::<String>::new(), "{fragment}");
        let shown: Vec<String> = rows(&loaded.dom).into_iter().filter(|tag| !is_hidden(tag)).collect();
        assert_eq!(shown.len(), of_code, "{fragment}: {shown:?}");
        assert!(shown.iter().all(|tag| tag.contains("data-code=\"invalidState\"")), "{fragment}: {shown:?}");
    }
    let nothing = load(&browser, &page, "#q=%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E");
    assert_eq!(nothing.console, Vec::<String>::new());
    assert!(rows(&nothing.dom).iter().all(|tag| is_hidden(tag)), "no row holds that");
    assert!(!nothing.dom.contains("<img"), "what is searched for is text");
}

#[test]
fn the_page_names_nothing_to_load_and_its_policy_forbids_it() {
    let (_bench, folder) = reported();
    let text = std::fs::read_to_string(folder.join("report.html")).expect("the page");
    assert!(text.contains("content=\"default-src &#39;none&#39;; "), "{}", &text[..400]);
    for name in [
        " src=", " srcset=", "<link", "<iframe", "<object", "<embed", "<base", " style=", " on", "@import",
        "url(",
    ] {
        let tags = text.split('<').skip(1).filter_map(|tag| tag.split('>').next());
        let mut tags = tags.filter(|tag| !tag.starts_with(['s', '/']) || tag.starts_with("span"));
        assert_eq!(
            tags.find(|tag| format!("<{tag}").contains(name) && !tag.starts_with("title")),
            None,
            "{name}"
        );
    }
    for (at, _) in text.match_indices("href=\"") {
        assert!(text[at..].starts_with("href=\"#"), "{}", &text[at..at + 60]);
    }
    assert!(!text.contains("http://") && !text.contains("https://"));
}

#[test]
fn a_planted_error_and_a_planted_request_are_seen() {
    let Some(browser) = browser() else { return };
    let (_bench, folder) = reported();
    let text = std::fs::read_to_string(folder.join("report.html")).expect("the page");
    let control = folder.join("control.html");
    let plant = |what: &str| {
        std::fs::write(&control, text.replace("<main", &format!("{what}<main"))).expect("a file")
    };

    plant("<img src=\"http://127.0.0.1:9/a.png\">");
    let loaded = load(&browser, &control, "");
    assert!(
        loaded.console.iter().any(|line| line.contains("Content Security Policy")),
        "{:?}",
        loaded.console
    );
    plant("<script>document.title = 'mine'</script><p onclick=\"1\" style=\"color:red\">");
    let loaded = load(&browser, &control, "");
    assert!(loaded.console.len() >= 2 && !loaded.dom.contains("<title>mine"), "{:?}", loaded.console);

    // An error in a script that is allowed to run.
    let (before, rest) = text.split_once("<meta http-equiv").expect("the policy");
    let (_, after) = rest.split_once('>').expect("its end");
    std::fs::write(&control, format!("{before}{after}<script>nobody.knows()</script>")).expect("a file");
    let loaded = load(&browser, &control, "");
    assert!(loaded.console.iter().any(|line| line.contains("nobody")), "{:?}", loaded.console);
}
