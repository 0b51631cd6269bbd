//! Discovery, the version and health, by plain requests (DT-01 to DT-32).

use billhook_apiserver::Server;
use http::Method;
use serde_json::{Value, json};

use crate::support::{Answer, call, definition, server};

const AGGREGATED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

async fn get(server: &Server, path: &str) -> Answer {
    call(server, Method::GET, path, &[], "").await
}

/// D01, D02, D06.
#[tokio::test]
async fn groups_versions_and_resources_are_told() {
    let server = server();
    assert_eq!(
        get(&server, "/apis/example.com").await.text,
        "{\"kind\":\"APIGroup\",\"apiVersion\":\"v1\",\"name\":\"example.com\",\"versions\":\
         [{\"groupVersion\":\"example.com/v1\",\"version\":\"v1\"}],\"preferredVersion\":\
         {\"groupVersion\":\"example.com/v1\",\"version\":\"v1\"}}\n",
    );
    assert_eq!(
        get(&server, "/apis/example.com/v1/").await.text,
        "{\"kind\":\"APIResourceList\",\"apiVersion\":\"v1\",\"groupVersion\":\"example.com/v1\",\
         \"resources\":[{\"name\":\"foos\",\"singularName\":\"foo\",\"namespaced\":true,\
         \"kind\":\"Foo\",\"verbs\":[\"delete\",\"deletecollection\",\"get\",\"list\",\"patch\",\
         \"create\",\"update\",\"watch\"],\"storageVersionHash\":\"4XyhoHMtUhg=\"},\
         {\"name\":\"foos/status\",\"singularName\":\"\",\"namespaced\":true,\"kind\":\"Foo\",\
         \"verbs\":[\"get\",\"patch\",\"update\"]}]}\n",
    );
    let groups = get(&server, "/apis").await.json();
    let groups = groups["groups"].as_array().unwrap();
    assert!(groups.iter().any(|group| group["name"] == "example.com"), "{groups:?}");
    for path in ["/apis/example.com/v2", "/apis/none", "/apis/none/v1", "//apis"] {
        assert_eq!(get(&server, path).await.text, "404 page not found\n", "{path}");
    }
}

/// D03, DT-20, DT-22.
#[tokio::test]
async fn everything_is_told_at_once() {
    let server = server();
    let accept = [("accept", &*format!("application/json,{AGGREGATED};q=0.1"))];
    let answer = call(&server, Method::GET, "/apis?timeout=32s", &accept, "").await;
    let document = answer.json();
    let items = document["items"].as_array().unwrap();
    let own = items.iter().find(|item| item["metadata"]["name"] == "example.com").unwrap();
    assert_eq!(
        own["versions"],
        json!([{"version": "v1", "freshness": "Current", "resources": [{
            "resource": "foos",
            "responseKind": {"group": "example.com", "version": "v1", "kind": "Foo"},
            "scope": "Namespaced", "singularResource": "foo",
            "verbs": ["delete", "deletecollection", "get", "list", "patch", "create", "update",
                "watch"],
            "subresources": [{"subresource": "status",
                "responseKind": {"group": "example.com", "version": "v1", "kind": "Foo"},
                "verbs": ["get", "patch", "update"]}]}]}]),
    );
    assert_eq!(answer.headers["content-type"], AGGREGATED);
    let tag = answer.headers["etag"].to_str().unwrap();
    let known = [("accept", AGGREGATED), ("if-none-match", tag)];
    let unchanged = call(&server, Method::GET, "/apis", &known, "").await;
    assert_eq!((unchanged.code, unchanged.text.as_str()), (304, ""));
    let beta = [("accept", &*AGGREGATED.replace("v=v2", "v=v2beta1"))];
    assert_eq!(call(&server, Method::GET, "/apis", &beta, "").await.code, 406);
}

/// DT-05.
#[tokio::test]
async fn the_newest_stable_version_is_preferred() {
    let mut definition = definition();
    let first = definition["spec"]["versions"][0].clone();
    for name in ["v1beta2", "v2", "v10", "v1alpha1"] {
        let mut version = first.clone();
        version["name"] = name.into();
        version["storage"] = false.into();
        definition["spec"]["versions"].as_array_mut().unwrap().push(version);
    }
    let server = Server::builder().definition(&definition).unwrap().build();
    let group = get(&server, "/apis/example.com").await.json();
    let versions: Vec<&Value> =
        group["versions"].as_array().unwrap().iter().map(|version| &version["version"]).collect();
    assert_eq!(versions, ["v10", "v2", "v1", "v1beta2", "v1alpha1"]);
}

/// DT-30, DT-31.
#[tokio::test]
async fn version_and_health_are_told() {
    let server = server();
    let version = get(&server, "/version").await;
    assert!(version.text.starts_with("{\n  \"major\": \"1\",\n  \"minor\": \"36\",\n"));
    if cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        assert_eq!(version.json()["platform"], "linux/amd64");
    }
    assert_eq!(get(&server, "/readyz").await.text, "ok");
    assert_eq!(get(&server, "/livez/ping").await.text, "ok");
    assert_eq!(get(&server, "/livez/none").await.code, 404);
    assert_eq!(
        get(&server, "/healthz?verbose&exclude=x").await.text,
        "[+]ping ok\nwarn: some health checks cannot be excluded: no matches for \"x\"\n\
         healthz check passed\n",
    );
}

