//! ConfigMaps (BK-250).

use billhook_apimachinery::metadata::Time;
use serde_json::Value;

use super::data;
use crate::behavior::{Behavior, Findings, WriteContext};
use crate::cells;

/// The rules of ConfigMaps.
#[derive(Debug)]
pub(crate) struct ConfigMap;

impl Behavior for ConfigMap {
    fn validate(
        &self,
        object: &Value,
        old: Option<&Value>,
        _: &WriteContext<'_>,
        found: &mut Findings,
    ) {
        data::validate_config_map(object, &mut found.errors);
        if let Some(old) = old {
            data::validate_immutable(object, old, &mut found.errors);
        }
    }

    fn cells(&self, object: &Value, now: Time) -> Vec<Value> {
        vec![
            cells::name(object),
            (cells::count(object, "/data") + cells::count(object, "/binaryData")).into(),
            cells::created(object, now),
        ]
    }
}
