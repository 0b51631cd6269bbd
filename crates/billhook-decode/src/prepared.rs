//! Defaults as JSON text, ready to be written, already completed by the defaults below them.

use billhook_apimachinery::print::plain_json;
use billhook_apimachinery::value::{DeepValue, deep_clone};
use billhook_defaulting::{DefaultBudget, apply_defaults_within};
use billhook_schema::{CompiledSchema, Edge, SchemaStep};

/// The maximum number of bytes of text prepared for one schema. Completed defaults can be much
/// larger than the schema; the rest is left to the slower path.
const MAX_PREPARED: usize = 4 * 1024 * 1024;

/// The most memory, in bytes, that is used for the values of which the texts are made, those that are
/// dropped again included.
const MAX_PREPARING: usize = 64 * MAX_PREPARED;

/// The prepared defaults of a schema.
#[derive(Debug, Default)]
pub(crate) struct PreparedDefaults {
    by_id: Vec<Option<Prepared>>,
}

#[derive(Debug)]
pub(crate) struct Prepared {
    /// `,"name":value` for a member that can be missing, else only the value.
    text: String,
    value_start: usize,
    /// The bytes that count against the limit for defaults.
    pub(crate) size: usize,
}

impl Prepared {
    /// The member as text, with a comma in front unless it is the first of its object.
    #[inline]
    pub(crate) fn member(&self, is_first: bool) -> &[u8] {
        self.text.as_bytes().get(usize::from(is_first)..).unwrap_or_default()
    }

    pub(crate) fn value(&self) -> &[u8] {
        self.text.as_bytes().get(self.value_start..).unwrap_or_default()
    }
}

impl PreparedDefaults {
    pub(crate) fn new(schema: &CompiledSchema) -> Self {
        let mut prepared = PreparedDefaults::default();
        let mut total = 0;
        let mut budget = DefaultBudget::of(MAX_PREPARING);
        for edge in schema.default_places() {
            let (Some(id), Some(default)) = (edge.default_id(), edge.default()) else { continue };
            let before = budget.left();
            if total > MAX_PREPARED || budget.spend_on(edge).is_err() {
                break;
            }
            let mut value = DeepValue::from(deep_clone(default));
            if apply_defaults_within(&mut budget, edge.node(), &mut value, &mut ()).is_err() {
                break;
            }
            let mut text = String::new();
            if let Some((_, SchemaStep::Property(name))) = edge.node().last_step() {
                text = format!(",{}:", plain_json(&name.into()));
            }
            let value_start = text.len();
            text.push_str(&plain_json(&value));
            total += text.len();
            if prepared.by_id.len() <= id {
                prepared.by_id.resize_with(id + 1, || None);
            }
            let size = before - budget.left();
            if let Some(slot) = prepared.by_id.get_mut(id) {
                *slot = Some(Prepared { text, value_start, size });
            }
        }
        prepared
    }

    #[inline]
    pub(crate) fn get(&self, edge: Edge<'_>) -> Option<&Prepared> {
        self.by_id.get(edge.default_id()?)?.as_ref()
    }
}
