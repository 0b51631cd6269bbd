//! Admission webhooks: reading their configurations, and deciding for a request which of them a
//! server calls, in which version, and why (WCF and WM rules).

mod aggregate;
mod configuration;
mod decode;
mod defaults;
mod encode;
mod read;
pub mod selector;
mod validation;

pub use configuration::{
    ClientConfig, ConfigurationKind, ConfigurationVersion, MatchCondition, Rule, ServiceReference,
    Webhook, WebhookConfiguration,
};
pub use decode::ConfigurationError;
pub use read::ReadError;
pub use validation::{CelEnvironment, ExpressionChecker, ValidationOptions};
