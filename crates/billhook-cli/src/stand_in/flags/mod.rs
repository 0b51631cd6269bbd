//! The flags of kube-apiserver (ET-17, ET-60, ET-61).

mod help;
mod parse;
mod table;

pub(super) use help::help;
pub(super) use parse::{Flags, parse, parse_bool};
pub(super) use table::Answer;
