//! The apply that changes nothing, recognized early (SA-76).

use std::collections::BTreeSet;

use billhook_apimachinery::metadata::Time;
use billhook_apimachinery::record::text;
use serde_json::Value;

use super::managed_fields::{FIELDS_V1, Operation};
use super::{FieldManager, NEVER_OWNED};
use crate::fields_v1::is_current;
use crate::schema::MergeSchema;
use crate::unchanged::is_unchanged;

/// The key by which entries are sorted (SA-34).
type Order<'e> = (Operation, Time, &'e str, &'e str);

impl FieldManager<'_> {
    /// Whether the apply of a configuration leaves an object, given with its managed fields,
    /// exactly as it is. It takes a fraction of the time of the apply, and sees what is mostly the
    /// case: the manager applies what it applied before, nobody changed it since, and nobody owns
    /// fields of another version. Without that it is false, which means nothing.
    pub fn leaves_unchanged(&self, live: &Value, config: &Value) -> bool {
        let is_synced = self.is_kubectl() && super::last_applied::is_set(live);
        let has_entries = config.pointer("/metadata/managedFields").is_some();
        if is_synced || has_entries || self.check_type(config).is_err() {
            return false;
        }
        let Ok(schema) = self.schema() else { return false };
        let Some(fields) = self.own_fields(live, schema) else { return false };
        let reset = self.versions.reset_fields(self.api_version, self.subresource);
        is_unchanged(schema.root(), live, config, fields, &NEVER_OWNED.union(&reset))
    }

    /// The fields of the manager's entry, if all entries are as they would be written again.
    fn own_fields<'e>(&self, live: &'e Value, schema: &MergeSchema) -> Option<&'e Value> {
        let entries = live.get("metadata")?.get("managedFields")?.as_array()?;
        let mut own = None;
        let mut last: Option<Order<'_>> = None;
        let mut identities = BTreeSet::new();
        for entry in entries {
            let order = self.order(entry)?;
            let (operation, _, manager, subresource) = order;
            let is_new = identities.insert((operation, manager, subresource));
            if !is_new || last.is_some_and(|last| last > order) {
                return None;
            }
            last = Some(order);
            let fields = entry.get("fieldsV1")?;
            let is_own = operation == Operation::Apply
                && (manager, subresource) == (self.manager, self.subresource);
            if is_own {
                own = Some(fields);
            } else if !is_current(Some(schema.root()), fields) {
                return None;
            }
        }
        own
    }

    /// The place of an entry among the others; none if it would be written in another way, or is
    /// of another version.
    fn order<'e>(&self, entry: &'e Value) -> Option<Order<'e>> {
        let operation = match text(entry, "operation") {
            "Apply" => Operation::Apply,
            "Update" => Operation::Update,
            _ => return None,
        };
        let (subresource, written) = (text(entry, "subresource"), text(entry, "time"));
        let time = Time::parse(written).unwrap_or_default();
        let is_same_time = match time.is_zero() {
            true => written.is_empty(),
            false => time.to_rfc3339() == written,
        };
        let optional = [subresource, written].into_iter().filter(|text| !text.is_empty()).count();
        let is_usual = entry.as_object()?.len() == 5 + optional
            && text(entry, "apiVersion") == self.api_version
            && text(entry, "fieldsType") == FIELDS_V1
            && !text(entry, "manager").is_empty();
        (is_usual && is_same_time).then_some((operation, time, text(entry, "manager"), subresource))
    }
}
