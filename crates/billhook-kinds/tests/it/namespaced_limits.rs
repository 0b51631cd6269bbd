//! LimitRanges, ResourceQuotas and levels of security (BK-561, BK-562, BK-567).

use billhook_kinds::{
    QuotaSubject, SecurityDefaults, charge, claim_exceeds, pod_exceeds, security_label_errors,
    set_limit_defaults,
};
use serde_json::{Value, json};

use crate::support::Subject;

fn pod(containers: Value) -> Value {
    json!({"metadata": {"name": "p"}, "spec": {"containers": containers}})
}

fn range() -> Value {
    json!({"spec": {"limits": [
        {
            "type": "Container", "default": {"cpu": "500m", "memory": "64Mi"},
            "defaultRequest": {"cpu": "100m", "memory": "64Mi"},
            "max": {"cpu": "1", "memory": "128Mi"}, "min": {"cpu": "50m"},
            "maxLimitRequestRatio": {"cpu": "5"},
        },
        {"type": "Pod", "max": {"cpu": "2"}},
        {"type": "PersistentVolumeClaim", "min": {"storage": "1Gi"}, "max": {"storage": "3Gi"}},
    ]}})
}

/// BK-561: what is missing is set, and noted.
#[test]
fn limit_ranges_have_defaults() {
    let mut pod =
        pod(json!([{"name": "a"}, {"name": "b", "resources": {"requests": {"memory": "1Mi"}}}]));
    set_limit_defaults(&mut pod, &range());
    assert_eq!(
        pod["metadata"]["annotations"]["kubernetes.io/limit-ranger"],
        "LimitRanger plugin set: cpu, memory request for container a; cpu, memory limit for \
         container a; cpu request for container b; cpu, memory limit for container b"
    );
    assert_eq!(
        pod["spec"]["containers"][1]["resources"]["requests"],
        json!({"cpu": "100m", "memory": "1Mi"})
    );
}

/// BK-561: the texts of refusals.
#[test]
fn limit_ranges_refuse() {
    let of = |resources: Value| pod(json!([{"name": "a", "resources": resources}]));
    for (pod, expected) in [
        (
            of(json!({"requests": {"cpu": "10m"}, "limits": {"cpu": "500m", "memory": "1Mi"}})),
            "[minimum cpu usage per Container is 50m, but request is 10m, cpu max limit to request \
             ratio per Container is 5, but provided ratio is 50.000000]",
        ),
        (
            of(json!({"requests": {"cpu": "2"}, "limits": {"cpu": "2", "memory": "1Mi"}})),
            "maximum cpu usage per Container is 1, but limit is 2",
        ),
        (
            of(json!({"requests": {"cpu": "1"}, "limits": {"cpu": "1"}})),
            "maximum memory usage per Container is 128Mi.  No limit is specified",
        ),
        (
            of(json!({"limits": {"cpu": "1", "memory": "1Mi"}})),
            "[minimum cpu usage per Container is 50m.  No request is specified, cpu max limit to \
             request ratio per Container is 5, but no request is specified or request is 0]",
        ),
    ] {
        assert_eq!(pod_exceeds(&range(), &pod).as_deref(), Some(expected));
    }
    let claim = |size| json!({"spec": {"resources": {"requests": {"storage": size}}}});
    let why = "maximum storage usage per PersistentVolumeClaim is 3Gi, but request is 4Gi";
    assert_eq!(claim_exceeds(&range(), &claim("4Gi")).as_deref(), Some(why));
    assert_eq!(claim_exceeds(&range(), &claim("2Gi")), None);
}

fn quota(hard: Value, used: Value) -> Value {
    json!({"metadata": {"name": "q"}, "status": {"hard": hard, "used": used}})
}

/// BK-562: a quota demands values, must know what is used, and is charged.
#[test]
fn quotas_are_charged() {
    let quota = quota(
        json!({"pods": "2", "requests.cpu": "1", "limits.memory": "1Gi"}),
        json!({"pods": "1", "requests.cpu": "600m", "limits.memory": "0"}),
    );
    let refusal = |pod: &Value| {
        let subject = QuotaSubject::new("", "pods", pod, None);
        match subject.is_covered_by(&quota) {
            Ok(true) => charge(&quota, &subject.added().unwrap()).err().map(|why| why.to_string()),
            Ok(false) => Some("not covered".to_owned()),
            Err(why) => Some(why.to_string()),
        }
    };
    let full = |cpu| json!({"requests": {"cpu": cpu}, "limits": {"memory": "100Mi"}});
    for (resources, expected) in [
        (
            json!({}),
            Some("failed quota: q: must specify limits.memory for: a; requests.cpu for: a"),
        ),
        (
            full("500m"),
            Some(
                "exceeded quota: q, requested: requests.cpu=500m, used: requests.cpu=600m, limited: requests.cpu=1",
            ),
        ),
        (full("400m"), None),
    ] {
        let pod = pod(json!([{"name": "a", "resources": resources}]));
        assert_eq!(refusal(&pod).as_deref(), expected, "{pod}");
    }
    let pod = pod(json!([{"name": "a", "resources": full("400m")}]));
    let added = QuotaSubject::new("", "pods", &pod, None).added().unwrap();
    let used = charge(&quota, &added).unwrap().unwrap();
    assert_eq!(
        Value::from(used),
        json!({"pods": "2", "requests.cpu": "1", "limits.memory": "100Mi"})
    );
}

