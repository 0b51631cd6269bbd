//! Objects of the server's own kinds that depend on each other.

use std::sync::Arc;

use billhook_apimachinery::KubernetesVersion::{V1_34, V1_35};
use billhook_apiserver::Server;
use http::Method;
use serde_json::{Value, json};

use crate::backends::Log;
use crate::support::{Answer, call, text};

fn server() -> Server {
    Server::builder().bootstrap().without_controllers().build()
}

async fn post(server: &Server, path: &str, object: &Value) -> Answer {
    call(server, Method::POST, path, &[], &object.to_string()).await
}

async fn get(server: &Server, path: &str) -> Answer {
    call(server, Method::GET, path, &[], "").await
}

async fn delete(server: &Server, path: &str) -> Answer {
    call(server, Method::DELETE, path, &[], "").await
}

async fn patch(server: &Server, path: &str, type_: &str, patch: &Value) -> Answer {
    let type_ = format!("application/{type_}-patch+json");
    call(server, Method::PATCH, path, &[("content-type", &type_)], &patch.to_string()).await
}

fn pod(name: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": name},
        "spec": {"containers": [{"name": "c", "image": "i"}]},
    })
}

const PODS: &str = "/api/v1/namespaces/default/pods";

/// BK-562: what is used rises with each object that is let in, and not with a dry run.
#[tokio::test]
async fn a_quota_counts() {
    count_pods(&server()).await;
}

/// BK-562: a runtime of one thread brings back the write of a quota while the request waits for it.
#[tokio::test]
async fn a_quota_counts_over_a_backend() {
    let builder = Server::builder().bootstrap().without_controllers();
    let server = builder.backend(Arc::new(Log::of(Vec::new()))).build().await.unwrap();
    count_pods(&server).await;
}

async fn count_pods(server: &Server) {
    let quotas = "/api/v1/namespaces/default/resourcequotas";
    let quota = json!({
        "apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "q"},
        "spec": {"hard": {"pods": "1"}},
    });
    assert_eq!(post(server, quotas, &quota).await.code, 201);
    assert_eq!(post(server, PODS, &pod("before")).await.code, 201, "nothing is known of usage");
    let status = json!({"status": {"hard": {"pods": "1"}, "used": {"pods": "0"}}});
    let path = format!("{quotas}/q/status");
    assert_eq!(patch(server, &path, "merge", &status).await.code, 200);
    assert_eq!(post(server, &format!("{PODS}?dryRun=All"), &pod("a")).await.code, 201);
    assert_eq!(post(server, PODS, &pod("a")).await.code, 201);
    let refused = post(server, PODS, &pod("b")).await;
    assert_eq!(
        (refused.code, refused.message()),
        (
            403,
            "pods \"b\" is forbidden: exceeded quota: q, requested: pods=1, used: pods=1, limited: \
             pods=1"
                .to_owned()
        )
    );
    let used = get(server, &format!("{quotas}/q")).await.json();
    assert_eq!(text(&used, "/status/used/pods"), "1");
}

/// BK-561, BK-562: a resize keeps to the limits of the namespace, and what is used rises with it.
#[tokio::test]
async fn resizes_keep_to_limits() {
    let server = server();
    let mut small = pod("a");
    small["spec"]["containers"][0]["resources"] = json!({"requests": {"cpu": "100m"}});
    assert_eq!(post(&server, PODS, &small).await.code, 201);
    let quotas = "/api/v1/namespaces/default/resourcequotas";
    let quota = json!({
        "apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "q"},
        "spec": {"hard": {"requests.cpu": "1"}},
    });
    assert_eq!(post(&server, quotas, &quota).await.code, 201);
    let used = json!({"status": {"hard": {"requests.cpu": "1"}, "used": {"requests.cpu": "100m"}}});
    let path = format!("{quotas}/q/status");
    assert_eq!(patch(&server, &path, "merge", &used).await.code, 200);
    let range = json!({
        "apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "l"},
        "spec": {"limits": [{"type": "Container", "min": {"cpu": "200m"}}]},
    });
    assert_eq!(post(&server, "/api/v1/namespaces/default/limitranges", &range).await.code, 201);
    let resize = async |cpu: &str| {
        let resources = json!({"requests": {"cpu": cpu}});
        let patched = json!({"spec": {"containers": [{"name": "c", "resources": resources}]}});
        let path = format!("{PODS}/a/resize");
        let answer = patch(&server, &path, "strategic-merge", &patched).await;
        (answer.code, answer.message())
    };
    for (cpu, code, why) in [
        ("150m", 403, "minimum cpu usage per Container is 200m, but request is 150m"),
        ("1100m", 403, "exceeded quota: q, requested: requests.cpu=1, used: requests.cpu=100m, "),
        ("300m", 200, ""),
    ] {
        let (found, message) = resize(cpu).await;
        assert_eq!(found, code, "{cpu}: {message}");
        assert!(message.contains(why), "{cpu}: {message}");
    }
    let quota = get(&server, &format!("{quotas}/q")).await.json();
    assert_eq!(text(&quota, "/status/used/requests.cpu"), "300m");
}

