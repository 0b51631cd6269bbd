//! The tokens of a stream.

use std::borrow::Cow;

use crate::place::Mark;

/// A token and where it is.
#[derive(Debug)]
pub(crate) struct Token<'t> {
    pub(crate) what: What<'t>,
    pub(crate) start: Mark,
    pub(crate) end: Mark,
}

#[derive(Debug)]
pub(crate) enum What<'t> {
    StreamEnd,
    Version { is_1_1: bool },
    TagDirective { handle: &'t str, prefix: String },
    DocumentStart,
    DocumentEnd,
    BlockSequence,
    BlockMapping,
    BlockEnd,
    FlowSequence,
    FlowSequenceEnd,
    FlowMapping,
    FlowMappingEnd,
    BlockEntry,
    FlowEntry,
    Key,
    Value,
    Alias(&'t str),
    Anchor(&'t str),
    Tag { handle: &'t str, suffix: String },
    Scalar { text: Cow<'t, str>, plain: bool },
}
