//! Controllers: functions from what they see, and the time, to requests.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use billhook_apimachinery::UserInfo;

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

    /// Returns who makes the requests about a key, if that is not the user of the account (CP-01).
    fn user(&self, _key: &str, _view: &View) -> Option<UserInfo> {
        None
    }

    /// Returns the component that its events name as their source.
    fn event_source(&self) -> &'static str {
        self.name()
    }

    /// Returns after how many failures a key is left alone until the next change (CP-02), if ever.
    fn max_tries(&self) -> Option<u32> {
        None
    }

    /// Returns how long at most a key that has failed is left alone (CP-02).
    fn longest_backoff(&self) -> Duration {
        Duration::from_secs(1_000)
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
pub struct Keys {
    pub(crate) now: BTreeSet<Key>,
    /// The keys that are worked on after a time, if nothing brings them up before.
    pub(crate) later: BTreeMap<Key, Duration>,
}

impl Keys {
    /// Adds a key.
    pub fn add(&mut self, key: &Key) {
        self.now.insert(Arc::clone(key));
    }

    /// Adds the key of the changed object, if it is of a resource. Returns whether it is.
    pub fn add_changed(&mut self, change: &Change, resource: &Resource) -> bool {
        let object = change.object().filter(|_| change.is_of(resource));
        self.now.extend(object.map(|object| Arc::clone(object.key())));
        object.is_some()
    }

    /// Adds keys that are worked on after a time, unless that is to be earlier for another reason. What
    /// happens meanwhile is one piece of work.
    pub fn add_later(&mut self, keys: Keys, delay: Duration) {
        self.later.extend(keys.now.into_iter().map(|key| (key, delay)));
    }

    /// Adds the keys of the controllers that the changed object had and has, if they are of a
    /// resource.
    pub fn add_controllers(&mut self, change: &Change, resource: &Resource) {
        self.now.extend(change.objects().filter_map(|object| object.controller_key(resource)));
    }
}