/// BK-561, BK-567: namespaces limit their pods.
#[tokio::test]
async fn namespaces_have_limits() {
    let server = server();
    let range = json!({
        "apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "l"},
        "spec": {"limits": [{"type": "Container", "default": {"cpu": "500m"}}]},
    });
    assert_eq!(post(&server, "/api/v1/namespaces/default/limitranges", &range).await.code, 201);
    let created = post(&server, PODS, &pod("a")).await.json();
    assert_eq!(text(&created, "/spec/containers/0/resources/requests/cpu"), "500m");
    assert_eq!(text(&created, "/status/qosClass"), "Burstable");

    let labels = json!({"metadata": {"labels": {
        "pod-security.kubernetes.io/enforce": "baseline",
        "pod-security.kubernetes.io/warn": "restricted",
    }}});
    assert_eq!(patch(&server, "/api/v1/namespaces/default", "merge", &labels).await.code, 200);
    let warned = post(&server, PODS, &pod("b")).await;
    assert_eq!(warned.code, 201);
    assert!(warned.warnings[0].starts_with("299 - \"would violate PodSecurity"));
    let mut open = pod("c");
    open["spec"]["hostPID"] = true.into();
    let refused = post(&server, PODS, &open).await;
    assert_eq!(
        (refused.code, refused.message()),
        (
            403,
            "pods \"c\" is forbidden: violates PodSecurity \"baseline:latest\": host namespaces \
             (hostPID=true)"
                .to_owned()
        )
    );
    let wrong = json!({"metadata": {"labels": {"pod-security.kubernetes.io/warn": "x"}}});
    assert_eq!(patch(&server, "/api/v1/namespaces/default", "merge", &wrong).await.code, 422);
}

/// BK-567: a stricter level warns of the pods that are there, and they may go on.
#[tokio::test]
async fn a_new_level_of_security_is_checked_against_the_pods() {
    let server = server();
    let mut on_host = pod("on-host");
    on_host["spec"]["hostNetwork"] = true.into();
    for pod in [&pod("a"), &pod("b"), &pod("c"), &on_host] {
        assert_eq!(post(&server, PODS, pod).await.code, 201);
    }
    let label = async |level: &str| {
        let labels = json!({"metadata": {"labels": {"pod-security.kubernetes.io/enforce": level}}});
        patch(&server, "/api/v1/namespaces/default", "merge", &labels).await.warnings
    };
    let reasons = "allowPrivilegeEscalation != false, unrestricted capabilities, runAsNonRoot != \
                   true, seccompProfile";
    let warnings = [
        "existing pods in namespace \\\"default\\\" violate the new PodSecurity enforce level \
         \\\"restricted:latest\\\""
            .to_owned(),
        format!("a (and 2 other pods): {reasons}"),
        "on-host: allowPrivilegeEscalation != false, unrestricted capabilities, host namespaces, \
         runAsNonRoot != true, seccompProfile"
            .to_owned(),
    ];
    assert_eq!(label("restricted").await, warnings.map(|it| format!("299 - \"{it}\"")));
    assert_eq!(label("baseline").await, [""; 0], "a weaker level");

    let path = format!("{PODS}/on-host");
    let seconds = json!({"spec": {"activeDeadlineSeconds": 9}});
    assert_eq!(patch(&server, &path, "merge", &seconds).await.code, 200);
    let image = json!([{"op": "replace", "path": "/spec/containers/0/image", "value": "other"}]);
    assert_eq!(patch(&server, &path, "json", &image).await.code, 403);
    let container = json!({"spec": {"ephemeralContainers": [{"name": "e", "image": "i"}]}});
    let path = format!("{path}/ephemeralcontainers");
    assert_eq!(patch(&server, &path, "strategic-merge", &container).await.code, 403);
}

