//! The admission plugin ServiceAccount (BK-565).

use billhook_apiserver::Server;
use http::Method;
use serde_json::{Value, json};

use crate::support::{Answer, call};

const PATH: &str = "/var/run/secrets/kubernetes.io/serviceaccount";

async fn create(server: &Server, plural: &str, object: &Value) -> Answer {
    let path = format!("/api/v1/namespaces/default/{plural}");
    call(server, Method::POST, &path, &[], &object.to_string()).await
}

fn account(name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": name}})
}

fn pod(spec: &Value) -> Value {
    let mut pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"generateName": "p-"}});
    pod["spec"] = spec.clone();
    pod
}

fn spec() -> Value {
    json!({
        "initContainers": [{"name": "i", "image": "i"}],
        "containers": [{"name": "c", "image": "i", "volumeMounts": [
            {"name": "own", "mountPath": PATH},
        ]}],
        "volumes": [{"name": "own", "emptyDir": {}}],
    })
}

#[tokio::test]
async fn pods_get_their_accounts() {
    let server = Server::builder().give_service_accounts().build();
    // The account of a new namespace need not be there yet.
    let spec_of = async |spec: &Value| {
        let created = create(&server, "pods", &pod(spec)).await;
        assert_eq!(created.code, 201, "{}", created.text);
        created.json()["spec"].clone()
    };
    let found = spec_of(&spec()).await;
    assert_eq!(found["serviceAccountName"], "default");
    assert_eq!(found["serviceAccount"], "default");
    let mount = &found["initContainers"][0]["volumeMounts"][0];
    assert_eq!((&mount["mountPath"], &mount["readOnly"]), (&json!(PATH), &json!(true)));
    assert_eq!(found["containers"][0]["volumeMounts"].as_array().unwrap().len(), 1);
    let volume = &found["volumes"][1];
    assert_eq!(volume["name"], mount["name"]);
    assert_eq!(volume["name"].as_str().unwrap().len(), "kube-api-access-".len() + 5);
    let token = json!({"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}});
    assert_eq!(volume["projected"]["sources"][0], token);

    let mut bot = account("bot");
    bot["imagePullSecrets"] = json!([{"name": "s"}]);
    bot["automountServiceAccountToken"] = false.into();
    assert_eq!(create(&server, "serviceaccounts", &bot).await.code, 201);
    let mut own = spec();
    own["serviceAccountName"] = "bot".into();
    let found = spec_of(&own).await;
    assert_eq!(found["imagePullSecrets"], json!([{"name": "s"}]));
    assert_eq!(found["volumes"].as_array().unwrap().len(), 1);
    own["automountServiceAccountToken"] = true.into();
    assert_eq!(spec_of(&own).await["volumes"].as_array().unwrap().len(), 2);

    own["serviceAccountName"] = "none".into();
    let mut named = pod(&own);
    named["metadata"] = json!({"name": "p"});
    let refused = create(&server, "pods", &named).await;
    let why = "pods \"p\" is forbidden: error looking up service account default/none: \
               serviceaccount \"none\" not found";
    assert_eq!((refused.code, refused.message()), (403, why.to_owned()));
}

#[tokio::test]
async fn it_is_off_by_default() {
    let server = Server::builder().build();
    let created = create(&server, "pods", &pod(&spec())).await.json();
    assert_eq!(created["spec"].get("serviceAccountName"), None);
}

/// Accounts are loaded before the pods that have them.
#[tokio::test]
async fn accounts_are_loaded_first() {
    let server = Server::builder().give_service_accounts().build();
    let mut own = spec();
    own["serviceAccountName"] = "bot".into();
    server.create_all([&pod(&own), &account("bot")]).await.unwrap();
}
