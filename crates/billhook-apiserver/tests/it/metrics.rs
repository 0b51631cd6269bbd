//! The metrics of a server.

use std::sync::Arc;

use billhook_apiserver::Server;
use http::Method;
use serde_json::json;

use crate::backends::faulty::{Faulty, Mode};
use crate::support::call;

const MAPS: &str = "/api/v1/namespaces/default/configmaps";

async fn get(server: &Server) -> String {
    let answer = call(server, Method::GET, "/metrics", &[], "").await;
    assert_eq!(answer.code, 200);
    answer.text
}

/// Whether a metric with such labels has a value.
fn has(text: &str, name: &str, labels: &str, value: &str) -> bool {
    let mut lines = text.lines().filter(|line| line.starts_with(name) && line.contains(labels));
    lines.any(|line| line.ends_with(&format!(" {value}")))
}

#[tokio::test]
async fn requests_to_the_backend_are_counted_by_their_outcome() {
    let backend = Faulty::new();
    let server = Server::builder().metrics().backend(Arc::clone(&backend)).build().await.unwrap();
    let create = async |name: &str| {
        let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}});
        call(&server, Method::POST, MAPS, &[], &map.to_string()).await.code
    };
    assert_eq!(create("a").await, 201);
    backend.set(Mode::Fails);
    assert_eq!(create("b").await, 500);
    backend.set(Mode::Works);
    let text = get(&server).await;
    let seconds = "billhook_backend_request_duration_seconds_count";
    let failed = r#"backend="backend",operation="commit",outcome="failure""#;
    assert!(has(&text, seconds, failed, "1"), "{text}");
    let loaded = r#"backend="backend",operation="load",outcome="success""#;
    assert!(has(&text, seconds, loaded, "1"), "{text}");
    let newest = backend.newest().to_string();
    assert!(has(&text, "billhook_backend_revision ", "", &newest), "{text}");
    assert!(has(&text, "billhook_backend_revision_lag ", "", "0"), "{text}");
    assert!(has(&text, "billhook_backend_retries_total ", "", "0"), "{text}");

    // What was written and has not come back is behind.
    backend.tells.send_replace(false);
    tokio::select! {
        _ = create("c") => panic!("a write is answered before it has come back"),
        () = async {
            while !has(&get(&server).await, "billhook_backend_revision_lag ", "", "1") {
                tokio::task::yield_now().await;
            }
        } => {}
    }
    backend.tells.send_replace(true);
}

/// OB-01: the metrics of admission are there by their own names.
#[tokio::test]
async fn admission_plugins_are_measured() {
    let server = Server::builder().metrics().build();
    let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}});
    assert_eq!(call(&server, Method::POST, MAPS, &[], &map.to_string()).await.code, 201);
    let text = get(&server).await;
    let seconds = "apiserver_admission_step_admission_duration_seconds_count";
    assert!(has(&text, seconds, r#"operation="CREATE""#, "1"), "{text}");
}

/// OB-01: the series of a metric come in the order of their labels, the buckets of a histogram in that
/// of their bounds.
#[tokio::test]
async fn series_come_in_order() {
    let server = Server::builder().metrics().build();
    let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}});
    let (map, one) = (map.to_string(), format!("{MAPS}/a"));
    for (method, path, body, code) in [
        (Method::POST, MAPS, map.as_str(), 201),
        (Method::PUT, &one, &map, 200),
        (Method::DELETE, &one, "", 200),
    ] {
        assert_eq!(call(&server, method, path, &[], body).await.code, code);
    }
    let text = get(&server).await;
    let name = "apiserver_admission_step_admission_duration_seconds_bucket{le=\"";
    let buckets = text.lines().filter_map(|line| line.strip_prefix(name)?.split_once("\","));
    let buckets: Vec<(&str, &str)> = buckets.collect();
    let labels: Vec<&str> = buckets
        .iter()
        .filter(|(bound, _)| *bound == "+Inf")
        .filter_map(|(_, rest)| Some(rest.split_once('}')?.0))
        .collect();
    assert_eq!(
        labels,
        [
            r#"type="admit",operation="CREATE",rejected="false""#,
            r#"type="admit",operation="DELETE",rejected="false""#,
            r#"type="admit",operation="UPDATE",rejected="false""#,
            r#"type="validate",operation="CREATE",rejected="false""#,
            r#"type="validate",operation="DELETE",rejected="false""#,
            r#"type="validate",operation="UPDATE",rejected="false""#,
        ]
    );
    let bounds: Vec<&str> = buckets.iter().map(|(bound, _)| *bound).collect();
    for series in bounds.chunks(7) {
        assert_eq!(series, ["0.005", "0.025", "0.1", "0.5", "1.0", "2.5", "+Inf"]);
    }
    assert_eq!(bounds.len(), 6 * 7);
}

#[tokio::test]
async fn without_metrics_there_is_no_such_path() {
    let server = Server::builder().build();
    assert_eq!(call(&server, Method::GET, "/metrics", &[], "").await.code, 404);
}
