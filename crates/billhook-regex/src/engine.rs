//! The automata: built from a syntax tree, within the `ENGINE_…` limits.

use regex_automata::meta;
use regex_automata::nfa::thompson::WhichCaptures;
use regex_syntax::hir::Look;

use crate::ast::Node;
use crate::limits::{ENGINE_CACHE_BYTES, ENGINE_NFA_BYTES, ENGINE_ONEPASS_BYTES};
use crate::translate::{TooManyNodes, translate};

/// Trees up to this height are built on the stack at hand.
const SHALLOW: u32 = 32;

/// More than one level of a tree takes on the stack while it is built, in a
/// build without optimization.
const STACK_PER_LEVEL: usize = 32 << 10;

/// The automata would be larger than the limits allow.
pub(crate) struct TooLarge;

impl From<TooManyNodes> for TooLarge {
    fn from(_: TooManyNodes) -> Self {
        Self
    }
}

/// The automata of one pattern.
pub(crate) struct Engine {
    regex: meta::Regex,
    /// `\B` also holds between the bytes of one character. The engine drops such
    /// a match, but when it may stop at the earliest one it can lose a longer
    /// match that starts further left along with it.
    leftmost: bool,
}

impl Engine {
    /// Builds an automaton that matches as `tree` does.
    pub(crate) fn build(tree: Node) -> Result<Self, TooLarge> {
        let height = tree.height();
        if height <= SHALLOW {
            return Self::build_here(tree);
        }
        stacker::grow(STACK_PER_LEVEL * height as usize, || Self::build_here(tree))
    }

    fn build_here(tree: Node) -> Result<Self, TooLarge> {
        let hir = translate(tree)?;
        let leftmost = hir.properties().look_set().contains(Look::WordAsciiNegate);
        let regex = meta::Builder::new()
            .configure(
                meta::Config::new()
                    // Spans are needed to recognize a match between bytes.
                    .which_captures(WhichCaptures::Implicit)
                    .utf8_empty(true)
                    .nfa_size_limit(Some(ENGINE_NFA_BYTES))
                    .hybrid_cache_capacity(ENGINE_CACHE_BYTES)
                    .onepass_size_limit(Some(ENGINE_ONEPASS_BYTES)),
            )
            .build_from_hir(&hir)
            .map_err(|_| TooLarge)?;
        Ok(Self { regex, leftmost })
    }

    /// The matches that do not overlap, the leftmost first.
    pub(crate) fn find_iter<'t>(&self, text: &'t str) -> impl Iterator<Item = &'t str> {
        self.regex.find_iter(text).map(move |found| text.get(found.range()).unwrap_or_default())
    }

    pub(crate) fn is_match(&self, text: &str) -> bool {
        if self.leftmost { self.regex.find(text).is_some() } else { self.regex.is_match(text) }
    }
}
