//! The managers of an object, as they own a place in it. Their sets are looked at only along the way
//! there.

use serde_json::Value;

use crate::field_set::FieldSet;
use crate::fields::{Fields, is_member};
use crate::fields_v1::key_text;
use crate::path_element::PathElement;

/// More owners than these are taken together.
const MAX_OWNERS: usize = 16;

/// Everybody who owns something below a place.
#[derive(Clone)]
pub(crate) struct Owners<'o>(Vec<Owner<'o>>);

#[derive(Clone)]
enum Owner<'o> {
    Read(FieldSet),
    /// In FieldsV1.
    Written(&'o Value),
}

/// A place that is owned, or below which something is.
pub(crate) struct OwnedPlace<'o> {
    pub(crate) is_member: bool,
    pub(crate) below: Owners<'o>,
}

impl<'o> Owners<'o> {
    /// The owners of a whole object.
    pub(crate) fn new(fields: impl Iterator<Item = &'o Fields>) -> Self {
        let owner = |fields: &'o Fields| match fields {
            Fields::Read(set) => Owner::Read(set.clone()),
            Fields::Written(fields) => Owner::Written(fields),
            Fields::Printed(_) => Owner::Read(fields.to_set()),
        };
        let fields: Vec<&Fields> = fields.collect();
        if fields.len() > MAX_OWNERS {
            let sets: Vec<FieldSet> = fields.into_iter().map(Fields::to_set).collect();
            return Owners(vec![Owner::Read(FieldSet::union_all(&sets))]);
        }
        Owners(fields.into_iter().map(owner).collect())
    }

    /// The same with one more.
    pub(crate) fn and(mut self, fields: &'o Fields) -> Self {
        self.0.extend(Owners::new([fields].into_iter()).0);
        self
    }

    pub(crate) const fn nobody() -> Self {
        Owners(Vec::new())
    }

    /// The ownership one step down; none if absent.
    pub(crate) fn get(&self, element: &PathElement) -> Option<OwnedPlace<'o>> {
        let (mut found, mut is_owned) = (Vec::with_capacity(self.0.len()), false);
        let mut key = None;
        for owner in &self.0 {
            match owner {
                Owner::Read(set) => {
                    let Some(node) = set.get(element) else { continue };
                    is_owned |= node.is_member;
                    found.push(Owner::Read(node.children.clone()));
                }
                Owner::Written(fields) => {
                    let key = key.get_or_insert_with(|| key_text(element));
                    let Some(below) = fields.get(key.as_str()) else { continue };
                    is_owned |= below.as_object().is_some_and(is_member);
                    found.push(Owner::Written(below));
                }
            }
        }
        (!found.is_empty()).then_some(OwnedPlace { is_member: is_owned, below: Owners(found) })
    }
}
