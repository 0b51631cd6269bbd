//! Which endpoints are in which EndpointSlice: those that have one stay in it.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};

use super::ports::Port;
use crate::document::{remove, set};
use crate::object::Object;
use crate::request::Request;
use crate::resource::ENDPOINT_SLICES;

/// Endpoints of a family of addresses that have the same ports.
#[derive(Debug, Default)]
pub(super) struct Group {
    pub(super) ports: Vec<Port>,
    pub(super) endpoints: Vec<Value>,
}

/// Groups, by their families and sorted ports.
pub(super) type Groups = BTreeMap<(String, Vec<Port>), Group>;

/// The parts that the slices of an owner have in common.
#[derive(Debug)]
pub(super) struct Common<'o> {
    pub(super) owner: &'o Object,
    pub(super) reference: Value,
    pub(super) labels: Value,
    /// The annotations that slices get when they are written, and lose where the value is null.
    pub(super) annotations: Vec<(String, Value)>,
    /// How many endpoints a slice has at most.
    pub(super) capacity: usize,
}

/// A slice as it is to be.
struct Placed {
    /// The slice that is there; `None` if it is to be created.
    slice: Option<Arc<Object>>,
    family: String,
    ports: Vec<Port>,
    endpoints: Vec<Value>,
}

impl Common<'_> {
    /// Returns the requests after which there are slices with the endpoints of groups, and no others.
    /// A group without endpoints has a slice, too.
    pub(super) fn requests(&self, slices: Vec<Arc<Object>>, groups: Groups) -> Vec<Request> {
        let mut unused = slices;
        let mut placed = Vec::new();
        for ((family, ports), group) in groups {
            let is_of_group = |slice: &Arc<Object>| {
                slice.text("/addressType") == family && sorted_ports(slice) == ports
            };
            let (of_group, others) = unused.into_iter().partition(is_of_group);
            unused = others;
            let is_empty = group.endpoints.is_empty();
            let mut is_kept = is_empty;
            for slice in self.place(of_group, &family, group) {
                // One slice says that there are no endpoints.
                if !slice.endpoints.is_empty() || std::mem::take(&mut is_kept) {
                    placed.push(slice);
                } else {
                    unused.extend(slice.slice);
                }
            }
        }
        placed.iter_mut().for_each(|slice| slice.reuse(&mut unused));
        let writes = placed.iter().filter_map(|slice| self.write(slice));
        let deletes = unused.iter().map(|slice| Request::delete_seen(&ENDPOINT_SLICES, slice));
        writes.chain(deletes).collect()
    }

    /// Places the endpoints of a group: first where they are, then where there is room, then in new
    /// slices.
    fn place(&self, slices: Vec<Arc<Object>>, family: &str, group: Group) -> Vec<Placed> {
        let of_identity = |(index, it): (usize, &Value)| (identity(it), index);
        let places: BTreeMap<String, usize> =
            group.endpoints.iter().enumerate().map(of_identity).collect();
        let mut rest: Vec<Option<Value>> = group.endpoints.into_iter().map(Some).collect();
        let placed = |slice, endpoints| Placed {
            slice,
            family: family.to_owned(),
            ports: group.ports.clone(),
            endpoints,
        };
        let mut all: Vec<Placed> = Vec::new();
        for slice in slices {
            let known = slice.list("/endpoints").iter();
            let kept = known.filter_map(|it| rest.get_mut(*places.get(&identity(it))?)?.take());
            let kept = kept.collect();
            all.push(placed(Some(slice), kept));
        }
        let mut rest: Vec<Value> = rest.into_iter().flatten().collect();
        // Those that have to be written anyhow are filled first.
        all.sort_by_key(|slice| !slice.differs());
        for slice in &mut all {
            let room = self.capacity.saturating_sub(slice.endpoints.len()).min(rest.len());
            slice.endpoints.extend(rest.drain(..room));
        }
        all.extend(rest.chunks(self.capacity.max(1)).map(|chunk| placed(None, chunk.to_vec())));
        if all.is_empty() {
            all.push(placed(None, Vec::new()));
        }
        all
    }

    /// Returns the request that creates or updates a slice, if that changes anything.
    fn write(&self, placed: &Placed) -> Option<Request> {
        let ports: Vec<Value> = placed.ports.iter().map(Port::of_slice).collect();
        let mut slice = match &placed.slice {
            Some(slice) if !self.differs(slice, placed) => return None,
            Some(slice) => slice.copy(),
            None => json!({
                "apiVersion": ENDPOINT_SLICES.api_version(), "kind": ENDPOINT_SLICES.kind,
                "metadata": {
                    "generateName": format!("{}-", self.owner.name()),
                    "namespace": self.owner.namespace(),
                },
                "addressType": placed.family,
            }),
        };
        set(&mut slice, &["metadata", "ownerReferences"], json!([self.reference]));
        set(&mut slice, &["metadata", "labels"], self.labels.clone());
        for (name, value) in &self.annotations {
            match value {
                Value::Null => remove(&mut slice, &["metadata", "annotations", name]),
                value => set(&mut slice, &["metadata", "annotations", name], value.clone()),
            }
        }
        set(&mut slice, &["endpoints"], list_or_null(placed.endpoints.clone()));
        set(&mut slice, &["ports"], list_or_null(ports));
        Some(match &placed.slice {
            Some(known) => Request::update(&ENDPOINT_SLICES, known.key(), &slice),
            None => Request::create(&ENDPOINT_SLICES, self.owner.namespace(), &slice),
        })
    }

    fn differs(&self, slice: &Object, placed: &Placed) -> bool {
        placed.differs()
            || *slice.get("/metadata/labels") != self.labels
            || slice.controller_uid() != self.owner.uid()
            || sorted_ports(slice) != sorted(placed.ports.clone())
    }
}

impl Placed {
    fn differs(&self) -> bool {
        self.slice.as_ref().is_none_or(|slice| slice.list("/endpoints") != self.endpoints)
    }

    /// Takes a slice that is not used any more in the place of a new one.
    fn reuse(&mut self, unused: &mut Vec<Arc<Object>>) {
        let is_of_family = |slice: &Arc<Object>| slice.text("/addressType") == self.family;
        if self.slice.is_none()
            && let Some(index) = unused.iter().position(is_of_family)
        {
            self.slice = Some(unused.remove(index));
        }
    }
}

/// Returns the text by which an endpoint is the same as another one: the UID of its pod, or its
/// addresses.
fn identity(endpoint: &Value) -> String {
    let uid = endpoint.pointer("/targetRef/uid").and_then(Value::as_str);
    let addresses = || endpoint.get("addresses").map(Value::to_string).unwrap_or_default();
    uid.map_or_else(addresses, str::to_owned)
}

fn sorted_ports(slice: &Object) -> Vec<Port> {
    sorted(slice.list("/ports").iter().map(Port::parse).collect())
}

/// Returns ports in the order that makes them comparable.
pub(super) fn sorted(mut ports: Vec<Port>) -> Vec<Port> {
    ports.sort();
    ports
}

fn list_or_null(list: Vec<Value>) -> Value {
    if list.is_empty() { Value::Null } else { list.into() }
}
