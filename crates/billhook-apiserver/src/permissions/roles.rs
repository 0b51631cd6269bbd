//! The roles and bindings that are stored, and what they allow (BK-650).

use std::sync::{Arc, PoisonError, RwLock};

use billhook::webhook::{AuthorizationDecision, AuthorizationRequest, AuthorizationTarget};
use billhook_apimachinery::{UserInfo, aggregate};
use billhook_kinds::{PolicyRule, RoleBinding};
use rpds::RedBlackTreeMapSync;
use serde_json::Value;

/// The group of roles and bindings.
pub(crate) const RBAC_GROUP: &str = "rbac.authorization.k8s.io";

/// The roles and bindings of a server.
#[derive(Debug, Default)]
pub(crate) struct Roles(RwLock<Known>);

#[derive(Clone, Debug, Default)]
struct Known {
    rules: RedBlackTreeMapSync<(KindOfRoles, String), Arc<[PolicyRule]>>,
    /// By their keys: those of a namespace are next to each other, those of the cluster have none.
    bindings: RedBlackTreeMapSync<(KindOfRoles, String), Arc<RoleBinding>>,
}

/// A kind of roles and the kind of their bindings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum KindOfRoles {
    Cluster,
    Namespaced,
}

impl KindOfRoles {
    /// The kind that a reference names.
    fn of(kind: &str) -> Self {
        match kind {
            "ClusterRole" => KindOfRoles::Cluster,
            _ => KindOfRoles::Namespaced,
        }
    }
}

/// The rules of a role that is bound to a user, or why there are none.
struct Granted {
    binding: Arc<RoleBinding>,
    rules: Result<Arc<[PolicyRule]>, String>,
}

impl Roles {
    /// The same roles for another server.
    pub(crate) fn fork(&self) -> Self {
        Roles(RwLock::new(self.known()))
    }

    fn known(&self) -> Known {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Takes over a role as it is stored, or its end.
    pub(crate) fn take_over_role(&self, kind: KindOfRoles, key: &str, role: Option<&Value>) {
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let key = (kind, key.to_owned());
        match role {
            Some(role) => known.rules.insert_mut(key, PolicyRule::read_all(role).into()),
            None => drop(known.rules.remove_mut(&key)),
        }
    }

    /// Takes over a binding as it is stored, or its end.
    pub(crate) fn take_over_binding(&self, kind: KindOfRoles, key: &str, binding: Option<&Value>) {
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let key = (kind, key.to_owned());
        match binding {
            Some(binding) => known.bindings.insert_mut(key, RoleBinding::read(binding).into()),
            None => drop(known.bindings.remove_mut(&key)),
        }
    }

    /// Decides whether a user may make a request; a missing role allows nothing, and the reason of
    /// the refusal names it.
    pub(crate) fn decide(
        &self,
        user: &UserInfo,
        request: &AuthorizationRequest,
    ) -> AuthorizationDecision {
        let namespace = match &request.target {
            AuthorizationTarget::Resource(target) => target.namespace.as_str(),
            _ => "",
        };
        let mut missing = Vec::new();
        let known = self.known();
        for Granted { binding, rules } in known.granted(user, namespace) {
            match rules {
                Ok(rules) if rules.iter().any(|rule| rule.allows(request)) => {
                    let mut decision = AuthorizationDecision::new(true);
                    decision.reason = format!("RBAC: allowed by {}", binding.describe(user));
                    return decision;
                }
                Ok(_) => {}
                Err(why) => missing.push(why),
            }
        }
        let mut decision = AuthorizationDecision::new(false);
        if !missing.is_empty() {
            decision.reason = format!("RBAC: {}", aggregate(&missing));
        }
        decision
    }

    /// Returns all rules that a user has in a namespace, those of the cluster first; empty for the
    /// cluster alone.
    pub(crate) fn rules_of(&self, user: &UserInfo, namespace: &str) -> Vec<PolicyRule> {
        let known = self.known();
        let granted = known.granted(user, namespace).filter_map(|granted| granted.rules.ok());
        granted.flat_map(|rules| rules.to_vec()).collect()
    }

    /// Returns the rules of the role that a reference of a namespace names.
    pub(crate) fn role(
        &self,
        kind: &str,
        namespace: &str,
        name: &str,
    ) -> Option<Arc<[PolicyRule]>> {
        self.known().role(kind, namespace, name)
    }
}

impl Known {
    fn role(&self, kind: &str, namespace: &str, name: &str) -> Option<Arc<[PolicyRule]>> {
        let kind = KindOfRoles::of(kind);
        let key = match kind {
            KindOfRoles::Cluster => name.to_owned(),
            KindOfRoles::Namespaced => format!("{namespace}/{name}"),
        };
        self.rules.get(&(kind, key)).cloned()
    }

    /// The roles that are bound to a user: everywhere, and in a namespace.
    fn granted<'k>(
        &'k self,
        user: &'k UserInfo,
        namespace: &str,
    ) -> impl Iterator<Item = Granted> + 'k {
        let begin = |kind, key: String| (kind, key);
        let of_cluster = begin(KindOfRoles::Cluster, String::new())
            ..begin(KindOfRoles::Namespaced, String::new());
        // The character after the slash ends the keys of the namespace.
        let of_namespace = begin(KindOfRoles::Namespaced, format!("{namespace}/"))
            ..begin(KindOfRoles::Namespaced, format!("{namespace}0"));
        let of_namespace = (!namespace.is_empty()).then(|| self.bindings.range(of_namespace));
        let all = self.bindings.range(of_cluster).chain(of_namespace.into_iter().flatten());
        all.filter(|(_, binding)| binding.binds(user)).map(|(_, binding)| {
            let RoleBinding { role_kind, namespace, role_name, .. } = &**binding;
            let rules = self.role(role_kind, namespace, role_name).ok_or_else(|| {
                let resource = role_kind.to_lowercase();
                format!("{resource}.rbac.authorization.k8s.io \"{role_name}\" not found")
            });
            Granted { binding: Arc::clone(binding), rules }
        })
    }
}
