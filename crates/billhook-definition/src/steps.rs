//! Paths through schemas as they are written (CE-15).

use billhook_schema::json_path::{JsonStep, Steps};
use serde_json::Value;

use billhook_apimachinery::record::member;

/// A schema as it is written.
#[derive(Clone, Copy)]
pub(crate) struct Written<'v>(pub(crate) &'v Value);

impl Steps for Written<'_> {
    fn step(&self, name: &str) -> Option<JsonStep<Self>> {
        // Listed properties hide the schema of the others.
        let properties = member(self.0, "properties").and_then(Value::as_object);
        if let Some(properties) = properties.filter(|properties| !properties.is_empty()) {
            return properties.get(name).map(Written).map(JsonStep::Property);
        }
        let additional = member(self.0, "additionalProperties")?;
        Some(JsonStep::Member(additional.is_object().then_some(Written(additional))))
    }
}
