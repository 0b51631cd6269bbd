//! The cases of our own format: an object, and all that a server says and makes of it.

use std::collections::BTreeMap;
use std::fmt;

use billhook::{DeepValue, UserInfo};
use billhook_apimachinery::record;
use serde_json::Value;

record! {
    /// A request for an object, or one for each value of a table.
    #[derive(Clone, Debug, Default, PartialEq)]
    #[non_exhaustive]
    pub struct ObjectCase = "ObjectCase" {
        /// Its name.
        pub name: String = "name" @required,
        /// The object that is sent.
        pub object: DeepValue = "object" @required,
        /// The object that is stored already: the request is an update of it.
        pub old: Option<DeepValue> = "old",
        /// Whether the request deletes the object.
        pub delete: bool = "delete",
        /// The subresource of an update: `status` or `scale`.
        pub subresource: String = "subresource",
        /// The handling of unknown and duplicate fields: `Strict`, `Warn` or `Ignore`.
        pub field_validation: String = "fieldValidation",
        /// The user who makes the request, in place of that of the suite.
        pub user: Option<UserInfo> = "user",
        /// Values for a field of the object.
        pub table: Option<Table> = "table",
        /// All that is expected; without it, that the object is accepted.
        pub expect: Option<Expectation> = "expect",
    }

    /// Values for a field: the object is sent once with each.
    #[derive(Clone, Debug, Default, PartialEq)]
    #[non_exhaustive]
    pub struct Table = "Table" {
        /// The field, such as `spec.items[0].name`, or a JSON pointer.
        pub field: String = "field" @required,
        /// Values with which the object is accepted.
        pub valid: Vec<DeepValue> = "valid",
        /// Values with which the object is refused: with the error of the case or, if it has none,
        /// with any error of the field, one around it or one below it.
        pub invalid: Vec<DeepValue> = "invalid",
    }

    /// All that is expected of a request. What is absent is not compared.
    #[derive(Clone, Debug, Default, PartialEq)]
    #[non_exhaustive]
    pub struct Expectation = "Expectation" {
        /// The object that the client gets back, in full.
        pub object: Option<DeepValue> = "object",
        /// A part of the object: other members may be there, but lists are complete.
        pub matches: Option<DeepValue> = "matches",
        /// The paths of all fields that are pruned.
        pub pruned: Option<Vec<String>> = "pruned",
        /// The paths of all fields that get defaults, with the defaults.
        pub defaulted: Option<BTreeMap<String, DeepValue>> = "defaulted",
        /// All warnings.
        pub warnings: Option<Vec<String>> = "warnings",
        /// The names of the webhooks that are called, in order.
        pub webhooks: Option<Vec<String>> = "webhooks",
        /// Audit annotations by their keys; others may be there.
        pub audit_annotations: Option<BTreeMap<String, String>> = "auditAnnotations",
        /// The error that the request is refused with.
        pub error: Option<ExpectedError> = "error",
    }

    /// An error; what is empty is not compared.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct ExpectedError = "ExpectedError" {
        /// The reason of the error, such as `FieldValueRequired`, or that of the whole status, such
        /// as `Forbidden`; `RP-20` for an unknown or repeated field.
        pub rule: String = "rule",
        /// The field.
        pub field: String = "field",
        /// A part of the text.
        pub text: String = "text",
        /// The name of the admission policy that refuses the request.
        pub policy: String = "policy",
    }

    /// A permission.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct Allowed = "Allowed" {
        /// The name of the user who has it; empty for all users.
        pub user: String = "user",
        /// The verb.
        pub verb: String = "verb" @required,
        /// The plural name of the resource; empty for all.
        pub resource: String = "resource",
        /// The group of the resource.
        pub api_group: String = "apiGroup",
    }

    /// The answer of a webhook; if empty, the webhook allows everything.
    #[derive(Clone, Debug, Default, PartialEq)]
    #[non_exhaustive]
    pub struct Answer = "Answer" {
        /// The message with which it denies a request.
        pub deny: Option<String> = "deny",
        /// Operations of a JSON patch.
        pub patch: Vec<DeepValue> = "patch",
        /// Warnings.
        pub warnings: Vec<String> = "warnings",
        /// Whether the webhook itself answers: it is called.
        pub call: bool = "call",
    }

    /// How a conversion webhook converts objects; if empty, only their `apiVersion` changes.
    #[derive(Clone, Debug, Default, PartialEq)]
    #[non_exhaustive]
    pub struct ConversionAnswer = "Conversion" {
        /// By the version to convert to, operations of a JSON patch.
        pub patches: BTreeMap<String, Vec<DeepValue>> = "patches",
        /// The message with which it fails.
        pub fail: Option<String> = "fail",
        /// Whether the webhook itself answers: it is called.
        pub call: bool = "call",
    }
}

/// The text of a JSON patch with operations.
pub(crate) fn patch_text(operations: &[DeepValue]) -> Vec<u8> {
    let operations: Vec<String> = operations.iter().map(|it| billhook::to_json(it)).collect();
    format!("[{}]", operations.join(",")).into_bytes()
}

/// A value of a [`Table`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Row<'s> {
    /// The field.
    pub field: &'s str,
    /// The value.
    pub value: &'s Value,
    /// Whether it is among the valid ones.
    pub is_valid: bool,
    /// Its position in its list.
    pub index: usize,
}

impl Table {
    /// Returns the values, first the valid ones.
    pub fn rows(&self) -> impl Iterator<Item = Row<'_>> {
        let rows = |values, is_valid| rows(&self.field, values, is_valid);
        rows(&*self.valid, true).chain(rows(&*self.invalid, false))
    }
}

fn rows<'s>(
    field: &'s str,
    values: &'s [DeepValue],
    is_valid: bool,
) -> impl Iterator<Item = Row<'s>> {
    let row = move |(index, value): (usize, &'s DeepValue)| Row { field, value, is_valid, index };
    values.iter().enumerate().map(row)
}

/// `FieldValueRequired at spec.keep with the text "…"`, without the parts that are unknown.
impl fmt::Display for ExpectedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.rule.is_empty() { "an error" } else { &self.rule })?;
        if !self.field.is_empty() {
            write!(f, " at `{}`", self.field)?;
        }
        if !self.text.is_empty() {
            write!(f, " with `{}`", self.text)?;
        }
        if !self.policy.is_empty() {
            write!(f, " by policy `{}`", self.policy)?;
        }
        Ok(())
    }
}