/// BK-680: the service of the server is there again when it is deleted, with its address.
#[tokio::test]
async fn the_service_of_the_server_stays() {
    let server = server();
    let path = "/api/v1/namespaces/default/services/kubernetes";
    let before = get(&server, path).await.json();
    let deleted = call(&server, Method::DELETE, path, &[], "").await;
    assert_eq!(deleted.code, 200);
    let after = get(&server, path).await.json();
    assert_ne!(text(&after, "/metadata/uid"), text(&before, "/metadata/uid"));
    assert_eq!(after["spec"], before["spec"]);
    let address = get(&server, "/apis/networking.k8s.io/v1/ipaddresses/10.0.0.1").await;
    assert_eq!(address.code, 200);
}

/// BK-202, BK-208: the objects that come and go with a service.
#[tokio::test]
async fn a_service_has_addresses_and_endpoints() {
    let server = server();
    let services = "/api/v1/namespaces/default/services";
    let service = json!({
        "apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"},
        "spec": {"clusterIP": "10.0.0.9", "ports": [{"port": 80}]},
    });
    let address = "/apis/networking.k8s.io/v1/ipaddresses/10.0.0.9";
    let endpoints = json!({"apiVersion": "v1", "kind": "Endpoints", "metadata": {"name": "s"}});
    assert_eq!(post(&server, &format!("{services}?dryRun=All"), &service).await.code, 201);
    assert_eq!(get(&server, address).await.code, 404);
    assert_eq!(post(&server, services, &service).await.code, 201);
    let of_service = get(&server, address).await.json();
    assert_eq!(text(&of_service, "/spec/parentRef/name"), "s");
    let path = "/api/v1/namespaces/default/endpoints";
    assert_eq!(post(&server, path, &endpoints).await.code, 201);
    assert_eq!(delete(&server, &format!("{services}/s")).await.code, 200);
    assert_eq!(get(&server, address).await.code, 404);
    assert_eq!(get(&server, &format!("{path}/s")).await.code, 404);
}

/// BK-110: a binding may be sent to its own collection.
#[tokio::test]
async fn bindings_have_a_collection() {
    let server = server();
    assert_eq!(post(&server, PODS, &pod("p")).await.code, 201);
    let binding = json!({
        "apiVersion": "v1", "kind": "Binding", "metadata": {"name": "p"},
        "target": {"kind": "Node", "name": "n"},
    });
    let bindings = "/api/v1/namespaces/default/bindings";
    assert_eq!(post(&server, bindings, &binding).await.code, 201);
    assert_eq!(text(&get(&server, &format!("{PODS}/p")).await.json(), "/spec/nodeName"), "n");
    assert_eq!(post(&server, bindings, &binding).await.code, 409);
    for method in [Method::GET, Method::DELETE] {
        let refused = call(&server, method, bindings, &[], "").await;
        assert_eq!(
            (refused.code, text(&refused.json(), "/reason")),
            (405, "MethodNotAllowed".into())
        );
    }
    assert_eq!(get(&server, &format!("{bindings}/p")).await.code, 404);
}

/// BK-254: subresources have their own verbs.
#[tokio::test]
async fn finalizers_of_namespaces_are_replaced() {
    let server = server();
    let path = "/api/v1/namespaces/default/finalize";
    let refused = patch(&server, path, "merge", &json!({"spec": {"finalizers": []}})).await;
    assert_eq!((refused.code, text(&refused.json(), "/reason")), (405, "MethodNotAllowed".into()));
    assert_eq!(get(&server, path).await.code, 405);
    let namespace = json!({"metadata": {"name": "default"}, "spec": {"finalizers": ["a.b/c"]}});
    let found = call(&server, Method::PUT, path, &[], &namespace.to_string()).await;
    assert_eq!(found.json()["spec"]["finalizers"], json!(["a.b/c"]));
}

