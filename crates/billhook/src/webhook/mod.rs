//! Admission webhooks: reading their configurations, and deciding for a request which of them a
//! server calls, in which version, and why (WCF and WM rules).

mod aggregate;
mod read;
pub mod selector;
pub use read::ReadError;
