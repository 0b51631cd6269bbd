//! Entries that need not be read for an apply, since they are as they would be written again.

use std::collections::BTreeSet;

use billhook_apimachinery::metadata::is_normal_time;
use billhook_apimachinery::record::text;
use serde_json::Value;

use super::managed_fields::{FIELDS_V1, ManagedFieldsOperation};
use super::{FieldManager, NEVER_OWNED};
use crate::fields_v1::is_current;
use crate::merge::{Merge, Owned};
use crate::schema::MergeSchema;

/// The key by which entries are sorted (SA-34). Texts of times have the order of the times.
type Order<'e> = (ManagedFieldsOperation, &'e str, &'e str, &'e str);

impl FieldManager<'_> {
    /// The merge of a configuration into an object, given with its managed fields, in what is mostly
    /// the case: the manager applied before, no fields of another version have an owner, and all entries
    /// are as they would be written again.
    pub(super) fn merge_as_written<'c>(
        &self,
        schema: &MergeSchema,
        live: &Value,
        config: &'c Value,
    ) -> Option<Merge<'c>> {
        let has_entries =
            config.get("metadata").is_some_and(|it| it.get("managedFields").is_some());
        if has_entries || self.check_type(config).is_err() || schema.layer().is_none() {
            return None;
        }
        let fields = self.own_fields(live, schema)?;
        let reset = self.versions.reset_fields(self.api_version, self.subresource);
        let never = NEVER_OWNED.recursive_difference(&reset).union(&reset);
        let owned = Owned { fields, never: &never };
        Some(Merge::new(schema.root(), live, config, Some(owned))).filter(|merge| merge.fits)
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
            let is_own = operation == ManagedFieldsOperation::Apply
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
            "Apply" => ManagedFieldsOperation::Apply,
            "Update" => ManagedFieldsOperation::Update,
            _ => return None,
        };
        let (subresource, time) = (text(entry, "subresource"), text(entry, "time"));
        let is_usual_time = time.is_empty() || is_normal_time(time.as_bytes());
        let optional = [subresource, time].into_iter().filter(|text| !text.is_empty()).count();
        let is_usual = entry.as_object()?.len() == 5 + optional
            && text(entry, "apiVersion") == self.api_version
            && text(entry, "fieldsType") == FIELDS_V1
            && !text(entry, "manager").is_empty();
        (is_usual && is_usual_time).then_some((
            operation,
            time,
            text(entry, "manager"),
            subresource,
        ))
    }
}
