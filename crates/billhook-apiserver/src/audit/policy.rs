//! The policy of an audit log: which requests are written down, and how much of them.

use billhook::webhook::{AuthorizationRequest, AuthorizationTarget, ResourceTarget};
use billhook_admission::AuditLevel;
use billhook_apimachinery::record::{TypedRecord as _, expect_type};
use billhook_apimachinery::value::DeepValue;
use billhook_apimachinery::{FieldError, FieldPath, UserInfo, message_error, record};
use billhook_kinds::has_path;
use serde_json::Value;

message_error! {
    /// A policy that cannot be used; the text names the fields that are wrong.
    pub struct AuditPolicyError;
}

pub(super) const API_VERSION: &str = "audit.k8s.io/v1";
const KIND: &str = "Policy";

/// The stages of requests.
pub(super) const RECEIVED: &str = "RequestReceived";
pub(super) const STARTED: &str = "ResponseStarted";
pub(super) const COMPLETE: &str = "ResponseComplete";
const STAGES: [&str; 4] = ["Panic", RECEIVED, COMPLETE, STARTED];

const LEVELS: [AuditLevel; 4] =
    [AuditLevel::None, AuditLevel::Metadata, AuditLevel::Request, AuditLevel::RequestResponse];

record! {
    #[derive(Clone, Debug, Default)]
    struct Document = "Policy" {
        api_version: String = "apiVersion" as "APIVersion",
        kind: String = "kind",
        metadata: Option<DeepValue> = "metadata",
        rules: Vec<Rule> = "rules",
        omit_stages: Vec<String> = "omitStages",
        omit_managed_fields: bool = "omitManagedFields",
    }

    #[derive(Clone, Debug, Default)]
    struct Rule = "PolicyRule" {
        level: String = "level",
        users: Vec<String> = "users",
        user_groups: Vec<String> = "userGroups",
        verbs: Vec<String> = "verbs",
        resources: Vec<Resources> = "resources",
        namespaces: Vec<String> = "namespaces",
        paths: Vec<String> = "nonResourceURLs",
        omit_stages: Vec<String> = "omitStages",
        omit_managed_fields: Option<bool> = "omitManagedFields",
    }

    #[derive(Clone, Debug, Default)]
    struct Resources = "GroupResources" {
        group: String = "group",
        resources: Vec<String> = "resources",
        names: Vec<String> = "resourceNames",
    }
}

/// The policy of an audit log: a `Policy` of `audit.k8s.io/v1`. The first of its rules that a request
/// matches says how much of it is written down; if there is none, nothing is.
///
/// ```
/// use billhook_apiserver::AuditPolicy;
///
/// let policy = "
/// apiVersion: audit.k8s.io/v1
/// kind: Policy
/// omitStages: [RequestReceived]
/// rules:
/// - {level: RequestResponse, verbs: [create, update, patch], resources: [{group: apps}]}
/// - {level: None}
/// ";
/// assert!(AuditPolicy::read(policy.as_bytes()).is_ok());
///
/// let wrong = policy.replace("None", "Nothing");
/// assert_eq!(
///     AuditPolicy::read(wrong.as_bytes()).unwrap_err().to_string(),
///     "rules[1].level: Unsupported value: \"Nothing\": supported values: \"None\", \"Metadata\", \
///      \"Request\", \"RequestResponse\"",
/// );
/// ```
#[derive(Clone, Debug)]
pub struct AuditPolicy {
    document: Document,
}

/// How a request is written down.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    pub(super) level: AuditLevel,
    pub(super) omits_managed_fields: bool,
    omitted_stages: Vec<String>,
}

impl Asked {
    /// Whether nothing is written down of a stage.
    pub(super) fn omits(&self, stage: &str) -> bool {
        self.omitted_stages.iter().any(|omitted| omitted == stage)
    }
}

impl AuditPolicy {
    /// Returns a policy that has every request at a level.
    pub fn everything(level: AuditLevel) -> Self {
        let rule = Rule { level: level.name().to_owned(), ..Rule::default() };
        AuditPolicy { document: Document { rules: vec![rule], ..Document::default() } }
    }

    /// Reads a policy, in YAML or JSON.
    ///
    /// # Errors
    ///
    /// If the text is not that of a policy, has unknown or repeated fields, or a level or stage that does not exist.
    pub fn read(text: &[u8]) -> Result<Self, AuditPolicyError> {
        let failed = |why: &dyn std::fmt::Display| AuditPolicyError::new(why.to_string());
        let read = billhook_yaml::read_document(text).map_err(|error| {
            let (line, column) = (error.line(), error.column());
            failed(&format!("line {line}, column {column}: {error}"))
        })?;
        if let Some(repeated) = billhook_yaml::strict_error_text(read.duplicates()) {
            return Err(failed(&repeated));
        }
        let value = read.into_value();
        let (document, unknown) = Document::read(&value).map_err(|error| failed(&error))?;
        expect_type(&value, &[(API_VERSION, KIND)]).map_err(|why| failed(&why))?;
        if !unknown.is_empty() {
            return Err(failed(&unknown.join(", ")));
        }
        let errors: Vec<String> = document.errors().iter().map(FieldError::to_string).collect();
        match errors.as_slice() {
            [] => Ok(AuditPolicy { document }),
            errors => Err(failed(&errors.join(", "))),
        }
    }

