//! Where matches are: the leftmost one, and of those the one that the pattern prefers. All threads
//! of the program go over the text together, in the order of preference.

use crate::edge::holds;
use crate::program::{Instruction, Program};
use crate::steps::{OutOfSteps, Steps};

/// Finds matches in a text.
pub(crate) struct Search<'p, 't> {
    program: &'p Program,
    text: &'t str,
    /// The position up to which an instruction was looked at, plus one.
    seen: Vec<usize>,
    round: usize,
}

/// An instruction to go on with, and where the match began.
type Thread = (u32, usize);

impl<'p, 't> Search<'p, 't> {
    pub(crate) fn new(program: &'p Program, text: &'t str) -> Self {
        Search { program, text, seen: vec![0; program.len()], round: 0 }
    }

    /// The matches that do not overlap, up to a number. An empty one right after another match does
    /// not count, as in Go.
    pub(crate) fn all(
        &mut self,
        limit: usize,
        steps: &mut Steps,
    ) -> Result<Vec<&'t str>, OutOfSteps> {
        let (mut found, mut from, mut last_end) = (Vec::new(), 0, None);
        while found.len() < limit {
            let Some((start, end)) = self.first(from, steps)? else { break };
            if start < end || last_end != Some(start) {
                found.extend(self.text.get(start..end));
            }
            last_end = Some(end);
            from = match self.char_at(end) {
                _ if start < end => end,
                Some(c) => end + c.len_utf8(),
                None => break,
            };
        }
        Ok(found)
    }

    fn char_at(&self, at: usize) -> Option<char> {
        self.text.get(at..)?.chars().next()
    }

    /// The first match from a position on.
    fn first(
        &mut self,
        from: usize,
        steps: &mut Steps,
    ) -> Result<Option<(usize, usize)>, OutOfSteps> {
        let mut before = self.text.get(..from).and_then(|text| text.chars().next_back());
        let (mut found, mut at) = (None, from);
        let (mut threads, mut next) = (Vec::new(), Vec::new());
        loop {
            let may_begin = found.is_none() && (!self.program.is_anchored || at == 0);
            threads.extend(may_begin.then_some((self.program.start(), at)));
            if threads.is_empty() {
                return Ok(found);
            }
            let c = self.char_at(at);
            self.round += 1;
            let mut step = Step { at, before, c, next: &mut next, steps };
            for thread in threads.drain(..) {
                if let Some(end) = self.go(thread, &mut step)? {
                    found = Some(end);
                    break;
                }
            }
            let Some(c) = c else { return Ok(found) };
            (before, at) = (Some(c), at + c.len_utf8());
            std::mem::swap(&mut threads, &mut next);
        }
    }

    /// Lets one thread go over a character, those it prefers first; returns the match if it is at
    /// its end.
    fn go(
        &mut self,
        (place, start): Thread,
        step: &mut Step<'_>,
    ) -> Result<Option<(usize, usize)>, OutOfSteps> {
        let looks = self.program.looks;
        let mut waiting = vec![place];
        while let Some(at) = waiting.pop() {
            match self.seen.get_mut(at as usize) {
                Some(seen) if *seen != self.round => *seen = self.round,
                _ => continue,
            }
            step.steps.take(1)?;
            let next = match self.program.instruction(at) {
                Some(Instruction::Match) => return Ok(Some((start, step.at))),
                Some(Instruction::Split(first, second)) => {
                    waiting.extend([second, first]);
                    continue;
                }
                Some(Instruction::Look(look, next)) => {
                    let (before, after) = (looks.edge(step.before), looks.edge(step.c));
                    waiting.extend(holds(look, before, after).then_some(next));
                    continue;
                }
                Some(Instruction::Char(rune, next)) => {
                    step.c.is_some_and(|c| u32::from(c) == rune).then_some(next)
                }
                Some(Instruction::Set(set, next)) => step
                    .c
                    .is_some_and(|c| self.program.set_holds(set, u32::from(c)))
                    .then_some(next),
                Some(Instruction::Any(next)) => step.c.map(|_| next),
                None => None,
            };
            step.next.extend(next.map(|next| (next, start)));
        }
        Ok(None)
    }
}

/// A character of the text, and the threads that are left after it.
struct Step<'s> {
    at: usize,
    before: Option<char>,
    c: Option<char>,
    next: &'s mut Vec<Thread>,
    steps: &'s mut Steps,
}
