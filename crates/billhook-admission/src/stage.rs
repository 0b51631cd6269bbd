//! The two stages of admission (DI-02).

/// A stage of admission. Servers have exactly these two, so that a `match` may name both.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stage {
    /// Webhooks may change the object.
    Mutating,
    /// Webhooks may only refuse the object.
    Validating,
}

impl Stage {
    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Stage::Mutating => "mutating",
            Stage::Validating => "validating",
        }
    }

    /// The name of the plugin that calls the webhooks of this stage in a server (DI-02).
    pub fn plugin_name(self) -> &'static str {
        match self {
            Stage::Mutating => "MutatingAdmissionWebhook",
            Stage::Validating => "ValidatingAdmissionWebhook",
        }
    }
}
