//! Fields that servers of older versions do not keep (BK-770), and some that all keep.

use billhook_apimachinery::KubernetesVersion::{self, V1_32, V1_33, V1_34, V1_35};
use serde_json::{Value, json};

use crate::support::Subject;

fn pod() -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"},
        "spec": {
            "containers": [{
                "name": "c", "image": "i",
                "env": [{"name": "A", "valueFrom": {
                    "fileKeyRef": {"volumeName": "v", "path": "p", "key": "K"},
                }}],
                "resources": {"claims": [{"name": "d"}]},
                "resizePolicy": [{"resourceName": "cpu", "restartPolicy": "NotRequired"}],
                "restartPolicyRules": [{"action": "Restart"}],
                "securityContext": {"procMount": "Default"},
            }],
            "hostUsers": false,
            "hostnameOverride": "a.example.com",
            "resourceClaims": [{"name": "d", "resourceClaimName": "d"}],
            "resources": {"limits": {"cpu": "1"}},
            "securityContext": {
                "seLinuxChangePolicy": "Recursive", "supplementalGroupsPolicy": "Strict",
            },
            "volumes": [{"name": "v", "image": {"reference": "r:1"}}],
        },
    })
}

/// BK-770: fields whose features are off are dropped from pods and from templates of pods.
#[test]
fn fields_of_pods_are_dropped() {
    for (place, since) in [
        ("/containers/0/env/0/valueFrom/fileKeyRef", V1_35),
        ("/containers/0/resources/claims", V1_34),
        ("/containers/0/resizePolicy", V1_33),
        ("/containers/0/restartPolicyRules", V1_35),
        ("/containers/0/securityContext/procMount", V1_33),
        ("/hostUsers", V1_33),
        ("/hostnameOverride", V1_35),
        ("/resourceClaims", V1_34),
        ("/resources", V1_34),
        ("/securityContext/seLinuxChangePolicy", V1_33),
        ("/securityContext/supplementalGroupsPolicy", V1_33),
        ("/volumes/0/image", V1_35),
    ] {
        for version in KubernetesVersion::ALL {
            let read = Subject::new("v1", "Pod").on(version).read(pod());
            let found = read["spec"].pointer(place).is_some();
            assert_eq!(found, version >= since, "{place} in {version}");
            let template = json!({"apiVersion": "v1", "kind": "PodTemplate",
                "metadata": {"name": "a"}, "template": {"spec": pod()["spec"]}});
            let read = Subject::new("v1", "PodTemplate").on(version).read(template);
            let found = read["template"]["spec"].pointer(place).is_some();
            assert_eq!(found, version >= since, "{place} of a template in {version}");
        }
    }
}

/// BK-770: fields of statuses, and of autoscalers.
#[test]
fn fields_of_other_kinds_are_dropped() {
    for version in KubernetesVersion::ALL {
        for kind in ["Deployment", "ReplicaSet"] {
            let workload = json!({"apiVersion": "apps/v1", "kind": kind,
                "metadata": {"name": "a"}, "status": {"terminatingReplicas": 1}});
            let read = Subject::new("apps/v1", kind).on(version).read(workload);
            let found = read["status"].get("terminatingReplicas").is_some();
            assert_eq!(found, version >= V1_35, "{kind} in {version}");
        }
        let autoscaler = json!({"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler",
            "metadata": {"name": "a"}, "spec": {
                "maxReplicas": 2, "behavior": {"scaleDown": {"tolerance": "100m"}}}});
        let subject = Subject::new("autoscaling/v2", "HorizontalPodAutoscaler").on(version);
        let read = subject.read(autoscaler);
        let found = read["spec"]["behavior"]["scaleDown"].get("tolerance").is_some();
        assert_eq!(found, version >= V1_35, "{version}");

        let mut reported = pod();
        reported["status"] = json!({"observedGeneration": 3, "conditions": [
            {"type": "Ready", "status": "True", "observedGeneration": 3}]});
        let subject = Subject::new("v1", "Pod").on(version).subresource("status");
        let prepared = subject.prepared(reported, Some(&pod()));
        for place in ["/status/observedGeneration", "/status/conditions/0/observedGeneration"] {
            assert_eq!(prepared.pointer(place).is_some(), version >= V1_34, "{place} in {version}");
        }
    }
}

/// BK-108: the generations that a status is about stay, unless others are given.
#[test]
fn observed_generations_are_kept() {
    let with = |status: Value| {
        let mut pod = pod();
        pod["status"] = status;
        pod
    };
    let ready = |generation: Value| json!({"type": "Ready", "status": "True", "observedGeneration": generation});
    let old = with(json!({"observedGeneration": 3, "conditions": [
        ready(json!(2)), {"type": "A", "status": "True"}]}));
    for (status, generation, conditions) in [
        (
            json!({"conditions": [{"type": "A", "status": "False"}, ready(Value::Null)]}),
            3,
            [None, Some(2)],
        ),
        (
            json!({"observedGeneration": 0, "conditions": [ready(json!(0)), {"type": "B"}]}),
            3,
            [Some(2), None],
        ),
        (
            json!({"observedGeneration": 5, "conditions": [ready(json!(4)), {"type": "B"}]}),
            5,
            [Some(4), None],
        ),
    ] {
        let subject = Subject::new("v1", "Pod").subresource("status");
        let status = subject.prepared(with(status), Some(&old))["status"].clone();
        assert_eq!(status["observedGeneration"], generation);
        let found = [0, 1].map(|index| status["conditions"][index]["observedGeneration"].as_i64());
        assert_eq!(found, conditions);
    }
}

/// BK-106, BK-770: search paths had no underscores, and were never the root.
#[test]
fn search_paths_were_stricter() {
    let mut pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"},
        "spec": {"containers": [{"name": "c", "image": "i", "resources": {}}]}});
    pod["spec"]["dnsConfig"] = json!({"searches": ["a_b", ".", "c.example.com."]});
    let errors = |version| Subject::new("v1", "Pod").on(version).errors(pod.clone(), None);
    let found = errors(V1_32);
    let paths: Vec<&str> = found.iter().filter_map(|error| error.split(':').next()).collect();
    assert_eq!(paths, ["spec.dnsConfig.searches[0]", "spec.dnsConfig.searches[1]"]);
    let text = "Invalid value: \"a_b\": a lowercase RFC 1123 subdomain must consist of";
    assert!(found[0].contains(text), "{}", found[0]);
    assert_eq!(errors(V1_33), [""; 0]);
}
