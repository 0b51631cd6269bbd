//! `billhook serve` with webhooks whose Services are elsewhere.

use billhook::webhook::WebhookConfiguration;
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::convert::{answer, definition};
use crate::serve::{Running, file};
use crate::server::{Handled, Received, Reply, Server};

const BACKUPS: &str = "/namespaces/default/backups";

/// A webhook of the Service of the definition, for backups of version 1.
const CONFIGURATION: &str = "
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: backups}
webhooks:
- name: backups.hook.example.com
  clientConfig: {service: {namespace: shop, name: hook, path: /review}}
  rules: [{operations: [CREATE], apiGroups: [data.example.com], apiVersions: [v1], resources: [backups]}]
  sideEffects: None
  admissionReviewVersions: [v1]
";

/// Converts backups, and denies those of the name `denied`.
fn hook(received: Received) -> Handled {
    if received.path != "/review" {
        return answer(received);
    }
    let mut review: Value = serde_json::from_slice(&received.body).unwrap();
    let request = review["request"].take();
    let allowed = request["name"] != "denied";
    review["response"] = json!({"uid": request["uid"], "allowed": allowed});
    Box::pin(async move { Some(Reply::new(200, Vec::new(), review.to_string())) })
}

/// CL-04: webhooks for admission and conversion are called where `--resolve` says.
#[test]
fn services_are_where_an_option_says() {
    let runtime = Runtime::new().unwrap();
    let start = Server::start("127.0.0.1:0", &["hook.shop.svc"], hook);
    let webhook = runtime.block_on(start).unwrap();
    let bundle = webhook.authority().ca_bundle.clone().into_bytes();

    let mut configuration = WebhookConfiguration::from_yaml(CONFIGURATION).unwrap();
    configuration.webhooks[0].client_config.ca_bundle.clone_from(&bundle);
    let configuration = configuration.to_value().into_inner();
    let mut crd: Value = serde_json::from_str(&definition()).unwrap();
    let encoded = configuration["webhooks"][0]["clientConfig"]["caBundle"].clone();
    crd["spec"]["conversion"]["webhook"]["clientConfig"]["caBundle"] = encoded;
    let all = json!({"apiVersion": "v1", "kind": "List", "items": [crd, configuration]});
    let objects = file("webhooks", "all.json", &all.to_string());
    let address = format!("hook.shop=127.0.0.1:{}", webhook.address().port());
    let arguments = ["--http", "--load", objects.to_str().unwrap(), "--resolve", &address];
    let server = Running::start(&arguments);

    let of = |version: &str| format!("/apis/data.example.com/{version}{BACKUPS}");
    let create = |name: &str| {
        let backup = json!({"apiVersion": "data.example.com/v1", "kind": "Backup",
            "metadata": {"name": name}, "spec": {"schedule": "nightly"}});
        let header = "Content-Type: application/json\r\n";
        server.send("POST", &of("v1"), header, &backup.to_string())
    };
    assert_eq!(create("fine").0, 201);
    let (code, denied) = create("denied");
    assert_eq!(code, 400);
    let text = r#"admission webhook \"backups.hook.example.com\" denied the request"#;
    assert!(denied.contains(text), "{denied}");
    let (code, converted) = server.send("GET", &format!("{}/fine", of("v2")), "", "");
    let converted: Value = serde_json::from_str(&converted).unwrap();
    assert_eq!((code, &converted["spec"]), (200, &json!({"when": "nightly"})));
}
