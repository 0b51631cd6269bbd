//! Advice about documents that a server accepts: lints, and what a type check finds.

use std::ops::Range;

use billhook::FieldPath;
use billhook::webhook::Lint;
use billhook_compat::{LintCode, SchemaLint};
use billhook_findings::Severity;
use billhook_policy::{ExpressionWarning, PolicyDocument, PolicyLint};

/// The rule of advice about policies.
pub(crate) const POLICY_ADVICE: &str = "policy-advice";
/// The rule on parts of schemas that no object can do anything with.
const UNUSABLE_PART: &str = "CC-26";
/// The rule on bounds that bring rules within their budgets.
const MISSING_BOUND: &str = "CC-27";
/// The rule on type checks of policies.
const TYPE_CHECK: &str = "PO-90";

/// A piece of advice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Advice {
    pub(crate) code: String,
    pub(crate) rule: &'static str,
    pub(crate) severity: Severity,
    /// The kind of the document.
    pub(crate) kind: &'static str,
    /// The name of the document.
    pub(crate) name: String,
    pub(crate) field: FieldPath,
    pub(crate) message: String,
    pub(crate) help: Option<&'static str>,
    /// The text of the field, and the part of it that this is about.
    pub(crate) part: Option<(String, Range<usize>)>,
}

impl Advice {
    /// The advice with its field and code.
    pub(crate) fn text(&self) -> String {
        let Advice { code, rule, field, message, .. } = self;
        format!("{field}: {message} [{code}, {rule}]")
    }

    /// A part of a definition's schema that no object can do anything with (CC-26).
    pub(crate) fn of_schema(definition: &str, lint: &SchemaLint) -> Self {
        Advice {
            code: lint.code.as_str().to_owned(),
            rule: match lint.code {
                LintCode::MissingBound => MISSING_BOUND,
                _ => UNUSABLE_PART,
            },
            severity: match lint.code {
                LintCode::Tautology | LintCode::MissingBound => Severity::Note,
                _ => Severity::Warning,
            },
            kind: "CustomResourceDefinition",
            name: definition.to_owned(),
            field: lint.path.clone(),
            message: lint.message.clone(),
            help: None,
            part: None,
        }
    }

    /// A problem that a type check found in an expression of a policy (PO-90).
    pub(crate) fn of_expression(policy: &PolicyDocument, warning: &ExpressionWarning) -> Self {
        Advice {
            code: "type-check".to_owned(),
            rule: TYPE_CHECK,
            severity: Severity::Warning,
            kind: policy.kind().name(),
            name: policy.name().to_owned(),
            field: field_path(&warning.field_ref),
            message: warning.warning.trim_end().to_owned(),
            help: None,
            part: text_at(policy, &warning.field_ref)
                .and_then(|text| warning.part(&text).map(|part| (text, part))),
        }
    }
}

impl From<&Lint> for Advice {
    fn from(lint: &Lint) -> Self {
        Advice {
            code: lint.code().code().to_owned(),
            rule: lint.code().rule(),
            severity: match lint.severity() {
                billhook::webhook::LintSeverity::Warning => Severity::Warning,
                _ => Severity::Note,
            },
            kind: lint.kind().name(),
            name: lint.configuration().to_owned(),
            field: lint.field().clone(),
            message: lint.message().to_owned(),
            help: Some(lint.help()),
            part: None,
        }
    }
}

impl From<&PolicyLint> for Advice {
    fn from(lint: &PolicyLint) -> Self {
        // What is missing here may be in the cluster, and large objects may never come.
        let is_note = [
            "binding-without-policy",
            "costly-expression",
            "params-not-found",
            "policy-without-binding",
        ]
        .contains(&lint.code);
        Advice {
            code: lint.code.to_owned(),
            rule: POLICY_ADVICE,
            severity: if is_note { Severity::Note } else { Severity::Warning },
            kind: lint.kind.name(),
            name: lint.name.clone(),
            field: field_path(&lint.path),
            message: lint.message.clone(),
            help: None,
            part: None,
        }
    }
}

/// The text of a field of a policy.
fn text_at(policy: &PolicyDocument, path: &str) -> Option<String> {
    let document = policy.to_value();
    let text = document.pointer(&field_path(path).to_json_pointer())?.as_str()?;
    Some(text.to_owned())
}

/// Reads the path of a field of a policy: names and positions.
fn field_path(text: &str) -> FieldPath {
    text.split('.').fold(FieldPath::default(), |path, part| match part.split_once('[') {
        None => path.name(part),
        Some((name, position)) => {
            let position = position.trim_end_matches(']').parse();
            position
                .map_or_else(|_| path.clone().name(part), |it| path.clone().name(name).index(it))
        }
    })
}
