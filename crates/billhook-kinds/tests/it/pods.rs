//! Pods and templates of pods (BK-100 to BK-115, BK-722).

use billhook_apimachinery::metadata::Time;
use billhook_apimachinery::record::complete;
use billhook_apimachinery::{KubernetesVersion, UserInfo};
use billhook_kinds::{Findings, Kind, WriteContext};
use serde_json::{Value, json};

const NOW: &str = "2024-01-02T03:04:05Z";

/// Returns the object that a server makes of a body, and its findings.
pub(crate) fn write(
    kind: &str,
    body: &Value,
    old: Option<&Value>,
    subresource: &str,
) -> (Value, Findings) {
    let kubernetes = KubernetesVersion::default();
    let kind = Kind::named("v1", kind).expect("a known kind");
    let record = kind.record().expect("a kind with fields");
    let mut object = body.clone();
    kind.behavior().read(&mut object, record, kubernetes).expect("the right types");
    let user = UserInfo::default();
    let context = WriteContext::new(kubernetes, &user, NOW).subresource(subresource);
    kind.behavior().prepare(&mut object, old, &context);
    complete(&mut object, record, kubernetes);
    let mut found = Findings::default();
    kind.behavior().validate(&object, old, &context, &mut found);
    (object, found)
}

pub(crate) fn pod(spec: &Value) -> Value {
    json!({"metadata": {"name": "p"}, "spec": spec})
}

/// A pod with a container that has some members more.
pub(crate) fn with(members: &Value) -> Value {
    let mut container = json!({"name": "c", "image": "i:1"});
    container.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
    pod(&json!({"containers": [container]}))
}

pub(crate) fn created(body: &Value) -> Value {
    let (pod, found) = write("Pod", body, None, "");
    assert_eq!(errors(&found), [""; 0], "{body}");
    pod
}

pub(crate) fn errors(found: &Findings) -> Vec<String> {
    found.errors.iter().map(ToString::to_string).collect()
}

pub(crate) fn errors_of(body: &Value) -> Vec<String> {
    errors(&write("Pod", body, None, "").1)
}

/// A copy with another value at a place.
pub(crate) fn changed(object: &Value, place: &str, value: Value) -> Value {
    let mut object = object.clone();
    let (parent, name) = place.rsplit_once('/').unwrap();
    match object.pointer_mut(parent).unwrap() {
        Value::Array(items) => items[name.parse::<usize>().unwrap()] = value,
        parent => parent[name] = value,
    }
    object
}

#[test]
fn images_are_pulled_by_their_tags() {
    // BK-102
    for (image, policy) in [
        ("nginx", "Always"),
        ("nginx:latest", "Always"),
        ("host:5000/a/b", "Always"),
        ("host:5000/a/b:latest", "Always"),
        ("nginx:1.25", "IfNotPresent"),
        ("localhost/a:1", "IfNotPresent"),
        ("nginx@sha256:00000000000000000000000000000000", "IfNotPresent"),
        ("nginx:latest@sha256:00000000000000000000000000000000", "Always"),
        ("Nginx", "IfNotPresent"),
        ("a b", "IfNotPresent"),
        ("Host/a", "Always"),
        ("a/B", "IfNotPresent"),
        ("a:-x", "IfNotPresent"),
    ] {
        let body = pod(&json!({"containers": [{"name": "c", "image": image}]}));
        let pod = write("Pod", &body, None, "").0;
        assert_eq!(pod["spec"]["containers"][0]["imagePullPolicy"], policy, "{image}");
    }
}

