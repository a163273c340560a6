//! TLS: certificates that are accepted and not, and the version of HTTP that is agreed on.
//!
//! `tls/` holds an authority, the certificates it gave to a service at 127.0.0.1 (one is good until 2120, the other
//! ended in 2021), the key of both, and another authority that gave none. They protect nothing.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::crypto::aws_lc_rs;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::server::ServerConfig;

use super::*;

const TLS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cli/faults/tls/");

/// TLS before the service of a bench.
struct Secured {
    base_url: String,
    connections: Arc<AtomicU64>,
    requests: Arc<AtomicU64>,
    agreed: Arc<Mutex<Vec<Option<Vec<u8>>>>>,
    _runtime: tokio::runtime::Runtime,
}

fn secured(bench: &Bench, certificate: &str) -> Secured {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .expect("a runtime for the service");
    let chain =
        vec![CertificateDer::from_pem_file(format!("{TLS}{certificate}.pem")).expect("a certificate")];
    let key = PrivateKeyDer::from_pem_file(format!("{TLS}service.key")).expect("a key");
    let mut config = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .expect("a key that fits");
    // Newer first: whoever offers it gets it.
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let service = bench.base_url().trim_start_matches("http://").to_owned();
    let (connections, requests) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
    let agreed = Arc::new(Mutex::new(Vec::new()));
    let listener = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).expect("a free port");
    let base_url = format!("https://{}", listener.local_addr().expect("an address"));
    let shared = (Arc::clone(&connections), Arc::clone(&requests), Arc::clone(&agreed));
    runtime.spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let (acceptor, service, shared) = (acceptor.clone(), service.clone(), shared.clone());
            shared.0.fetch_add(1, Ordering::SeqCst);
            tokio::spawn(async move {
                let Ok(mut client) = acceptor.accept(stream).await else { return };
                shared.1.fetch_add(1, Ordering::SeqCst);
                let protocol = client.get_ref().1.alpn_protocol().map(<[u8]>::to_vec);
                shared.2.lock().expect("nothing panics while it is held").push(protocol);
                let Ok(mut service) = tokio::net::TcpStream::connect(service).await else { return };
                // A client that goes away is nothing to report.
                let _ended = tokio::io::copy_bidirectional(&mut client, &mut service).await;
            });
        }
    });
    Secured { base_url, connections, requests, agreed, _runtime: runtime }
}

fn trusting(authority: &str) -> String {
    format!("ca_file = \"{TLS}{authority}.pem\"")
}

#[test]
fn f03_a_certificate_that_is_not_accepted_stops_the_run_before_anything_is_sent() {
    for (certificate, authority, why) in
        [("expired", "authority", "xpired"), ("valid", "other", "UnknownIssuer")]
    {
        let bench = bench_of(service(), 10);
        let secured = secured(&bench, certificate);
        profile_at(&bench, &secured.base_url, &trusting(authority), "");
        let outcome = run(&bench).expect_code(7);
        assert!(secured.connections.load(Ordering::SeqCst) >= 1, "somebody answered");
        assert_eq!(secured.requests.load(Ordering::SeqCst), 0, "nobody was told anything");
        assert!(bench.statistics().requests.is_empty());
        for words in ["certificate of the service is not accepted", why, "ca_file", "clock"] {
            assert!(outcome.stderr.contains(words), "{words}: {}", outcome.stderr);
        }
        assert_eq!(bench.counts(1), [("blocked".to_owned(), 10), ("ready".to_owned(), 1)].into());
    }
}

#[test]
fn f03_f11_with_the_right_authority_everything_is_sent_over_http_1_1_though_h2_is_offered() {
    let bench = bench_of(service(), 10);
    let secured = secured(&bench, "valid");
    profile_at(&bench, &secured.base_url, &trusting("authority"), "settle_seconds = 60");
    run(&bench).expect_code(0);
    assert_eq!(bench.created("device").len(), 10);
    let agreed = secured.agreed.lock().expect("nothing panics while it is held");
    assert!(!agreed.is_empty());
    assert!(agreed.iter().all(|protocol| protocol.as_deref() != Some(b"h2")), "{agreed:?}");
    bench.assert_exact(1);
}
