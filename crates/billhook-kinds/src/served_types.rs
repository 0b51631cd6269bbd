//! The types against which the expressions of policies are checked.

use std::sync::OnceLock;

use billhook::CustomResourceDefinition;
use billhook_apimachinery::{GroupVersionKind, GroupVersionResource, KubernetesVersion};
use billhook_cel::schema::SchemaType;
use billhook_policy::PolicyTypes;

use crate::kind::Kind;

/// The types that a server has: those of definitions, and the built-in kinds beside them (PO-91).
///
/// ```
/// use billhook_apimachinery::KubernetesVersion;
/// use billhook_kinds::ServedTypes;
/// use billhook_policy::PolicyDocument;
/// let document = PolicyDocument::from_yaml("
/// apiVersion: admissionregistration.k8s.io/v1
/// kind: ValidatingAdmissionPolicy
/// metadata: {name: replicas}
/// spec:
///   matchConstraints:
///     resourceRules:
///     - {operations: [CREATE], apiGroups: [apps], apiVersions: [v1], resources: [deployments]}
///   validations:
///   - expression: object.spec.replica < 5
/// ")?;
/// let PolicyDocument::Validating(policy) = document else { unreachable!() };
/// let types = ServedTypes::new(KubernetesVersion::default(), Vec::new());
/// let found = policy.type_check(&types);
/// let warning = "apps/v1, Kind=Deployment: ERROR: <input>:1:12: undefined field 'replica'";
/// assert!(found.expression_warnings[0].warning.starts_with(warning));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct ServedTypes {
    definitions: Vec<CustomResourceDefinition>,
    /// The built-in kinds, each compiled when it is first asked for.
    kinds: Vec<(&'static Kind, OnceLock<Option<SchemaType>>)>,
    kubernetes: KubernetesVersion,
}

impl ServedTypes {
    /// Returns the types of definitions and of the built-in kinds that servers of a version have.
    pub fn new(kubernetes: KubernetesVersion, definitions: Vec<CustomResourceDefinition>) -> Self {
        let kinds = Kind::all().iter().filter(|kind| kind.is_served(kubernetes));
        let kinds = kinds.map(|kind| (kind, OnceLock::new())).collect();
        ServedTypes { definitions, kinds, kubernetes }
    }
}

impl PolicyTypes for ServedTypes {
    fn kind(&self, resource: &GroupVersionResource) -> Option<GroupVersionKind> {
        let built_in = || {
            let mut resources = self.kinds.iter().map(|(kind, _)| kind.api_resource());
            Some(resources.find(|known| known.resource == *resource)?.kind)
        };
        self.definitions.as_slice().kind(resource).or_else(built_in)
    }

    fn schema(&self, kind: &GroupVersionKind) -> Option<SchemaType> {
        let named = [kind.group.as_str(), kind.version.as_str(), kind.kind.as_str()];
        let built_in = || {
            let is_named =
                |(known, _): &&(&Kind, _)| [known.group, known.version, known.kind] == named;
            let (kind, schema) = self.kinds.iter().find(is_named)?;
            let compile = || {
                let definition = kind.compile(self.kubernetes)?.ok()?;
                definition.version(kind.version)?.expression_type()
            };
            schema.get_or_init(compile).clone()
        };
        self.definitions.as_slice().schema(kind).or_else(built_in)
    }

    fn is_built_in(&self, kind: &GroupVersionKind) -> bool {
        let group = |it: &CustomResourceDefinition| it.group() == kind.group;
        !self.definitions.iter().any(|it| group(it) && it.kind() == kind.kind)
    }
}
