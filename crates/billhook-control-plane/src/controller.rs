//! Controllers: functions from what they see, and the time, to requests.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use crate::account::Account;
use crate::clock::Timestamp;
use crate::plan::Plan;
use crate::resource::Resource;
use crate::view::{Change, View};

/// The unit of work of a controller: mostly the key of an object, `<namespace>/<name>`.
pub type Key = Arc<str>;

/// A controller. It keeps nothing: what it does follows from what it sees.
///
/// The runner asks it which keys a change concerns, and then once for each of them what is to be
/// done. A key is never worked on twice at the same time (CP-02), and what was done before is in
/// the view.
pub trait Controller: fmt::Debug + Send + Sync {
    /// Returns its name, as kube-controller-manager has it.
    fn name(&self) -> &'static str;

    /// Returns who makes its requests (CP-01).
    fn account(&self) -> Account;

    /// Returns the component that its events name as their source.
    fn event_source(&self) -> &'static str {
        self.name()
    }

    /// Returns after how many failures a key is left alone until the next change (CP-02), if ever.
    fn max_tries(&self) -> Option<u32> {
        None
    }

    /// Returns the resources whose changes concern it.
    fn watches(&self) -> Vec<&'static Resource>;

    /// Returns whether the changes of all resources concern it, those of custom resources, too.
    fn watches_all(&self) -> bool {
        false
    }

    /// Adds the keys that a change of a watched resource concerns.
    fn concerns(&self, change: &Change, view: &View, keys: &mut Keys);

    /// Returns what is to be done about a key now.
    fn sync(&self, key: &str, view: &View, now: Timestamp) -> Plan;
}

/// The keys that a change concerns.
#[derive(Debug, Default)]
pub struct Keys(pub(crate) BTreeSet<Key>);

impl Keys {
    /// Adds a key.
    pub fn add(&mut self, key: &Key) {
        self.0.insert(Arc::clone(key));
    }

    /// Adds the key of the changed object, if it is of a resource. Returns whether it is.
    pub fn add_changed(&mut self, change: &Change, resource: &Resource) -> bool {
        let object = change.object().filter(|_| change.is_of(resource));
        self.0.extend(object.map(|object| Arc::clone(object.key())));
        object.is_some()
    }

    /// Adds the keys of the controllers that the changed object had and has, if they are of a
    /// resource.
    pub fn add_controllers(&mut self, change: &Change, resource: &Resource) {
        self.0.extend(change.objects().filter_map(|object| object.controller_key(resource)));
    }
}
