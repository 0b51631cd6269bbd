//! The paths that steer the control plane from other programs.

use billhook_apiserver::{AuthorizationMode, Server};
use billhook_control_plane::{Clock, ControlPlane, HttpApi};
use http_body_util::BodyExt as _;
use serde_json::{Value, json};
use tower_service::Service as _;

use crate::support::{column, run, run_with};

const DEPLOYMENT: &str = r#"{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
    "spec": {"replicas": 2, "selector": {"matchLabels": {"app": "web"}}, "template": {
        "metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}}}"#;
const CRON_JOB: &str = r#"{"apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": "tidy"},
    "spec": {"schedule": "0 * * * *", "jobTemplate": {"spec": {"template": {"spec": {
        "restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}}}}}}"#;
const DEPLOYMENTS: &str = "/apis/apps/v1/namespaces/default/deployments";
const CRON_JOBS: &str = "/apis/batch/v1/namespaces/default/cronjobs";

fn server() -> billhook_apiserver::ServerBuilder {
    Server::builder().bootstrap().collect_garbage().log_requests()
}

/// Makes a request, and returns the code and the document of the answer.
async fn send(api: &HttpApi, method: &str, path: &str, body: &str) -> (u16, Value) {
    let request = http::Request::builder().method(method).uri(path);
    let request =
        request.header("content-type", "application/json").header("user-agent", "shop/v1");
    answer(api, request.body(body.to_owned()).unwrap()).await
}

async fn answer(api: &HttpApi, request: http::Request<String>) -> (u16, Value) {
    let response = api.clone().call(request).await.unwrap();
    let code = response.status().as_u16();
    let body = response.into_body().collect().await.unwrap().to_bytes();
    (code, serde_json::from_slice(&body).unwrap())
}

/// CP-06: what a client has created is there in full when the server has settled.
#[test]
fn settling_waits_for_controllers() {
    run_with(
        |builder| builder.server(server()),
        async |plane| {
            let api = plane.http_api();
            assert_eq!(send(&api, "POST", DEPLOYMENTS, DEPLOYMENT).await.0, 201);
            let (code, clock) = send(&api, "POST", "/billhook/settle", r#"{"quiet": "1ms"}"#).await;
            assert_eq!((code, &clock["virtual"]), (200, &json!(true)), "{clock}");
            let pods = "/api/v1/namespaces/default/pods";
            assert_eq!(column(plane, pods, "/status/phase").await, ["Running", "Running"]);
        },
    );
}

/// CP-06: time passes from one timer to the next, and controllers work at each.
#[test]
fn time_passes_when_it_is_asked_to() {
    run(async |plane| {
        let api = plane.http_api();
        let (_, clock) = send(&api, "GET", "/billhook/clock", "").await;
        assert_eq!(clock["time"], "2026-01-01T00:00:00.000000Z");
        assert_eq!(send(&api, "POST", CRON_JOBS, CRON_JOB).await.0, 201);
        let (code, clock) =
            send(&api, "POST", "/billhook/clock/advance", r#"{"duration": "2h30m"}"#).await;
        assert_eq!((code, &clock["time"]), (200, &json!("2026-01-01T02:30:00.000000Z")));
        let jobs = "/apis/batch/v1/namespaces/default/jobs";
        assert_eq!(column(plane, jobs, "/status/succeeded").await, ["1", "1"]);
        let next = clock["nextTimer"].clone();
        let (code, clock) =
            send(&api, "POST", "/billhook/clock/advance", r#"{"toNextTimer": true}"#).await;
        assert_eq!((code, &clock["time"]), (200, &next));
    });
}

#[test]
fn requests_are_chosen_by_client_verb_and_resource() {
    run_with(
        |builder| builder.server(server()),
        async |plane| {
            let api = plane.http_api();
            send(&api, "POST", DEPLOYMENTS, DEPLOYMENT).await;
            send(&api, "GET", "/api/v1/namespaces/default/pods", "").await;
            send(&api, "POST", DEPLOYMENTS, DEPLOYMENT).await;
            let chosen = async |query: &str| {
                let (code, log) =
                    send(&api, "GET", &format!("/billhook/requests?{query}"), "").await;
                assert_eq!(code, 200, "{log}");
                log["requests"].as_array().unwrap().clone()
            };
            let all = chosen("by=shop").await;
            assert_eq!(all.len(), 3, "{all:?}");
            assert_eq!(chosen("by=shop&verb=list&resource=pods").await.len(), 1);
            assert_eq!(chosen("by=shop&writes=true&limit=1").await, all[2..]);
            let refused = chosen("refused=true&by=shop").await;
            assert_eq!(refused[0]["message"], "deployments.apps \"web\" already exists");
            assert_eq!(chosen(&format!("by=shop&after={}", all[1]["number"])).await, all[2..]);
            assert_eq!(chosen("object=default/none").await, Vec::<Value>::new());
        },
    );
}

/// A mistyped request does nothing, and says so.
#[test]
fn unusable_requests_are_refused() {
    run(async |plane| {
        let api = plane.http_api();
        for (method, path, body, code) in [
            ("GET", "/billhook/settle", "", 405),
            ("POST", "/billhook/clock", "", 405),
            ("GET", "/billhook/other", "", 404),
            ("GET", "/billhook/requests?client=a", "", 400),
            ("GET", "/billhook/requests?writes=yes", "", 400),
            ("GET", "/billhook/requests?limit=-1", "", 400),
            ("POST", "/billhook/settle", "[]", 400),
            ("POST", "/billhook/settle", r#"{"quit": "1s"}"#, 400),
            ("POST", "/billhook/settle", r#"{"quiet": "-1s"}"#, 400),
            ("POST", "/billhook/settle", r#"{"timeout": "1h"}"#, 400),
            ("POST", "/billhook/clock/advance", "", 400),
            ("POST", "/billhook/clock/advance", r#"{"duration": "1 day"}"#, 400),
            ("POST", "/billhook/clock/advance", r#"{"duration": "1s", "toNextTimer": true}"#, 400),
        ] {
            let (found, status) = send(&api, method, path, body).await;
            assert_eq!(
                (found, &status["kind"]),
                (code, &json!("Status")),
                "{method} {path} {body}"
            );
        }
        let page = http::Request::post("/billhook/settle").header("content-type", "text/plain");
        assert_eq!(answer(&api, page.body("{}".to_owned()).unwrap()).await.0, 415);
        assert_eq!(plane.clock().now().to_rfc3339(), "2026-01-01T00:00:00Z");
    });
}

/// BK-651: a user needs permission for these paths.
#[test]
fn users_need_permission() {
    let server = server().authorization_mode(AuthorizationMode::Rbac);
    run_with(
        |builder| builder.server(server),
        async |plane| {
            let api = plane.http_api();
            let request = http::Request::get("/billhook/clock").header("impersonate-user", "jane");
            let (code, status) = answer(&api, request.body(String::new()).unwrap()).await;
            let message = "forbidden: User \"jane\" cannot get path \"/billhook/clock\"";
            assert_eq!((code, &status["message"]), (403, &json!(message)), "{status}");
        },
    );
}

#[test]
fn what_never_comes_to_rest_is_named() {
    run_with(
        |builder| builder.server(server()).controllers(Vec::new()).nodes([]),
        async |plane| {
            let api = plane.http_api();
            let lists = async {
                loop {
                    send(&api, "GET", "/api/v1/nodes", "").await;
                    tokio::task::yield_now().await;
                }
            };
            let settle = r#"{"quiet": "5ms", "timeout": "500ms"}"#;
            let (code, status) = tokio::select! {
                answer = send(&api, "POST", "/billhook/settle", settle) => answer,
                () = lists => unreachable!(),
            };
            let message = status["message"].as_str().unwrap();
            assert_eq!(code, 504);
            let expected = "not at rest after 500ms: shop list /api/v1/nodes came ";
            assert!(message.starts_with(expected), "{message}");
        },
    );
}

/// A time that passes more slowly than a client waits says how far the clock has come.
#[test]
fn a_long_time_is_advanced_in_parts() {
    run_with(
        |builder| builder.server(server()),
        async |plane| {
            let api = plane.http_api();
            send(&api, "POST", CRON_JOBS, CRON_JOB).await;
            let body = r#"{"duration": "1000000h", "timeout": "2s"}"#;
            let (code, status) = send(&api, "POST", "/billhook/clock/advance", body).await;
            assert_eq!(code, 504);
            let reached = plane.clock().now().to_rfc3339();
            let expected = format!("the clock has come to {reached} in 2s, which are over: ");
            let message = status["message"].as_str().unwrap();
            assert!(message.starts_with(&expected), "{message}");
        },
    );
}

#[test]
fn real_time_cannot_be_advanced() {
    run_with(
        |builder| builder.clock(Clock::real()).controllers(Vec::new()).nodes([]),
        async |plane: &ControlPlane| {
            let api = plane.http_api();
            let body = r#"{"duration": "1s"}"#;
            let (code, status) = send(&api, "POST", "/billhook/clock/advance", body).await;
            assert_eq!((code, &status["reason"]), (409, &json!("Conflict")));
        },
    );
}

/// A wait is over in the midst of work, too, and time does not pass by its end.
#[test]
fn waits_and_times_end() {
    run(async |plane| {
        let api = plane.http_api();
        let many = DEPLOYMENT.replace("\"replicas\": 2", "\"replicas\": 300");
        assert_eq!(send(&api, "POST", DEPLOYMENTS, &many).await.0, 201);
        let (code, answer) =
            send(&api, "POST", "/billhook/settle", r#"{"quiet": "0s", "timeout": "0s"}"#).await;
        assert_eq!((code, &answer["reason"]), (504, &json!("Timeout")), "{answer}");
        for _ in 0..27 {
            let body = r#"{"duration": "2540400h"}"#;
            assert_eq!(send(&api, "POST", "/billhook/clock/advance", body).await.0, 200);
        }
        let body = r#"{"duration": "2540400h"}"#;
        let (code, answer) = send(&api, "POST", "/billhook/clock/advance", body).await;
        let message = "duration: virtual time ends at 9999-12-31T23:59:59Z";
        assert_eq!((code, &answer["message"]), (400, &json!(message)));
    });
}
