//! The controller that enters stages (CP-110).

use std::cell::LazyCell;
use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use billhook_apimachinery::UserInfo;
use billhook_kinds::Kind;
use serde_json::{Map, Value, json};

use super::path::{Path, text_of};
use super::template::Surroundings;
use super::{Delay, Finalizers, Patch, Stage};
use crate::account::Account;
use crate::clock::Timestamp;
use crate::controller::{Controller, Keys};
use crate::event::Event;
use crate::hash::number_of;
use crate::object::Object;
use crate::plan::Plan;
use crate::request::Request;
use crate::resource::{NODES, Resource, split_key};
use crate::simulation::addresses::{self, Addresses};
use crate::simulation::document::duration;
use crate::simulation::status::HOST;
use crate::view::{Change, View};

/// Enters stages when their times have come.
#[derive(Debug)]
pub(crate) struct Stages {
    stages: Vec<Stage>,
    seed: u64,
    addresses: Addresses,
    known: Mutex<Known>,
}

/// The part of the state that nothing stored says.
#[derive(Debug, Default)]
struct Known {
    /// The stages that objects come to, by the keys of these.
    entries: BTreeMap<String, Entry>,
    /// The addresses of pods, by UID.
    addresses: BTreeMap<String, Ipv4Addr>,
}

/// A stage that an object comes to as it is at a revision.
#[derive(Clone, Copy, Debug)]
struct Entry {
    revision: u64,
    /// How many stages it has come to before.
    count: u64,
    stage: usize,
    /// `None` if it has come there.
    due: Option<Timestamp>,
}

impl Stages {
    pub(crate) fn new(stages: Vec<Stage>, seed: u64) -> Self {
        Stages { stages, seed, addresses: Addresses::default(), known: Mutex::default() }
    }
}

/// Numbers that look random and are the same in every run, in whatever order other clients make requests:
/// they follow from the name of an object and from the number of stages that this has come to.
struct Chance<'c> {
    seed: u64,
    key: &'c str,
    count: u64,
}

impl Chance<'_> {
    /// Returns a number below a limit; 0 if that is 0.
    fn below(&self, limit: u64, purpose: &str) -> u64 {
        let Chance { seed, key, count } = self;
        let number = u128::from(number_of(&format!("{seed} {key} {count} {purpose}")));
        u64::try_from((number * u128::from(limit)) >> u32::BITS).unwrap_or_default()
    }
}

impl Controller for Stages {
    fn name(&self) -> &'static str {
        "kwok"
    }

    fn account(&self) -> Account {
        // Where roles decide, it may do what stages want.
        let user = UserInfo::named("kwok").group("system:masters").group("system:authenticated");
        Account::new(user, "kwok")
    }

    fn watches(&self) -> Vec<&'static Resource> {
        Vec::new()
    }

    fn watches_all(&self) -> bool {
        true
    }

    /// Keys are those of objects, after their collections.
    fn concerns(&self, change: &Change, _: &View, keys: &mut Keys) {
        let Some(object) = change.object().filter(|object| self.may_concern(object)) else {
            return;
        };
        let key = format!("{}:{}", change.collection(), object.key());
        if change.after.is_none() {
            let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            known.entries.remove(&key);
            known.addresses.remove(object.uid());
            return;
        }
        keys.add(&key.into());
    }

    fn sync(&self, key: &str, view: &View, now: Timestamp) -> Plan {
        let Some((collection, key_of_object)) = key.split_once(':') else { return Plan::nothing() };
        let object = view.find(collection, key_of_object);
        let Some(object) = object.filter(|object| is_managed(object, view)) else {
            return Plan::nothing();
        };
        let Some((stage, entry)) = self.entry(key, object, now) else { return Plan::nothing() };
        match entry.due.map(|due| due.since(now)) {
            None => Plan::nothing(),
            Some(Duration::ZERO) => {
                self.note_entered(key);
                self.enter((stage, collection), object, view, now)
            }
            Some(left) => Plan::nothing().again_after(left),
        }
    }
}

/// Whether a pod is on a node that exists; other objects are always looked after.
fn is_managed(object: &Object, view: &View) -> bool {
    let is_pod = object.text("/kind") == "Pod" && object.text("/apiVersion") == "v1";
    !is_pod || view.get(&NODES, object.text("/spec/nodeName")).is_some()
}

