//! `billhook serve` decides by roles, writes those that a run needed, and logs requests (BK-650).

use crate::serve::Running;
use crate::support::Scratch;

const USER: &str = "Impersonate-User: jane\r\n";

/// Ends a server by a signal, as Ctrl-C does, and waits for its end.
fn end(mut server: Running) {
    server.signal("TERM");
    server.wait();
}

#[test]
fn requests_are_decided_by_roles() {
    let server =
        Running::start(&["--http", "--listen", "127.0.0.1:0", "--authorization-mode", "RBAC"]);
    let (code, body) = server.send("GET", "/api/v1/namespaces/default/pods", USER, "");
    assert_eq!(code, 403, "{body}");
    assert_eq!(server.send("GET", "/healthz", USER, "").0, 200, "roles of every cluster are there");
    assert_eq!(server.send("GET", "/api/v1/namespaces/default/pods", "", "").0, 200);
}

#[test]
fn roles_are_recorded_and_compared() {
    let files = Scratch::new("record-rbac", &[]);
    let file = files.path().join("used.yaml");
    let server = Running::start(&[
        "--http",
        "--listen",
        "127.0.0.1:0",
        "--record-rbac",
        file.to_str().unwrap(),
    ]);
    let robot = "Impersonate-User: system:serviceaccount:shop:robot\r\n";
    for (path, user) in [
        ("/api/v1/namespaces/default/pods", USER),
        ("/api/v1/namespaces/default/pods/a", USER),
        ("/api/v1/namespaces/default/configmaps", USER),
        ("/api/v1/namespaces/default/configmaps/a", USER),
        ("/api/v1/namespaces/kube-system/pods", USER),
        ("/apis/apps/v1/deployments?watch=1&timeoutSeconds=1", robot),
        ("/apis/apps/v1/deployments", robot),
        ("/apis/apps/v1/namespaces/shop/deployments", robot),
        ("/apis/apps/v1/namespaces/shop/deployments/a/scale", robot),
        ("/version", robot),
    ] {
        server.send("GET", path, user, "");
    }
    end(server);
    let recorded = files.text("used.yaml");
    let users = recorded.split("---\n").filter(|document| !document.contains("name: system:admin"));
    insta::assert_snapshot!("recorded_roles", users.collect::<Vec<_>>().join("---\n"));

    files.write(
        "role.yaml",
        "apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: robot}
rules:
- {apiGroups: [apps], resources: [deployments], verbs: [get, list, watch, delete]}
- {apiGroups: [apps], resources: [deployments/scale], verbs: [get]}
- {apiGroups: [''], resources: [secrets], verbs: ['*']}
- {nonResourceURLs: [/version], verbs: [get]}
- {apiGroups: [''], resources: [pods], verbs: []}
",
    );
    insta::assert_snapshot!(
        "compared_roles",
        files.run("check --used-rbac DIR/used.yaml DIR/role.yaml")
    );
}

/// The log has a line for each request.
#[test]
fn requests_are_logged() {
    let files = Scratch::new("serve-log", &[]);
    let file = files.path().join("requests.log");
    let log = file.to_str().unwrap();
    let server = Running::start(&["--http", "--listen", "127.0.0.1:0", "--log", log]);
    server.send("GET", "/api/v1/namespaces/default/pods/a", "User-Agent: shop/v1\r\n", "");
    end(server);
    let lines = files.text("requests.log");
    let own = lines.lines().find(|line| line.contains(" shop ")).unwrap();
    assert!(own.ends_with(" shop system:admin get pods default/a 404"), "{own}");
}

/// The audit log has events, as its policy asks for them.
#[test]
fn requests_are_audited() {
    let policy = "apiVersion: audit.k8s.io/v1\nkind: Policy\nomitStages: [RequestReceived]\nrules: [{level: Metadata, verbs: [get]}]";
    let files = Scratch::new("serve-audit", &[("policy.yaml", policy)]);
    let file = |name: &str| files.path().join(name).to_str().unwrap().to_owned();
    let (log, policy) = (file("audit.log"), file("policy.yaml"));
    let server = Running::start(&[
        "--http",
        "--listen",
        "127.0.0.1:0",
        "--audit-log",
        &log,
        "--audit-policy",
        &policy,
    ]);
    server.send("GET", "/api/v1/namespaces/default/pods/a", "Audit-ID: own\r\n", "");
    server.send("GET", "/api/v1/namespaces/default/pods", "", "");
    end(server);
    let lines = files.text("audit.log");
    let [line] = lines.lines().collect::<Vec<_>>()[..] else { panic!("{lines}") };
    assert!(line.contains(r#""auditID":"own","stage":"ResponseComplete","#), "{line}");
    assert!(line.contains(r#""sourceIPs":["127.0.0.1"]"#), "{line}");

    files.write("wrong.yaml", "kind: Policy");
    insta::assert_snapshot!(
        files.run("serve --audit-log DIR/audit.log --audit-policy DIR/wrong.yaml")
    );
}