/// BK-110, BK-564: from 1.35 on a pod has the zone and the region of its node.
#[tokio::test]
async fn pods_have_the_topology_of_their_nodes() {
    let node = json!({
        "apiVersion": "v1", "kind": "Node",
        "metadata": {"name": "n", "labels": {
            "topology.kubernetes.io/zone": "z", "topology.kubernetes.io/region": "r", "disk": "ssd",
        }},
    });
    let mut created = pod("created");
    created["metadata"]["labels"] = json!({"a": "b", "topology.kubernetes.io/zone": "own"});
    created["spec"]["nodeName"] = json!("n");
    let mut elsewhere = pod("elsewhere");
    elsewhere["spec"]["nodeName"] = json!("unknown");
    let binding = json!({
        "apiVersion": "v1", "kind": "Binding", "target": {"kind": "Node", "name": "n"},
        "metadata": {"name": "bound", "labels": {"c": "d"}, "annotations": {"e": "f"}},
    });
    for (version, of_created, of_bound) in [
        (V1_34, json!({"a": "b", "topology.kubernetes.io/zone": "own"}), Value::Null),
        (
            V1_35,
            json!({"a": "b", "topology.kubernetes.io/region": "r",
                "topology.kubernetes.io/zone": "z"}),
            json!({"c": "d", "topology.kubernetes.io/region": "r",
                "topology.kubernetes.io/zone": "z"}),
        ),
    ] {
        let builder = Server::builder().kubernetes(version).bootstrap();
        let server = builder.without_controllers().build();
        assert_eq!(post(&server, "/api/v1/nodes", &node).await.code, 201);
        let found = post(&server, PODS, &created).await.json();
        assert_eq!(found["metadata"]["labels"], of_created);
        let found = post(&server, PODS, &elsewhere).await.json();
        assert_eq!(found["metadata"]["labels"], Value::Null);
        assert_eq!(post(&server, PODS, &pod("bound")).await.code, 201);
        assert_eq!(post(&server, &format!("{PODS}/bound/binding"), &binding).await.code, 201);
        let found = get(&server, &format!("{PODS}/bound")).await.json();
        assert_eq!(found["metadata"]["labels"], of_bound);
        assert_eq!(found["metadata"]["annotations"], json!({"e": "f"}));
    }
}

/// BK-481: autoscalers are served in both versions of their group.
#[tokio::test]
async fn autoscalers_have_two_versions() {
    let server = server();
    let path = |version: &str| {
        format!("/apis/autoscaling/{version}/namespaces/default/horizontalpodautoscalers")
    };
    let autoscaler = json!({
        "apiVersion": "autoscaling/v1", "kind": "HorizontalPodAutoscaler", "metadata": {"name": "a"},
        "spec": {
            "maxReplicas": 5, "targetCPUUtilizationPercentage": 70,
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"},
        },
    });
    assert_eq!(post(&server, &path("v1"), &autoscaler).await.code, 201);
    let found = get(&server, &format!("{}/a", path("v2"))).await.json();
    assert_eq!(text(&found, "/apiVersion"), "autoscaling/v2");
    assert_eq!(found["spec"]["metrics"][0]["resource"]["target"]["averageUtilization"], 70);
    let found = get(&server, &format!("{}/a", path("v1"))).await.json();
    assert_eq!(found["spec"]["targetCPUUtilizationPercentage"], 70);
    assert_eq!(get(&server, &path("v1")).await.json()["items"].as_array().unwrap().len(), 1);
    for version in ["v1", "v2"] {
        let path = format!("{}/a", path(version));
        let found = get(&server, &path).await;
        let put = call(&server, Method::PUT, &path, &[], &found.text).await;
        assert_eq!(put.text, found.text, "nothing is written");
    }
}

/// BK-13: deletions that say nothing about dependents, and classes that stay.
#[tokio::test]
async fn deletions_of_some_kinds() {
    let server = server();
    let jobs = "/apis/batch/v1/namespaces/default/jobs/none";
    let missing = delete(&server, jobs).await;
    assert_eq!(missing.code, 404);
    assert!(missing.warnings[0].contains("child pods are preserved by default"));
    assert!(delete(&server, &format!("{jobs}?propagationPolicy=Orphan")).await.warnings.is_empty());
    let class = "/apis/scheduling.k8s.io/v1/priorityclasses/system-node-critical";
    assert_eq!(delete(&server, class).await.code, 403);
    let events = "/api/v1/namespaces/default/events";
    let event = json!({
        "apiVersion": "v1", "kind": "Event", "metadata": {"name": "e"},
        "involvedObject": {"namespace": "default"},
    });
    assert_eq!(post(&server, events, &event).await.code, 201);
    let path = format!("{events}/e?propagationPolicy=Foreground");
    assert_eq!(text(&delete(&server, &path).await.json(), "/kind"), "Status");
}