/// BK-562: names that count objects, values that are not known, and updates.
#[test]
fn quotas_count_objects() {
    let object = json!({"metadata": {"name": "a"}});
    let subject = QuotaSubject::new("apps", "deployments", &object, None);
    let unknown = quota(json!({"count/deployments.apps": "1"}), json!({}));
    assert_eq!(
        subject.is_covered_by(&unknown).unwrap_err().to_string(),
        "status unknown for quota: q, resources: count/deployments.apps"
    );
    let other = quota(json!({"count/deployments.extensions": "1"}), json!({}));
    assert_eq!(subject.is_covered_by(&other), Ok(false));
    let service =
        |type_: &str| json!({"spec": {"type": type_, "ports": [{"port": 1}, {"port": 2}]}});
    let (old, new) = (service("ClusterIP"), service("NodePort"));
    let added = QuotaSubject::new("", "services", &new, Some(&old)).added().unwrap();
    let added: Vec<String> =
        added.iter().map(|(name, amount)| format!("{name}={amount}")).collect();
    assert_eq!(added, ["services.nodeports=2"]);
    assert!(QuotaSubject::counts_updates("", "services"));
    assert!(!QuotaSubject::counts_updates("", "pods"));
}

/// BK-562: quotas that are for some pods only.
#[test]
fn quotas_have_scopes() {
    let with = |scopes: Value| {
        let mut quota = quota(json!({"pods": "1"}), json!({"pods": "0"}));
        quota["spec"] = scopes;
        quota
    };
    let best_effort = pod(json!([{"name": "a"}]));
    let mut ending = best_effort.clone();
    ending["spec"]["activeDeadlineSeconds"] = 5.into();
    ending["spec"]["priorityClassName"] = "high".into();
    let term = |operator: &str| {
        json!({"scopeSelector": {"matchExpressions": [
            {"scopeName": "PriorityClass", "operator": operator, "values": ["high"]},
        ]}})
    };
    for (scopes, of_first, of_second) in [
        (json!({"scopes": ["BestEffort"]}), true, true),
        (json!({"scopes": ["NotBestEffort"]}), false, false),
        (json!({"scopes": ["Terminating"]}), false, true),
        (json!({"scopes": ["NotTerminating"]}), true, false),
        (term("In"), false, true),
        (term("NotIn"), true, false),
        (term("Exists"), false, true),
        (term("DoesNotExist"), true, false),
    ] {
        for (pod, expected) in [(&best_effort, of_first), (&ending, of_second)] {
            let subject = QuotaSubject::new("", "pods", pod, None);
            assert_eq!(subject.is_covered_by(&with(scopes.clone())), Ok(expected), "{scopes}");
        }
    }
}

/// BK-567: the levels, and what is wrong with pods that do not have them.
#[test]
fn levels_of_security() {
    let level = |level: &str| {
        let labels = json!({"pod-security.kubernetes.io/enforce": level});
        SecurityDefaults::default().level(&json!({"metadata": {"labels": labels}}), "enforce")
    };
    assert_eq!(level("privileged"), None);
    let found = |name: &str, spec: Value| {
        level(name).unwrap().violation(&json!({}), &spec).unwrap_or_default()
    };
    let open = json!({
        "hostNetwork": true, "containers": [{"name": "c", "securityContext": {"privileged": true}}],
    });
    assert_eq!(
        found("baseline", open),
        "violate PodSecurity \"baseline:latest\": host namespaces (hostNetwork=true), privileged \
         (container \"c\" must not set securityContext.privileged=true)"
    );
    let plain = json!({"containers": [{"name": "c"}]});
    assert_eq!(
        found("restricted", plain),
        "violate PodSecurity \"restricted:latest\": allowPrivilegeEscalation != false (container \
         \"c\" must set securityContext.allowPrivilegeEscalation=false), unrestricted capabilities \
         (container \"c\" must set securityContext.capabilities.drop=[\"ALL\"]), runAsNonRoot != \
         true (pod or container \"c\" must set securityContext.runAsNonRoot=true), seccompProfile \
         (pod or container \"c\" must set securityContext.seccompProfile.type to \
         \"RuntimeDefault\" or \"Localhost\")"
    );
    let safe = json!({
        "securityContext": {"runAsNonRoot": true, "seccompProfile": {"type": "RuntimeDefault"}},
        "containers": [{"name": "c", "securityContext": {
            "allowPrivilegeEscalation": false, "capabilities": {"drop": ["ALL"]},
        }}],
    });
    assert_eq!(found("restricted", safe), "");
    let labels = json!({"metadata": {"labels": {
        "pod-security.kubernetes.io/enforce": "odd",
        "pod-security.kubernetes.io/warn-version": "v1.30",
    }}});
    let errors: Vec<String> =
        security_label_errors(&labels).iter().map(ToString::to_string).collect();
    assert_eq!(
        errors,
        [
            "metadata.labels[pod-security.kubernetes.io/enforce]: Invalid value: \"odd\": must be one \
          of privileged, baseline, restricted"
        ]
    );
}

