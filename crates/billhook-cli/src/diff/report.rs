//! The differences of an object, for people and as JSON.

use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};
use billhook::Difference;
use billhook_apimachinery::excerpt;
use serde_json::Value;

use crate::identity::Identity;
use crate::input::Document;
use crate::json::Fields;
use crate::problem::{Place, Status};
use crate::report::{self, visible};

const REMOVED: Style = AnsiColor::Red.on_default();
const ADDED: Style = AnsiColor::Green.on_default();

/// An object that was compared.
pub(super) struct Compared {
    pub(super) place: Place,
    pub(super) identity: Identity,
    /// None if the object is not live, or would be deleted.
    pub(super) differences: Option<Vec<Difference>>,
    /// Whether the owners of the fields of the live object are not known.
    pub(super) is_untracked: bool,
    /// Whether there is a live object only, which would be deleted.
    pub(super) is_pruned: bool,
}

impl Compared {
    /// A live object that would be deleted.
    pub(super) fn pruned(document: Document) -> Self {
        let identity = Identity::of(&document.value);
        let (place, differences) = (document.place, None);
        Compared { place, identity, differences, is_untracked: false, is_pruned: true }
    }

    /// Whether there is a real difference that only the live object has.
    pub(super) fn has_more(&self) -> bool {
        let mut differences = self.differences.iter().flatten();
        differences.any(|it| it.cause.is_real() && it.desired.is_none())
    }

    pub(super) fn status(&self) -> Status {
        match self.real() {
            0 if self.differences.is_some() => Status::Fine,
            _ => Status::Changed,
        }
    }

    /// The number of real differences.
    fn real(&self) -> usize {
        let differences = self.differences.iter().flatten();
        differences.filter(|difference| difference.cause.is_real()).count()
    }

    pub(super) fn text(&self, quiet: bool) -> String {
        let mut out = String::new();
        let Some(differences) = &self.differences else {
            let state = if self.is_pruned { "would be deleted" } else { "not live" };
            report::title(&mut out, &self.place, &self.identity, state);
            return out;
        };
        let real = self.real();
        if quiet && real == 0 {
            return out;
        }
        let others = differences.len() - real;
        report::title(&mut out, &self.place, &self.identity, &summary(real, others));
        for difference in differences {
            match difference.cause.is_real() {
                true => print_real(&mut out, difference),
                false if quiet => {}
                false => print_other(&mut out, difference),
            }
        }
        out
    }

    pub(super) fn item(self) -> Fields {
        let mut item = Fields::of_object(self.place, self.identity);
        if let Some(differences) = self.differences {
            item.value("differences", differences.into_iter().map(difference).collect());
        }
        if self.is_pruned {
            item.value("deleted", true.into());
        }
        item
    }
}

fn summary(real: usize, others: usize) -> String {
    let mut text = match real {
        0 => "no real difference".to_owned(),
        1 => "1 real difference".to_owned(),
        count => format!("{count} real differences"),
    };
    match others {
        0 => {}
        1 => text.push_str(", 1 other"),
        count => text.push_str(&format!(", {count} others")),
    }
    text
}

fn print_real(out: &mut String, difference: &Difference) {
    let path = difference.path.to_string();
    for (sign, style, value) in
        [('-', REMOVED, &difference.live), ('+', ADDED, &difference.desired)]
    {
        if let Some(value) = value {
            let line = visible(&format!("{sign} {path}: {}", excerpt(value)));
            let _ = writeln!(out, "  {style}{line}{style:#}");
        }
    }
}

fn print_other(out: &mut String, difference: &Difference) {
    let mut line = difference.path.to_string();
    if let Some(value) = difference.live.as_ref().or(difference.desired.as_ref()) {
        let _ = write!(line, ": {}", excerpt(value));
    }
    let _ = write!(line, " ({})", difference.cause);
    let _ = writeln!(out, "    {}", visible(&line));
}

fn difference(difference: Difference) -> Value {
    let mut item = Fields::default();
    item.text("path", Some(difference.path.to_string()));
    for (name, value) in [("desired", difference.desired), ("live", difference.live)] {
        if let Some(value) = value {
            item.value(name, value.into_inner());
        }
    }
    item.text("cause", Some(difference.cause.to_string()));
    item.value("real", difference.cause.is_real().into());
    item.into_value()
}
