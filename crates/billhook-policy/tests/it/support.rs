//! A cluster and a request for policies.

use billhook::webhook::{AdmissionAttributes, EquivalentResources, NamespaceLabels};
use billhook::{GroupVersionKind, GroupVersionResource, Scope};
use billhook_policy::{
    MemoryCluster, MutationOutcome, ObjectModel, PolicyContext, PolicyDocument, PolicyReinvocation,
    PolicySet, ValidationOutcome,
};
use serde_json::{Value, json};

/// Objects that exist in one version, without defaults, all of whose types are deduced.
pub(crate) struct OneVersion;

impl ObjectModel for OneVersion {
    fn merge_schema(&self, _: &GroupVersionKind) -> Option<billhook_apply::MergeSchema> {
        Some(billhook_apply::MergeSchema::deduced())
    }
}

/// The cluster besides the policies: a namespace and the kind `Limit`.
pub(crate) struct World {
    pub(crate) cluster: MemoryCluster,
    equivalents: EquivalentResources,
}

impl World {
    pub(crate) fn new() -> Self {
        let labels = NamespaceLabels::from([("env".to_owned(), "prod".to_owned())]);
        let mut cluster = MemoryCluster::new().with_namespace("shop", labels);
        cluster.register("example.com/v1", "Limit", Scope::Namespaced);
        World { cluster, equivalents: EquivalentResources::new() }
    }

    pub(crate) fn limit(mut self, name: &str, labels: &Value, max: i64) -> Self {
        self.cluster.insert(json!({"apiVersion": "example.com/v1", "kind": "Limit",
            "metadata": {"name": name, "namespace": "shop", "labels": labels}, "max": max}));
        self
    }

    pub(crate) fn context(&self) -> PolicyContext<'_> {
        PolicyContext::new(&self.cluster, &self.equivalents, &OneVersion)
    }

    pub(crate) fn validate(&self, policies: &PolicySet, object: Value) -> ValidationOutcome {
        policies.validate(&create(object), &self.context())
    }

    pub(crate) fn mutate(&self, policies: &PolicySet, object: Value) -> MutationOutcome {
        let mut reinvocation = PolicyReinvocation::default();
        policies.mutate(&create(object), &self.context(), &mut reinvocation)
    }
}

/// The creation of a widget with a spec.
pub(crate) fn create(spec: Value) -> AdmissionAttributes {
    AdmissionAttributes::create(
        GroupVersionKind::new("example.com", "v1", "Widget"),
        GroupVersionResource::new("example.com", "v1", "widgets"),
        json!({"apiVersion": "example.com/v1", "kind": "Widget",
            "metadata": {"name": "w", "namespace": "shop"}, "spec": spec}),
    )
}

fn document(kind: &str, name: &str, spec: Value) -> PolicyDocument {
    PolicyDocument::from_value(&json!({"apiVersion": "admissionregistration.k8s.io/v1",
        "kind": kind, "metadata": {"name": name}, "spec": spec}))
    .unwrap()
}

/// A validating policy for widgets; what is given is added to its spec.
pub(crate) fn policy(name: &str, more: Value) -> PolicyDocument {
    document("ValidatingAdmissionPolicy", name, for_widgets(more))
}

/// A mutating policy for widgets.
pub(crate) fn mutating(name: &str, more: Value) -> PolicyDocument {
    document("MutatingAdmissionPolicy", name, for_widgets(more))
}

fn for_widgets(more: Value) -> Value {
    let mut spec = json!({"matchConstraints": {"resourceRules": [{"operations": ["CREATE"],
        "apiGroups": ["example.com"], "apiVersions": ["v1"], "resources": ["widgets"]}]}});
    let members = spec.as_object_mut().unwrap();
    members.extend(more.as_object().unwrap().clone());
    spec
}

/// A binding of a validating policy.
pub(crate) fn binding(name: &str, policy: &str, more: Value) -> PolicyDocument {
    let mut spec = json!({"policyName": policy, "validationActions": ["Deny"]});
    spec.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    document("ValidatingAdmissionPolicyBinding", name, spec)
}

/// A binding of a mutating policy.
pub(crate) fn mutating_binding(name: &str, policy: &str, more: Value) -> PolicyDocument {
    let mut spec = json!({"policyName": policy});
    spec.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    document("MutatingAdmissionPolicyBinding", name, spec)
}
