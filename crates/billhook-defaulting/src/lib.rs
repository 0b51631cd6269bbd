#![doc = include_str!("../README.md")]

mod defaults;
mod nulls;

pub use defaults::{
    DefaultBudget, Defaulting, LimitError, MAX_DEFAULTED_BYTES, apply_defaults,
    apply_defaults_within, default_change, sort_default_changes,
};
pub use nulls::{NullRemoval, null_change, remove_nulls};
