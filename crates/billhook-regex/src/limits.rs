//! The limits that keep a pattern from using up memory or time. The `MAX_…` ones are Go's own: a
//! pattern beyond them is refused with Go's error. The others bound the automata that are
//! built here; beyond them is [`ErrorKind::TooLargeToMatch`], or only a slower search.

use crate::ErrorKind;
use crate::ast::{Item, Node, NodeKind};

/// The largest count in a repetition, and the largest product of the counts of
/// repetitions nested in each other.
pub const MAX_REPEAT: u32 = 1000;

/// The largest height of the syntax tree.
pub const MAX_HEIGHT: u32 = 1000;

/// The largest number of instructions that Go would compile a pattern to:
/// 128 MiB of 40 bytes each.
pub const MAX_SIZE: u64 = (128 << 20) / 40;

/// The largest number of code points in literals and class bounds: 128 MiB of
/// 4 bytes each.
pub const MAX_RUNES: u64 = (128 << 20) / 4;

/// The largest number of ranges in all character classes of a pattern that is
/// to be matched with, those that are written alike counted once.
pub const ENGINE_CLASS_RANGES: usize = 4 << 20;

/// The largest number of instructions that a pattern is compiled to, a little more than Go takes.
pub const ENGINE_INSTRUCTIONS: usize = 4 << 20;

/// The memory, in bytes, for what is worked out about a pattern while matching and then kept; when
/// it is full, the search starts afresh.
pub const ENGINE_CACHE_BYTES: usize = 512 << 10;

/// The matches after which all that can follow is worked out ahead, so that threads need not take
/// turns.
pub const SETTLED_MATCHES: u8 = 32;

/// The steps that this may take.
pub const SETTLED_STEPS: u64 = 1 << 16;

/// The places, four bytes each, of the largest automaton that is worked out ahead.
pub const SETTLED_PLACES: usize = 4 << 10;

/// The memory, in bytes, that [`Patterns`](crate::Patterns) keep together, or one pattern that belongs to
/// none. What needs more is worked out again for each match.
pub const KEPT_BYTES: usize = 32 << 20;

/// The number of patterns that [`Patterns`](crate::Patterns) find again.
pub const KEPT_PATTERNS: usize = 1000;

/// The states that a search for a [text](crate::Texts) may go through.
pub const TEXT_STATES: usize = 1 << 17;

/// The memory, in bytes, that such a search may take.
pub const TEXT_BYTES: usize = 64 << 20;

/// Go's running account of how large a pattern gets while it is parsed.
///
/// Go looks at the exact size only when a cheap estimate says that it could be
/// too large, and the estimate errs in both directions; so that the same
/// patterns are refused, the estimate has to be kept as Go keeps it.
#[derive(Default)]
pub(crate) struct Account {
    allocated: u64,
    reusable: u64,
    runes: u64,
    repeats: u64,
    exact: bool,
}

impl Account {
    /// A node was made.
    pub(crate) fn allocate(&mut self) {
        if self.reusable > 0 {
            self.reusable -= 1;
        } else {
            self.allocated += 1;
        }
    }

    /// A node was merged into another one.
    pub(crate) fn release(&mut self) {
        self.reusable += 1;
    }

    /// A node with this many code points was put on the stack.
    pub(crate) fn add_runes(&mut self, runes: usize) {
        self.runes = self.runes.saturating_add(runes as u64);
    }

    /// Checks the topmost item of `stack`.
    pub(crate) fn check(&mut self, stack: &[Item]) -> Result<(), ErrorKind> {
        if self.runes > MAX_RUNES {
            return Err(ErrorKind::Large);
        }
        let top = match stack.last() {
            Some(Item::Node(node)) => Some(node),
            _ => None,
        };
        self.check_size(top, stack)?;
        if self.allocated >= u64::from(MAX_HEIGHT)
            && top.is_some_and(|node| node.height() > MAX_HEIGHT)
        {
            return Err(ErrorKind::NestingDepth);
        }
        Ok(())
    }

    fn check_size(&mut self, top: Option<&Node>, stack: &[Item]) -> Result<(), ErrorKind> {
        let too_large = |node: &Node| node.size() > MAX_SIZE;
        if !self.exact {
            self.repeats = self.repeats.max(1);
            if let Some(NodeKind::Repeat { min, max, counted: true, .. }) = top.map(Node::kind) {
                let count = u64::from(max.unwrap_or(*min)).max(1);
                self.repeats = self.repeats.saturating_mul(count).min(MAX_SIZE);
            }
            if self.allocated < MAX_SIZE / self.repeats {
                return Ok(());
            }
            self.exact = true;
            if stack.iter().any(|item| matches!(item, Item::Node(node) if too_large(node))) {
                return Err(ErrorKind::Large);
            }
        }
        if top.is_some_and(too_large) { Err(ErrorKind::Large) } else { Ok(()) }
    }
}
