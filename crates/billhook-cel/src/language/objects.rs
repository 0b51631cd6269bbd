//! The objects that expressions of mutations make: `Object{…}`, `Object.spec{…}` and
//! `JSONPatch{…}` (PO-70, PO-75).

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::language::availability::Language;
use crate::language::types::{ObjectType, Type};

/// The type of whole objects; those of their parts have the path of the part after it.
pub(crate) const OBJECT: &str = "Object";
/// The type of the operations of a JSON patch.
const JSON_PATCH: &str = "JSONPatch";

/// Returns the type of a name, if objects of it can be made.
pub(crate) fn type_named(name: &str, language: Language) -> Option<Type> {
    if !language.mutates {
        return None;
    }
    let rest = name.strip_prefix(OBJECT);
    if rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.')) {
        let fields = BTreeMap::new();
        return Some(Type::Object(Arc::new(ObjectType {
            name: name.into(),
            fields,
            is_open: true,
        })));
    }
    if name != JSON_PATCH {
        return None;
    }
    let fields = [
        ("op", Type::String),
        ("path", Type::String),
        ("from", Type::String),
        ("value", Type::Dyn),
    ];
    let fields = fields.into_iter().map(|(name, of)| (Arc::from(name), of));
    Some(Type::Object(Arc::new(ObjectType::new(JSON_PATCH, fields.collect()))))
}
