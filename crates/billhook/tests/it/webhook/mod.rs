//! Webhook configurations and matching, through the public API.

mod cel;
mod conditions;
mod configuration;
mod equivalence;
mod examples;
mod hostile;
mod index;
mod lints;
mod matching;
mod reviews;
mod rules;
mod selectors;
mod support;
mod updates;
