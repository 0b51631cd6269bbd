//! Label selectors: as documents have them ([`LabelSelector`]), and ready to match ([`Selector`])
//! (WM-60 to WM-68).
//!
//! ```
//! use billhook_apimachinery::label_selector::{LabelSelector, Selector};
//! use std::collections::BTreeMap;
//!
//! let written = LabelSelector::from_value(&serde_json::json!({
//!     "matchLabels": {"app": "web"},
//!     "matchExpressions": [{"key": "env", "operator": "NotIn", "values": ["prod", "dev"]}],
//! }))?;
//! let selector = written.parse()?;
//! assert_eq!(selector.to_string(), "app=web,env notin (dev,prod)");
//! assert_eq!(selector.to_string().parse::<Selector>()?, selector);
//!
//! let mut labels = BTreeMap::from([("app".to_owned(), "web".to_owned())]);
//! assert!(selector.matches(&labels));
//! labels.insert("env".to_owned(), "prod".to_owned());
//! assert!(!selector.matches(&labels));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod document;
mod text;

use std::cmp::Ordering;
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::hash::BuildHasher;

use crate::names::{label_value, qualified_name};
use crate::{FieldError, FieldPath, Wording, aggregate};
use serde_json::{Map, Value};

pub use document::push_invalid;
pub use document::{LabelSelector, LabelSelectorRequirement};

/// Something that has labels.
pub trait Labels {
    /// The value of the label `key`, if it is there.
    fn label(&self, key: &str) -> Option<&str>;
}

/// No labels at all, which is the same as an empty map (WM-66).
impl Labels for () {
    fn label(&self, _: &str) -> Option<&str> {
        None
    }
}

impl Labels for BTreeMap<String, String> {
    fn label(&self, key: &str) -> Option<&str> {
        self.get(key).map(String::as_str)
    }
}

impl<S: BuildHasher> Labels for HashMap<String, String, S> {
    fn label(&self, key: &str) -> Option<&str> {
        self.get(key).map(String::as_str)
    }
}

/// `metadata.labels` of an object.
impl Labels for Map<String, Value> {
    fn label(&self, key: &str) -> Option<&str> {
        self.get(key)?.as_str()
    }
}

/// The comparison of a [`Requirement`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Operator {
    /// The label has the value: an entry of `matchLabels` (WM-62).
    Equals,
    /// The label is absent or has another value; only in texts.
    NotEquals,
    /// The label has any of the values (WM-63).
    In,
    /// The label is absent or has none of the values (WM-65).
    NotIn,
    /// The label is there (WM-64).
    Exists,
    /// The label is absent (WM-64).
    DoesNotExist,
    /// The label is an integer above the value; only in texts.
    GreaterThan,
    /// The label is an integer below the value; only in texts.
    LessThan,
}

/// One condition on one label.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Requirement {
    key: String,
    operator: Operator,
    /// Sorted, so that a value is found in a long list.
    values: Vec<String>,
}

impl Requirement {
    /// Checks syntax and shape, with the server's errors (WM-67).
    fn new(
        key: &str,
        operator: Operator,
        values: &[String],
        wording: &Wording,
    ) -> Result<Self, SelectorError> {
        let mut errors = Vec::new();
        let messages = qualified_name(key, wording);
        if !messages.is_empty() {
            let path = FieldPath::default().name("key");
            errors.push(FieldError::invalid(path, key, &messages.join("; ")));
        }
        let path = FieldPath::default().name("values");
        match operator {
            Operator::In | Operator::NotIn if values.is_empty() => {
                let detail = "for 'in', 'notin' operators, values set can't be empty";
                errors.push(FieldError::invalid(path.clone(), Value::Null, detail).of_strings());
            }
            Operator::Exists | Operator::DoesNotExist if !values.is_empty() => {
                let detail = "values set must be empty for exists and does not exist";
                errors
                    .push(FieldError::invalid(path.clone(), values.to_vec(), detail).of_strings());
            }
            Operator::GreaterThan | Operator::LessThan
                if values.iter().any(|value| value.parse::<i64>().is_err()) =>
            {
                let detail = "for 'Gt', 'Lt' operators, the value must be an integer";
                let value = values.first().map(String::as_str).unwrap_or_default();
                errors.push(FieldError::invalid(path.clone().index(0), value, detail));
            }
            _ => {}
        }
        for (index, value) in values.iter().enumerate() {
            let messages = label_value(value, wording);
            if !messages.is_empty() {
                let path = path.clone().index(index).key(key);
                errors.push(FieldError::invalid(path, value.as_str(), &messages.join("; ")));
            }
        }
        if !errors.is_empty() {
            let errors: Vec<_> = errors.into_iter().map(|error| error.worded(wording)).collect();
            return Err(SelectorError { message: aggregate(&errors) });
        }
        let mut values = values.to_vec();
        values.sort();
        Ok(Requirement { key: key.to_owned(), operator, values })
    }

