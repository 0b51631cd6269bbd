//! The unknown fields that were removed from metadata that was normalized otherwise.

use billhook_apimachinery::value::DeepValue;
use serde_json::{Map, Value};

use crate::reader::read_json_to_depth;
use crate::scanner::{Step, Stop};
use crate::string;

/// The fields that were removed from one piece of metadata.
#[derive(Default)]
pub(crate) struct RemovedFields {
    /// The lists that are open, and the positions in them.
    way: Vec<(String, usize)>,
    fields: Vec<Removed>,
}

struct Removed {
    way: Vec<(String, usize)>,
    name: String,
    value: DeepValue,
}

impl RemovedFields {
    /// Adds a field of the record that is read; the key is written without escapes, and the value
    /// may open so many levels.
    pub(crate) fn add(&mut self, key: &[u8], value: &[u8], left: usize) -> Step<()> {
        let document = read_json_to_depth(value, left).map_err(|_| Stop::Invalid)?;
        if !document.duplicates().is_empty() {
            return Err(Stop::Duplicate);
        }
        let (way, name) = (self.way.clone(), string::unescaped(key));
        self.fields.push(Removed { way, name, value: document.into_value() });
        Ok(())
    }

    /// Begins a list of records.
    pub(crate) fn open_list(&mut self, name: &str) {
        self.way.push((name.to_owned(), 0));
    }

    /// Goes on to the next record of a list.
    pub(crate) fn next_item(&mut self) {
        if let Some((_, index)) = self.way.last_mut() {
            *index += 1;
        }
    }

    /// Ends a list of records.
    pub(crate) fn close_list(&mut self) {
        self.way.pop();
    }

    /// Returns metadata that has nothing but the removed fields, with and without them; none if
    /// nothing was removed. The two differ as the whole does.
    pub(crate) fn into_difference(self) -> Step<Option<(DeepValue, DeepValue)>> {
        if self.fields.is_empty() {
            return Ok(None);
        }
        let empty = || DeepValue::from(Value::Object(Map::new()));
        let (mut written, mut decoded) = (empty(), empty());
        for Removed { way, name, value } in self.fields {
            let record = record_at(&mut written, &way).ok_or(Stop::Metadata)?;
            if record.contains_key(&name) {
                return Err(Stop::Duplicate);
            }
            record.insert(name, value.into_inner());
            record_at(&mut decoded, &way).ok_or(Stop::Metadata)?;
        }
        Ok(Some((written, decoded)))
    }
}

/// Returns the record at the end of a way. What is missing on the way is added.
fn record_at<'v>(
    mut record: &'v mut Value,
    way: &[(String, usize)],
) -> Option<&'v mut Map<String, Value>> {
    for (name, index) in way {
        let members = record.as_object_mut()?;
        if !members.contains_key(name) {
            members.insert(name.clone(), Value::Array(Vec::new()));
        }
        let items = members.get_mut(name)?.as_array_mut()?;
        if items.len() <= *index {
            items.resize(index + 1, Value::Object(Map::new()));
        }
        record = items.get_mut(*index)?;
    }
    record.as_object_mut()
}
