//! The state that the first round of mutating webhooks leaves for the second (DI-40 to DI-46).

use std::collections::BTreeSet;

use billhook_apimachinery::value::{DeepValue, semantically_equal};

/// The webhooks that were called, and those that must be called again.
#[derive(Debug, Default)]
pub(super) struct Reinvocation {
    /// Whether a webhook changed the object.
    pub(super) is_requested: bool,
    /// Whether this is the second round.
    pub(super) is_repetition: bool,
    previously_invoked: BTreeSet<String>,
    reinvoke: BTreeSet<String>,
    last_output: Option<DeepValue>,
}

impl Reinvocation {
    pub(super) fn round(&self) -> u8 {
        u8::from(self.is_repetition)
    }

    /// The webhooks of a round begin with an object (DI-41).
    pub(super) fn start_round(&mut self, object: Option<&DeepValue>) {
        let is_same = match (object, &self.last_output) {
            (Some(object), Some(last)) => semantically_equal(object, last),
            (None, None) => true,
            _ => false,
        };
        if self.is_repetition && !is_same {
            self.reinvoke.append(&mut self.previously_invoked);
        }
    }

    /// The webhooks of a round are over and leave an object. It matters only to those that want to
    /// be called again.
    pub(super) fn end_round(&mut self, object: Option<&DeepValue>) {
        self.last_output = object.filter(|_| !self.previously_invoked.is_empty()).cloned();
    }

    /// Whether a webhook of the second round is left out.
    pub(super) fn skips(&self, hook: &str) -> bool {
        self.is_repetition && !self.reinvoke.contains(hook)
    }

    /// A webhook changed the object (DI-43).
    pub(super) fn note_change(&mut self) {
        self.reinvoke.append(&mut self.previously_invoked);
        self.is_requested = true;
    }

    /// A webhook was called that wants to be called again after changes of others.
    pub(super) fn note_call(&mut self, hook: &str) {
        self.previously_invoked.insert(hook.to_owned());
    }
}
