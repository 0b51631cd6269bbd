//! Roles: their rules, and which of these a recorded run never needed.

use std::path::Path;

use billhook::{FieldError, FieldPath, KubernetesVersion, Status as Answer, ValidateOptions};
use billhook_apimachinery::record::text;
use billhook_apimachinery::value::DeepValue;
use billhook_findings::Severity;
use billhook_kinds::{Kind, KindType, PolicyRule};
use serde_json::Value;

use crate::advice::Advice;
use crate::input::readable_documents;
use crate::problem::Problem;

const GROUP: &str = "rbac.authorization.k8s.io";
/// The rule on permissions that requests need.
const EVALUATION: &str = "BK-650";

/// A Role or a ClusterRole.
#[derive(Debug)]
pub(super) struct Role {
    kind: &'static Kind,
    object: DeepValue,
}

/// The kind of roles that a document is of.
pub(super) fn kind_of(value: &Value) -> Option<&'static Kind> {
    let kind = Kind::named(text(value, "apiVersion"), text(value, "kind"))?;
    (kind.group == GROUP && matches!(kind.kind, "Role" | "ClusterRole")).then_some(kind)
}

impl Role {
    /// Reads a role; also returns the fields that it does not have.
    ///
    /// # Errors
    ///
    /// The server's text about a value of the wrong type.
    pub(super) fn read(
        kind: &'static Kind,
        value: &DeepValue,
        kubernetes: KubernetesVersion,
    ) -> Result<(Self, Vec<String>), String> {
        let mut object = value.clone();
        let unknown = match KindType::new(kind, kubernetes) {
            Some(kind) => {
                let read = billhook::ObjectType::read(&kind, &mut object);
                read.map_err(|error| error.to_string())?
            }
            None => Vec::new(),
        };
        Ok((Role { kind, object }, unknown))
    }

    /// The errors of a server that creates the role.
    pub(super) fn errors(&self, kubernetes: KubernetesVersion) -> Vec<FieldError> {
        let definition = self.kind.compile(kubernetes).and_then(Result::ok);
        let version = definition.and_then(|it| it.served(self.kind.version).ok());
        let Some(version) = version else { return Vec::new() };
        let mut object = self.object.clone();
        version.prepare_create(&mut object, "default");
        version.validate_create(&object, &ValidateOptions::default()).errors().to_vec()
    }

    /// The refusal of the role.
    pub(super) fn refusal(&self, errors: &[FieldError]) -> Answer {
        Answer::invalid(GROUP, self.kind.kind, self.name(), errors)
    }

    fn name(&self) -> &str {
        self.object.get("metadata").map_or("", |metadata| text(metadata, "name"))
    }

    /// Advice about the permissions that no request needed.
    pub(super) fn advice(&self, used: &[PolicyRule]) -> Vec<Advice> {
        let rules = PolicyRule::read_all(&self.object);
        let unused = rules.iter().enumerate().flat_map(|(index, rule)| {
            let unused = rule.unused(used);
            unused.into_iter().map(move |unused| (index, unused))
        });
        let advice = unused.map(|(index, unused)| Advice {
            code: "unused-permission".to_owned(),
            rule: EVALUATION,
            severity: Severity::Note,
            kind: self.kind.kind,
            name: self.name().to_owned(),
            field: FieldPath::default().name("rules").index(index),
            message: format!("no request of the recorded run needed {unused}"),
            help: None,
            part: None,
        });
        advice.collect()
    }
}

/// Reads the rules of all roles in a file.
pub(super) fn read_used(file: &Path) -> Result<Vec<PolicyRule>, Box<Problem>> {
    let mut problems = Vec::new();
    let documents = readable_documents(&[file.to_path_buf()], &mut problems);
    let rules: Vec<PolicyRule> =
        documents.into_iter().flat_map(|document| PolicyRule::read_all(&document.value)).collect();
    match problems.pop() {
        Some(problem) => Err(Box::new(problem)),
        None => Ok(rules),
    }
}
