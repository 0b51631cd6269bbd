//! Warnings about pods and templates (BK-100, BK-106).

use serde_json::{Value, json};

use crate::pods::write;

#[test]
fn names_and_selectors_are_warned_of() {
    // BK-100, BK-106
    let body = json!({"metadata": {"name": "a.b"}, "spec": {
        "containers": [{"name": "c", "image": "i"}],
        "topologySpreadConstraints": [
            {"maxSkew": 1, "topologyKey": "z", "whenUnsatisfiable": "ScheduleAnyway"},
        ],
    }});
    let expected = [
        "metadata.name: this is used in the Pod's hostname, which can result in surprising \
         behavior; a DNS label is recommended: [must not contain dots]",
        "spec.topologySpreadConstraints[0].labelSelector: a null labelSelector results in \
         matching no pod",
    ];
    let (pod, found) = write("Pod", &body, None, "");
    assert_eq!(found.warnings, expected);
    assert_eq!(write("Pod", &pod, Some(&pod), "").1.warnings, [""; 0]);
}

#[test]
fn specs_are_warned_of() {
    // BK-106, of templates alone where pods are brought into order (BK-100).
    let term = json!({"topologyKey": "z"});
    let spec = json!({
        "containers": [
            {"name": "c", "image": "i", "ports": [{"containerPort": 80}], "env": [
                {"name": "A", "value": "1"}, {"name": "A", "value": "2"},
                {"name": "A", "value": "$(A)3"}, {"name": "A", "value": "$(A)"},
            ], "resources": {"limits": {"memory": "1500m"}, "requests": {"memory": "1"}}},
            {"name": "d", "image": "i", "ports": [
                {"containerPort": 80}, {"containerPort": 80, "hostPort": 1},
            ]},
        ],
        "restartPolicy": "Never",
        "terminationGracePeriodSeconds": -1,
        "nodeSelector": {"beta.kubernetes.io/os": "linux"},
        "imagePullSecrets": [{"name": "s"}, {"name": "s"}, {}],
        "affinity": {
            "nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [
                {"weight": 1, "preference": {"matchExpressions": [
                    {"key": "a", "operator": "In", "values": ["-"]}]}},
            ]},
            "podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]},
            "podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [
                {"weight": 1, "podAffinityTerm": term}]},
        },
    });
    let expected = [
        "nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use \"kubernetes.io/os\" instead",
        "affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].preference.\
         matchExpressions[0].values[0]: - is invalid, a valid label must be an empty string or \
         consist of alphanumeric characters, '-', '_' or '.', and must start and end with an \
         alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for \
         validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
        "imagePullSecrets[1].name: duplicate name \"s\"",
        "imagePullSecrets[2].name: invalid empty name \"\"",
        "containers[0].resources.limits[memory]: fractional byte value \"1500m\" is invalid, \
         must be an integer",
        "containers[0].env[1]: hides previous definition of \"A\", which may be dropped when \
         using apply",
        "containers[0].env[3]: hides previous definition of \"A\", which may be dropped when \
         using apply",
        "containers[1].ports[0]: duplicate port definition with SPEC.containers[0].ports[0]",
        "containers[1].ports[1]: overlapping port definition with SPEC.containers[0].ports[0]",
        "containers[1].ports[1]: overlapping port definition with SPEC.containers[1].ports[0]",
        "terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be \
         treated as 1",
        "affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].labelSelector: a \
         null labelSelector results in matching no pod",
        "affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].\
         podAffinityTerm.labelSelector: a null labelSelector results in matching no pod",
    ];
    let at = |path: &str| -> Vec<String> {
        expected.iter().map(|text| format!("{path}.{text}").replace("SPEC", path)).collect()
    };
    let body = json!({"metadata": {"name": "t"}, "template": {"spec": spec}});
    assert_eq!(write("PodTemplate", &body, None, "").1.warnings, at("template.spec"));
    let mut of_pods = at("spec");
    of_pods.remove(10);
    let body = json!({"metadata": {"name": "p"}, "spec": spec});
    assert_eq!(write("Pod", &body, None, "").1.warnings, of_pods);
}

#[test]
fn unchanged_templates_are_not_warned_of_again() {
    // BK-115
    let spec = json!({
        "containers": [{"name": "c", "image": "i"}], "terminationGracePeriodSeconds": -1,
    });
    let body = json!({"metadata": {"name": "t"}, "template": {"spec": spec}});
    let (template, found) = write("PodTemplate", &body, None, "");
    assert_eq!(found.warnings.len(), 1);
    assert_eq!(write("PodTemplate", &template, Some(&template), "").1.warnings, [""; 0]);
    let mut changed = template.clone();
    changed["template"]["spec"]["hostname"] = "h".into();
    assert_eq!(write("PodTemplate", &changed, Some(&template), "").1.warnings.len(), 1);
}

