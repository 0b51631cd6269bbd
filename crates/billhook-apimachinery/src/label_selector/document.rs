//! The selector of a document: reading, validation (WCF-52 to WCF-58), parsing (WM-67).

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Operator, Requirement, Selector, SelectorError};
use crate::names::{label_value, qualified_name};
use crate::print::quote;
use crate::record;
use crate::record::{RecordError, TypedRecord};
use crate::value::DeepValue;
use crate::{FieldError, FieldPath, KubernetesVersion};

record! {
    /// A label selector as documents have it (`LabelSelector`).
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct LabelSelector = "LabelSelector" {
        /// Labels that must be there with exactly these values.
        pub match_labels: BTreeMap<String, String> = "matchLabels",
        /// Further conditions.
        pub match_expressions: Vec<LabelSelectorRequirement> = "matchExpressions",
    }

    /// An element of `matchExpressions`.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct LabelSelectorRequirement = "LabelSelectorRequirement" {
        /// The label.
        pub key: String = "key" @required,
        /// `In`, `NotIn`, `Exists` or `DoesNotExist`.
        pub operator: String = "operator" of "v1.LabelSelectorOperator" @required,
        /// The values for `In` and `NotIn`.
        pub values: Vec<String> = "values",
    }
}

/// Options for parsing and validating a selector.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SelectorOptions {
    /// The version of the server, which decides about texts (KV-10, KV-14).
    pub kubernetes: KubernetesVersion,
    /// Whether invalid label values in expressions are tolerated (WCF-95).
    pub tolerate_values: bool,
}

impl SelectorOptions {
    /// Returns the options for a server of another version.
    #[must_use]
    pub fn kubernetes(mut self, kubernetes: KubernetesVersion) -> Self {
        self.kubernetes = kubernetes;
        self
    }

    /// Returns the options with or without tolerance for invalid label values in expressions.
    #[must_use]
    pub fn tolerate_values(mut self, tolerate_values: bool) -> Self {
        self.tolerate_values = tolerate_values;
        self
    }
}

impl LabelSelector {
    /// Reads a selector; null is an empty one, fields that are not known are ignored.
    pub fn from_value(value: &Value) -> Result<Self, RecordError> {
        Self::read(value).map(|(selector, _)| selector)
    }

    /// Returns the selector as a document has it; empty parts are left out.
    pub fn to_value(&self) -> DeepValue {
        self.to_document()
    }

    /// Returns whether it has no conditions.
    pub fn is_empty(&self) -> bool {
        self.match_labels.is_empty() && self.match_expressions.is_empty()
    }

    /// Makes the selector ready to match.
    ///
    /// # Errors
    ///
    /// If a condition cannot be used: the first such (WM-67).
    pub fn parse(&self) -> Result<Selector, SelectorError> {
        self.parse_with(&SelectorOptions::default())
    }

    /// Like [`LabelSelector::parse`], with options.
    ///
    /// # Errors
    ///
    /// As for [`LabelSelector::parse`].
    pub fn parse_with(&self, options: &SelectorOptions) -> Result<Selector, SelectorError> {
        let wording = options.kubernetes.wording();
        let mut requirements = Vec::new();
        for (key, value) in &self.match_labels {
            let values = std::slice::from_ref(value);
            requirements.push(Requirement::new(key, Operator::Equals, values, wording)?);
        }
        for expression in &self.match_expressions {
            let operator = expression.operator().ok_or_else(|| SelectorError {
                message: format!(
                    "{} is not a valid label selector operator",
                    quote(&expression.operator)
                ),
            })?;
            let (key, values) = (&expression.key, &expression.values);
            requirements.push(Requirement::new(key, operator, values, wording)?);
        }
        Ok(Selector::new(requirements))
    }

    /// Validates a selector at `path` of a document as a server does (WCF-52 to WCF-58).
    pub fn validate(&self, path: &FieldPath) -> Vec<FieldError> {
        self.validate_with(path, &SelectorOptions::default())
    }

    /// Like [`LabelSelector::validate`], with options.
    pub fn validate_with(&self, path: &FieldPath, options: &SelectorOptions) -> Vec<FieldError> {
        let wording = options.kubernetes.wording();
        let mut errors = Vec::new();
        let labels = path.clone().name("matchLabels");
        for (key, value) in &self.match_labels {
            push_invalid(&mut errors, &labels, key, &qualified_name(key, wording));
            push_invalid(&mut errors, &labels, value, &label_value(value, wording));
        }
        for (index, expression) in self.match_expressions.iter().enumerate() {
            let path = path.clone().name("matchExpressions").index(index);
            expression.validate(&path, options, &mut errors);
        }
        errors
    }
}

/// Adds an error for each message about a value.
pub fn push_invalid(
    errors: &mut Vec<FieldError>,
    path: &FieldPath,
    value: &str,
    messages: &[String],
) {
    let error = |message: &String| FieldError::invalid(path.clone(), value, message);
    errors.extend(messages.iter().map(error));
}

impl LabelSelectorRequirement {
    /// The meaning of the operator's text; case counts (WCF-55).
    fn operator(&self) -> Option<Operator> {
        Some(match self.operator.as_str() {
            "In" => Operator::In,
            "NotIn" => Operator::NotIn,
            "Exists" => Operator::Exists,
            "DoesNotExist" => Operator::DoesNotExist,
            _ => return None,
        })
    }

    fn validate(&self, path: &FieldPath, options: &SelectorOptions, errors: &mut Vec<FieldError>) {
        let wording = options.kubernetes.wording();
        let values = path.clone().name("values");
        match self.operator() {
            Some(Operator::In | Operator::NotIn) if self.values.is_empty() => {
                let detail = "must be specified when `operator` is 'In' or 'NotIn'";
                errors.push(FieldError::required(values.clone(), detail));
            }
            Some(Operator::Exists | Operator::DoesNotExist) if !self.values.is_empty() => {
                let detail = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
                errors.push(FieldError::forbidden(values.clone(), detail));
            }
            Some(_) => {}
            None => {
                let path = path.clone().name("operator");
                let detail = "not a valid selector operator";
                errors.push(FieldError::invalid(path, self.operator.as_str(), detail));
            }
        }
        let key = path.clone().name("key");
        push_invalid(errors, &key, &self.key, &qualified_name(&self.key, wording));
        if !options.tolerate_values {
            for (index, value) in self.values.iter().enumerate() {
                let messages = label_value(value, wording);
                push_invalid(errors, &values.clone().index(index), value, &messages);
            }
        }
    }
}
