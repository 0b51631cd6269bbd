//! The selector of a document: reading, validation (WCF-52 to WCF-58), parsing (WM-67).

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Operator, Requirement, Selector, SelectorError};
use crate::names::{label_value, qualified_name};
use crate::print::quote;
use crate::record;
use crate::record::{RecordError, TypedRecord};
use crate::{FieldError, FieldPath, KubernetesVersion, Wording};

record! {
    /// A label selector as documents have it (`LabelSelector`).
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct LabelSelector = "LabelSelector" @atomic {
        /// Labels that must be there with exactly these values.
        pub match_labels: BTreeMap<String, String> = "matchLabels" [1],
        /// Further conditions.
        pub match_expressions: Vec<LabelSelectorRequirement> = "matchExpressions" [2],
    }

    /// An element of `matchExpressions`.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct LabelSelectorRequirement = "LabelSelectorRequirement" {
        /// The label.
        pub key: String = "key" [1] @required,
        /// `In`, `NotIn`, `Exists` or `DoesNotExist`.
        pub operator: String = "operator" [2] of "v1.LabelSelectorOperator" @required,
        /// The values for `In` and `NotIn`.
        pub values: Vec<String> = "values" [3],
    }
}

impl LabelSelector {
    /// Reads a selector; null is an empty one, fields that are not known are ignored.
    pub fn from_value(value: &Value) -> Result<Self, RecordError> {
        Self::read(value).map(|(selector, _)| selector)
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
        self.parse_for(KubernetesVersion::default())
    }

    /// Like [`LabelSelector::parse`], for a server of any version, which decides about texts (KV-10,
    /// KV-14).
    ///
    /// # Errors
    ///
    /// As for [`LabelSelector::parse`].
    pub fn parse_for(&self, kubernetes: KubernetesVersion) -> Result<Selector, SelectorError> {
        let wording = kubernetes.wording();
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
        self.validate_for(path, KubernetesVersion::default(), false)
    }

    /// Like [`LabelSelector::validate`], for a server of any version; may tolerate invalid label
    /// values in expressions (WCF-95).
    pub fn validate_for(
        &self,
        path: &FieldPath,
        kubernetes: KubernetesVersion,
        tolerates_values: bool,
    ) -> Vec<FieldError> {
        let wording = kubernetes.wording();
        let mut errors = Vec::new();
        let labels = path.clone().name("matchLabels");
        for (key, value) in &self.match_labels {
            push_invalid(&mut errors, &labels, key, &qualified_name(key, wording));
            push_invalid(&mut errors, &labels, value, &label_value(value, wording));
        }
        for (index, expression) in self.match_expressions.iter().enumerate() {
            let path = path.clone().name("matchExpressions").index(index);
            expression.validate(&path, wording, tolerates_values, &mut errors);
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

    fn validate(
        &self,
        path: &FieldPath,
        wording: &Wording,
        tolerates_values: bool,
        errors: &mut Vec<FieldError>,
    ) {
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
        if !tolerates_values {
            for (index, value) in self.values.iter().enumerate() {
                let messages = label_value(value, wording);
                push_invalid(errors, &values.clone().index(index), value, &messages);
            }
        }
    }
}
