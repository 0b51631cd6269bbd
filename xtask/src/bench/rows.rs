//! Which contestants are compared, and how much one may cost in units of another.

use Variant::{Clean, Few, Missing, Unknown};
use billhook_benches::{Contestant, Variant};

/// One comparison.
pub(super) struct Row {
    pub(super) contestant: Contestant,
    pub(super) unit: Contestant,
    /// The variants it is made on.
    pub(super) variants: &'static [Variant],
    /// The limit of the median over all inputs of these variants.
    pub(super) limit: Option<f64>,
}

impl Row {
    /// Returns the names of both contestants.
    pub(super) fn title(&self) -> String {
        format!("{} / {}", self.contestant.name(), self.unit.name())
    }
}

const fn row(
    contestant: Contestant,
    unit: Contestant,
    variants: &'static [Variant],
    limit: Option<f64>,
) -> Row {
    Row { contestant, unit, variants, limit }
}

const MANY: &[Variant] = &[Clean, Unknown, Missing];

/// All comparisons on the same input.
pub(super) const ROWS: [Row; 14] = [
    row(Contestant::Text, Contestant::Scan, MANY, Some(1.35)),
    row(Contestant::Text, Contestant::IgnoredAny, MANY, Some(1.0)),
    row(Contestant::Text, Contestant::Parse, MANY, Some(0.2)),
    row(Contestant::Text, Contestant::Steps, MANY, Some(0.1)),
    row(Contestant::InPlace, Contestant::CloneDrop, &[Clean], Some(0.3)),
    row(Contestant::InPlace, Contestant::CloneDrop, &[Unknown], Some(0.6)),
    row(Contestant::InPlace, Contestant::CloneDrop, &[Missing], None),
    row(Contestant::InPlace, Contestant::Verbs, MANY, None),
    row(Contestant::Value, Contestant::Parse, MANY, Some(1.1)),
    row(Contestant::Value, Contestant::Parse, &[Unknown], Some(1.0)),
    row(Contestant::TextReport, Contestant::Text, &[Few], Some(1.1)),
    row(Contestant::TextReport, Contestant::Text, MANY, None),
    row(Contestant::Typed, Contestant::Scan, MANY, None),
    row(Contestant::Scan, Contestant::IgnoredAny, &[Clean], None),
];

/// The contestants whose cost by member may depend on the width of the schema, and what a wide one
/// may cost in units of a narrow one. Without a limit, most of it is the width of the
/// `BTreeMap`.
pub(super) const OF_WIDTH: [(Contestant, Option<f64>); 5] = [
    (Contestant::Text, Some(1.5)),
    (Contestant::InPlace, Some(1.5)),
    (Contestant::Value, None),
    (Contestant::Parse, None),
    (Contestant::CloneDrop, None),
];
