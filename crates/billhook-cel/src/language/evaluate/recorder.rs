//! Records the values of watched parts while a plan runs, and makes the trace of them.

use std::ops::Range;

use billhook_apimachinery::value::grow;

use super::watch::{Part, Watch, Watches};
use crate::language::trace::{ExpressionTrace, TracedOutcome, TracedTurn};
use crate::language::value::{EvaluationError, Value, excerpt};

/// The turns of a loop that are kept besides the last one.
const FIRST_TURNS: usize = 10;
/// The turns of all loops that are kept besides the last one of each.
const ALL_TURNS: usize = 1_000;

/// The records of one evaluation.
pub(crate) struct Recorder<'w> {
    watches: &'w Watches,
    text: &'w str,
    /// Where each character of the text begins, and the end.
    offsets: Vec<usize>,
    records: Vec<Option<(TracedOutcome, u64)>>,
    /// How often each part was false and true.
    truths: Vec<[u64; 2]>,
    turns: Vec<Turns>,
    kept: usize,
}

/// The turns of a loop.
#[derive(Clone, Default)]
struct Turns {
    kept: Vec<TracedTurn>,
    left_out: usize,
}

impl<'w> Recorder<'w> {
    pub(crate) fn new(watches: &'w Watches, text: &'w str) -> Self {
        let (watch_count, loop_count) = (watches.watch_count(), watches.loop_count());
        Recorder {
            watches,
            text,
            offsets: text.char_indices().map(|(at, _)| at).chain([text.len()]).collect(),
            records: vec![None; watch_count],
            truths: vec![[0; 2]; watch_count],
            turns: vec![Turns::default(); loop_count],
            kept: 0,
        }
    }

    /// Returns a recorder that counts how often parts are false and true, and keeps nothing else.
    pub(crate) fn counting(watches: &'w Watches) -> Self {
        let (offsets, records, turns) = (Vec::new(), Vec::new(), Vec::new());
        let truths = vec![[0; 2]; watches.watch_count()];
        Recorder { watches, text: "", offsets, records, truths, turns, kept: 0 }
    }

    /// Returns how often each part was false and true.
    pub(crate) fn truths(&self) -> &[[u64; 2]] {
        &self.truths
    }

    /// Whether turns of a loop are kept.
    pub(super) fn keeps_turns(&self) -> bool {
        !self.turns.is_empty()
    }

    /// A watched part was evaluated.
    pub(super) fn record(
        &mut self,
        watch: usize,
        outcome: Result<&Value<'_>, &EvaluationError>,
        cost: u64,
    ) {
        if let Some(record) = self.records.get_mut(watch) {
            *record = Some((outcome_of(outcome), cost));
        }
        if let (Some([falsehoods, truths]), Ok(Value::Bool(is_true))) =
            (self.truths.get_mut(watch), outcome)
        {
            *(if *is_true { truths } else { falsehoods }) += 1;
        }
    }

    /// A turn of a loop is over.
    pub(super) fn end_turn(&mut self, number: usize, variables: Vec<(String, String)>) {
        let mut turn = TracedTurn { variables, parts: Vec::new() };
        for part in self.watches.parts_of_loop(number) {
            if let Part::Watch(watch) = part {
                turn.parts.extend(self.trace(*watch));
            }
        }
        let Some(turns) = self.turns.get_mut(number) else { return };
        if turns.kept.len() <= FIRST_TURNS && self.kept < ALL_TURNS {
            self.kept += 1;
        } else if turns.kept.pop().is_some() {
            turns.left_out += 1;
        }
        turns.kept.push(turn);
    }

    /// Returns the trace of the whole expression, given what came of it.
    pub(crate) fn finish(
        mut self,
        result: Result<&Value<'_>, &EvaluationError>,
    ) -> ExpressionTrace {
        let parts = self.watches.outermost();
        let whole = parts.iter().find_map(|part| match part {
            Part::Watch(watch) => self.trace(*watch),
            Part::Loop(_) => None,
        });
        // A constant is not watched.
        whole.unwrap_or_else(|| self.leaf(0..self.text.len(), outcome_of(result), 0))
    }

    /// The trace of a place in the expression, without its parts.
    fn leaf(&self, span: Range<usize>, outcome: TracedOutcome, cost: u64) -> ExpressionTrace {
        let text = self.text.get(span.clone()).unwrap_or_default().to_owned();
        let (parts, turns) = (Vec::new(), Vec::new());
        ExpressionTrace { text, span, outcome, cost, parts, turns, turns_left_out: 0 }
    }

    /// Where a watched part is in the expression, in bytes.
    pub(crate) fn span(&self, watch: usize) -> Option<Range<usize>> {
        let (start, end) = self.watches.get(watch)?.span;
        let at = |position: usize| self.offsets.get(position).copied().unwrap_or(self.text.len());
        Some(at(start)..at(end))
    }

    /// Takes the records of a part and of its parts.
    fn trace(&mut self, watch: usize) -> Option<ExpressionTrace> {
        let Watch { parts, .. } = self.watches.get(watch)?;
        let span = self.span(watch)?;
        let record = self.records.get_mut(watch).and_then(Option::take);
        let is_evaluated = record.is_some();
        let (outcome, cost) = record.unwrap_or((TracedOutcome::NotEvaluated, 0));
        let mut trace = self.leaf(span, outcome, cost);
        for part in parts.iter().filter(|_| is_evaluated) {
            match part {
                Part::Watch(watch) => trace.parts.extend(grow(|| self.trace(*watch))),
                Part::Loop(number) => {
                    let turns = self.turns.get_mut(*number).map(std::mem::take);
                    let Turns { kept, left_out } = turns.unwrap_or_default();
                    trace.turns.extend(kept);
                    trace.turns_left_out += left_out;
                }
            }
        }
        Some(trace)
    }
}

fn outcome_of(outcome: Result<&Value<'_>, &EvaluationError>) -> TracedOutcome {
    match outcome {
        Ok(value) => {
            TracedOutcome::Value { text: excerpt(value), type_name: value.type_name().to_string() }
        }
        Err(error) => TracedOutcome::Error(error.to_string()),
    }
}
