//! The audit log (ET-61, OB-30, OB-39).

use std::net::IpAddr;
use std::sync::{Arc, Mutex};

use billhook::Time;
use billhook_apimachinery::UserInfo;
use billhook_apiserver::{AuditEvent, AuditLevel, AuditPolicy, AuthorizationMode, Server};
use http::Method;
use serde_json::{Value, json};
use tower_service::Service as _;

use crate::support::{bound_policy, call};

const MAPS: &str = "/api/v1/namespaces/default/configmaps";

type Events = Arc<Mutex<Vec<AuditEvent>>>;

/// A server that audits by a policy, and its events.
fn audited(policy: AuditPolicy) -> (Server, Events) {
    let events = Events::default();
    let written = Arc::clone(&events);
    let builder = Server::builder()
        .clock(|| Time::from_unix(1_800_000_000))
        .authorization_mode(AuthorizationMode::Rbac)
        .bootstrap()
        .audit(policy, move |event| written.lock().unwrap().push(event.clone()));
    (builder.build(), events)
}

fn read(policy: &str) -> AuditPolicy {
    let policy = format!("apiVersion: audit.k8s.io/v1\nkind: Policy\n{policy}");
    AuditPolicy::read(policy.as_bytes()).unwrap()
}

async fn request(server: &Server, method: Method, path: &str, body: &str) -> u16 {
    let headers = [("audit-id", "id-1"), ("user-agent", "shop/v1")];
    call(server, method, path, &headers, body).await.code
}

/// The stages and the verbs of events.
fn stages(events: &Events) -> Vec<String> {
    let events = std::mem::take(&mut *events.lock().unwrap());
    events.iter().map(|event| format!("{} {}", event.stage, event.verb)).collect()
}