/// BK-27: the texts of strategic merge patches.
#[tokio::test]
async fn strategic_patches_have_types() {
    let server = server();
    assert_eq!(post(&server, PODS, &pod("p")).await.code, 201);
    for (spec, expected) in [
        (json!({"priority": "x"}), "map[spec:map[priority:x]]\": unrecognized type: int32"),
        (
            json!({"containers": "x"}),
            "map[spec:map[containers:x]]\": cannot restore slice from string",
        ),
        (json!({"nodeName": 5}), "map[spec:map[nodeName:5]]\": cannot convert int64 to string"),
        (json!({"hostPID": 1.5}), "map[spec:map[hostPID:1.5]]\": unrecognized type: bool"),
        (
            json!({"nodeSelector": []}),
            "map[spec:map[nodeSelector:[]]]\": cannot restore map from slice",
        ),
    ] {
        let path = format!("{PODS}/p");
        let refused = patch(&server, &path, "strategic-merge", &json!({"spec": spec})).await;
        let expected = format!(" \"\" is invalid: patch: Invalid value: \"{expected}");
        assert_eq!((refused.code, refused.message()), (422, expected));
    }
    let refused = patch(&server, &format!("{PODS}/p"), "strategic-merge", &json!([])).await;
    let expected = "json: cannot unmarshal array into Go value of type map[string]interface {}";
    assert_eq!((refused.code, refused.message()), (400, expected.to_owned()));
}

/// BK-305: labels of a Job are its own, or those that its pods get.
#[tokio::test]
async fn a_job_without_labels_has_those_of_its_pods() {
    let server = server();
    let jobs = "/apis/batch/v1/namespaces/default/jobs";
    let mut job = json!({
        "apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "a"},
        "spec": {"template": {
            "metadata": {"labels": {"app": "x"}},
            "spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]},
        }},
    });
    let created = post(&server, jobs, &job).await.json();
    assert_eq!(text(&created, "/metadata/labels/job-name"), "a");
    job["metadata"] = json!({"name": "b", "labels": {"app": "x"}});
    let created = post(&server, jobs, &job).await.json();
    assert_eq!(created["metadata"]["labels"], json!({"app": "x"}));
}

/// BK-791: labels that are there and empty are not absent ones.
#[tokio::test]
async fn errors_show_what_is_empty() {
    let server = server();
    let deployments = "/apis/apps/v1/namespaces/default/deployments";
    for (metadata, shown) in [(json!({"labels": {}}), "{}"), (json!({}), "null")] {
        let deployment = json!({
            "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"},
            "spec": {
                "selector": {"matchLabels": {"app": "x"}},
                "template": {
                    "metadata": metadata, "spec": {"containers": [{"name": "c", "image": "i"}]},
                },
            },
        });
        let expected = format!(
            "Deployment.apps \"d\" is invalid: spec.template.metadata.labels: Invalid value: {shown}: \
             `selector` does not match template `labels`"
        );
        assert_eq!(post(&server, deployments, &deployment).await.message(), expected);
    }
    let jobs = "/apis/batch/v1/namespaces/default/jobs";
    let job = |values: &Value| {
        json!({
            "apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j"},
            "spec": {
                "podFailurePolicy": {"rules": [{
                    "action": "FailJob", "onExitCodes": {"operator": "In", "values": values},
                }]},
                "template": {"spec": {
                    "containers": [{"name": "c", "image": "i"}], "restartPolicy": "Never",
                }},
            },
        })
    };
    let refused = post(&server, jobs, &job(&json!([]))).await.message();
    assert!(refused.contains("values: Invalid value: []: at least one value"), "{refused}");
    let refused = post(&server, jobs, &job(&Value::Null)).await.message();
    assert!(refused.contains("values: Invalid value: null: at least one value"), "{refused}");
    assert_eq!(post(&server, jobs, &job(&json!([1]))).await.code, 201);
    let values = "/spec/podFailurePolicy/rules/0/onExitCodes/values/0";
    let patched = json!([{"op": "remove", "path": values}]);
    let refused = patch(&server, &format!("{jobs}/j"), "json", &patched).await.message();
    assert!(refused.contains("values: Invalid value: []: at least one value"), "{refused}");
}

/// BK-07: directives have a form.
#[tokio::test]
async fn directives_of_strategic_patches_have_a_form() {
    let server = server();
    assert_eq!(post(&server, PODS, &pod("p")).await.code, 201);
    let path = format!("{PODS}/p");
    for (patched, expected) in [
        (json!({"spec": {"$retainKeys": ["a"], "nodeName": "n"}}), "retainKeys"),
        (json!({"spec": {"$retainKeys": "a"}}), "retainKeys"),
        (json!({"metadata": {"$deleteFromPrimitiveList/finalizers": "a"}}), "primitive list"),
        (json!({"spec": {"$setElementOrder/containers": {}}}), "setElementOrder list"),
    ] {
        let refused = patch(&server, &path, "strategic-merge", &patched).await;
        let expected = format!("invalid patch format of {expected}");
        assert_eq!((refused.code, refused.message()), (400, expected));
    }
}

