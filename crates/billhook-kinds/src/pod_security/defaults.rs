//! The levels of namespaces that ask for none, and who is exempt.

use billhook_apimachinery::record::{RecordError, TypedRecord as _, expect_type};
use billhook_apimachinery::{FieldError, aggregate, message_error, record};
use serde_json::Value;

use super::{SecurityLevel, is_level, is_version};
use crate::values::{path, text};

message_error! {
    /// A configuration of levels of security that cannot be used.
    pub struct SecurityDefaultsError;
}

const API_VERSION: &str = "pod-security.admission.config.k8s.io/v1";
const KIND: &str = "PodSecurityConfiguration";

record! {
    #[derive(Clone, Debug, Default)]
    struct Document = "PodSecurityConfiguration" {
        api_version: String = "apiVersion" as "APIVersion",
        kind: String = "kind",
        defaults: Defaults = "defaults",
        exemptions: Exemptions = "exemptions",
    }

    #[derive(Clone, Debug, Default)]
    struct Defaults = "PodSecurityDefaults" {
        enforce: String = "enforce",
        enforce_version: String = "enforce-version",
        audit: String = "audit",
        audit_version: String = "audit-version",
        warn: String = "warn",
        warn_version: String = "warn-version",
    }

    #[derive(Clone, Debug, Default)]
    struct Exemptions = "PodSecurityExemptions" {
        users: Vec<String> = "usernames",
        namespaces: Vec<String> = "namespaces",
        runtime_classes: Vec<String> = "runtimeClasses",
    }
}

/// The levels of security that pods must have in namespaces that ask for none, and who is exempt from
/// all: a `PodSecurityConfiguration` of `pod-security.admission.config.k8s.io/v1`. By default every pod
/// is allowed.
///
/// ```
/// use billhook_kinds::SecurityDefaults;
/// use serde_json::json;
///
/// let configuration = json!({
///     "apiVersion": "pod-security.admission.config.k8s.io/v1", "kind": "PodSecurityConfiguration",
///     "defaults": {"enforce": "baseline"}, "exemptions": {"namespaces": ["kube-system"], "runtimeClasses": ["vm"]}});
/// let defaults = SecurityDefaults::read(&configuration)?;
/// let namespace = json!({"metadata": {"name": "shop"}});
/// assert_eq!(defaults.level(&namespace, "enforce").unwrap().quoted(), "\"baseline:latest\"");
/// assert_eq!(defaults.level(&namespace, "warn"), None);
/// let system = json!({"metadata": {"name": "kube-system"}});
/// assert_eq!(defaults.level(&system, "enforce"), None);
/// assert!(defaults.exempts("alice", &json!({"runtimeClassName": "vm"})));
/// # Ok::<(), billhook_kinds::SecurityDefaultsError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct SecurityDefaults {
    document: Document,
}

impl SecurityDefaults {
    /// Reads a configuration.
    ///
    /// # Errors
    ///
    /// If it has unknown fields, or names levels or versions that do not exist.
    pub fn read(document: &Value) -> Result<Self, SecurityDefaultsError> {
        let failed = |why: &str| SecurityDefaultsError::new(why);
        let unreadable = |error: RecordError| failed(&error.to_string());
        expect_type(document, &[(API_VERSION, KIND)]).map_err(unreadable)?;
        let (document, unknown) = Document::read(document).map_err(unreadable)?;
        if !unknown.is_empty() {
            return Err(failed(&format!("strict decoding error: {}", unknown.join(", "))));
        }
        match document.defaults.errors().as_slice() {
            [] => Ok(SecurityDefaults { document }),
            errors => Err(failed(&aggregate(errors))),
        }
    }

    /// Returns the level that pods of a namespace must have in a mode, such as `enforce` or `warn`: that
    /// of its labels, or else the one by default; none if all pods are allowed.
    pub fn level(&self, namespace: &Value, mode: &str) -> Option<SecurityLevel> {
        let Exemptions { namespaces, .. } = &self.document.exemptions;
        let name = text(namespace, "/metadata/name");
        if namespaces.iter().any(|exempt| exempt == name) {
            return None;
        }
        SecurityLevel::of(namespace, mode, self.document.defaults.of(mode))
    }

    /// Whether namespaces that ask for no level have one.
    pub fn has_levels(&self) -> bool {
        let Defaults { enforce, audit, warn, .. } = &self.document.defaults;
        [enforce, audit, warn].into_iter().any(|level| !level.is_empty())
    }

    /// Whether a user, or a pod by its runtime class, is exempt from all levels.
    pub fn exempts(&self, user: &str, spec: &Value) -> bool {
        let Exemptions { users, runtime_classes, .. } = &self.document.exemptions;
        let class = text(spec, "/runtimeClassName");
        users.iter().any(|exempt| exempt == user)
            || !class.is_empty() && runtime_classes.iter().any(|exempt| exempt == class)
    }
}

impl Defaults {
    /// The level and the version of a mode.
    fn of(&self, mode: &str) -> (&str, &str) {
        match mode {
            "enforce" => (&self.enforce, &self.enforce_version),
            "audit" => (&self.audit, &self.audit_version),
            _ => (&self.warn, &self.warn_version),
        }
    }

    fn errors(&self) -> Vec<FieldError> {
        let mut errors = Vec::new();
        for mode in ["enforce", "audit", "warn"] {
            let (level, version) = self.of(mode);
            let version_field = format!("{mode}-version");
            let checks = [
                (mode, level, is_level(level), super::LEVELS),
                (&version_field, version, is_version(version), super::VERSIONS),
            ];
            for (field, value, is_known, known) in checks {
                if !value.is_empty() && !is_known {
                    errors.push(FieldError::invalid(path(&["defaults", field]), value, known));
                }
            }
        }
        errors
    }
}