#[tokio::test]
async fn events_tell_a_request_and_its_outcome() {
    let (server, events) = audited(read(
        "omitManagedFields: true\nrules:\n- {level: Metadata, verbs: [get]}\n- {level: RequestResponse}",
    ));
    let map = json!({"apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "a", "uid": "", "resourceVersion": ""}, "data": {"k": "v"}});
    assert_eq!(
        request(&server, Method::POST, &format!("{MAPS}?fieldManager=m"), &map.to_string()).await,
        201
    );
    assert_eq!(request(&server, Method::GET, &format!("{MAPS}/b"), "").await, 404);
    let mut events = std::mem::take(&mut *events.lock().unwrap());
    for event in &mut events {
        // These differ each time.
        if let Some(Value::Object(metadata)) =
            event.response_object.as_deref_mut().and_then(|it| it.get_mut("metadata"))
        {
            metadata.remove("uid");
            metadata.remove("creationTimestamp");
            metadata.remove("resourceVersion");
        }
    }
    let lines: Vec<String> = events.iter().map(AuditEvent::to_string).collect();
    insta::assert_snapshot!("audit", lines.join("\n"));
}

#[tokio::test]
async fn watches_have_a_stage_more() {
    let (server, events) = audited(AuditPolicy::everything(AuditLevel::Metadata));
    let watch = http::Request::get(format!("{MAPS}?watch=1")).body(String::new()).unwrap();
    let response = server.clone().call(watch).await.unwrap();
    assert_eq!(stages(&events), ["RequestReceived watch", "ResponseStarted watch"]);
    drop(response);
    assert_eq!(stages(&events), ["ResponseComplete watch"]);
}

#[tokio::test]
async fn events_tell_who_came_from_where() {
    let (server, events) =
        audited(read("omitStages: [RequestReceived]\nrules: [{level: Metadata}]"));
    let mut request = http::Request::get(MAPS)
        .header("x-forwarded-for", "192.0.2.1, unknown")
        .header("impersonate-user", "alice")
        .body(String::new())
        .unwrap();
    request.extensions_mut().insert(UserInfo::named("proxy").group("system:masters"));
    request.extensions_mut().insert(IpAddr::from([192, 0, 2, 7]));
    assert_eq!(server.clone().call(request).await.unwrap().status(), 403);
    let event = events.lock().unwrap().pop().unwrap();
    assert_eq!(
        (event.user.username.as_str(), &*event.source_ips),
        ("proxy", &["192.0.2.1".to_owned(), "192.0.2.7".to_owned()][..])
    );
    assert_eq!(event.annotations["authorization.k8s.io/decision"], "forbid");
    assert_eq!(event.response_status.unwrap().reason, "Forbidden");
}

#[tokio::test]
async fn the_first_rule_that_matches_counts() {
    let (server, events) = audited(read(
        "
omitStages: [RequestReceived]
rules:
- {level: None, users: [bob]}
- {level: Request, userGroups: [system:masters], verbs: [create], resources: [{resources: [configmaps, '*/scale']}]}
- {level: None, resources: [{resources: [configmaps], resourceNames: [a]}]}
- {level: Metadata, namespaces: [default], resources: [{group: ''}]}
- {level: Metadata, namespaces: [''], resources: [{group: apps, resources: ['*']}]}
- {level: Metadata, nonResourceURLs: [/healthz*, /version]}
",
    ));
    let scale = "/api/v1/namespaces/default/replicationcontrollers/a/scale";
    for (method, path, expected) in [
        (Method::POST, MAPS, "Request"),
        (Method::POST, scale, "Request"),
        (Method::GET, &format!("{MAPS}/a"), ""),
        (Method::GET, &format!("{MAPS}/b"), "Metadata"),
        (Method::GET, "/api/v1/namespaces/other/configmaps", ""),
        (Method::GET, "/apis/apps/v1/deployments", "Metadata"),
        (Method::GET, "/apis/apps/v1/namespaces/default/deployments", ""),
        (Method::GET, "/version", "Metadata"),
        (Method::GET, "/healthz/ping", "Metadata"),
        (Method::GET, "/livez", ""),
    ] {
        request(&server, method, path, "").await;
        let event = events.lock().unwrap().pop();
        assert_eq!(event.map(|it| it.level).unwrap_or_default(), expected, "{path}");
    }
    let mut by_bob = http::Request::get(MAPS).body(String::new()).unwrap();
    by_bob.extensions_mut().insert(UserInfo::named("bob"));
    server.clone().call(by_bob).await.unwrap();
    assert_eq!(stages(&events), [""; 0]);
}

/// PO-60.
#[tokio::test]
async fn policies_annotate_events() {
    let (server, events) = audited(AuditPolicy::everything(AuditLevel::Metadata));
    let policy = json!({
        "matchConstraints": {"resourceRules": [{"apiGroups": [""], "apiVersions": ["v1"],
            "operations": ["CREATE"], "resources": ["configmaps"]}]},
        "validations": [{"expression": "false", "message": "no"}],
        "auditAnnotations": [{"key": "name", "valueExpression": "string(object.metadata.name)"}],
    });
    let [policy, binding] = bound_policy(&policy, "Audit");
    server.create_all([&policy, &binding]).await.unwrap();
    events.lock().unwrap().clear();
    let map = r#"{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}"#;
    assert_eq!(request(&server, Method::POST, MAPS, map).await, 201);
    let event = events.lock().unwrap().pop().unwrap();
    assert_eq!(event.annotations["p/name"], "a");
    let failure = &event.annotations["validation.policy.admission.k8s.io/validation_failure"];
    let failure: Value = serde_json::from_str(failure).unwrap();
    assert_eq!((&failure[0]["policy"], &failure[0]["message"]), (&json!("p"), &json!("no")));
}

#[test]
fn policies_that_are_wrong_are_refused() {
    let errors = |text: &str| AuditPolicy::read(text.as_bytes()).unwrap_err().to_string();
    let policy = |rest: &str| errors(&format!("apiVersion: audit.k8s.io/v1\nkind: Policy\n{rest}"));
    let all = [
        errors("kind: Policy"),
        errors("kind: Policy\nrules: [\0]"),
        policy("rules: [{level: Metadata}]\nrule: []"),
        policy("rules: []\nrules: []"),
        policy("rules: {}"),
        policy("omitStages: [Begin]\nrules: [{level: All, omitStages: [End]}]"),
        policy("rules: [{level: None, namespaces: [a], nonResourceURLs: [version, /a*b]}]"),
    ];
    insta::assert_snapshot!("policies_that_are_wrong", all.join("\n"));
}
