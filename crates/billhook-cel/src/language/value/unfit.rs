//! Parts of an object that do not have the type in their schema: an error only where they are read
//! (CE-06).

use std::sync::Arc;

use serde_json::Value as Json;

use super::{EvaluationError, LibraryValue, Outcome, Value};
use crate::language::schema::SchemaType;

/// Stands for such a part.
#[derive(Debug, PartialEq)]
struct Unfit(EvaluationError);

impl LibraryValue for Unfit {
    fn type_name(&self) -> &'static str {
        "error"
    }
}

impl<'a> Value<'a> {
    /// A part of an object as the value of a variable. If the part does not have the type in its
    /// schema, that is an error where the variable is read.
    pub(crate) fn variable(json: &'a Json, schema: &'a SchemaType) -> Self {
        Value::of(json, schema).unwrap_or_else(Value::unfit)
    }

    /// Stands for a value with an error until it is [read](Value::read).
    pub(crate) fn unfit(error: EvaluationError) -> Self {
        Value::Opaque(Arc::new(Unfit(error)))
    }

    /// Returns the value where an expression reads it.
    pub(crate) fn read(self) -> Outcome<'a> {
        let Value::Opaque(opaque) = &self else { return Ok(self) };
        match opaque.downcast_ref::<Unfit>() {
            Some(Unfit(error)) => Err(error.clone()),
            None => Ok(self),
        }
    }
}
