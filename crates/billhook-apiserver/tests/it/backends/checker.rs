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

/// The changes of one key, by revision; the text, and the time in which each was made.
type Versions<'h> = BTreeMap<Revision, (Option<&'h str>, Moment, Moment)>;

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
                let expected = log.iter().filter(|(at, ..)| at > after && at <= until);
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
    let mut unknown = Vec::new();
    for step in steps {
        let Operation::Write { key, expected, text, outcome } = &step.operation else { continue };
        let write = (key.as_str(), *expected, text.as_deref());
        match outcome {
            Outcome::Written(revision) => {
                if acknowledged.insert(*revision, (write, step.begin, step.end)).is_some() {
                    return Err(format!("revision {revision} was given twice"));
                }
            }
            Outcome::Unknown => unknown.push((write, step.begin)),
            Outcome::Refused => {}
        }
    }
    let mut versions = BTreeMap::<&str, Versions<'h>>::new();
    let mut last = 0;
    for (revision, key, text) in log {
        if *revision <= last {
            return Err(format!("revision {revision} is out of order"));
        }
        last = *revision;
        let versions = versions.entry(key).or_default();
        let newest = versions.last_key_value().filter(|(_, (text, ..))| text.is_some());
        let write = (key.as_str(), newest.map(|(revision, _)| *revision), text.as_deref());
        let made = acknowledged.remove(revision).or_else(|| {
            let found = unknown.iter().position(|(unknown, _)| *unknown == write)?;
            let (write, begin) = unknown.swap_remove(found);
            Some((write, begin, Moment::MAX))
        });
        match made {
            Some((made, begin, end)) if made == write => {
                versions.insert(*revision, (text.as_deref(), begin, end));
            }
            Some((made, ..)) => {
                return Err(format!("revision {revision} is {write:?}, and {made:?} was written"));
            }
            None => return Err(format!("revision {revision} was written by no client")),
        }
    }
    match acknowledged.first_key_value() {
        Some((revision, _)) => Err(format!("revision {revision} was acknowledged and is lost")),
        None => Ok(versions),
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
    let empty = Versions::new();
    let versions = versions.get(key).unwrap_or(&empty);
    if let Some((revision, text)) = found {
        let Some((written, begin, _)) = versions.get(revision) else {
            return Err(format!("{key} was read at revision {revision}, which does not exist"));
        };
        if *written != Some(text.as_str()) {
            return Err(format!("{key} was read at revision {revision} with another text"));
        }
        if *begin > step.end {
            return Err(format!("{key} was read at revision {revision} before it was written"));
        }
    }
    // Absence was there at the beginning, or after a deletion.
    let is_possible = |at: Revision| {
        let later = versions.range(at + 1..).next();
        later.is_none_or(|(_, (_, _, end))| *end > step.begin)
    };
    let absences = || {
        let deletions =
            versions.iter().filter(|(_, (text, begin, _))| text.is_none() && *begin < step.end);
        deletions.map(|(revision, _)| *revision).chain([0])
    };
    let is_possible = match found {
        Some((revision, _)) => is_possible(*revision),
        None => absences().any(is_possible),
    };
    if is_possible {
        Ok(())
    } else {
        Err(format!("{key} was read when it was outdated: {found:?}"))
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
    // The state at the beginning is at least that of the last write that had ended.
    let ended = versions.iter().rfind(|(_, (_, _, end))| *end < step.begin);
    let is_expected = match (ended, expected) {
        (Some((revision, (Some(_), ..))), Some(expected)) => *revision == expected,
        (None | Some((_, (None, ..))), None) => true,
        _ => false,
    };
    let begun = versions.iter().rfind(|(_, (_, begin, _))| *begin < step.end);
    let is_same = begun.map(|(revision, _)| revision) == ended.map(|(revision, _)| revision);
    match is_expected && is_same {
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
