//! The end of namespaces: every combination of owners, policies and finalizers (CP-20 to CP-22).

use std::time::Duration;

use billhook_control_plane::ControlPlane;
use serde_json::{Value, json};

use crate::support::{request, run};

const FINALIZER: &str = "example.com/f";

/// The reference that the dependent has.
#[derive(Clone, Copy, Debug)]
enum Reference {
    None,
    Blocking,
    NotBlocking,
    /// To an object that never was.
    Absent,
    /// To an object of the cluster, which stays.
    OfCluster,
}

/// An owner and a dependent in a namespace, and what happens to the owner before the namespace is deleted.
#[derive(Debug)]
struct Case {
    namespace: String,
    reference: Reference,
    policy: Option<&'static str>,
    /// Whether the owner and the dependent have a finalizer.
    finalizers: [bool; 2],
}

fn cases() -> Vec<Case> {
    use Reference::{Absent, Blocking, None as Without, NotBlocking, OfCluster};
    let mut cases = Vec::new();
    for reference in [Without, Blocking, NotBlocking, Absent, OfCluster] {
        for policy in [None, Some("Background"), Some("Foreground"), Some("Orphan")] {
            for finalizers in [[false, false], [true, false], [false, true], [true, true]] {
                let namespace = format!("n{}", cases.len());
                cases.push(Case { namespace, reference, policy, finalizers });
            }
        }
    }
    cases
}

impl Case {
    fn map(&self, name: &str) -> String {
        format!("/api/v1/namespaces/{}/configmaps/{name}", self.namespace)
    }

    async fn prepare(&self, plane: &ControlPlane, node: &str) {
        let namespace = json!({"metadata": {"name": self.namespace}}).to_string();
        request(plane, "POST", "/api/v1/namespaces", &namespace).await;
        let path = format!("/api/v1/namespaces/{}/configmaps", self.namespace);
        let finalizers = |has: bool| if has { json!([FINALIZER]) } else { json!([]) };
        let owner =
            json!({"metadata": {"name": "o", "finalizers": finalizers(self.finalizers[0])}});
        let owner = request(plane, "POST", &path, &owner.to_string()).await;
        let uid = owner["metadata"]["uid"].as_str().unwrap();
        let to = |kind: &str, name: &str, uid: &str| json!({"apiVersion": "v1", "kind": kind, "name": name, "uid": uid});
        let mut reference = match self.reference {
            Reference::None => Value::Null,
            Reference::Blocking | Reference::NotBlocking => to("ConfigMap", "o", uid),
            Reference::Absent => to("ConfigMap", "never", "00000000-0000-4000-8000-000000000000"),
            Reference::OfCluster => to("Node", "node-0", node),
        };
        if matches!(self.reference, Reference::Blocking) {
            reference["blockOwnerDeletion"] = true.into();
        }
        let references = if reference.is_null() { json!([]) } else { json!([reference]) };
        let metadata = json!({
            "name": "d", "finalizers": finalizers(self.finalizers[1]), "ownerReferences": references,
        });
        request(plane, "POST", &path, &json!({"metadata": metadata}).to_string()).await;
        if let Some(policy) = self.policy {
            let options = json!({"propagationPolicy": policy}).to_string();
            request(plane, "DELETE", &self.map("o"), &options).await;
        }
        let namespace = format!("/api/v1/namespaces/{}", self.namespace);
        request(plane, "DELETE", &namespace, "").await;
    }

    async fn finalizers_remaining(&self, plane: &ControlPlane) -> Option<String> {
        let path = format!("/api/v1/namespaces/{}", self.namespace);
        let namespace = request(plane, "GET", &path, "").await;
        let conditions = namespace["status"]["conditions"].as_array()?;
        let remaining =
            conditions.iter().find(|it| it["type"] == "NamespaceFinalizersRemaining").unwrap();
        Some(remaining["message"].as_str().unwrap().to_owned())
    }
}

/// CP-21, CP-22: a namespace is held by what has a finalizer, and by nothing else, whatever owns what, and
/// however owners were deleted; then it goes.
#[test]
fn every_combination_of_owners_policies_and_finalizers() {
    run(async |plane| {
        let node = request(plane, "GET", "/api/v1/nodes/node-0", "").await;
        let node = node["metadata"]["uid"].as_str().unwrap().to_owned();
        let cases = cases();
        for case in &cases {
            case.prepare(plane, &node).await;
        }
        plane.advance(Duration::from_secs(7)).await.unwrap();
        for case in &cases {
            let held = case.finalizers.iter().filter(|has| **has).count();
            let expected = (held > 0).then(|| {
                format!(
                    "Some content in the namespace has finalizers remaining: {FINALIZER} in {held} \
                     resource instances"
                )
            });
            assert_eq!(case.finalizers_remaining(plane).await, expected, "{case:?}");
        }
        for case in &cases {
            for name in ["o", "d"] {
                let patch = r#"{"metadata": {"finalizers": null}}"#;
                request(plane, "PATCH", &case.map(name), patch).await;
            }
        }
        plane.advance(Duration::from_secs(9)).await.unwrap();
        let namespaces = request(plane, "GET", "/api/v1/namespaces", "").await;
        let names = namespaces["items"].as_array().unwrap().iter();
        let names = names.map(|it| it["metadata"]["name"].as_str().unwrap());
        let left: Vec<_> = names.filter(|name| name.starts_with('n')).collect();
        assert!(left.is_empty(), "{left:?}");
    });
}

/// CP-20, CP-21: a namespace without content goes when its own finalizers are gone, in its spec and in its
/// metadata.
#[test]
fn finalizers_of_the_namespace_itself() {
    for in_spec in [false, true] {
        for in_metadata in [false, true] {
            run(async |plane| {
                let path = "/api/v1/namespaces/n";
                let finalizers = if in_metadata { json!([FINALIZER]) } else { json!([]) };
                let namespace = json!({"metadata": {"name": "n", "finalizers": finalizers}});
                request(plane, "POST", "/api/v1/namespaces", &namespace.to_string()).await;
                if in_spec {
                    let mut namespace = request(plane, "GET", path, "").await;
                    namespace["spec"]["finalizers"] = json!(["kubernetes", FINALIZER]);
                    let path = format!("{path}/finalize");
                    request(plane, "PUT", &path, &namespace.to_string()).await;
                }
                request(plane, "DELETE", path, "").await;
                plane.advance(Duration::from_secs(7)).await.unwrap();
                let mut namespace = request(plane, "GET", path, "").await;
                assert_eq!(namespace["kind"] == "Namespace", in_spec || in_metadata);
                if in_spec {
                    assert_eq!(namespace["spec"]["finalizers"], json!([FINALIZER]));
                    namespace["spec"] = json!({});
                    let path = format!("{path}/finalize");
                    request(plane, "PUT", &path, &namespace.to_string()).await;
                }
                if in_metadata {
                    assert_eq!(request(plane, "GET", path, "").await["kind"], "Namespace");
                    let patch = r#"{"metadata": {"finalizers": null}}"#;
                    request(plane, "PATCH", path, patch).await;
                }
                assert_eq!(request(plane, "GET", path, "").await["code"], 404);
            });
        }
    }
}
