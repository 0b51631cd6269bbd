//! Services of the API.

use serde_json::json;

use crate::support::Subject;

/// BK-488: a service without a target is one of the server itself, which is always there.
#[test]
fn local_services_are_available() {
    let subject = Subject::new("apiregistration.k8s.io/v1", "APIService");
    let local = json!({"spec": {"group": "g", "version": "v1"}, "status": {"conditions": []}});
    let local = subject.prepared(local, None);
    assert_eq!(local.pointer("/status/conditions/0/reason"), Some(&json!("Local")));
    let other = json!({"spec": {"service": {"name": "s", "namespace": "n"}}});
    let other = subject.prepared(other, None);
    assert_eq!(other.get("status"), Some(&json!({})));
    assert_eq!(other.pointer("/spec/service/port"), Some(&json!(443)));
}

/// BK-488.
#[test]
fn names_and_priorities_fit() {
    let service = json!({
        "metadata": {"name": "a"},
        "spec": {"group": "g", "version": "v1", "groupPriorityMinimum": 20_001,
                 "versionPriority": 0, "insecureSkipTLSVerify": true},
    });
    let errors = Subject::new("apiregistration.k8s.io/v1", "APIService").errors(service, None);
    assert_eq!(
        errors,
        [
            "metadata.name: Invalid value: \"a\": must be `spec.version+\".\"+spec.group`: \"v1.g\"",
            "spec.groupPriorityMinimum: Invalid value: 20001: must be positive and less than 20000",
            "spec.versionPriority: Invalid value: 0: must be positive and less than 1000",
            "spec.insecureSkipTLSVerify: Invalid value: true: local APIServices may not have \
         insecureSkipTLSVerify",
        ]
    );
}
