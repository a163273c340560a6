//! What the journal costs: a run with the limit off against an instant service, beside a load generator that sends the same
//! requests, as many at once, and keeps no journal: `cargo bench --features testing --bench journal`.

#[expect(dead_code, reason = "only devices are made here")]
mod library_run;
#[expect(dead_code, reason = "no tables of commands here")]
mod measured;

use std::sync::Arc;
use std::time::Instant;

use fleetload::journal::Journal;
use fleetload::model::action::Action;
use fleetload::model::kind::Kind;
use fleetload::model::record::{Role, Target};
use fleetload::sandbox::{ROOT_COMPANY, Running, Scenario, wall_clock};
use fleetload::service::{Rate, request};
use library_run::{CONCURRENCY, device, go, mac, prepare, serve};

const DEVICES: usize = 20_000;
/// How often both are measured, in turns: the median counts, as a machine is not always equally fast.
const ROUNDS: usize = 9;

fn main() {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let rounds: Vec<[f64; 3]> = (0..ROUNDS)
        .map(|round| {
            let (ours, bare) = runtime.block_on(both(round % 2 == 0));
            [ours, bare, ours / bare]
        })
        .collect();
    let [ours, bare, ratio] = [0, 1, 2].map(|figure| {
        let mut figures: Vec<f64> = rounds.iter().map(|round| round[figure]).collect();
        figures.sort_by(f64::total_cmp);
        figures
    });
    let (middle, last) = (ROUNDS / 2, ROUNDS - 1);
    let text = format!(
        "{DEVICES} devices, each looked up and then created, {CONCURRENCY} requests under way at once, {ROUNDS} times in turns: \
         {:.0} requests a second with the journal on disk ({:.0} to {:.0}), {:.0} by the load generator ({:.0} to {:.0}): {:.2} of \
         it ({:.2} to {:.2}). The service is in the same process, on the same cores.",
        ours[middle],
        ours[0],
        ours[last],
        bare[middle],
        bare[0],
        bare[last],
        ratio[middle],
        ratio[0],
        ratio[last]
    );
    measured::tell("journal", &text, true);
}

/// Requests a second of a run, and of the load generator, one after the other. Both services are there before, and stay until
/// the end: the second to be measured would be faster in memory that the first has given back.
async fn both(ours_first: bool) -> (f64, f64) {
    let scenario = || Scenario { rate: 0, daily_quota: u64::MAX, ..Scenario::default() };
    let (_folder, journal, service) = prepare(scenario(), |filling| {
        for n in 0..DEVICES {
            filling.add(device(n), Target::Remote(ROOT_COMPANY));
        }
    })
    .await;
    let bare_service = serve(scenario()).await;
    let figures = if ours_first {
        let ours = without_a_limit(journal, &service).await;
        (ours, bare(&bare_service).await)
    } else {
        let bare = bare(&bare_service).await;
        (without_a_limit(journal, &service).await, bare)
    };
    service.stop().await;
    bare_service.stop().await;
    figures
}

/// Requests a second of a run.
async fn without_a_limit(journal: Journal, service: &Running) -> f64 {
    let started = Instant::now();
    go(journal, service, Rate::Unlimited).await;
    let took = started.elapsed().as_secs_f64();
    // Each device is looked up before it is sent: two requests a row.
    let requests: u64 = service.sandbox().statistics(wall_clock()).requests.values().sum();
    requests as f64 / took
}

/// Looks up and creates as many devices, as many at once, and does nothing else.
async fn bare(service: &Running) -> f64 {
    let client = reqwest::Client::builder().no_proxy().build().expect("a client");
    let token: serde_json::Value = serde_json::from_slice(
        &client
            .post(format!("{}/device-api/auth/v1/auth", service.base_url()))
            .form(&[("client_id", "bench"), ("client_secret", "bench-secret")])
            .send()
            .await
            .expect("an answer")
            .bytes()
            .await
            .expect("a body"),
    )
    .expect("JSON");
    let token = Arc::new(format!("Bearer {}", token["access_token"].as_str().expect("a token")));
    let base = Arc::new(format!("{}/device-api/config/v1", service.base_url()));
    let next = Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let started = Instant::now();
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..CONCURRENCY {
        let (client, token, base, next) = (client.clone(), token.clone(), base.clone(), next.clone());
        tasks.spawn(async move {
            loop {
                let n = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                if n >= DEVICES {
                    break;
                }
                let look = client.get(format!("{base}/getDeviceByMac?macAddress={}", mac(n)));
                answered(look, &token).await;
                let create = Action::Create(device(n));
                let links = [(Role::Company, ROOT_COMPANY)];
                let call = request(&create, Kind::Device, None, &links).expect("a creation");
                let creation = client
                    .post(format!("{base}/addDevice"))
                    .header("content-type", "application/json")
                    .body(call.body.expect("a body").to_string());
                assert!(answered(creation, &token).await.is_success());
            }
        });
    }
    while tasks.join_next().await.is_some() {}
    2.0 * DEVICES as f64 / started.elapsed().as_secs_f64()
}

/// Sends a request, reads all of its answer, and gives the status.
async fn answered(request: reqwest::RequestBuilder, token: &str) -> reqwest::StatusCode {
    let request = request.header("authorization", token).header("accept", "application/json");
    let answer = request.send().await.expect("an answer");
    let status = answer.status();
    assert!(answer.bytes().await.expect("a body").len() > 10);
    status
}