    /// Returns the label it looks at.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// Returns the comparison.
    pub fn operator(&self) -> Operator {
        self.operator
    }

    /// Returns the values that it compares with, sorted; empty for [`Operator::Exists`] and
    /// [`Operator::DoesNotExist`].
    pub fn values(&self) -> &[String] {
        &self.values
    }

    /// Compares a label with the value, if both are integers.
    fn compare(&self, found: Option<&str>) -> Option<Ordering> {
        let value: i64 = self.values.first()?.parse().ok()?;
        Some(found?.parse::<i64>().ok()?.cmp(&value))
    }

    /// Returns whether labels satisfy it; keys and values are compared to the byte (WM-66).
    pub fn matches<L: Labels + ?Sized>(&self, labels: &L) -> bool {
        let found = labels.label(&self.key);
        let is_listed =
            |found: &str| self.values.binary_search_by(|value| value.as_str().cmp(found)).is_ok();
        match self.operator {
            Operator::Equals | Operator::In => found.is_some_and(is_listed),
            Operator::NotEquals | Operator::NotIn => !found.is_some_and(is_listed),
            Operator::Exists => found.is_some(),
            Operator::DoesNotExist => found.is_none(),
            Operator::GreaterThan => self.compare(found).is_some_and(Ordering::is_gt),
            Operator::LessThan => self.compare(found).is_some_and(Ordering::is_lt),
        }
    }
}

/// The canonical text, e.g. `env notin (dev,prod)`.
impl fmt::Display for Requirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (key, values) = (&self.key, self.values.join(","));
        match self.operator {
            Operator::Equals => write!(f, "{key}={values}"),
            Operator::NotEquals => write!(f, "{key}!={values}"),
            Operator::In => write!(f, "{key} in ({values})"),
            Operator::NotIn => write!(f, "{key} notin ({values})"),
            Operator::Exists => f.write_str(key),
            Operator::DoesNotExist => write!(f, "!{key}"),
            Operator::GreaterThan => write!(f, "{key}>{values}"),
            Operator::LessThan => write!(f, "{key}<{values}"),
        }
    }
}

/// A selector that is ready to match: all its requirements must hold (WM-60).
///
/// `Display` prints the canonical text: requirements sorted by key, values sorted. The text of
/// every selector but [`Selector::nothing`] parses back to the same selector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selector {
    /// Sorted by key; none if nothing matches.
    requirements: Option<Vec<Requirement>>,
}

impl Selector {
    fn new(mut requirements: Vec<Requirement>) -> Self {
        requirements.sort_by(|left, right| left.key.cmp(&right.key));
        Selector { requirements: Some(requirements) }
    }

    /// Creates a selector that matches everything, as an empty one does (WM-61).
    pub fn everything() -> Self {
        Self::new(Vec::new())
    }

    /// Creates a selector that matches nothing, as null does (WM-61). Its text is empty.
    pub fn nothing() -> Self {
        Selector { requirements: None }
    }

    /// Returns whether it has no requirements, so that it matches everything.
    pub fn is_everything(&self) -> bool {
        self.requirements.as_ref().is_some_and(Vec::is_empty)
    }

    /// Returns its requirements, sorted by key; those of one key are in the order they were
    /// written.
    pub fn requirements(&self) -> &[Requirement] {
        self.requirements.as_deref().unwrap_or_default()
    }

    /// Returns whether labels satisfy all requirements.
    pub fn matches<L: Labels + ?Sized>(&self, labels: &L) -> bool {
        let requirements = self.requirements.as_ref();
        requirements.is_some_and(|list| list.iter().all(|each| each.matches(labels)))
    }
}

impl fmt::Display for Selector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, requirement) in self.requirements().iter().enumerate() {
            f.write_str(if index > 0 { "," } else { "" })?;
            requirement.fmt(f)?;
        }
        Ok(())
    }
}

/// A selector that cannot be parsed. Those of documents have the server's text (WM-67).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct SelectorError {
    message: String,
}
