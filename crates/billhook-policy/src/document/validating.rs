//! The fields of a ValidatingAdmissionPolicy (PO-02).

use std::ops::Range;

use billhook_apimachinery::metadata::ObjectMeta;
use billhook_apimachinery::record;
use billhook_apimachinery::value::DeepValue;

use super::{MatchCondition, MatchResources, ParamKind, Variable};

record! {
    /// A ValidatingAdmissionPolicy.
    #[derive(Clone, Debug, Default, PartialEq)]
    #[non_exhaustive]
    pub struct ValidatingAdmissionPolicy = "ValidatingAdmissionPolicy" {
        /// `ValidatingAdmissionPolicy`.
        pub kind: String = "kind",
        /// Group and version.
        pub api_version: String = "apiVersion" as "APIVersion",
        /// The metadata.
        pub metadata: ObjectMeta = "metadata" as "ObjectMeta",
        /// The policy itself.
        pub spec: ValidatingPolicySpec = "spec",
        /// The result of the type check (PO-90).
        pub status: ValidatingPolicyStatus = "status" @required,
    }

    /// `spec` of a ValidatingAdmissionPolicy.
    #[derive(Clone, Debug, Default, PartialEq)]
    #[non_exhaustive]
    pub struct ValidatingPolicySpec = "ValidatingAdmissionPolicySpec" {
        /// The kind of its parameters, if it has any.
        pub param_kind: Option<ParamKind> = "paramKind",
        /// Which requests it is for.
        pub match_constraints: Option<MatchResources> = "matchConstraints",
        /// Expressions that must be true.
        pub validations: Vec<Validation> = "validations",
        /// The effect of an error: `Fail` or `Ignore`.
        pub failure_policy: Option<String> = "failurePolicy" of "v1.FailurePolicyType",
        /// Expressions whose values go to the audit log.
        pub audit_annotations: Vec<AuditAnnotationExpression> = "auditAnnotations",
        /// Conditions that must all hold.
        pub match_conditions: Vec<MatchCondition> = "matchConditions",
        /// Expressions that others use.
        pub variables: Vec<Variable> = "variables",
    }

    /// One validation of a policy.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct Validation = "Validation" {
        /// The expression, which must be true.
        pub expression: String = "expression" @required,
        /// The message if it is not.
        pub message: String = "message",
        /// The reason of the denial: `Invalid` if absent.
        pub reason: Option<String> = "reason" of "v1.StatusReason",
        /// An expression that makes the message.
        pub message_expression: String = "messageExpression",
    }

    /// An expression whose value goes to the audit log (PO-61).
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct AuditAnnotationExpression = "AuditAnnotation" {
        /// The part of the key after the name of the policy.
        pub key: String = "key" @required,
        /// The expression.
        pub value_expression: String = "valueExpression" @required,
    }

    /// `status` of a ValidatingAdmissionPolicy (PO-90).
    #[derive(Clone, Debug, Default, PartialEq)]
    #[non_exhaustive]
    pub struct ValidatingPolicyStatus = "ValidatingAdmissionPolicyStatus" {
        /// The generation that was checked.
        pub observed_generation: i64 = "observedGeneration",
        /// The result of the check.
        pub type_checking: Option<TypeChecking> = "typeChecking",
        /// The latest observations.
        pub conditions: Vec<DeepValue> = "conditions",
    }

    /// The result of the type check of a policy.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct TypeChecking = "TypeChecking" {
        /// The expressions that are likely to be wrong.
        pub expression_warnings: Vec<ExpressionWarning> = "expressionWarnings",
    }

    /// A problem of an expression (PO-92).
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct ExpressionWarning = "ExpressionWarning" {
        /// The path of the expression.
        pub field_ref: String = "fieldRef" @required,
        /// The texts of the compiler.
        pub warning: String = "warning" @required,
    }
}

impl ExpressionWarning {
    /// Returns the part of an expression that the first text is about, in bytes: what begins at the
    /// line and the column that it names, up to the end of a name.
    pub fn part(&self, expression: &str) -> Option<Range<usize>> {
        let (_, rest) = self.warning.split_once("<input>:")?;
        let mut numbers = rest.splitn(3, ':').map(str::parse::<usize>);
        let (line, column) = (numbers.next()?.ok()?, numbers.next()?.ok()?);
        let mut lines = expression.split_inclusive('\n');
        let before: usize = lines.by_ref().take(line.checked_sub(1)?).map(str::len).sum();
        let line = lines.next()?;
        let (at, first) = line.char_indices().nth(column.checked_sub(1)?)?;
        let rest = line.get(at + first.len_utf8()..)?;
        let is_of_name = |character: char| character.is_alphanumeric() || character == '_';
        let name = match first == '.' || is_of_name(first) {
            true => rest.find(|character| !is_of_name(character)).unwrap_or(rest.len()),
            false => 0,
        };
        Some(before + at..before + at + first.len_utf8() + name)
    }
}