/// BK-21, BK-22, BK-28, LC-02: what is sent to a subresource is read as any body is.
#[tokio::test]
async fn bindings_and_evictions_are_of_their_types() {
    let server = Server::builder().build();
    let pods = "/api/v1/namespaces/default/pods";
    let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"},
        "spec": {"containers": [{"name": "c", "image": "i"}]}});
    assert_eq!(post(&server, pods, &pod).await.code, 201);
    let html = [("accept", "text/html")];
    let scheme = "in scheme \"k8s.io/kubernetes/pkg/api/legacyscheme/scheme.go:30\"";
    for (subresource, kind) in [("binding", "Binding"), ("eviction", "Eviction")] {
        let path = format!("{pods}/p/{subresource}?dryRun=All&fieldValidation=Strict");
        for (body, expected) in [
            (
                json!({"kind": "Foo", "apiVersion": "v1"}),
                format!(
                    "Foo in version \"v1\" cannot be handled as a {kind}: no kind \"Foo\" is \
                         registered for version \"v1\" {scheme}"
                ),
            ),
            (
                json!({"metadata": {"name": 5}}),
                format!(
                    "{kind} in version \"v1\" cannot be handled as a {kind}: json: cannot unmarshal \
                         number into Go struct field ObjectMeta.metadata.name of type string"
                ),
            ),
            (
                json!({"zz": 1}),
                format!(
                    "{kind} in version \"v1\" cannot be handled as a {kind}: strict decoding \
                         error: unknown field \"zz\""
                ),
            ),
        ] {
            let refused = post(&server, &path, &body).await;
            assert_eq!((refused.code, refused.message()), (400, expected));
        }
        let refused = call(&server, Method::POST, &path, &[], "{").await;
        assert_eq!(
            refused.message(),
            format!(
                "the object provided is unrecognized (must be of type {kind}): couldn't get \
                     version/kind; json parse error: unexpected end of JSON input ({{)"
            ),
        );
        assert_eq!(call(&server, Method::POST, &path, &html, "{").await.code, 406);
    }
}

/// LC-02, BK-17: kinds have the verbs that discovery lists.
#[tokio::test]
async fn kinds_have_their_verbs_only() {
    let server = Server::builder().build();
    let path = "/api/v1/componentstatuses";
    let object = json!({"apiVersion": "v1", "kind": "ComponentStatus", "metadata": {"name": "a"}});
    assert_eq!(post(&server, path, &object).await.code, 405);
    assert_eq!(call(&server, Method::DELETE, &format!("{path}/a"), &[], "").await.code, 405);
    assert_eq!(call(&server, Method::GET, path, &[], "").await.code, 200);
}

/// RE-61: reviews are created as objects are, so that the type of the body is checked before options.
#[tokio::test]
async fn reviews_check_the_type_of_their_body_first() {
    let server = Server::builder().build();
    let path = "/apis/authentication.k8s.io/v1/tokenreviews?dryRun=x";
    let other = [("content-type", "text/plain")];
    assert_eq!(call(&server, Method::POST, path, &other, "{}").await.code, 415);
    assert_eq!(call(&server, Method::POST, path, &[], "{}").await.code, 422);
}

/// RE-72, ES-02: a conflict shows where the object is stored.
#[tokio::test]
async fn conflicts_of_uids_show_keys() {
    let server = Server::builder().build();
    let service = json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "a"},
        "spec": {"clusterIP": "None"}});
    let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}});
    for (plural, mut object, key) in [
        ("configmaps", map, "/registry/configmaps/default/a"),
        ("services", service, "/registry/services/specs/default/a"),
    ] {
        let path = format!("/api/v1/namespaces/default/{plural}");
        assert_eq!(post(&server, &path, &object).await.code, 201);
        object["metadata"]["uid"] = "x".into();
        let path = format!("{path}/a");
        let refused = call(&server, Method::PUT, &path, &[], &object.to_string()).await;
        assert_eq!(refused.code, 409);
        assert!(refused.message().contains(&format!("Key: {key}, ")), "{}", refused.message());
    }
}

/// LC-02: what is not there in a group of the server is a failure, not a plain text.
#[tokio::test]
async fn reviews_have_no_names() {
    let server = Server::builder().build();
    let path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews/a";
    let refused = call(&server, Method::GET, path, &[], "").await;
    assert_eq!(refused.message(), "the server could not find the requested resource");
}
