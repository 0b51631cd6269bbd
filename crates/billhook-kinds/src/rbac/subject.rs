//! Whom a binding binds, and to which role (BK-650).

use billhook_apimachinery::UserInfo;
use serde_json::Value;

use crate::values::{items, text};

/// A RoleBinding or a ClusterRoleBinding.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RoleBinding {
    /// Its name.
    pub name: String,
    /// Its namespace; empty for a ClusterRoleBinding.
    pub namespace: String,
    /// The kind of the role: `Role` or `ClusterRole`.
    pub role_kind: String,
    /// The name of the role.
    pub role_name: String,
    subjects: Vec<Subject>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Subject {
    kind: String,
    name: String,
    namespace: String,
}

impl RoleBinding {
    /// Reads a binding.
    pub fn read(binding: &Value) -> Self {
        let of = |place: &str| text(binding, place).to_owned();
        let subjects = items(binding, "/subjects").iter().map(|subject| Subject {
            kind: text(subject, "/kind").to_owned(),
            name: text(subject, "/name").to_owned(),
            namespace: text(subject, "/namespace").to_owned(),
        });
        RoleBinding {
            name: of("/metadata/name"),
            namespace: of("/metadata/namespace"),
            role_kind: of("/roleRef/kind"),
            role_name: of("/roleRef/name"),
            subjects: subjects.collect(),
        }
    }

    /// Describes the binding of a user, as reasons of decisions do: `ClusterRoleBinding "a" of
    /// ClusterRole "b" to Group "c"`. Empty if it does not bind the user.
    pub fn describe(&self, user: &UserInfo) -> String {
        let RoleBinding { name, namespace, role_kind, role_name, .. } = self;
        let Some(subject) = self.subjects.iter().find(|subject| subject.is(user)) else {
            return String::new();
        };
        let binding = match namespace.as_str() {
            "" => format!("ClusterRoleBinding \"{name}\""),
            namespace => format!("RoleBinding \"{name}/{namespace}\""),
        };
        let Subject { kind, name, namespace } = subject;
        let slash = if namespace.is_empty() { "" } else { "/" };
        format!("{binding} of {role_kind} \"{role_name}\" to {kind} \"{name}{slash}{namespace}\"")
    }

    /// Whether it binds a user, by name, by group or as a service account.
    pub fn binds(&self, user: &UserInfo) -> bool {
        self.subjects.iter().any(|subject| subject.is(user))
    }
}

impl Subject {
    fn is(&self, user: &UserInfo) -> bool {
        match self.kind.as_str() {
            "User" => user.username == self.name,
            "Group" => user.groups.contains(&self.name),
            "ServiceAccount" if !self.namespace.is_empty() => {
                let account = user.username.strip_prefix("system:serviceaccount:");
                account.and_then(|account| account.split_once(':'))
                    == Some((&self.namespace, &self.name))
            }
            _ => false,
        }
    }
}
