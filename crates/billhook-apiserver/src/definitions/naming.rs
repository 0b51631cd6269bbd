//! The names of a definition, and whether others of its group have them already (LC-30 to LC-35).

use std::collections::BTreeSet;

use billhook::Time;
use billhook::definition::{DefinitionStatus, Names};

use super::conditions::{ESTABLISHED, NAMES_ACCEPTED, is_true, set};

/// The accepted names of a group (LC-31).
#[derive(Debug, Default)]
pub(crate) struct Reserved<'n> {
    resources: BTreeSet<&'n str>,
    kinds: BTreeSet<&'n str>,
}

impl<'n> Reserved<'n> {
    pub(crate) fn add(&mut self, names: &'n Names) {
        let short = names.short_names.iter().map(String::as_str);
        self.resources.extend([names.plural.as_str(), &names.singular]);
        self.resources.extend(short);
        self.kinds.extend([names.kind.as_str(), &names.list_kind]);
    }
}

/// Accepts the requested names that are free (LC-32), and says so in the conditions (LC-33).
pub(crate) fn accept(
    requested: &Names,
    reserved: &Reserved<'_>,
    status: &mut DefinitionStatus,
    now: Time,
) {
    let accepted = &mut status.accepted_names;
    let Reserved { resources, kinds } = reserved;
    let found = [
        ("PluralConflict", accept_name(&requested.plural, &mut accepted.plural, resources)),
        ("SingularConflict", accept_name(&requested.singular, &mut accepted.singular, resources)),
        ("ShortNamesConflict", accept_short_names(requested, reserved, accepted)),
        ("KindConflict", accept_name(&requested.kind, &mut accepted.kind, kinds)),
        ("ListKindConflict", accept_name(&requested.list_kind, &mut accepted.list_kind, kinds)),
    ];
    // The last one is reported.
    let conflict = found.into_iter().rev().find_map(|(reason, why)| Some((reason, why?)));
    accepted.categories.clone_from(&requested.categories);
    let (names, established) = match &conflict {
        Some((reason, message)) => (
            (false, *reason, message.as_str()),
            (false, "NotAccepted", "not all names are accepted"),
        ),
        None => (
            (true, "NoConflicts", "no conflicts found"),
            (false, "Installing", "the initial names have been accepted"),
        ),
    };
    set(status, NAMES_ACCEPTED, names, now);
    if !is_true(status, ESTABLISHED) {
        set(status, ESTABLISHED, established, now);
    }
}

/// Accepts a name if it is free; returns what is wrong.
fn accept_name(wanted: &str, own: &mut String, reserved: &BTreeSet<&str>) -> Option<String> {
    if wanted != own && reserved.contains(wanted) {
        return Some(in_use(wanted));
    }
    wanted.clone_into(own);
    None
}

/// Accepts all short names or none; returns what is wrong.
fn accept_short_names(
    requested: &Names,
    reserved: &Reserved<'_>,
    accepted: &mut Names,
) -> Option<String> {
    if requested.short_names == accepted.short_names {
        return None;
    }
    let is_taken = |name: &&String| {
        !accepted.short_names.contains(name) && reserved.resources.contains(name.as_str())
    };
    let taken: Vec<String> =
        requested.short_names.iter().filter(is_taken).map(|name| in_use(name)).collect();
    match taken.as_slice() {
        [] => {
            accepted.short_names.clone_from(&requested.short_names);
            None
        }
        [only] => Some(only.clone()),
        several => Some(format!("[{}]", several.join(", "))),
    }
}

fn in_use(name: &str) -> String {
    format!("\"{name}\" is already in use")
}
