//! A checker of histories: whether the operations of clients that worked at the same time can be
//! explained by one order of writes.
//!
//! Revisions name that order, so that it need not be searched for. It finds violations of the
//! linearizability of objects (compare and set by revision), of the order of revisions in real time, of
//! lists at one revision, and of what watches promise: ordered, unique, without gaps, resumable,
//! and of one state with lists.

use std::collections::BTreeMap;

use billhook_apiserver::storage::Revision;

/// A point of time, in the order in which operations began and ended.
pub(crate) type Moment = u64;

/// A change as a watch reports it: its revision, the key, and the text, if it was not deleted.
pub(crate) type Change = (Revision, String, Option<String>);

/// The end of a write, as its client knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Written(Revision),
    /// Something else was stored than was expected.
    Refused,
    /// The write may have been made.
    Unknown,
}

/// An operation of a client.
#[derive(Clone, Debug)]
pub(crate) enum Operation {
    Write {
        key: String,
        expected: Option<Revision>,
        text: Option<String>,
        outcome: Outcome,
    },
    /// The revision and the text of the object, if there was one.
    Read {
        key: String,
        found: Option<(Revision, String)>,
    },
    /// All objects, at a revision.
    List {
        revision: Revision,
        objects: BTreeMap<String, (Revision, String)>,
    },
    /// The changes after a revision, and that up to which all were reported.
    Watch {
        after: Revision,
        changes: Vec<Change>,
        until: Revision,
    },
}

/// An operation, and when it began and ended.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    pub(crate) begin: Moment,
    pub(crate) end: Moment,
    pub(crate) operation: Operation,
}

/// A change of a key, and the time in which it was made.
#[derive(Clone, Copy, Debug)]
struct Version<'h> {
    revision: Revision,
    text: Option<&'h str>,
    begin: Moment,
    end: Moment,
}

/// The states of one key, of which number 0 is that before its first change.
#[derive(Debug, Default)]
struct Versions<'h> {
    changes: Vec<Version<'h>>,
    /// By the number of a change, from 1: when the last one up to it had begun, and when the first one
    /// from it on had ended.
    begun: Vec<Moment>,
    ended: Vec<Moment>,
    /// By the number of a state: how many before it are absences.
    absences: Vec<usize>,
}

impl<'h> Versions<'h> {
    fn newest(&self) -> Option<Revision> {
        self.changes.last().filter(|change| change.text.is_some()).map(|change| change.revision)
    }

    /// Works out what the checks look up, when all changes are there.
    fn finish(&mut self) {
        let later = |last: &mut Moment, change: &Version<'_>| {
            *last = (*last).max(change.begin);
            Some(*last)
        };
        self.begun = self.changes.iter().scan(0, later).collect();
        let earlier = |first: &mut Moment, change: &Version<'_>| {
            *first = (*first).min(change.end);
            Some(*first)
        };
        self.ended = self.changes.iter().rev().scan(Moment::MAX, earlier).collect();
        self.ended.reverse();
        let states = std::iter::once(None).chain(self.changes.iter().map(|change| change.text));
        let mut absences = 0;
        self.absences.push(0);
        for text in states {
            absences += usize::from(text.is_none());
            self.absences.push(absences);
        }
    }

    /// The number of the state after a revision.
    fn number(&self, revision: Revision) -> Option<usize> {
        let found = self.changes.binary_search_by_key(&revision, |change| change.revision);
        found.ok().map(|index| index + 1)
    }

    /// The first and the last state that a step can have met: the changes up to the first one had ended
    /// before it began or may have, those after the last one began when it had ended.
    fn window(&self, step: &Step) -> (usize, usize) {
        let first = self.ended.partition_point(|ended| *ended <= step.begin);
        let last = self.begun.partition_point(|begun| *begun < step.end);
        (first, last)
    }

    fn is_absent_in(&self, (first, last): (usize, usize)) -> bool {
        first <= last && self.absences[last + 1] > self.absences[first]
    }
}

/// Checks a history; `log` has all changes, as a watch from the beginning has them. Returns the first
/// violation.
pub(crate) fn check(steps: &[Step], log: &[Change]) -> Result<(), String> {
    let versions = explain(steps, log)?;
    check_real_time(steps)?;
    for step in steps {
        match &step.operation {
            Operation::Read { key, found } => check_read(step, key, found.as_ref(), &versions)?,
            Operation::Write { key, expected, outcome: Outcome::Refused, .. } => {
                check_refusal(step, key, *expected, &versions)?;
            }
            Operation::Write { .. } => {}
            Operation::Watch { after, changes, until } => {
                let until = log.partition_point(|(at, ..)| at <= until);
                let expected =
                    log[..until].iter().skip(log.partition_point(|(at, ..)| at <= after));
                if !expected.eq(changes) {
                    return Err(format!("a watch after {after} misses changes, or has others"));
                }
            }
            Operation::List { .. } => {}
        }
    }
    check_lists(steps, log)
}

