//! The two stages of admission (DI-02).

/// What the webhooks of a stage may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stage {
    /// Change the object.
    Mutating,
    /// Only refuse it.
    Validating,
}

impl Stage {
    /// The name of the plugin that calls the webhooks of this stage in a server (DI-02).
    pub fn plugin_name(self) -> &'static str {
        match self {
            Stage::Mutating => "MutatingAdmissionWebhook",
            Stage::Validating => "ValidatingAdmissionWebhook",
        }
    }
}
