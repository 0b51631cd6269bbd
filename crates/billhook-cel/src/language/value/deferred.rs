//! Values that are evaluated when they are first selected (PO-47).

use std::sync::Arc;

use super::{LibraryValue, Map, Text, Value};

/// Stands for a value until it is selected.
#[derive(Debug, PartialEq)]
pub(crate) struct Deferred(pub(crate) Arc<str>);

impl LibraryValue for Deferred {
    fn type_name(&self) -> &'static str {
        "dyn"
    }
}

impl Value<'_> {
    /// Returns an object whose fields are evaluated when they are selected: by what
    /// [`Program::evaluate_lazily`](crate::Program::evaluate_lazily) is given for that.
    pub fn deferred<'n>(names: impl IntoIterator<Item = &'n str>) -> Self {
        let entry = |name: &str| {
            let name: Arc<str> = name.into();
            let value = Value::Opaque(Arc::new(Deferred(Arc::clone(&name))));
            (Value::String(Text::Shared(name)), value)
        };
        Value::Map(Map::Values(Arc::new(names.into_iter().map(entry).collect())))
    }
}