impl Stages {
    fn may_concern(&self, object: &Object) -> bool {
        self.stages.iter().any(|stage| stage.is_of(object))
    }

    /// Returns the stage that an object comes to, and when.
    fn entry(&self, key: &str, object: &Object, now: Timestamp) -> Option<(&Stage, Entry)> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let last = known.entries.get(key).copied();
        let entry = match last.filter(|last| last.revision == object.revision()) {
            Some(entry) => entry,
            None => {
                let count = last.map_or(0, |last| last.count.wrapping_add(1));
                let chance = Chance { seed: self.seed, key, count };
                let stage = self.choose(object, &chance)?;
                let due = self.stages.get(stage)?.due(object, &chance, now);
                let entry = Entry { revision: object.revision(), count, stage, due: Some(due) };
                known.entries.insert(key.to_owned(), entry);
                entry
            }
        };
        Some((self.stages.get(entry.stage)?, entry))
    }

    /// Chooses among the stages that select an object, by their weights.
    fn choose(&self, object: &Object, chance: &Chance<'_>) -> Option<usize> {
        let whole = LazyCell::new(|| object.whole());
        let selects =
            |(_, stage): &(usize, &Stage)| stage.is_of(object) && stage.selector.matches(&whole);
        let candidates = self.stages.iter().enumerate().filter(selects);
        let weight = |stage: &Stage| {
            let own = object.annotation(&stage.annotation("weight"));
            let own = own.and_then(|text| text.parse().ok());
            let found = || first_at(stage.weight_from.as_ref()?, &whole)?.parse().ok();
            own.or_else(found).unwrap_or(stage.weight)
        };
        let mut candidates: Vec<(usize, u64)> =
            candidates.map(|(index, stage)| (index, weight(stage))).collect();
        if candidates.iter().all(|(_, weight)| *weight == 0) {
            candidates.iter_mut().for_each(|(_, weight)| *weight = 1);
        }
        let total = candidates.iter().fold(0, |sum, (_, weight)| weight.saturating_add(sum));
        let mut place = chance.below(total, "");
        let is_chosen = |(_, weight): &&(usize, u64)| {
            let is_here = place < *weight;
            place = place.saturating_sub(*weight);
            is_here
        };
        candidates.iter().find(is_chosen).map(|(index, _)| *index)
    }

    fn note_entered(&self, key: &str) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(entry) = known.entries.get_mut(key) {
            entry.due = None;
        }
    }

    /// Makes the changes of a stage.
    fn enter(
        &self,
        (stage, collection): (&Stage, &str),
        object: &Arc<Object>,
        view: &View,
        now: Timestamp,
    ) -> Plan {
        let (api_version, next) = (object.text("/apiVersion"), &stage.next);
        let (group, plural) = collection.split_once('/').unwrap_or(("", collection));
        let root = if group.is_empty() { "/api" } else { "/apis" };
        let path = match split_key(object.key()) {
            ("", name) => format!("{root}/{api_version}/{plural}/{name}"),
            (namespace, name) => {
                format!("{root}/{api_version}/namespaces/{namespace}/{plural}/{name}")
            }
        };
        let mut plan = Plan::nothing();
        if let Some(event) = &next.event {
            plan = plan.event(about(object, event));
        }
        if let Some(finalizers) = next.finalizers.change(object) {
            let patch = json!({"metadata": {"uid": object.uid(), "finalizers": finalizers}});
            plan = plan.try_request(Request::patch_at(&path, false, &patch), &[404, 409]);
        }
        let is_built_in = Kind::all().iter().any(|it| it.group == group && it.plural == plural);
        for patch in &next.patches {
            let printed = match self.print(patch, object, view, now) {
                Ok(printed) => printed,
                Err(why) => return plan.and(Plan::failure(why)),
            };
            let path = match patch.subresource.as_str() {
                "" => path.clone(),
                subresource => format!("{path}/{subresource}"),
            };
            let request = match patch.is_json {
                true => Request::json_patch_at(&path, &printed),
                false => Request::patch_at(&path, is_built_in, &printed),
            };
            plan = plan.try_request(request, &[404, 409]);
        }
        if next.is_deletion {
            let options = json!({"gracePeriodSeconds": 0, "preconditions": {"uid": object.uid()}});
            plan = plan.try_request(Request::delete_at(&path, &options), &[404, 409]);
        }
        plan
    }

    /// Prints a patch of an object.
    fn print(
        &self,
        patch: &Patch,
        object: &Object,
        view: &View,
        now: Timestamp,
    ) -> Result<Value, String> {
        let surroundings = Surroundings {
            now,
            node_address: HOST,
            pod_address: self.address(object, view).to_string(),
        };
        let text = patch.template.print(&object.whole(), &surroundings)?;
        let read = billhook_yaml::read_document(text.as_bytes());
        let read = read.map_err(|error| error.to_string())?.into_value().into_inner();
        if patch.is_json {
            let Value::Array(mut operations) = read else {
                return Err("a JSON patch is a list of operations".to_owned());
            };
            // No other object of the name is changed.
            let test = json!({"op": "test", "path": "/metadata/uid", "value": object.uid()});
            operations.insert(0, test);
            return Ok(operations.into());
        }
        let mut printed = match patch.root.as_str() {
            "" => read,
            root => Value::Object(Map::from_iter([(root.to_owned(), read)])),
        };
        crate::document::set(&mut printed, &["metadata", "uid"], object.uid().into());
        Ok(printed)
    }

    /// Returns the address of a pod, the same one each time.
    fn address(&self, pod: &Object, view: &View) -> Ipv4Addr {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let known = known.addresses.entry(pod.uid().to_owned());
        *known.or_insert_with(|| addresses::of(pod).unwrap_or_else(|| self.addresses.next(view)))
    }
}

