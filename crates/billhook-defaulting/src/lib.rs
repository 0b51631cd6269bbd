#![doc = include_str!("../README.md")]

mod defaults;
mod nulls;

pub use defaults::{
    Defaulting, LimitError, MAX_DEFAULTED_VALUES, apply_defaults, default_change,
    sort_default_changes,
};
pub use nulls::{NullRemoval, null_change, remove_nulls};
