//! The bounds of proofs and searches; beyond them, the answer is "undecided" (CC-04).

/// The steps of all proofs about a version.
pub const MAX_PROOF_STEPS: usize = 200_000;

/// How deep the steps of a proof lead.
pub const MAX_PROOF_DEPTH: usize = 200;

/// The cases that the choices of a value (`anyOf`, `oneOf`, its type) are taken apart into.
pub const MAX_CASES: usize = 64;

/// The steps of one search for a text that some patterns match and others do not.
pub const MAX_TEXT_STEPS: u64 = 1 << 21;

/// How many such searches there are about a version.
pub const MAX_TEXT_SEARCHES: usize = 100;

/// The changes of a version for which witnesses are looked for; an answer says that the
/// others are undecided.
pub const MAX_OBSTACLES: usize = 400;

/// The values that are tried at a place without a proof.
pub const MAX_VALUES: usize = 400;

/// The values in a list that is made to be too long.
pub const MAX_LIST_VALUES: usize = 1 << 18;

/// The requests that are tried for an obstacle.
pub const MAX_CANDIDATES: usize = 6;

/// The violations of a rule that are tried with a stored object.
pub const MAX_VIOLATIONS: usize = 12;

/// The objects that violate a rule and are made acceptable to the old definition.
pub const MAX_MENDED: usize = 6;

/// The elements of a list of which several are put together.
pub const MAX_ELEMENTS: usize = 16;

/// The parts of an object that no schema describes, and that are tried.
pub const MAX_ODD: usize = 16;

/// The other values that are tried of a field that is removed.
pub const MAX_REMOVED: usize = 8;

/// The updates that are tried with a stored object.
pub const MAX_UPDATES: usize = 60;

/// The updates that are tried with all stored objects of a version; many errors count more.
pub const MAX_ALL_UPDATES: usize = 10_000;

/// The rules of a node that a proof about another rule starts from.
pub const MAX_PREMISES: usize = 64;

/// The statements about the parts that rules read, from which such a proof starts as well.
pub const MAX_FACTS: usize = 200;

/// The rules of a version for which bounds are looked for.
pub const MAX_BOUNDED_RULES: usize = 20;

/// The bounds that are tried together for a rule, or for all rules of a version.
pub const MAX_BOUNDS: usize = 24;

/// How often bounds are tried for a rule, or for all; with the best that were found the budget is kept.
pub const MAX_BOUND_TRIES: usize = 300;