/// Returns the text of what is first at a path.
fn first_at(path: &Path, value: &Value) -> Option<String> {
    path.find(value).first().map(|found| text_of(found))
}

impl Stage {
    fn is_of(&self, object: &Object) -> bool {
        object.text("/kind") == self.kind && object.text("/apiVersion") == self.api_version
    }

    /// Returns the annotation in which an object has another value than the stage.
    fn annotation(&self, name: &str) -> String {
        format!("{}.stage.kwok.x-k8s.io/{name}", self.name)
    }

    /// Returns when an object comes to the stage.
    fn due(&self, object: &Object, chance: &Chance<'_>, now: Timestamp) -> Timestamp {
        let own = |name| object.annotation(&self.annotation(name)).and_then(duration);
        let Delay { duration: written, jitter, from, jitter_from } = &self.delay;
        let found = |path: &Option<Path>| first_at(path.as_ref()?, &object.whole());
        let (found, longest) = (found(from), found(jitter_from));
        let found = found.as_deref();
        if let Some(time) = found.and_then(Timestamp::parse) {
            return time;
        }
        let shortest = own("delay").or_else(|| duration(found?)).unwrap_or(*written);
        let from_object = || {
            let text = longest.as_deref()?;
            let until = |end: Timestamp| end.since(now);
            Timestamp::parse(text).map(until).or_else(|| duration(text))
        };
        let longest = own("jitter-delay").or_else(from_object).or(*jitter).unwrap_or(shortest);
        let span = u64::try_from(longest.saturating_sub(shortest).as_millis()).unwrap_or(u64::MAX);
        let jitter = chance.below(span, &self.name);
        now.plus(shortest).plus(Duration::from_millis(jitter))
    }
}

impl Finalizers {
    /// Returns the finalizers that an object is to have, if these are others than it has.
    fn change(&self, object: &Object) -> Option<Vec<Value>> {
        let known = object.list("/metadata/finalizers");
        let is_kept = |it: &&Value| {
            !self.are_emptied && !self.removed.iter().any(|removed| **it == **removed)
        };
        let mut wanted: Vec<Value> = known.iter().filter(is_kept).cloned().collect();
        for added in &self.added {
            if !wanted.iter().any(|it| *it == **added) {
                wanted.push(added.as_str().into());
            }
        }
        (wanted != known).then_some(wanted)
    }
}

/// Returns the event of a stage about an object.
fn about(object: &Object, [kind, reason, message]: &[String; 3]) -> Event {
    let kind = if kind == "Warning" { "Warning" } else { "Normal" };
    Event::about(object, kind, reason, message.clone())
}
