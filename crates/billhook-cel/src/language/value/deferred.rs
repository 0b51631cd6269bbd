//! Values that are evaluated when they are first selected (PO-47).

use std::any::Any;
use std::sync::Arc;

use super::{Map, Opaque, Text, Value};

/// Stands for a value until it is selected.
#[derive(Debug)]
pub(crate) struct Deferred(pub(crate) Arc<str>);

impl Opaque for Deferred {
    fn type_name(&self) -> &'static str {
        "dyn"
    }

    fn equals(&self, other: &dyn Opaque) -> bool {
        other.as_any().downcast_ref::<Deferred>().is_some_and(|other| other.0 == self.0)
    }

    fn as_any(&self) -> &dyn Any {
        self
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
