//! Parts of a configuration that are not JSON: values of expressions that nothing fits (PO-70).

use std::collections::BTreeMap;

use crate::schema::Scalar;
use crate::shape::Shape;

/// One step on the way to a part of a value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PathStep {
    /// To a member of an object.
    Name(String),
    /// To an element of a list.
    Index(usize),
}

/// A value that JSON does not have, as errors print it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Foreign {
    /// In Go's plain form.
    pub plain: String,
    /// In Go syntax.
    pub syntax: String,
    /// The name of its type in Go.
    pub type_name: String,
}

impl Foreign {
    /// The text of the error for the place of a type.
    pub(crate) fn unfit_for(&self, expected: Option<Shape<'_>>) -> String {
        let Foreign { plain, syntax, type_name } = self;
        let plain = |expected: &str| format!("expected {expected}, got &{{{plain}}}");
        match expected {
            None => "no type found".to_owned(),
            Some(Shape::Scalar(Scalar::Numeric)) => {
                format!("expected numeric (int or float), got {type_name}")
            }
            Some(Shape::Scalar(Scalar::String)) => {
                format!("expected string, got &value.valueUnstructured{{Value:{syntax}}}")
            }
            Some(Shape::Scalar(Scalar::Boolean)) => plain("boolean"),
            Some(Shape::Scalar(Scalar::Any)) => plain("any scalar"),
            Some(Shape::List(_)) => plain("list"),
            Some(Shape::Map(_)) => plain("map"),
        }
    }
}

/// The parts of a value that are not JSON; null stands in their place.
#[derive(Clone, Debug, Default)]
pub struct ForeignValues(BTreeMap<Vec<PathStep>, Foreign>);

impl ForeignValues {
    /// Adds a part.
    pub fn insert(&mut self, path: Vec<PathStep>, value: Foreign) {
        self.0.insert(path, value);
    }

    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn get(&self, path: &[PathStep]) -> Option<&Foreign> {
        self.0.get(path)
    }
}
