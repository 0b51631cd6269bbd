//! Witnesses: objects with a value at a place, made with the generator and confirmed by running
//! both definitions on them.

pub(crate) mod build;
pub(crate) mod elements;
pub(crate) mod odd;
pub(crate) mod run;
pub(crate) mod texts;