    /// Returns how a request of a user is written down, if it is.
    pub(super) fn asks(&self, user: &UserInfo, request: &AuthorizationRequest) -> Option<Asked> {
        let Document { rules, omit_stages, omit_managed_fields, .. } = &self.document;
        let rule = rules.iter().find(|rule| rule.matches(user, request))?;
        let level = LEVELS.into_iter().find(|level| level.name() == rule.level)?;
        let omitted_stages = omit_stages.iter().chain(&rule.omit_stages).cloned().collect();
        let omits_managed_fields = rule.omit_managed_fields.unwrap_or(*omit_managed_fields);
        let asked = Asked { level, omits_managed_fields, omitted_stages };
        (level != AuditLevel::None).then_some(asked)
    }
}

impl Document {
    fn errors(&self) -> Vec<FieldError> {
        let mut errors = Vec::new();
        check_stages(&self.omit_stages, &FieldPath::default().name("omitStages"), &mut errors);
        for (index, rule) in self.rules.iter().enumerate() {
            rule.check(&FieldPath::default().name("rules").index(index), &mut errors);
        }
        errors
    }
}

impl Rule {
    fn check(&self, at: &FieldPath, errors: &mut Vec<FieldError>) {
        if LEVELS.iter().all(|level| level.name() != self.level) {
            let path = at.clone().name("level");
            let level = self.level.as_str();
            errors.push(FieldError::not_supported(path, level, LEVELS.map(AuditLevel::name)));
        }
        check_stages(&self.omit_stages, &at.clone().name("omitStages"), errors);
        if !self.paths.is_empty() && self.is_about_objects() {
            let path = at.clone().name("nonResourceURLs");
            let why = "a rule is for resources or for other paths, not for both";
            errors.push(FieldError::forbidden(path, why));
        }
        for (index, path) in self.paths.iter().enumerate() {
            let star = path.find('*').filter(|star| star + 1 < path.len());
            if path != "*" && !path.starts_with('/') || star.is_some() {
                let at = at.clone().name("nonResourceURLs").index(index);
                let why = "must be * or begin with a slash, and have a * at its end only";
                errors.push(FieldError::invalid(at, path.as_str(), why));
            }
        }
    }

    /// Whether the rule is about a request. What it does not name may be anything.
    fn matches(&self, user: &UserInfo, request: &AuthorizationRequest) -> bool {
        let names = |list: &[String], name: &String| list.is_empty() || list.contains(name);
        let is_by = names(&self.users, &user.username)
            && (self.user_groups.is_empty()
                || user.groups.iter().any(|group| self.user_groups.contains(group)));
        if !is_by || !names(&self.verbs, &request.verb) {
            return false;
        }
        match &request.target {
            AuthorizationTarget::Resource(target) if self.is_about_objects() => {
                names(&self.namespaces, &target.namespace)
                    && (self.resources.is_empty() || self.resources.iter().any(|it| it.has(target)))
            }
            AuthorizationTarget::Path(path) if !self.paths.is_empty() => {
                has_path(&self.paths, path)
            }
            _ => !self.is_about_objects() && self.paths.is_empty(),
        }
    }

    fn is_about_objects(&self) -> bool {
        !self.resources.is_empty() || !self.namespaces.is_empty()
    }
}

impl Resources {
    /// Whether a target is among the resources: `pods`, `pods/log`, `pods/*`, `*/scale`, or `*` for all
    /// with their subresources.
    fn has(&self, target: &ResourceTarget) -> bool {
        let ResourceTarget { group, resource, subresource, name, .. } = target;
        let is_named = |pattern: &String| match pattern.split_once('/') {
            None if pattern == "*" => true,
            None => pattern == resource && subresource.is_empty(),
            Some((of, part)) => {
                (of == "*" || of == resource)
                    && !subresource.is_empty()
                    && (part == "*" || part == subresource)
            }
        };
        self.group == *group
            && (self.resources.is_empty() || self.resources.iter().any(is_named))
            && (self.names.is_empty() || self.names.contains(name))
    }
}

fn check_stages(stages: &[String], at: &FieldPath, errors: &mut Vec<FieldError>) {
    for (index, stage) in stages.iter().enumerate() {
        if !STAGES.contains(&stage.as_str()) {
            let path = at.clone().index(index);
            errors.push(FieldError::not_supported(path, Value::from(stage.as_str()), STAGES));
        }
    }
}
