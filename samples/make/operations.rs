//! `docs/operations.md`: every operation of the service, from the tables of the program.

use std::fmt::Write as _;

use fleetload::export::Subject;
use fleetload::model::descriptor::ActionDescriptor;
use fleetload::model::kind::Kind;
use fleetload::model::operation::input::{Body, Field};
use fleetload::model::operation::{Operation, Parameter, Quota};
use fleetload::plan::ability::{self, Use};

const OPENING: &str = "\
# Operations

All 81 operations of the service. `fleetload call OPERATION` sends each of them; the last column of a table says which
sheets and other commands use it. Besides, `doctor` tries every operation that only reads. This page is made from the
program's own tables by `cargo run --example samples -- docs`.

    fleetload call --list                   where each is, and whether your profile can reach it
    fleetload call addCompany --help        its parameters, its fields, an example
    fleetload call findCompaniesByName -p companyName=Acme
    fleetload call addCompany --body company.json

Parameters and body are checked against these tables before anything is sent: unknown, missing and wrong values are
reported all at once. The body of the answer is printed as JSON on standard output, everything else on standard error;
`--json` prints one object with `operation`, `verdict`, `code`, `message`, `violations`, `status` and `body`, `--raw` the
answer as it came (only an access token in it is removed).

An operation that changes something asks first; `--yes` skips the question, and without a terminal it is needed. The call
is written to the journal (`--journal`) before it leaves: operation, parameters, a digest of the body, who and when, and
afterwards what came back. It is never sent a second time. If the answer is lost, the exit code is 8, and `status` shows
the call for seven days, or until `fleetload resolve --call N --seen` says that it was reviewed. Operations that only read need no journal. All of them work while a run is in progress, except
creations: they wait until no run uses the account (exit code 6), because the run counts the quota of the day.

| exit code | when |
|---|---|
| 0 | the service answered OK |
| 2 | the call is wrong, was not confirmed, or the path of the operation is unknown; nothing was sent |
| 4 | the service rejected it |
| 5 | the day's quota of creations is spent |
| 6 | the journal cannot be used, or a run uses the account (creations only) |
| 7 | the service cannot be reached, refuses fleetload, or gives no usable answer to an operation that reads |
| 8 | it is unknown whether a change was carried out |

A path is *documented* by the specification, or only its *ending* is, or it is *assumed* from the naming of the others.
Paths that are not documented need `paths = \"assumed\"` or a mapping in [the profile](profile.md#where-operations-are).
";

const SECTIONS: [(&str, &str); 11] = [
    ("4.1", "Authentication"),
    ("4.2", "Companies"),
    ("4.3", "Labels"),
    ("4.4", "Licence"),
    ("4.5", "Devices"),
    ("4.6", "Metadata"),
    ("4.7", "People"),
    ("4.8", "Sites"),
    ("4.9", "VPN clouds"),
    ("4.10", "Diagnostics and status"),
    ("4.11", "Untitled response shapes"),
];

/// What no descriptor says.
const OTHERS: [(Operation, &str); 7] = [
    (Operation::Auth, "every command that uses the service"),
    (Operation::ListTimeZones, "run"),
    (Operation::FindCompaniesByName, "run, resolve, find"),
    (Operation::ListPeople, "run, resolve, find"),
    (Operation::ListCompanies, "find, export"),
    (Operation::ListSites, "find, export"),
    (Operation::ListDevices, "find, export"),
];

/// The page.
pub(crate) fn page() -> String {
    let mut page = OPENING.to_owned();
    for (section, title) in SECTIONS {
        push(&mut page, format_args!("\n## {title} ({section})\n\n"));
        push(
            &mut page,
            format_args!(
                "| operation | needed for | method and path | known from | parameters | body | used by |\n"
            ),
        );
        push(&mut page, format_args!("|---|---|---|---|---|---|---|\n"));
        for &operation in Operation::ALL.iter().filter(|operation| operation.section() == section) {
            line(&mut page, operation);
        }
    }
    page.push_str("\n## Bodies\n\n\"Not stated\" means that the specification does not say whether a field is required.\n");
    for &operation in Operation::ALL {
        if let Some(body) = operation.body() {
            fields(&mut page, operation, body);
        }
    }
    page
}

fn line(page: &mut String, operation: Operation) {
    let counted = if operation.quota() == Quota::Counted { " (counts against the quota)" } else { "" };
    let parameters: Vec<String> = operation.parameters().into_iter().map(parameter).collect();
    let body = match operation.body() {
        Some(Body::Object(_)) => format!("[object](#{})", operation.name().to_lowercase()),
        Some(Body::List(_)) => format!("[list](#{})", operation.name().to_lowercase()),
        None => String::new(),
    };
    push(
        page,
        format_args!(
            "| `{operation}`{counted} | {} | `{} {}` | {} | {} | {body} | {} |\n",
            operation.needed_for(),
            operation.method().as_str(),
            operation.path(),
            operation.provenance().words(),
            parameters.join(", "),
            used_by(operation).join("; ")
        ),
    );
}

fn parameter(parameter: Parameter) -> String {
    let form = if parameter.is_id() { "uuid" } else { "string" };
    let need = if parameter.required { "" } else { ", optional" };
    format!("`{}` ({form}{need})", parameter.name)
}

/// The sheets and commands that use an operation besides `call`.
fn used_by(operation: Operation) -> Vec<String> {
    let mut ways: Vec<String> = Vec::new();
    let mut put = |way: String| {
        if !ways.contains(&way) {
            ways.push(way);
        }
    };
    for kind in Kind::ALL {
        for (of, _) in ability::operations(kind).into_iter().filter(|(_, used)| *used == operation) {
            let what = ActionDescriptor::of(operation).map_or("", |action| action.words);
            put(match of {
                Use::Create | Use::Ask => format!("sheet of {}: {what}", kind.sheet()),
                // Told of each action below.
                Use::LookUp | Use::Verify if !kind.is_record() => continue,
                Use::LookUp | Use::Verify => format!("run, resolve, find: looking up {kind}"),
            });
        }
    }
    for action in ActionDescriptor::ALL.iter().filter(|action| action.shown_by.contains(&operation)) {
        put(format!("run: {} (is it so already?)", action.words));
    }
    for subject in Subject::ALL {
        let asks =
            |owner| subject.needed(owner).contains(&operation) || subject.wanted(owner).contains(&operation);
        if subject.owners().iter().any(|&owner| asks(owner)) {
            put(format!("export {}", subject.word()));
        }
    }
    for (_, way) in OTHERS.iter().filter(|(other, _)| *other == operation) {
        put((*way).to_owned());
    }
    ways
}

fn fields(page: &mut String, operation: Operation, body: Body) {
    let form = match body {
        Body::Object(_) => "A JSON object.",
        Body::List(_) => "A JSON array of objects.",
    };
    push(
        page,
        format_args!(
            "\n### `{operation}`\n\n{form}\n\n| field | type | required | note |\n|---|---|---|---|\n"
        ),
    );
    rows(page, "", body.fields());
}

fn rows(page: &mut String, before: &str, fields: &[Field]) {
    for field in fields {
        let name = format!("{before}{}", field.name);
        let need = field.need.words();
        push(page, format_args!("| `{name}` | {} | {need} | {} |\n", field.form.words(), field.note()));
        rows(page, &format!("{name}."), field.form.fields());
    }
}

fn push(page: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _infallible = page.write_fmt(text);
}
