//! The webhooks of the example server, well and ill behaved, over HTTPS (AR-97).

use super::world::cluster;
use billhook::webhook::AdmissionAttributes;
use billhook::{GroupVersionKind, GroupVersionResource};
use billhook_admission::{ChainOutcome, RequestOptions};
use billhook_webhook_client::HttpsCaller;
use serde_json::{Value, json};

use crate::behavior;
use crate::chain::client::{chain_of, reason};
use crate::chain::world::{World, configuration, create};
use crate::server::Server;

/// One request to one of the example's webhooks.
async fn ask(stage: &str, path: &str, request: AdmissionAttributes) -> ChainOutcome {
    let answer = |received| -> crate::server::Handled { Box::pin(behavior::answer(received)) };
    let server = Server::start("127.0.0.1:0", &["localhost"], answer).await.unwrap();
    let world = World::new(vec![]).await;
    let more = "timeoutSeconds: 3\nreinvocationPolicy: IfNeeded";
    let mut configurations = world.configurations(&[configuration(stage, "a", more)]);
    let config = &mut configurations[0].webhooks[0].client_config;
    config.service = None;
    config.url = Some(format!("https://localhost:{}{path}", server.address().port()));
    config.ca_bundle = server.authority().ca_bundle.clone().into_bytes();
    let chain = chain_of(HttpsCaller::default(), &configurations);
    let mut outcome =
        chain.run(request, &cluster(), &RequestOptions::default(), |_, _| Ok(())).await;
    if let Err(status) = &mut outcome.result {
        let port = server.address().port().to_string();
        status.message = status.message.replace(&port, "PORT");
    }
    outcome
}

fn of(kind: &str, resource: &str, more: &Value) -> AdmissionAttributes {
    let mut object = json!({"apiVersion": "v1", "kind": kind,
        "metadata": {"name": "x", "namespace": "default"}});
    object.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    AdmissionAttributes::create(
        GroupVersionKind::new("", "v1", kind),
        GroupVersionResource::new("", "v1", resource),
        object,
    )
}

#[tokio::test]
async fn webhooks_that_change_something() {
    let containers = |names: &[&str]| -> Value {
        names.iter().map(|name| json!({"name": name, "image": "i"})).collect()
    };
    let pod =
        |names: &[&str]| of("Pod", "pods", &json!({"spec": {"containers": containers(names)}}));
    for (path, request, pointer, expected) in [
        (
            "/mutate",
            create(),
            "/metadata/annotations",
            r#"{"example.com/reviewed-by":"webhook_server"}"#,
        ),
        (
            "/inject",
            pod(&["app"]),
            "/spec/containers",
            r#"[{"image":"i","name":"app"},{"image":"registry.example.com/sidecar:1","name":"sidecar"}]"#,
        ),
        ("/inject", pod(&["sidecar"]), "/spec/containers", r#"[{"image":"i","name":"sidecar"}]"#),
        ("/inject", create(), "/spec", r#"{"n":1}"#),
        (
            "/stages",
            of("ConfigMap", "configmaps", &json!({"data": {"stage-1": "yes"}})),
            "/data",
            r#"{"stage-1":"yes","stage-2":"yes"}"#,
        ),
        ("/stages", of("ConfigMap", "configmaps", &json!({"data": {}})), "/data", "{}"),
        ("/allow", create(), "/spec", r#"{"n":1}"#),
    ] {
        let object = ask("Mutating", path, request).await.result.unwrap().object.unwrap();
        assert_eq!(object.pointer(pointer).unwrap().to_string(), expected, "{path}");
    }
}

#[tokio::test]
async fn webhooks_that_refuse() {
    let denied = "admission webhook \"a.example.com\" denied the request: ";
    let labels = json!({"metadata": {"name": "x", "namespace": "default",
        "labels": {"example.com/denied": "Tuesday"}}});
    let exec = AdmissionAttributes::connect(
        GroupVersionKind::new("", "v1", "PodExecOptions"),
        GroupVersionResource::new("", "v1", "pods"),
        "exec",
        json!({"apiVersion": "v1", "kind": "PodExecOptions"}),
    );
    for (path, request, expected) in [
        ("/deny", of("Pod", "pods", &labels), Some((400, "the label says: Tuesday"))),
        ("/deny", create(), None),
        ("/deny-all", create(), Some((400, "nothing is let through"))),
        ("/deny-connect", exec, Some((403, "exec is not for you"))),
        ("/deny-connect", create(), None),
    ] {
        let found = ask("Validating", path, request).await.result.err();
        let found = found.map(|status| (status.code, status.message));
        let expected = expected.map(|(code, text)| (code, format!("{denied}{text}")));
        assert_eq!(found, expected, "{path}");
    }
}

#[tokio::test]
async fn a_webhook_that_echoes() {
    let annotations = json!({"metadata": {"name": "x", "namespace": "default",
        "annotations": {"k": "v", "example.com/not-a-key": "w"}}});
    let outcome = ask("Validating", "/echo", of("Pod", "pods", &annotations)).await;
    assert!(outcome.result.is_ok());
    assert_eq!(outcome.warnings.texts(), ["example.com/not-a-key is w", "k is v"]);
    let found: Vec<_> = outcome.annotations.iter().map(|(key, _)| key).collect();
    assert_eq!(found, ["a.example.com/k"]);
}

/// The switches of the example.
#[tokio::test]
async fn webhooks_in_trouble() {
    let post = "failed to call webhook: Post \"https://localhost:PORT/";
    for (trouble, expected) in [
        (":never", format!("{post}allow:never?timeout=3s\": context deadline exceeded")),
        (":slow-9", format!("{post}allow:slow-9?timeout=3s\": context deadline exceeded")),
        (":close", format!("{post}allow:close?timeout=3s\": EOF")),
        (":uid", "received invalid webhook response: expected response.uid=\"…".to_owned()),
        (
            ":version",
            "failed to call webhook: converting (v1beta1.AdmissionReview) to (v1.AdmissionReview): \
             unknown conversion"
                .to_owned(),
        ),
        (":garbage", "failed to call webhook: couldn't get version/kind; json parse error: …".to_owned()),
        (
            ":redirect",
            "failed to call webhook: Post \"https://127.0.0.1:1/\": dial tcp 127.0.0.1:1: connect: \
             connection refused"
                .to_owned(),
        ),
        (
            ":huge",
            "failed to call webhook: the response body is larger than 4194304 bytes".to_owned(),
        ),
        (
            ":half",
            "failed to call webhook: unexpected error when reading response body. Please retry. \
             Original error: unexpected EOF"
                .to_owned(),
        ),
    ] {
        let found = reason(&ask("Validating", &format!("/allow{trouble}"), create()).await).unwrap();
        match expected.strip_suffix('…') {
            Some(start) => assert!(found.starts_with(start), "{trouble}: {found}"),
            None => assert_eq!(found, expected, "{trouble}"),
        }
    }
    let outcome = ask("Validating", "/allow:slow-1", create()).await;
    assert_eq!(reason(&outcome), None);
}
