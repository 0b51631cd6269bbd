//! The state that the first pass of mutating policies leaves for the second (PO-80 to PO-82).

use std::collections::BTreeSet;

use billhook_apimachinery::value::{DeepValue, semantically_equal};

/// The state that the passes of mutating policies over one request share.
#[derive(Clone, Debug, Default)]
pub struct PolicyReinvocation {
    is_second_pass: bool,
    is_requested: bool,
    previously_invoked: BTreeSet<String>,
    reinvoke: BTreeSet<String>,
    last_output: Option<DeepValue>,
}

impl PolicyReinvocation {
    /// Returns whether a policy asks for a second pass of the whole mutating stage.
    pub fn is_requested(&self) -> bool {
        self.is_requested
    }

    /// The mutating stage begins its second pass.
    pub fn begin_second_pass(&mut self) {
        self.is_second_pass = true;
    }

    /// The policies of a pass begin with an object: if others changed it since, all run again that
    /// may.
    pub(super) fn start(&mut self, object: Option<&DeepValue>) {
        let is_same = match (object, &self.last_output) {
            (Some(object), Some(last)) => semantically_equal(object, last),
            (None, None) => true,
            _ => false,
        };
        if self.is_second_pass && !is_same {
            self.require();
        }
    }

    /// The policies of a pass are over and leave an object, in the version of the request.
    pub fn end_pass(&mut self, object: Option<&DeepValue>) {
        // Only policies that ran can run again.
        let ran = !self.previously_invoked.is_empty();
        self.last_output = object.filter(|_| ran).cloned();
    }

    pub(super) fn skips(&self, key: &str) -> bool {
        self.is_second_pass && !self.reinvoke.contains(key)
    }

    /// The object changed, or was written back.
    pub(super) fn request(&mut self) {
        self.require();
        self.is_requested = true;
    }

    pub(super) fn note(&mut self, key: String) {
        self.previously_invoked.insert(key);
    }

    fn require(&mut self) {
        self.reinvoke.append(&mut self.previously_invoked);
    }
}
