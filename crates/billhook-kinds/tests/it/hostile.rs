//! Objects that are made to take long: their cost grows with their size only.

use billhook_kinds::PolicyRule;
use serde_json::{Value, json};

use crate::support::Subject;

/// Items of long lists are not compared with all of those before them.
#[test]
fn long_lists() {
    const COUNT: usize = 20_000;
    let many = |item: &dyn Fn(usize) -> Value| -> Value {
        (0..COUNT).map(item).chain([item(0)]).collect()
    };
    let container = json!({
        "name": "c", "image": "i",
        "ports": many(&|index| json!({"containerPort": 1, "name": format!("p{index}")})),
        "volumeMounts": many(&|index| json!({"name": "v", "mountPath": format!("/{index}")})),
    });
    let pod = json!({"metadata": {"name": "a", "namespace": "default"}, "spec": {
        "containers": [container],
        "volumes": [{"name": "v", "emptyDir": {}}],
        "initContainers": many(&|index| json!({"name": format!("i{index}"), "image": "i"})),
        "schedulingGates": many(&|index| json!({"name": format!("g{index}")})),
    }});
    let path = "spec.containers[0]";
    assert_eq!(
        Subject::new("v1", "Pod").errors(pod, None),
        [
            format!("{path}.ports[{COUNT}].name: Duplicate value: \"p0\""),
            format!(
                "{path}.volumeMounts[{COUNT}].mountPath: Invalid value: \"/0\": must be unique"
            ),
            format!("spec.initContainers[{COUNT}].name: Duplicate value: \"i0\""),
            format!("spec.schedulingGates[{COUNT}]: Duplicate value: \"g0\""),
        ],
    );
}

fn many<T>(item: impl Fn(usize) -> T) -> Vec<T> {
    (0..20_000).map(item).collect()
}

/// Stored items are not compared with all those that replace them.
#[test]
fn long_lists_that_stay() {
    let name = |index| json!({"name": format!("n{index}"), "image": "i"});
    let pod = json!({"metadata": {"name": "a", "namespace": "default"}, "spec": {
        "containers": [{"name": "c", "image": "i"}],
        "schedulingGates": many(|index| json!({"name": format!("g{index}")})),
        "tolerations": many(|index| json!({"key": format!("k{index}"), "operator": "Exists"})),
        "ephemeralContainers": many(name),
    }});
    for subresource in ["", "ephemeralcontainers"] {
        let subject = Subject::new("v1", "Pod").subresource(subresource);
        let pod = subject.prepared(pod.clone(), None);
        assert_eq!(subject.errors(pod.clone(), Some(pod)), Vec::<String>::new(), "{subresource}");
    }

    let addresses = many(|index| format!("8.0.{}.{}", index / 256, index % 256));
    let service = json!({"metadata": {"name": "a", "namespace": "default"}, "spec": {
        "ports": [{"port": 80}], "externalIPs": addresses}});
    let subject = Subject::new("v1", "Service");
    let service = subject.prepared(service, None);
    assert_eq!(subject.errors(service.clone(), Some(service)), Vec::<String>::new());

    let topology =
        |index| json!({"matchLabelExpressions": [{"key": "k", "values": [format!("v{index}")]}]});
    let class = json!({"metadata": {"name": "a"}, "provisioner": "a.b", "reclaimPolicy": "Delete",
        "volumeBindingMode": "Immediate", "allowedTopologies": many(topology)});
    let subject = Subject::new("storage.k8s.io/v1", "StorageClass");
    assert_eq!(subject.errors(class, None), Vec::<String>::new());
}

/// Conditions of requests for certificates keep their times.
#[test]
fn many_conditions() {
    let conditions = many(|index| {
        json!({"type": format!("t{index}"), "status": "True", "lastUpdateTime": "2020-01-01T00:00:00Z",
            "lastTransitionTime": "2020-01-01T00:00:00Z"})
    });
    let old = json!({"metadata": {"name": "a"}, "spec": {}, "status": {"conditions": conditions}});
    let mut new = old.clone();
    for condition in new["status"]["conditions"].as_array_mut().unwrap() {
        condition.as_object_mut().unwrap().remove("lastTransitionTime");
    }
    let subject = Subject::new("certificates.k8s.io/v1", "CertificateSigningRequest");
    let new = subject.subresource("status").prepared(new, Some(&old));
    assert_eq!(new["status"]["conditions"], old["status"]["conditions"]);
}

/// A long list is not shown in an error for each of its items.
#[test]
fn errors_that_show_all_items() {
    let quota =
        |spec: Value| json!({"metadata": {"name": "a", "namespace": "default"}, "spec": spec});
    let subject = Subject::new("v1", "ResourceQuota");
    let scopes = many(|index| format!("s{index}"));
    let errors = subject.errors(quota(json!({"scopes": scopes})), None);
    assert_eq!(errors.len(), 1);

    let of_cpu = |_| json!({"scopeName": "BestEffort", "operator": "Exists"});
    let selector = json!({"matchExpressions": many(of_cpu)});
    let spec = json!({"hard": {"cpu": "1"}, "scopeSelector": selector});
    assert_eq!(subject.errors(quota(spec), None).len(), 1);
}

/// The search for the lines that two long specs have in common ends, and needs no deep stack.
#[test]
fn differences_of_long_specs() {
    let claim = |value: &str| {
        let expression =
            |index| json!({"key": format!("k{index}"), "operator": "In", "values": [value]});
        json!({"metadata": {"name": "a", "namespace": "default"}, "spec": {
            "accessModes": ["ReadWriteOnce"], "volumeMode": "Filesystem",
            "resources": {"requests": {"storage": "1Gi"}},
            "selector": {"matchExpressions": many(expression)},
        }})
    };
    let errors =
        Subject::new("v1", "PersistentVolumeClaim").errors(claim("new"), Some(claim("old")));
    assert_eq!(errors.len(), 1);
    assert!(errors[0].contains("\n-") && errors[0].contains("\n+"));
}

/// Rules that allow more than can be distinguished are not compared with others.
#[test]
fn rules_that_allow_too_much() {
    let names: Vec<String> = (0..80).map(|index| format!("n{index}")).collect();
    let rule = |verbs: &[String]| {
        let (verbs, names) = (verbs.to_vec(), names.clone());
        PolicyRule {
            verbs,
            api_groups: names.clone(),
            resources: names.clone(),
            resource_names: names,
            non_resource_urls: Vec::new(),
        }
    };
    let (bomb, pods) = (rule(&names), json!({"apiGroups": [""], "resources": ["pods"]}));
    let pods = PolicyRule::read(&pods);
    let few = PolicyRule { verbs: vec!["get".to_owned()], ..pods.clone() };
    let (few, bombs) = ([few], [bomb.clone()]);
    assert_eq!(PolicyRule::not_held(&bombs, &few), None);
    assert_eq!(PolicyRule::not_held(&few, &bombs), Some(few.to_vec()));
    assert_eq!(bomb.unused(&few), []);
    assert_eq!(bomb.split(), []);

    let all = [PolicyRule { verbs: many(|index| format!("v{index}")), ..pods }];
    assert_eq!(PolicyRule::not_held(&all, &[]), Some(all.to_vec()));
}
