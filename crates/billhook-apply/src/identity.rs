//! The identity of list elements (SA-11, SA-15).

use billhook_apimachinery::value::{DeepValue, deep_clone};
use serde_json::Value;

use crate::path_element::PathElement;
use crate::shape::{List, ListKindRef};

/// An element that has no identity; prints the server's text without the position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NoIdentity {
    NullWithKeys,
    NotAMap,
    NoKeys(Vec<String>),
    MapInSet,
    ListInSet,
    NullInSet,
}

impl std::fmt::Display for NoIdentity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            NoIdentity::NullWithKeys => "associative list with keys may not have a null element",
            NoIdentity::NotAMap => "associative list with keys may not have non-map elements",
            NoIdentity::MapInSet => {
                "associative list without keys has an element that's a map type"
            }
            NoIdentity::ListInSet => "not supported: associative list with lists as elements",
            NoIdentity::NullInSet => {
                "associative list without keys has an element that's an explicit null"
            }
            NoIdentity::NoKeys(keys) => {
                let keys: Vec<String> =
                    keys.iter().map(|key| billhook_apimachinery::print::quote(key)).collect();
                return write!(
                    f,
                    "associative list with keys has an element that omits all key fields [{}] \
                     (and doesn't have default values for any key fields)",
                    keys.join(" ")
                );
            }
        })
    }
}

impl List<'_> {
    /// Returns the step to an element of an associative list.
    pub(crate) fn identify(self, element: &Value) -> Result<PathElement, NoIdentity> {
        match (self.kind, element) {
            (ListKindRef::Keyed(keys), Value::Object(members)) => {
                let field = |key: &crate::schema::KeyField| {
                    let written =
                        members.get(&*key.name).map(|value| DeepValue::from(deep_clone(value)));
                    let value = written.or_else(|| key.default.clone())?;
                    Some((String::from(&*key.name), value))
                };
                let fields: Vec<_> = keys.iter().filter_map(field).collect();
                if fields.is_empty() {
                    let names = keys.iter().map(|key| String::from(&*key.name));
                    return Err(NoIdentity::NoKeys(names.collect()));
                }
                Ok(PathElement::key(fields))
            }
            (ListKindRef::Keyed(_), Value::Null) => Err(NoIdentity::NullWithKeys),
            (ListKindRef::Keyed(_), _) => Err(NoIdentity::NotAMap),
            (_, Value::Object(_)) => Err(NoIdentity::MapInSet),
            (_, Value::Array(_)) => Err(NoIdentity::ListInSet),
            (_, Value::Null) => Err(NoIdentity::NullInSet),
            (_, scalar) => Ok(PathElement::value(scalar.clone())),
        }
    }

    /// Returns the elements that have an identity, in their order, each with the step to it. All
    /// elements of a checked value have one.
    pub(crate) fn identified(self, items: &[Value]) -> Vec<(PathElement, &Value)> {
        items.iter().filter_map(|item| Some((self.identify(item).ok()?, item))).collect()
    }
}

/// Groups the elements of a list by their identity, in the order of identities; the elements of a
/// group keep their order.
pub(crate) fn grouped<'v>(
    list: List<'_>,
    items: &'v [Value],
) -> Vec<(PathElement, Vec<&'v Value>)> {
    let mut elements = list.identified(items);
    elements.sort_by(|left, right| left.0.cmp(&right.0));
    let mut groups: Vec<(PathElement, Vec<&'v Value>)> = Vec::with_capacity(elements.len());
    for (element, item) in elements {
        match groups.last_mut().filter(|(last, _)| *last == element) {
            Some((_, items)) => items.push(item),
            None => groups.push((element, vec![item])),
        }
    }
    groups
}
