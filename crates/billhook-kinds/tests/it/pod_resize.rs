//! Resizes of pods (BK-113), and rules between their members.

use serde_json::{Value, json};

use crate::pods::{changed, created, errors, errors_of, pod, with, write};

#[test]
fn only_resources_are_resized() {
    // BK-113
    let resources =
        json!({"requests": {"cpu": "100m", "memory": "64Mi"}, "limits": {"cpu": "200m"}});
    let old = created(&with(&json!({"resources": resources})));
    let resize = |place: &str, value: Value| {
        let pod = changed(&old, place, value);
        let (pod, found) = write("Pod", &pod, Some(&old), "resize");
        (pod, errors(&found))
    };
    let (pod, found) = resize("/spec/containers/0/resources/requests/cpu", "150m".into());
    assert_eq!(found, [""; 0]);
    assert_eq!(pod["spec"]["containers"][0]["resources"]["requests"]["cpu"], "150m");
    let (pod, found) = resize("/spec/containers/0/image", "other".into());
    assert_eq!((found, &pod), (Vec::new(), &old));
    let amounts = json!({"requests": {"cpu": "1", "memory": "1Gi"}});
    let (pod, found) = resize("/spec/resources", amounts.clone());
    assert_eq!((found, &pod["spec"]["resources"]), (Vec::new(), &amounts));
    for (place, value, expected) in [
        (
            "/spec/resources",
            json!({"requests": {"cpu": "1", "memory": "1Gi", "hugepages-2Mi": "2Mi"},
                "limits": {"hugepages-2Mi": "2Mi"}}),
            vec!["spec: Forbidden: only cpu and memory resources are mutable at pod-level"],
        ),
        (
            "/spec/containers/0/resources/limits/ephemeral-storage",
            json!("1Gi"),
            vec!["spec: Forbidden: only cpu and memory resources are mutable"],
        ),
        (
            "/spec/containers/0/resources",
            Value::Null,
            vec![
                "spec: Invalid value: \"Burstable\": Pod QOS Class may not change as a result of resizing",
                "spec.containers[0].resources.requests: Forbidden: resource requests cannot be removed",
                "spec.containers[0].resources.limits: Forbidden: resource limits cannot be removed",
            ],
        ),
        (
            "/spec/containers",
            json!([{"name": "d", "image": "i"}, {"name": "c", "image": "i"}]),
            vec![
                "spec: Invalid value: \"Burstable\": Pod QOS Class may not change as a result of resizing",
                "spec.containers: Forbidden: containers may not be added or removed on resize",
            ],
        ),
    ] {
        assert_eq!(resize(place, value).1, expected, "{place}");
    }
}