#[test]
fn classes_of_service() {
    // BK-101
    let both = json!({"cpu": "1", "memory": "1Gi"});
    for (resources, class) in [
        (json!({}), "BestEffort"),
        (json!({"requests": {"cpu": "0"}}), "BestEffort"),
        (json!({"limits": {"ephemeral-storage": "1"}}), "BestEffort"),
        (json!({"limits": both}), "Guaranteed"),
        (json!({"limits": both, "requests": {"cpu": "1000m", "memory": "1024Mi"}}), "Guaranteed"),
        (json!({"limits": both, "requests": {"cpu": "500m"}}), "Burstable"),
        (json!({"limits": {"cpu": "1"}}), "Burstable"),
        (json!({"requests": {"memory": "1"}}), "Burstable"),
    ] {
        let pod = created(&with(&json!({"resources": resources})));
        assert_eq!(pod["status"]["qosClass"], class, "{resources}");
    }
    let of_pod = json!({
        "containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}],
        "resources": {"limits": {"cpu": "2", "memory": "1Gi"}},
    });
    let pod = created(&pod(&of_pod));
    let requests = json!({"cpu": "1", "memory": "1Gi"});
    assert_eq!(pod["spec"]["resources"]["requests"], requests);
    assert_eq!(pod["status"]["qosClass"], "Burstable");
}

#[test]
fn pods_have_defaults_that_templates_do_not_have() {
    // BK-06, BK-29, BK-100
    let spec = json!({
        "hostNetwork": true, "serviceAccount": "sa", "terminationGracePeriodSeconds": -5,
        "schedulingGroup": {"podGroupName": "g"},
        "volumes": [{"name": "v"}, {"name": "p", "projected": {"sources": [
            {"configMap": {"name": "m"}, "clusterTrustBundle": {"path": "x"}},
        ]}}],
        "containers": [{
            "name": "c", "image": "i:1", "ports": [{"containerPort": 80}],
            "resources": {"limits": {"cpu": "0.0001"}},
            "lifecycle": {"stopSignal": "SIGTERM", "preStop": {"httpGet": {"port": 80}}},
        }],
    });
    let pod = created(&pod(&spec));
    let body = json!({"metadata": {"name": "t"}, "template": {"spec": spec}});
    let (template, found) = write("PodTemplate", &body, None, "");
    assert_eq!(errors(&found), [""; 0]);
    let template = &template["template"];
    for own in [&pod, template] {
        let own = &own["spec"];
        assert_eq!(own["serviceAccountName"], "sa");
        assert_eq!(own["volumes"][0], json!({"name": "v", "emptyDir": {}}));
        let sources = json!([{"configMap": {"name": "m"}}]);
        assert_eq!(own["volumes"][1]["projected"]["sources"], sources);
        assert!(own.get("schedulingGroup").is_none());
        let hooks = json!({"preStop": {"httpGet": {"path": "/", "port": 80, "scheme": "HTTP"}}});
        assert_eq!(own["containers"][0]["lifecycle"], hooks);
        assert_eq!(own["containers"][0]["resources"]["limits"]["cpu"], "1m");
    }
    let of = |object: &Value, place: &str| object.pointer(place).cloned();
    let place = "/spec/terminationGracePeriodSeconds";
    assert_eq!([&pod, template].map(|it| of(it, place)), [Some(json!(1)), Some(json!(-5))]);
    for place in [
        "/spec/enableServiceLinks",
        "/spec/containers/0/ports/0/hostPort",
        "/spec/containers/0/resources/requests",
    ] {
        assert!(of(&pod, place).is_some(), "{place}");
        assert!(of(template, place).is_none(), "{place}");
    }
}

#[test]
fn gated_pods_are_not_scheduled() {
    // BK-100
    let spec =
        json!({"containers": [{"name": "c", "image": "i"}], "schedulingGates": [{"name": "g"}]});
    let pod = created(&pod(&spec));
    assert_eq!(pod["status"]["conditions"][0]["reason"], "SchedulingGated");
    assert_eq!(pod["status"]["conditions"][0]["lastTransitionTime"], NOW);
    let bound = changed(&pod, "/spec/nodeName", "n".into());
    let expected =
        "spec.nodeName: Forbidden: cannot be set until all schedulingGates have been cleared";
    assert_eq!(errors_of(&bound), [expected]);
}

