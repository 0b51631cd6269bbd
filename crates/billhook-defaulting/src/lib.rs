#![doc = include_str!("../README.md")]

mod defaults;
mod nulls;

pub use defaults::{
    Cause, LimitError, MAX_DEFAULTED_VALUES, apply_defaults, apply_defaults_node,
    apply_defaults_node_reporting, apply_defaults_reporting, default_change, sort_default_changes,
};
pub use nulls::{null_change, remove_nulls, remove_nulls_node, remove_nulls_reporting};
