//! Laws of the admission chain, over generated webhooks in the same process.

mod answers;
mod chain;
mod hooks;
mod patches;
