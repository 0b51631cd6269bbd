//! The log of requests: who asked for what, and which writes were needless.

use billhook::Time;
use billhook_apiserver::Server;
use http::Method;
use serde_json::json;

use crate::support::call;

const MAPS: &str = "/api/v1/namespaces/default/configmaps";

async fn by(server: &Server, client: &str, method: Method, path: &str, body: &str) -> u16 {
    let type_ = match method {
        Method::PATCH => "application/merge-patch+json",
        _ => "application/json",
    };
    let headers = [("user-agent", client), ("content-type", type_)];
    call(server, method, path, &headers, body).await.code
}

#[tokio::test]
async fn requests_are_found_by_client_and_resource() {
    let server = Server::builder().log_requests();
    let server = server.clock(|| Time::from_unix(1_800_000_000)).build();
    let begin = server.requests().len();
    let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"},
        "data": {"k": "v"}})
    .to_string();
    let (shop, object) = ("shop-controller/v1.2 (linux)", format!("{MAPS}/a"));
    by(&server, shop, Method::POST, MAPS, &map).await;
    by(&server, shop, Method::POST, MAPS, &map).await;
    by(&server, shop, Method::PUT, &object, &map).await;
    by(&server, shop, Method::PATCH, &object, r#"{"data": {"k": "w"}}"#).await;
    by(&server, shop, Method::PATCH, &format!("{object}?dryRun=All"), r#"{"data": {"k": "x"}}"#)
        .await;
    by(&server, shop, Method::GET, &object, "").await;
    by(&server, shop, Method::GET, "/apis/apps/v1/deployments", "").await;
    by(&server, shop, Method::GET, "/apis/apps/v1/namespaces/default/deployments/a/scale", "")
        .await;
    by(&server, "kubectl/v1", Method::DELETE, &object, "").await;
    by(&server, "kubectl/v1", Method::GET, "/version", "").await;

    let requests = server.requests().after(begin);
    insta::assert_snapshot!("trace", requests.to_string());
    let own = requests.by("shop-controller");
    assert_eq!((own.len(), own.writes().len(), own.refused().len()), (8, 5, 2));
    assert_eq!(own.of("configmaps").with_verb("patch").len(), 2);
    assert_eq!(own.of("deployments.apps").len(), 2);
    assert_eq!(own.of("deployments/scale").len(), 1);
    assert_eq!(own.of("deployments.other").len(), 0);
    assert_eq!(requests.for_object("default", "a").by("kubectl").len(), 1);
    let needless = own.needless();
    let needless: Vec<&str> = needless.iter().map(|it| it.verb.as_str()).collect();
    assert_eq!(needless, ["update"], "the same was written again");
    assert_eq!(requests.by("system:admin").len(), requests.len());
    assert_eq!(
        requests.repeated(1),
        [
            (format!("shop-controller create {MAPS}"), 2),
            (format!("shop-controller patch {object}"), 2),
        ]
    );
}

/// Without being asked for, nothing is remembered.
#[tokio::test]
async fn the_log_is_off() {
    let server = Server::builder().build();
    by(&server, "a", Method::GET, MAPS, "").await;
    assert!(server.requests().is_empty());
}
