//! The functions that the macros for maps call (CE-10).

use std::sync::Arc;

use super::declare::{Overload, Result};
use super::work;
use crate::language::functions::strings::format::shown;
use crate::language::types::Type;
use crate::language::value::{EvaluationError, Map, Value};

pub(super) fn library() -> Vec<Overload> {
    let (key, value) = (Type::Param("K"), Type::Param("V"));
    let map = Type::Map(key.clone().into(), value.clone().into());
    let both = vec![map.clone(), map.clone()];
    vec![
        Overload::function("cel.@mapInsert", both, map.clone(), insert).works(work::once),
        Overload::function("cel.@mapInsert", vec![map.clone(), key, value], map, insert)
            .works(work::once),
    ]
}

/// There is an entry for the key.
pub(crate) fn already_exists(key: &Value<'_>) -> EvaluationError {
    let key = shown(key).unwrap_or_default();
    EvaluationError::new(format!("insert failed: key {key} already exists"))
}

/// Returns a map with more entries, none of which it may have.
fn insert<'a>(arguments: &[Value<'a>]) -> Result<Value<'a>> {
    let (map, more) = match arguments {
        [Value::Map(map), Value::Map(more)] => (map, more.entries()),
        [Value::Map(map), key, value] => (map, vec![(key.clone(), Ok(value.clone()))]),
        _ => return Err(EvaluationError::NoSuchOverload),
    };
    let mut entries = Vec::with_capacity(map.len() + more.len());
    for (key, value) in map.entries() {
        entries.push((key, value?));
    }
    for (key, value) in more {
        if map.get(&key).is_some() {
            return Err(already_exists(&key));
        }
        entries.push((key, value?));
    }
    Ok(Value::Map(Map::Values(Arc::new(entries.into()))))
}