/// ET-63: the checks of a server that is a part of a cluster have the names and the order that were
/// measured.
#[tokio::test]
async fn servers_of_clusters_have_many_checks() {
    let server = Server::builder().bootstrap().build();
    let health = get(&server, "/healthz?verbose").await.text;
    let lines: Vec<&str> = health.lines().collect();
    assert_eq!(lines.len(), 36);
    assert_eq!(
        lines[..4],
        ["[+]ping ok", "[+]log ok", "[+]loopback-serving-certificate ok", "[+]etcd ok"]
    );
    assert_eq!(lines[20], "[+]poststarthook/rbac/bootstrap-roles ok");
    assert_eq!(lines[34], "[+]poststarthook/apiservice-openapiv3-controller ok");
    assert_eq!(lines[35], "healthz check passed");
    let ready = get(&server, "/readyz?verbose&exclude=etcd").await.text;
    assert!(ready.contains("[+]log ok\n[+]informer-sync ok\n[+]poststarthook/"), "{ready}");
    let end = "[+]shutdown ok\nwarn: some health checks cannot be excluded: no matches for \"etcd\"\n\
               readyz check passed\n";
    assert!(ready.ends_with(end), "{ready}");
    let check = "/livez/poststarthook/rbac/bootstrap-roles";
    assert_eq!(get(&server, check).await.text, "ok");
}

/// DT-02, DT-06, DT-07: the server's own groups come first, and their resources have verbs in
/// another order.
#[tokio::test]
async fn own_groups_come_first() {
    let server = server();
    let groups = get(&server, "/apis").await.json();
    let names: Vec<&Value> =
        groups["groups"].as_array().unwrap().iter().map(|group| &group["name"]).collect();
    assert_eq!(
        names,
        [
            "apiregistration.k8s.io",
            "apps",
            "events.k8s.io",
            "authentication.k8s.io",
            "authorization.k8s.io",
            "autoscaling",
            "batch",
            "certificates.k8s.io",
            "networking.k8s.io",
            "policy",
            "rbac.authorization.k8s.io",
            "storage.k8s.io",
            "admissionregistration.k8s.io",
            "apiextensions.k8s.io",
            "scheduling.k8s.io",
            "coordination.k8s.io",
            "node.k8s.io",
            "discovery.k8s.io",
            "flowcontrol.apiserver.k8s.io",
            "resource.k8s.io",
            "example.com",
        ],
    );
    assert_eq!(
        get(&server, "/apis/apiextensions.k8s.io/v1").await.text,
        "{\"kind\":\"APIResourceList\",\"apiVersion\":\"v1\",\"groupVersion\":\
         \"apiextensions.k8s.io/v1\",\"resources\":[{\"name\":\"customresourcedefinitions\",\
         \"singularName\":\"customresourcedefinition\",\"namespaced\":false,\"kind\":\
         \"CustomResourceDefinition\",\"verbs\":[\"create\",\"delete\",\"deletecollection\",\
         \"get\",\"list\",\"patch\",\"update\",\"watch\"],\"shortNames\":[\"crd\",\"crds\"],\
         \"categories\":[\"api-extensions\"],\"storageVersionHash\":\"jfWCUB31mvA=\"},\
         {\"name\":\"customresourcedefinitions/status\",\"singularName\":\"\",\"namespaced\":\
         false,\"kind\":\"CustomResourceDefinition\",\"verbs\":[\"get\",\"patch\",\"update\"]}]}\n",
    );
    let reviews = get(&server, "/apis/authorization.k8s.io/v1").await.json();
    assert_eq!(
        reviews["resources"][0],
        json!({"name": "localsubjectaccessreviews", "singularName": "localsubjectaccessreview",
            "namespaced": true, "kind": "LocalSubjectAccessReview", "verbs": ["create"]}),
    );
    let core = get(&server, "/api/v1").await.json();
    assert_eq!((core.get("apiVersion"), &core["groupVersion"]), (None, &json!("v1")));
    // BK-17: what is only sent is listed, and what is only found out has no hash.
    let bindings = json!({"name": "bindings", "singularName": "binding", "namespaced": true,
        "kind": "Binding", "verbs": ["create"]});
    assert_eq!(core["resources"][0], bindings);
    assert_eq!(core["resources"][1]["name"], "componentstatuses");
    assert_eq!(core["resources"][1].get("storageVersionHash"), None);
    let host = [("host", "127.0.0.1:1")];
    let versions = call(&server, Method::GET, "/api", &host, "").await.text;
    assert_eq!(
        versions,
        "{\"kind\":\"APIVersions\",\"versions\":[\"v1\"],\"serverAddressByClientCIDRs\":\
         [{\"clientCIDR\":\"0.0.0.0/0\",\"serverAddress\":\"127.0.0.1:1\"}]}\n",
    );
}

/// DT-32: the paths of a server, sorted, whatever form is asked for.
#[tokio::test]
async fn the_root_lists_the_paths() {
    let answer = call(&server(), Method::GET, "/", &[("accept", "text/html")], "").await;
    assert!(answer.text.starts_with("{\n  \"paths\": [\n    \"/api\",\n"), "{}", answer.text);
    let document = answer.json();
    let paths: Vec<&str> =
        document["paths"].as_array().unwrap().iter().map(|path| path.as_str().unwrap()).collect();
    assert!(paths.is_sorted(), "{paths:?}");
    for path in ["/apis/apiextensions.k8s.io/v1", "/apis/example.com", "/apis/example.com/v1"] {
        assert!(paths.contains(&path), "{paths:?}");
    }
    for path in paths {
        assert_eq!(call(&server(), Method::GET, path, &[], "").await.code, 200, "{path}");
    }
}