/// Finds the write of each change: each is made by one, for the revision that it expects, and each write
/// that was acknowledged is there.
fn explain<'h>(
    steps: &[Step],
    log: &'h [Change],
) -> Result<BTreeMap<&'h str, Versions<'h>>, String> {
    let mut acknowledged = BTreeMap::new();
    let mut unknown = BTreeMap::<_, Vec<Moment>>::new();
    for step in steps {
        let Operation::Write { key, expected, text, outcome } = &step.operation else { continue };
        let write = (key.as_str(), *expected, text.as_deref());
        match outcome {
            Outcome::Written(revision) => {
                if acknowledged.insert(*revision, (write, step.begin, step.end)).is_some() {
                    return Err(format!("revision {revision} was given twice"));
                }
            }
            Outcome::Unknown => unknown.entry(write).or_default().push(step.begin),
            Outcome::Refused => {}
        }
    }
    let mut all = BTreeMap::<&str, Versions<'h>>::new();
    let mut last = 0;
    for (revision, key, text) in log {
        if *revision <= last {
            return Err(format!("revision {revision} is out of order"));
        }
        last = *revision;
        let versions = all.entry(key).or_default();
        let write = (key.as_str(), versions.newest(), text.as_deref());
        let made = acknowledged.remove(revision).or_else(|| {
            let begin = unknown.get_mut(&write)?.pop()?;
            Some((write, begin, Moment::MAX))
        });
        match made {
            Some((made, begin, end)) if made == write => {
                let (revision, text) = (*revision, text.as_deref());
                versions.changes.push(Version { revision, text, begin, end });
            }
            Some((made, ..)) => {
                return Err(format!("revision {revision} is {write:?}, and {made:?} was written"));
            }
            None => return Err(format!("revision {revision} was written by no client")),
        }
    }
    all.values_mut().for_each(Versions::finish);
    match acknowledged.first_key_value() {
        Some((revision, _)) => Err(format!("revision {revision} was acknowledged and is lost")),
        None => Ok(all),
    }
}

/// A write that ended before another one began has the smaller revision; a list after a write has
/// seen it.
fn check_real_time(steps: &[Step]) -> Result<(), String> {
    let mut events = Vec::new();
    for step in steps {
        match &step.operation {
            Operation::Write { outcome: Outcome::Written(revision), .. } => {
                events.push((step.begin, Err(*revision)));
                events.push((step.end, Ok(*revision)));
            }
            Operation::List { revision, .. } => events.push((step.begin, Err(*revision + 1))),
            _ => {}
        }
    }
    events.sort_unstable();
    let mut newest = 0;
    for (_, event) in events {
        match event {
            Ok(ended) => newest = newest.max(ended),
            Err(begun) if begun <= newest => {
                return Err(format!("revision {newest} came before {begun} in time"));
            }
            Err(_) => {}
        }
    }
    Ok(())
}

/// The object that was read was the newest one at some moment of the read.
fn check_read(
    step: &Step,
    key: &str,
    found: Option<&(Revision, String)>,
    versions: &BTreeMap<&str, Versions<'_>>,
) -> Result<(), String> {
    let mut unwritten = Versions::default();
    unwritten.finish();
    let versions = versions.get(key).unwrap_or(&unwritten);
    let window = versions.window(step);
    let is_possible = match found {
        None => versions.is_absent_in(window),
        Some((revision, text)) => {
            let Some(number) = versions.number(*revision) else {
                return Err(format!("{key} was read at revision {revision}, which does not exist"));
            };
            let change = &versions.changes[number - 1];
            if change.text != Some(text.as_str()) {
                return Err(format!("{key} was read at revision {revision} with another text"));
            }
            if change.begin > step.end {
                return Err(format!("{key} was read at revision {revision} before it was written"));
            }
            (window.0..=window.1).contains(&number)
        }
    };
    match is_possible {
        true => Ok(()),
        false => Err(format!("{key} was read when it was outdated: {found:?}")),
    }
}

/// A write is refused only if something else than it expects was stored at some moment.
fn check_refusal(
    step: &Step,
    key: &str,
    expected: Option<Revision>,
    versions: &BTreeMap<&str, Versions<'_>>,
) -> Result<(), String> {
    let Some(versions) = versions.get(key) else {
        return match expected {
            None => Err(format!("the creation of {key} was refused, and it never was there")),
            Some(_) => Ok(()),
        };
    };
    let (first, last) = versions.window(step);
    // Neighbours differ.
    let state = first.checked_sub(1).map(|index| &versions.changes[index]);
    let stored = state.filter(|change| change.text.is_some()).map(|change| change.revision);
    match first == last && stored == expected {
        true => Err(format!("a write to {key} was refused for {expected:?}, which was stored")),
        false => Ok(()),
    }
}

/// Lists have the state of their revision.
fn check_lists(steps: &[Step], log: &[Change]) -> Result<(), String> {
    let mut lists: Vec<_> = steps
        .iter()
        .filter_map(|step| match &step.operation {
            Operation::List { revision, objects } => Some((*revision, objects)),
            _ => None,
        })
        .collect();
    lists.sort_unstable_by_key(|(revision, _)| *revision);
    let mut log = log.iter().peekable();
    let mut state = BTreeMap::new();
    for (revision, objects) in lists {
        while let Some((at, key, text)) = log.next_if(|(at, ..)| *at <= revision) {
            match text {
                Some(text) => state.insert(key.clone(), (*at, text.clone())),
                None => state.remove(key),
            };
        }
        if *objects != state {
            return Err(format!("a list at revision {revision} has another state"));
        }
    }
    Ok(())
}