/// BK-567: the rules of a level are those of its version.
#[test]
fn levels_of_security_have_versions() {
    let windows = json!({
        "os": {"name": "windows"}, "securityContext": {"runAsNonRoot": true},
        "containers": [{"name": "c"}],
    });
    let sysctl =
        |name: &str| json!({"securityContext": {"sysctls": [{"name": name, "value": "1"}]}});
    let labeled = |type_: &str| json!({"securityContext": {"seLinuxOptions": {"type": type_}}});
    let probe = json!({"containers": [{
        "name": "c", "livenessProbe": {"tcpSocket": {"port": 1, "host": "x"}},
    }]});
    let root = json!({"securityContext": {"runAsNonRoot": true, "runAsUser": 0}});
    let adding = json!({"securityContext": {"runAsNonRoot": true}, "containers": [{
        "name": "c", "securityContext": {"capabilities": {"add": ["CHOWN"]}},
    }]});
    for (level, version, spec, reasons) in [
        ("restricted", "v1.25", &windows, ""),
        (
            "restricted",
            "v1.24",
            &windows,
            "allowPrivilegeEscalation != false, unrestricted capabilities, seccompProfile",
        ),
        ("baseline", "v1.26", &sysctl("net.ipv4.ip_local_reserved_ports"), "forbidden sysctls"),
        ("baseline", "v1.27", &sysctl("net.ipv4.ip_local_reserved_ports"), ""),
        ("baseline", "v1.31", &sysctl("net.ipv4.tcp_rmem"), "forbidden sysctls"),
        ("baseline", "latest", &sysctl("net.ipv4.tcp_rmem"), ""),
        ("baseline", "v1.30", &labeled("container_engine_t"), "seLinuxOptions"),
        ("baseline", "v1.31", &labeled("container_engine_t"), ""),
        ("baseline", "v1.33", &probe, ""),
        ("baseline", "v1.34", &probe, "probe or lifecycle host"),
        ("restricted", "v1.22", &root, ""),
        ("restricted", "v1.23", &root, "runAsUser=0"),
        ("restricted", "v1.7", &adding, ""),
        ("restricted", "v1.21", &adding, "allowPrivilegeEscalation != false, seccompProfile"),
    ] {
        let labels = json!({
            "pod-security.kubernetes.io/enforce": level,
            "pod-security.kubernetes.io/enforce-version": version,
        });
        let level = SecurityDefaults::default()
            .level(&json!({"metadata": {"labels": labels}}), "enforce")
            .unwrap();
        let found = level.reasons(&json!({}), spec).unwrap_or_default();
        assert_eq!(found, reasons, "{} {spec}", level.quoted());
    }
}

#[test]
fn amounts_in_lists_of_resources_are_thousandths() {
    // BK-25
    let fine = || json!({"storage": "0.0001", "cpu": "1500u"});
    let rounded = json!({"storage": "1m", "cpu": "2m"});
    for (api_version, kind, places) in [
        ("v1", "PersistentVolume", &["/spec/capacity"][..]),
        (
            "v1",
            "PersistentVolumeClaim",
            &["/spec/resources/requests", "/status/capacity", "/status/allocatedResources"],
        ),
        ("v1", "LimitRange", &["/spec/limits/0/max", "/spec/limits/0/maxLimitRequestRatio"]),
        ("v1", "ResourceQuota", &["/spec/hard", "/status/hard", "/status/used"]),
        ("v1", "Node", &["/status/capacity", "/status/allocatable"]),
        ("v1", "Pod", &["/status/containerStatuses/0/allocatedResources", "/spec/overhead"]),
        ("node.k8s.io/v1", "RuntimeClass", &["/overhead/podFixed"]),
    ] {
        for place in places {
            let mut object = fine();
            for name in place.rsplit('/').filter(|name| !name.is_empty()) {
                object = if name == "0" { json!([object]) } else { json!({name: object}) };
            }
            let object = Subject::new(api_version, kind).read(object);
            assert_eq!(object.pointer(place), Some(&rounded), "{kind} {place}");
        }
    }
}
