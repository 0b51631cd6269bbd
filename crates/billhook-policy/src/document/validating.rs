//! The fields of a ValidatingAdmissionPolicy (PO-02).

use std::ops::Range;

use billhook_apimachinery::metadata::{ObjectMeta, Time};
use billhook_apimachinery::record;

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
        pub metadata: ObjectMeta = "metadata" [1] as "ObjectMeta",
        /// The policy itself.
        pub spec: ValidatingPolicySpec = "spec" [2] @required,
        /// The result of the type check (PO-90).
        pub status: ValidatingPolicyStatus = "status" [3] @required,
    }

    /// `spec` of a ValidatingAdmissionPolicy.
    #[derive(Clone, Debug, Default, PartialEq)]
    #[non_exhaustive]
    pub struct ValidatingPolicySpec = "ValidatingAdmissionPolicySpec" {
        /// The kind of its parameters, if it has any.
        pub param_kind: Option<ParamKind> = "paramKind" [1],
        /// Which requests it is for.
        pub match_constraints: Option<MatchResources> = "matchConstraints" [2],
        /// Expressions that must be true.
        pub validations: Vec<PolicyValidation> = "validations" [3],
        /// The effect of an error: `Fail` or `Ignore`.
        pub failure_policy: Option<String> = "failurePolicy" [4] of "v1.FailurePolicyType",
        /// Expressions whose values go to the audit log.
        pub audit_annotations: Vec<AuditAnnotationExpression> = "auditAnnotations" [5],
        /// Conditions that must all hold.
        pub match_conditions: Vec<MatchCondition> = "matchConditions" [6] merge "name",
        /// Expressions that others use.
        pub variables: Vec<Variable> = "variables" [7] merge "name",
    }

    /// One validation of a policy.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct PolicyValidation = "Validation" {
        /// The expression, which must be true.
        pub expression: String = "expression" [1] @required,
        /// The message if it is not.
        pub message: String = "message" [2],
        /// The reason of the denial: `Invalid` if absent.
        pub reason: Option<String> = "reason" [3] of "v1.StatusReason",
        /// An expression that makes the message.
        pub message_expression: String = "messageExpression" [4],
    }

    /// An expression whose value goes to the audit log (PO-61).
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct AuditAnnotationExpression = "AuditAnnotation" {
        /// The part of the key after the name of the policy.
        pub key: String = "key" [1] @required,
        /// The expression.
        pub value_expression: String = "valueExpression" [2] @required,
    }

    /// `status` of a ValidatingAdmissionPolicy (PO-90).
    #[derive(Clone, Debug, Default, PartialEq)]
    #[non_exhaustive]
    pub struct ValidatingPolicyStatus = "ValidatingAdmissionPolicyStatus" {
        /// The generation that was checked.
        pub observed_generation: i64 = "observedGeneration" [1],
        /// The result of the check.
        pub type_checking: Option<TypeChecking> = "typeChecking" [2],
        /// The latest observations.
        pub conditions: Vec<PolicyCondition> = "conditions" [3] merge ["type"],
    }

    /// An observation about a policy.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct PolicyCondition = "Condition" {
        /// The name of what was observed.
        pub type_: String = "type" [1] @required,
        /// `True`, `False` or `Unknown`.
        pub status: String = "status" [2] of "v1.ConditionStatus" @required,
        /// The generation of the policy that was observed.
        pub observed_generation: i64 = "observedGeneration" [3],
        /// When the status changed.
        pub last_transition_time: Time = "lastTransitionTime" [4] @required,
        /// Why, for programs.
        pub reason: String = "reason" [5] @required,
        /// Why, for people.
        pub message: String = "message" [6] @required,
    }

    /// The result of the type check of a policy.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct TypeChecking = "TypeChecking" {
        /// The expressions that are likely to be wrong.
        pub expression_warnings: Vec<ExpressionWarning> = "expressionWarnings" [1],
    }

    /// A problem of an expression (PO-92).
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct ExpressionWarning = "ExpressionWarning" {
        /// The path of the expression.
        pub field_ref: String = "fieldRef" [2] @required,
        /// The texts of the compiler.
        pub warning: String = "warning" [3] @required,
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
