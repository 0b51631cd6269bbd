//! The functions that only expressions of mutations may call (PO-45).

use super::declare::{Overload, Result, text};
use crate::language::availability::Availability;
use crate::language::types::Type;
use crate::language::value::Value;

pub(super) fn library() -> Vec<Overload> {
    let escape =
        Overload::function("jsonpatch.escapeKey", vec![Type::String], Type::String, escape_key);
    vec![escape.available(Availability::Mutations)]
}

/// PO-76.
fn escape_key<'a>(arguments: &[Value<'a>]) -> Result<Value<'a>> {
    Ok(Value::text(text(arguments, 0)?.replace('~', "~0").replace('/', "~1")))
}
