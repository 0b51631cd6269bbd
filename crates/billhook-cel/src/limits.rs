//! Bounds of an evaluation besides its cost (CE-36).

pub use crate::language::meter::{BYTES_PER_STEP, MAX_BYTES, MAX_STEPS, Meter};