#[test]
fn some_pods_are_not_resized() {
    // BK-113
    let container = json!({"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}});
    let whole = json!({"requests": {"cpu": "2"}, "limits": {"memory": "1Gi"}});
    let old = created(&pod(&json!({"containers": [container], "resources": whole})));
    let on = |status: Value| {
        let status = json!({"containerStatuses": [{"state": {"running": {}}}, status]});
        changed(&old, "/status", status)
    };
    let annotations = json!({"kubernetes.io/config.mirror": "x"});
    let running = "spec: Forbidden: Pod running on node without support for resize";
    for (old, place, value, expected) in [
        (
            changed(&old, "/metadata/annotations", annotations),
            "/spec/resources/requests/cpu",
            json!("3"),
            vec!["[]: Forbidden: static pods cannot be resized"],
        ),
        (
            changed(&old, "/spec/os", json!({"name": "windows"})),
            "/spec/resources/requests/cpu",
            json!("3"),
            vec!["[]: Forbidden: windows pods cannot be resized"],
        ),
        (on(json!({})), "/spec/resources/requests/cpu", json!("3"), vec![running]),
        (
            changed(&on(json!({})), "/status/containerStatuses/0/resources", json!({})),
            "/spec/resources/requests/cpu",
            json!("3"),
            vec![],
        ),
        (
            old.clone(),
            "/spec/resources/limits",
            Value::Null,
            vec!["spec.resources.limits: Forbidden: pod-level resource limits cannot be removed"],
        ),
    ] {
        let pod = changed(&old, place, value);
        let found = write("Pod", &pod, Some(&old), "resize").1;
        assert_eq!(errors(&found), expected, "{place}");
    }
}

#[test]
fn rules_between_members_of_a_pod() {
    // BK-104, BK-106
    let containers = json!([{"name": "c", "image": "i"}]);
    let with_sysctl = |name: &str| {
        let context = json!({"sysctls": [{"name": name, "value": "1"}]});
        pod(&json!({
            "containers": containers, "hostNetwork": true, "hostIPC": true,
            "securityContext": context,
        }))
    };
    let selecting = |selector: Value| {
        let constraint = json!({
            "maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule",
            "labelSelector": selector, "matchLabelKeys": ["app"],
        });
        let spec = json!({"containers": containers, "topologySpreadConstraints": [constraint]});
        json!({"metadata": {"name": "p", "labels": {"app": "x"}}, "spec": spec})
    };
    let selected = "spec.topologySpreadConstraints[0].matchLabelKeys[0]: Invalid value: \"app\": \
                    exists in both matchLabelKeys and labelSelector";
    let starting = json!([{
        "name": "s", "image": "i",
        "resizePolicy": [{"resourceName": "cpu", "restartPolicy": "RestartContainer"}],
    }]);
    let amounts = json!({"requests": {"cpu": "1"}, "limits": {"cpu": "3"}});
    let limited = json!([{"name": "c", "image": "i", "resources": amounts}]);
    for (body, expected) in [
        (
            with_sysctl("net.ipv4.tcp_syncookies"),
            vec![
                "spec.securityContext.sysctls[0].name: Invalid value: \
                 \"net.ipv4.tcp_syncookies\": may not be specified when 'hostNetwork' is true",
            ],
        ),
        (
            with_sysctl("kernel.shm_rmid_forced"),
            vec![
                "spec.securityContext.sysctls[0].name: Invalid value: \
                 \"kernel.shm_rmid_forced\": may not be specified when 'hostIPC' is true",
            ],
        ),
        (with_sysctl("kernel.pid_max"), vec![]),
        (selecting(json!({"matchLabels": {"other": "x"}})), vec![]),
        (selecting(json!({"matchLabels": {"app": "x"}})), vec![selected]),
        (
            pod(&json!({"containers": containers, "initContainers": starting})),
            vec![
                "spec.initContainers[0].resizePolicy[0].restartPolicy: Invalid value: \
                 \"RestartContainer\": must not be set to 'RestartContainer' for non-sidecar \
                 initContainers",
            ],
        ),
        (
            pod(&json!({"containers": limited, "resources": {"limits": {"cpu": "2"}}})),
            vec![
                "spec.containers[0].resources.limits[cpu]: Invalid value: \"3\": must be less than \
                 or equal to pod limits of 2",
            ],
        ),
    ] {
        assert_eq!(errors_of(&body), expected, "{body}");
    }
}

#[test]
fn resources_of_a_pod_as_a_whole_have_limits() {
    // BK-106, BK-113
    let container = json!({"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}});
    let pages = |size: &str| {
        let amounts = json!({"cpu": "2", "hugepages-2Mi": size});
        pod(&json!({"containers": [container], "resources": {"limits": amounts}}))
    };
    let old = created(&pages("2Mi"));
    let (_, found) = write("Pod", &created(&pages("4Mi")), Some(&old), "resize");
    let detail = "spec: Forbidden: only cpu and memory resources are mutable at pod-level";
    assert_eq!(errors(&found), [detail]);
    let of_windows = changed(&pages("2Mi"), "/spec/os", json!({"name": "windows"}));
    let wanted = "spec.resources: Forbidden: may not be set for a windows pod";
    assert_eq!(errors_of(&of_windows), [wanted]);
}

#[test]
fn claims_for_extended_resources_are_of_containers() {
    // BK-108
    let resources = json!({"limits": {"a.b/c": "1"}});
    let old = created(&with(&json!({"resources": resources})));
    let list = "status.extendedResourceClaimStatus.requestMappings";
    let mapping = |container: &str, resource: &str| json!([{"containerName": container, "resourceName": resource, "requestName": "r"}]);
    let resource = "must match the extended resource name of an entry in \
                    spec.initContainers.resources.requests or spec.containers.resources.requests";
    let container =
        "must match the name of an entry in spec.initContainers.name or spec.containers.name";
    for (mappings, wanted) in [
        (mapping("c", "a.b/c"), String::new()),
        (json!([]), format!("{list}: Required value: at least one request mapping is required")),
        (
            mapping("c", "a.b/d"),
            format!("{list}[0].resourceName: Invalid value: \"a.b/d\": {resource}"),
        ),
        (
            mapping("d", "a.b/c"),
            format!("{list}[0].containerName: Invalid value: \"d\": {container}"),
        ),
    ] {
        let claim = json!({"resourceClaimName": "x", "requestMappings": mappings});
        let pod = changed(&old, "/status/extendedResourceClaimStatus", claim);
        let (_, found) = write("Pod", &pod, Some(&old), "status");
        assert_eq!(errors(&found).join("; "), wanted);
    }
}