#[test]
fn keys_of_labels_become_expressions() {
    // BK-100
    let term = json!({"topologyKey": "z", "matchLabelKeys": ["k", "other"], "labelSelector": {}});
    let body = json!({
        "metadata": {"name": "p", "labels": {"k": "v"}},
        "spec": {
            "containers": [{"name": "c", "image": "i"}],
            "affinity": {"podAntiAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": [term],
            }},
        },
    });
    let pod = created(&body);
    let place = "/spec/affinity/podAntiAffinity/requiredDuringSchedulingIgnoredDuringExecution/0\
                 /labelSelector/matchExpressions";
    let expected = json!([{"key": "k", "operator": "In", "values": ["v"]}]);
    assert_eq!(pod.pointer(place), Some(&expected));
}

#[test]
fn rules_of_containers() {
    // BK-104
    for (members, expected) in [
        (
            json!({"image": " i"}),
            ".image: Invalid value: \" i\": must not have leading or trailing whitespace",
        ),
        (json!({"ports": [{"containerPort": 0}]}), ".ports[0].containerPort: Required value"),
        (
            json!({"ports": [{"containerPort": 1, "hostPort": 2}, {"containerPort": 3, "hostPort": 2}]}),
            ".ports[1].hostPort: Duplicate value: \"TCP//2\"",
        ),
        (
            json!({"env": [{"name": "a=b"}]}),
            ".env[0].name: Invalid value: \"a=b\": a valid environment variable name must consist only of printable ASCII characters other than '='",
        ),
        (
            json!({"env": [{"name": "a", "valueFrom": {"fieldRef": {"fieldPath": "metadata.labels"}}}]}),
            ".env[0].valueFrom.fieldRef.fieldPath: Unsupported value: \"metadata.labels\": supported values: \"metadata.name\", \"metadata.namespace\", \"metadata.uid\", \"spec.nodeName\", \"spec.serviceAccountName\", \"status.hostIP\", \"status.hostIPs\", \"status.podIP\", \"status.podIPs\"",
        ),
        (
            json!({"env": [{"name": "a", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu", "divisor": "2"}}}]}),
            ".env[0].valueFrom.resourceFieldRef.divisor: Invalid value: \"limits.cpu\": only divisor's values 1m and 1 are supported with the cpu resource",
        ),
        (
            json!({"envFrom": [{"prefix": "a"}]}),
            ".envFrom: Invalid value: \"\": must specify one of: `configMapRef` or `secretRef`",
        ),
        (
            json!({"volumeMounts": [{"name": "v", "mountPath": "/v"}]}),
            ".volumeMounts[0].name: Not found: \"v\"",
        ),
        (
            json!({"livenessProbe": {"tcpSocket": {"port": 1}, "successThreshold": 2}}),
            ".livenessProbe.successThreshold: Invalid value: 2: must be 1",
        ),
        (
            json!({"lifecycle": {"preStop": {"sleep": {"seconds": 31}}}}),
            ".lifecycle.preStop.sleep: Invalid value: 31: must be non-negative and less than terminationGracePeriodSeconds (30)",
        ),
        (
            json!({"resources": {"limits": {"cpu": "1"}, "requests": {"cpu": "2"}}}),
            ".resources.requests: Invalid value: \"2\": must be less than or equal to cpu limit of 1",
        ),
        (
            json!({"resources": {"requests": {"x.y/z": "1"}}}),
            ".resources.limits: Required value: Limit must be set for non overcommitable resources",
        ),
        (
            json!({"resources": {"limits": {"hugepages-2Mi": "2Mi"}}}),
            ".resources: Forbidden: HugePages require cpu or memory",
        ),
        (
            json!({"resources": {"claims": [{"name": "x"}]}}),
            ".resources.claims[0]: Not found: \"x\"",
        ),
        (
            json!({"restartPolicyRules": [{"action": "Restart", "exitCodes": {"operator": "In"}}]}),
            ".restartPolicy: Required value: must specify restartPolicy when restart rules are used",
        ),
        (
            json!({"securityContext": {"appArmorProfile": {"type": "Localhost"}}}),
            ".securityContext.appArmorProfile.localhostProfile: Required value: must be set when AppArmor type is Localhost",
        ),
        (
            json!({"securityContext": {"privileged": true, "allowPrivilegeEscalation": false}}),
            ".securityContext: Invalid value: {\"Capabilities\":null,\"Privileged\":true,\"SELinuxOptions\":null,\"WindowsOptions\":null,\"RunAsUser\":null,\"RunAsGroup\":null,\"RunAsNonRoot\":null,\"ReadOnlyRootFilesystem\":null,\"AllowPrivilegeEscalation\":false,\"ProcMount\":null,\"SeccompProfile\":null,\"AppArmorProfile\":null}: cannot set `allowPrivilegeEscalation` to false and `privileged` to true",
        ),
    ] {
        let expected = format!("spec.containers[0]{expected}");
        assert_eq!(errors_of(&with(&members)), [expected], "{members}");
    }
}

#[test]
fn rules_of_volumes() {
    // BK-105
    for (volume, expected) in [
        (
            json!({"name": "A"}),
            ".name: Invalid value: \"A\": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
        ),
        (
            json!({"name": "v", "emptyDir": {}, "cephfs": {}}),
            ".cephFS: Forbidden: may not specify more than 1 volume type",
        ),
        (
            json!({"name": "v", "hostPath": {"path": "/a/../b"}}),
            ".hostPath.path: Invalid value: \"/a/../b\": must not contain '..'",
        ),
        (
            json!({"name": "v", "secret": {"secretName": "s", "defaultMode": 512}}),
            ".secret.defaultMode: Invalid value: 512: must be a number between 0 and 0777 (octal), both inclusive",
        ),
        (
            json!({"name": "v", "configMap": {"name": "m", "items": [{"key": "k", "path": "..x"}]}}),
            ".configMap.items[0].path: Invalid value: \"..x\": must not start with '..'",
        ),
        (
            json!({"name": "v", "downwardAPI": {"items": [{"path": "x", "fieldRef": {"fieldPath": "spec.nodeName"}}]}}),
            ".downwardAPI.fieldRef.fieldPath: Unsupported value: \"spec.nodeName\": supported values: \"metadata.annotations\", \"metadata.labels\", \"metadata.name\", \"metadata.namespace\", \"metadata.uid\"",
        ),
        (
            json!({"name": "v", "projected": {"sources": [{"configMap": {"name": "m"}, "secret": {"name": "s"}}]}}),
            ".projected.sources[0]: Forbidden: may not specify more than 1 volume type per source",
        ),
        (
            json!({"name": "v", "projected": {"sources": [{"serviceAccountToken": {"path": "t"}}]}}),
            ".projected.sources[0].serviceAccountToken: Forbidden: must not be specified when serviceAccountName is not set",
        ),
        (
            json!({"name": "v", "nfs": {"server": "s", "path": "x"}}),
            ".nfs.path: Invalid value: \"x\": must be an absolute path",
        ),
        (json!({"name": "v", "ephemeral": {}}), ".ephemeral.volumeClaimTemplate: Required value"),
    ] {
        let body = pod(&json!({"containers": [{"name": "c", "image": "i"}], "volumes": [volume]}));
        let expected = format!("spec.volumes[0]{expected}");
        assert_eq!(errors_of(&body), [expected], "{volume}");
    }
}

#[test]
fn rules_of_the_rest() {
    // BK-106
    for (members, expected) in [
        (
            json!({"dnsPolicy": "None"}),
            "dnsConfig: Required value: must provide `dnsConfig` when `dnsPolicy` is None",
        ),
        (
            json!({"dnsConfig": {"nameservers": ["1.2.3.04"]}}),
            "dnsConfig.nameservers[0]: Invalid value: \"1.2.3.04\": must not have leading 0s",
        ),
        (
            json!({"tolerations": [{"value": "x"}]}),
            "tolerations[0].operator: Invalid value: \"\": operator must be Exists when `key` is empty, which means \"match all values and all keys\"",
        ),
        (
            json!({"tolerations": [{"key": "k", "operator": "Exists", "value": "x"}]}),
            "tolerations[0].operator: Invalid value: \"x\": value must be empty when `operator` is 'Exists'",
        ),
        (
            json!({"topologySpreadConstraints": [
               {"maxSkew": 1, "topologyKey": "z", "whenUnsatisfiable": "DoNotSchedule"},
               {"maxSkew": 2, "topologyKey": "z", "whenUnsatisfiable": "DoNotSchedule"},
            ]}),
            "topologySpreadConstraints[1].{topologyKey, whenUnsatisfiable}: Duplicate value: \"{z, DoNotSchedule}\"",
        ),
        (
            json!({"hostPID": true, "shareProcessNamespace": true}),
            "securityContext.shareProcessNamespace: Invalid value: true: ShareProcessNamespace and HostPID cannot both be enabled",
        ),
        (
            json!({"activeDeadlineSeconds": 0}),
            "activeDeadlineSeconds: Invalid value: 0: must be between 1 and 2147483647, inclusive",
        ),
        (
            json!({"os": {"name": "linux"}, "securityContext": {"windowsOptions": {}}}),
            "securityContext.windowsOptions: Forbidden: windows options cannot be set for a linux pod",
        ),
        (
            json!({"initContainers": [{"name": "c", "image": "i"}]}),
            "initContainers[0].name: Duplicate value: \"c\"",
        ),
        (
            json!({"ephemeralContainers": [{"name": "d", "image": "i"}]}),
            "ephemeralContainers: Forbidden: cannot be set on create",
        ),
    ] {
        let mut spec = json!({"containers": [{"name": "c", "image": "i"}]});
        spec.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
        assert_eq!(errors_of(&pod(&spec)), [format!("spec.{expected}")], "{members}");
    }
}

#[test]
fn rules_of_templates() {
    // BK-103, BK-115
    let spec = json!({"containers": [{"name": "c", "image": " i"}]});
    for (metadata, spec, expected) in [
        (
            json!({"labels": {"a": "b c"}}),
            spec.clone(),
            "labels: Invalid value: \"b c\": a valid label",
        ),
        (
            json!({"annotations": {"controller.kubernetes.io/pod-deletion-cost": "+1"}}),
            spec.clone(),
            "annotations[controller.kubernetes.io/pod-deletion-cost]: Invalid value: \"+1\": must be a 32bit integer",
        ),
        (
            json!({}),
            changed(&spec, "/ephemeralContainers", json!([{"name": "e", "image": "i"}])),
            "spec.ephemeralContainers: Forbidden: ephemeral containers not allowed in pod template",
        ),
    ] {
        let template = json!({"metadata": metadata, "spec": spec});
        let body = json!({"metadata": {"name": "t"}, "template": template});
        let found = errors(&write("PodTemplate", &body, None, "").1);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].starts_with(&format!("template.{expected}")), "{found:?}");
    }
}

#[test]
fn updates_change_little() {
    // BK-107
    let old = created(&with(&json!({})));
    let update = |place: &str, value: Value| {
        let pod = changed(&old, place, value);
        errors(&write("Pod", &pod, Some(&old), "").1)
    };
    assert_eq!(update("/spec/containers/0/image", "j".into()), [""; 0]);
    assert_eq!(update("/spec/activeDeadlineSeconds", 5.into()), [""; 0]);
    assert_eq!(update("/spec/tolerations", json!([{"operator": "Exists"}])), [""; 0]);
    let expected = "spec: Forbidden: pod updates may not change fields other than \
        `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,\
        `spec.tolerations` (only additions to existing tolerations),\
        `spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)\n\
        @@ -5,7 +5,9 @@\n   {\n    \"Name\": \"c\",\n    \"Image\": \"i:1\",\n-   \"Command\": null,\n\
        +   \"Command\": [\n+    \"a\"\n+   ],\n    \"Args\": null,\n    \"WorkingDir\": \"\",\n    \
        \"Ports\": null,\n";
    assert_eq!(update("/spec/containers/0/command", json!(["a"])), [expected]);
    assert_eq!(
        update(
            "/spec/containers",
            json!([{"name": "c", "image": "i:1"}, {"name": "d", "image": "i"}])
        ),
        ["spec.containers: Forbidden: pod updates may not add or remove containers"]
    );
}

#[test]
fn ephemeral_containers_are_only_added() {
    // BK-112
    let old = created(&with(&json!({})));
    let add = |containers: Value, old: &Value| {
        let mut pod = changed(old, "/spec/ephemeralContainers", containers);
        pod["spec"]["hostname"] = "ignored".into();
        write("Pod", &pod, Some(old), "ephemeralcontainers")
    };
    let debug = json!({"name": "d", "image": "i", "targetContainerName": "c"});
    let (pod, found) = add(json!([debug]), &old);
    assert_eq!(errors(&found), [""; 0]);
    assert_eq!(pod["spec"]["ephemeralContainers"][0]["name"], "d");
    assert!(pod["spec"].get("hostname").is_none());
    let removed = &errors(&add(json!([]), &pod).1)[0];
    let expected = "spec.ephemeralContainers: Forbidden: existing ephemeral containers \"d\" may not be removed\n";
    assert_eq!(removed, expected);
    let other = json!([{"name": "d", "image": "other", "targetContainerName": "c"}]);
    let (_, found) = add(other, &pod);
    assert!(errors(&found)[0].contains("\"d\" may not be changed\n@@"), "{found:?}");
    let port = json!([debug, {"name": "e", "image": "i", "ports": [{"containerPort": 1}]}]);
    let expected =
        "spec.ephemeralContainers[1].ports: Forbidden: cannot be set for an Ephemeral Container";
    assert_eq!(errors(&add(port, &pod).1), [expected]);
}

#[test]
fn the_status_of_pods() {
    // BK-108
    let old = created(&changed(&with(&json!({})), "/spec/restartPolicy", "Never".into()));
    let ended = json!([{"name": "c", "state": {"terminated": {"exitCode": 1}}}]);
    let stored = changed(&old, "/status/containerStatuses", ended);
    let update = |place: &str, value: Value| {
        let pod = changed(&stored, place, value);
        let (pod, found) = write("Pod", &pod, Some(&stored), "status");
        (pod, errors(&found))
    };
    let (pod, found) = update("/status", json!({"phase": "Odd", "podIPs": [{"ip": "1.2.3.4"}]}));
    assert_eq!(found, [""; 0]);
    assert_eq!(pod["status"]["podIP"], "1.2.3.4");
    assert_eq!(pod["status"]["qosClass"], "BestEffort");
    for (place, value, expected) in [
        (
            "/status/qosClass",
            json!("Burstable"),
            "qosClass: Invalid value: \"Burstable\": field is immutable",
        ),
        (
            "/status/podIP",
            json!("x"),
            "podIPs[0].ip: Invalid value: \"x\": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)",
        ),
        (
            "/status/containerStatuses",
            json!([{"name": "c", "state": {"running": {}}}]),
            "containerStatuses[0].state: Forbidden: may not be transitioned to non-terminated state",
        ),
        (
            "/status/resourceClaimStatuses",
            json!([{"name": "x"}]),
            "resourceClaimStatuses[0].name: Invalid value: \"x\": must match the name of an entry in \
             `spec.resourceClaims`",
        ),
    ] {
        assert_eq!(update(place, value).1, [format!("status.{expected}")], "{place}");
    }
}

#[test]
fn rows_tell_how_pods_are() {
    // BK-722
    let running = json!({"running": {"startedAt": NOW}});
    let ready = json!({"name": "c", "ready": true, "started": true, "state": running});
    for (status, ready_of, text) in [
        (json!({"phase": "Pending"}), "0/2", "Pending"),
        (json!({"phase": "Failed", "reason": "Evicted"}), "0/2", "Evicted"),
        (json!({"phase": "Running", "containerStatuses": [ready]}), "1/2", "Running"),
        (
            json!({"initContainerStatuses": [{"name": "i", "state": {"waiting": {"reason": "PodInitializing"}}}]}),
            "0/2",
            "Init:0/2",
        ),
        (
            json!({"initContainerStatuses": [{"name": "i", "state": {"terminated": {"exitCode": 2}}}]}),
            "0/2",
            "Init:ExitCode:2",
        ),
        (
            json!({"initContainerStatuses": [
                {"name": "i", "state": {"terminated": {"exitCode": 0}}},
                {"name": "s", "ready": true, "started": true, "state": running},
            ], "phase": "Running", "containerStatuses": [ready]}),
            "2/2",
            "Running",
        ),
        (
            json!({"containerStatuses": [{"name": "c", "state": {"terminated": {"exitCode": 0, "signal": 9}}}]}),
            "0/2",
            "Signal:9",
        ),
    ] {
        let pod = json!({
            "metadata": {"name": "p", "creationTimestamp": NOW},
            "spec": {
                "initContainers": [{"name": "i"}, {"name": "s", "restartPolicy": "Always"}],
                "containers": [{"name": "c"}],
            },
            "status": status,
        });
        let kind = Kind::named("v1", "Pod").unwrap();
        let cells = kind.behavior().cells(&pod, Time::parse(NOW).unwrap());
        assert_eq!((&cells[1], &cells[2]), (&json!(ready_of), &json!(text)), "{status}");
    }
    let ended = json!({"status": {"phase": "Failed"}});
    let conditions = Kind::named("v1", "Pod").unwrap().behavior().row_conditions(&ended);
    let expected = json!([{
        "type": "Completed", "status": "True", "reason": "Failed", "message": "The pod failed.",
    }]);
    assert_eq!(Value::from(conditions), expected);
}

#[test]
fn tolerations_do_not_compare_numbers() {
    // BK-106
    for (operator, supported) in [
        ("Lt", "\"Equal\", \"Exists\", \"Lt\", \"Gt\""),
        ("Gt", "\"Equal\", \"Exists\", \"Lt\", \"Gt\""),
        ("Le", "\"Equal\", \"Exists\""),
    ] {
        let tolerations = json!([{"key": "k", "operator": operator, "value": "5"}]);
        let containers = json!([{"name": "c", "image": "i"}]);
        let body = pod(&json!({"containers": containers, "tolerations": tolerations}));
        let wanted = format!(
            "spec.tolerations[0].operator: Unsupported value: \"{operator}\": supported values: {supported}"
        );
        assert_eq!(errors_of(&body), [wanted]);
    }
}

#[test]
fn a_status_has_no_fields_of_features_that_are_off() {
    // BK-29
    let old = created(&with(&json!({})));
    let mount = json!({"name": "v", "mountPath": "/a"});
    let mut sent = mount.clone();
    sent["volumeStatus"] = json!({"image": {"imageRef": "i"}});
    for list in ["containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses"] {
        let status = json!({list: [{"name": "c", "volumeMounts": [sent]}]});
        let pod = write("Pod", &changed(&old, "/status", status), Some(&old), "status").0;
        assert_eq!(pod["status"][list][0]["volumeMounts"], json!([mount]), "{list}");
    }
}
