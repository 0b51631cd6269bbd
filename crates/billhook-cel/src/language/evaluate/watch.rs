//! The parts of an expression whose values a trace tells: what is written in its text, except
//! constants and the beginnings of selections (`object` and `object.spec` in `object.spec.size`).

use crate::language::ast::Span;

/// The watched parts of a plan.
#[derive(Debug, Default)]
pub(crate) struct Watches {
    watches: Vec<Watch>,
    /// The parts that each loop evaluates for each element.
    loops: Vec<Vec<Part>>,
    /// The parts found so far in what is being planned: outermost first.
    open: Vec<Vec<Part>>,
}

/// A watched part of an expression.
#[derive(Debug)]
pub(super) struct Watch {
    pub(super) span: Span,
    pub(super) parts: Vec<Part>,
}

/// A direct part of a part, by number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Part {
    Watch(usize),
    Loop(usize),
}

impl Watches {
    /// The whole expression, if it is watched.
    pub(super) fn outermost(&self) -> &[Part] {
        self.open.first().map_or(&[], Vec::as_slice)
    }

    pub(super) fn get(&self, watch: usize) -> Option<&Watch> {
        self.watches.get(watch)
    }

    pub(super) fn parts_of_loop(&self, number: usize) -> &[Part] {
        self.loops.get(number).map_or(&[], Vec::as_slice)
    }

    pub(crate) fn watch_count(&self) -> usize {
        self.watches.len()
    }

    pub(super) fn loop_count(&self) -> usize {
        self.loops.len()
    }

    /// Begins something new, to which the parts found from now on belong.
    pub(super) fn open(&mut self) {
        self.open.push(Vec::new());
    }

    /// Ends a constant, which needs no watch.
    pub(super) fn forget(&mut self) {
        self.open.pop();
    }

    /// Ends a part with a text; returns its number, unless it repeats another one.
    pub(super) fn close(&mut self, span: Span) -> Option<usize> {
        let parts = self.open.pop().unwrap_or_default();
        let is_same = |part: &Part| matches!(part, Part::Watch(known) if self.watches.get(*known).is_some_and(|known| known.span == span));
        if self.open.last().is_some_and(|around| around.iter().any(is_same)) {
            return None;
        }
        self.watches.push(Watch { span, parts });
        let number = self.watches.len() - 1;
        self.add(Part::Watch(number));
        Some(number)
    }

    /// Ends the part of a loop that is evaluated for each element; returns the number of the loop
    /// if anything in it is watched.
    pub(super) fn close_loop(&mut self) -> Option<usize> {
        let parts = self.open.pop().filter(|parts| !parts.is_empty())?;
        self.loops.push(parts);
        let number = self.loops.len() - 1;
        self.add(Part::Loop(number));
        Some(number)
    }

    fn add(&mut self, part: Part) {
        if let Some(around) = self.open.last_mut() {
            around.push(part);
        }
    }

    /// A part is merged with what is around it: its parts take its place.
    pub(super) fn merge(&mut self, watch: usize) {
        let Some(merged) = self.watches.get_mut(watch) else { return };
        let parts = std::mem::take(&mut merged.parts);
        let Some(around) = self.open.last_mut() else { return };
        if let Some(place) = around.iter().position(|part| *part == Part::Watch(watch)) {
            around.splice(place..=place, parts);
        }
    }
}