#[test]
fn annotations_and_volumes_without_effect_are_warned_of() {
    // BK-106
    let body = json!({
        "metadata": {"name": "p", "annotations": {
            "scheduler.alpha.kubernetes.io/critical-pod": "",
            "seccomp.security.alpha.kubernetes.io/pod": "unconfined",
            "container.apparmor.security.beta.kubernetes.io/c": "unconfined",
            "container.apparmor.security.beta.kubernetes.io/d": "unconfined",
        }},
        "spec": {
            "containers": [
                {"name": "c", "image": "i"},
                {"name": "d", "image": "i", "securityContext": {"appArmorProfile": {
                    "type": "Unconfined",
                }}},
            ],
            "volumes": [
                {"name": "g", "gitRepo": {"repository": "r"}},
                {"name": "e", "ephemeral": {"volumeClaimTemplate": {"spec": {
                    "accessModes": ["ReadWriteOnce"],
                    "resources": {"requests": {"storage": "1500m"}},
                }}}},
            ],
        },
    });
    let expected = [
        "metadata.annotations[scheduler.alpha.kubernetes.io/critical-pod]: non-functional in \
         v1.16+; use the \"priorityClassName\" field instead",
        "metadata.annotations[seccomp.security.alpha.kubernetes.io/pod]: non-functional in v1.27+; \
         use the \"seccompProfile\" field instead",
        "metadata.annotations[container.apparmor.security.beta.kubernetes.io/c]: deprecated since \
         v1.30; use the \"appArmorProfile\" field instead",
        "spec.volumes[0].gitRepo: deprecated in v1.11, and disabled by default in v1.33+",
        "spec.volumes[1].ephemeral.volumeClaimTemplate.spec.resources.requests[storage]: fractional \
         byte value \"1500m\" is invalid, must be an integer",
    ];
    assert_eq!(write("Pod", &body, None, "").1.warnings, expected);
    let template = json!({"metadata": {"name": "t"}, "template": body});
    let warnings = write("PodTemplate", &template, None, "").1.warnings;
    assert_eq!(warnings, expected.map(|warning| format!("template.{warning}")));
}

#[test]
fn claims_volumes_and_services_are_warned_of() {
    // BK-16
    let annotated = |annotation: &str, spec: Value| json!({"metadata": {"name": "x", "annotations": {annotation: "x"}}, "spec": spec});
    let claim = json!({
        "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "0.5"}},
    });
    let term = json!({"key": "beta.kubernetes.io/os", "operator": "In", "values": ["linux"]});
    let volume = json!({
        "accessModes": ["ReadWriteOnce"], "capacity": {"storage": "1Gi"},
        "persistentVolumeReclaimPolicy": "Recycle", "hostPath": {"path": "/x"},
        "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [term]}]}},
    });
    for (kind, body, expected) in [
        (
            "PersistentVolumeClaim",
            annotated("volume.beta.kubernetes.io/storage-class", claim),
            vec![
                "metadata.annotations[volume.beta.kubernetes.io/storage-class]: deprecated since \
                 v1.8; use \"storageClassName\" attribute instead",
                "spec.resources.requests[storage]: fractional byte value \"500m\" is invalid, must be \
                 an integer",
            ],
        ),
        (
            "PersistentVolume",
            annotated("volume.beta.kubernetes.io/mount-options", volume),
            vec![
                "spec.nodeAffinity.required.nodeSelectorTerms[0].matchExpressions[0].key: \
                 beta.kubernetes.io/os is deprecated since v1.14; use \"kubernetes.io/os\" instead",
                "metadata.annotations[volume.beta.kubernetes.io/mount-options]: deprecated since \
                 v1.31; use \"mountOptions\" attribute instead",
                "spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. \
                 Instead, the recommended approach is to use dynamic provisioning.",
            ],
        ),
        (
            "Service",
            annotated(
                "service.kubernetes.io/topology-aware-hints",
                json!({"ports": [{"port": 80}], "clusterIP": "None"}),
            ),
            vec![
                "annotation service.kubernetes.io/topology-aware-hints is deprecated, please use \
                 service.kubernetes.io/topology-mode instead",
            ],
        ),
    ] {
        assert_eq!(write(kind, &body, None, "").1.warnings, expected, "{kind}");
    }
}
