//! Programs: a pattern as instructions. What is repeated stands there as often as it is repeated, as in
//! Go; classes are shared, so that an instruction takes a few bytes whatever it matches.

use std::collections::HashMap;
use std::sync::Arc;

use regex_syntax::hir::Look;

use crate::ast::{Node, NodeKind};
use crate::charset::CharSet;
use crate::edge::Edge;
use crate::fold::folded;
use crate::limits::ENGINE_INSTRUCTIONS;

/// Trees up to this height are compiled on the stack at hand.
const SHALLOW: u32 = 32;

/// More than one level of a tree takes on the stack while it is compiled, in a build without
/// optimization.
const STACK_PER_LEVEL: usize = 8 << 10;

/// An instruction; numbers are those of the instructions that follow.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Instruction {
    /// One character.
    Char(u32, u32),
    /// One character of a set.
    Set(u32, u32),
    /// Any character.
    Any(u32),
    /// Either of two, the first one rather.
    Split(u32, u32),
    /// A place in the text.
    Look(Look, u32),
    Match,
}

/// A compiled pattern.
#[derive(Debug)]
pub(crate) struct Program {
    instructions: Vec<Instruction>,
    sets: Vec<Arc<CharSet>>,
    start: u32,
    /// Whether a match can only begin at the start of the text.
    pub(crate) is_anchored: bool,
    pub(crate) looks: Looks,
    /// A number for each ASCII character, the same only for those that nothing tells apart; for all
    /// other bytes the last number of a row.
    classes: [u8; 256],
    /// How many different numbers ASCII characters have.
    pub(crate) ascii_classes: usize,
}

/// The kinds of places that a program asks for, besides the ends of the text.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Looks {
    pub(crate) lines: bool,
    pub(crate) words: bool,
}

/// The program would have more than [`ENGINE_INSTRUCTIONS`].
pub(crate) struct TooLarge;

impl Program {
    pub(crate) fn new(tree: &Node) -> Result<Program, TooLarge> {
        let height = tree.height();
        if height <= SHALLOW {
            return Compiler::default().compile(tree);
        }
        stacker::grow(STACK_PER_LEVEL * height as usize, || Compiler::default().compile(tree))
    }

    pub(crate) fn start(&self) -> u32 {
        self.start
    }

    pub(crate) fn len(&self) -> usize {
        self.instructions.len()
    }

    /// Returns the sets that its instructions number.
    pub(crate) fn sets(&self) -> impl ExactSizeIterator<Item = &CharSet> {
        self.sets.iter().map(AsRef::as_ref)
    }

    /// Returns the bytes that the program takes.
    pub(crate) fn footprint(&self) -> usize {
        let ranges: usize = self.sets.iter().map(|set| set.ranges().len()).sum();
        size_of::<Program>()
            + self.instructions.len() * size_of::<Instruction>()
            + ranges * size_of::<(u32, u32)>()
    }

    #[inline]
    pub(crate) fn instruction(&self, at: u32) -> Option<Instruction> {
        self.instructions.get(at as usize).copied()
    }

    pub(crate) fn set_holds(&self, set: u32, rune: u32) -> bool {
        self.sets.get(set as usize).is_some_and(|set| set.contains(rune))
    }

    /// Returns the number of a byte.
    #[inline]
    pub(crate) fn class(&self, byte: u8) -> usize {
        self.classes.get(usize::from(byte)).copied().map_or(0, usize::from)
    }

    /// Returns a character of each class of ASCII characters.
    pub(crate) fn examples(&self) -> impl Iterator<Item = (usize, Option<char>)> {
        let is_first = |byte: &u8| *byte == 0 || self.class(*byte) != self.class(*byte - 1);
        (0..128).filter(is_first).map(|byte| (self.class(byte), Some(char::from(byte))))
    }

    /// Returns the length of a row with a place for each class of ASCII characters, for the end of
    /// the text and for the bytes of all other characters.
    pub(crate) fn row(&self) -> usize {
        self.ascii_classes + 2
    }

    /// Whether a match can only begin at the start of the text.
    fn find_anchored(&self) -> bool {
        let mut seen = vec![false; self.instructions.len()];
        let mut waiting = vec![self.start];
        while let Some(at) = waiting.pop() {
            match seen.get_mut(at as usize) {
                Some(seen) if !*seen => *seen = true,
                _ => continue,
            }
            match self.instruction(at) {
                Some(Instruction::Look(Look::Start, _)) | None => {}
                Some(Instruction::Look(_, next)) => waiting.push(next),
                Some(Instruction::Split(first, second)) => waiting.extend([first, second]),
                Some(_) => return false,
            }
        }
        true
    }

    /// Numbers the ASCII characters: a new number where a set or a kind of place begins or ends.
    fn number_ascii(&mut self) {
        let mut begins = [false; 129];
        let mut mark = |lo: u32, hi: u32| {
            for bound in [lo, hi.saturating_add(1)] {
                if let Some(begins) = begins.get_mut(bound as usize) {
                    *begins = true;
                }
            }
        };
        for instruction in &self.instructions {
            if let Instruction::Char(rune, _) = instruction {
                mark(*rune, *rune);
            }
        }
        for set in &self.sets {
            set.ranges().iter().take_while(|(lo, _)| *lo < 128).for_each(|(lo, hi)| mark(*lo, *hi));
        }
        if self.looks.lines {
            mark(0x0A, 0x0A);
        }
        if self.looks.words {
            for (lo, hi) in [(b'0', b'9'), (b'A', b'Z'), (b'_', b'_'), (b'a', b'z')] {
                mark(u32::from(lo), u32::from(hi));
            }
        }
        let mut class = 0;
        let (ascii, others) = self.classes.split_at_mut(128);
        for (number, begins) in ascii.iter_mut().zip(begins).skip(1) {
            class += u8::from(begins);
            *number = class;
        }
        others.fill(class + 2);
        self.ascii_classes = usize::from(class) + 1;
    }
}

impl Looks {
    /// The kind of place next to a character, or next to the end of the text if there is none, as
    /// far as the program tells them apart.
    #[inline]
    pub(crate) fn edge(self, c: Option<char>) -> Edge {
        match Edge::of(c) {
            Edge::Line if !self.lines => Edge::Other,
            Edge::Word if !self.words => Edge::Other,
            edge => edge,
        }
    }
}

#[derive(Default)]
struct Compiler {
    instructions: Vec<Instruction>,
    sets: Vec<Arc<CharSet>>,
    /// The numbers of the sets of classes, by their addresses, and of folded characters.
    classes: HashMap<*const CharSet, u32>,
    folded: HashMap<u32, u32>,
    not_newline: Option<u32>,
    looks: Looks,
}

type Compiled = Result<u32, TooLarge>;

impl Compiler {
    fn compile(mut self, tree: &Node) -> Result<Program, TooLarge> {
        let end = self.push(Instruction::Match)?;
        let start = self.node(tree, end)?;
        let mut program = Program {
            instructions: self.instructions,
            sets: self.sets,
            start,
            is_anchored: false,
            looks: self.looks,
            classes: [0; 256],
            ascii_classes: 0,
        };
        program.is_anchored = program.find_anchored();
        program.number_ascii();
        Ok(program)
    }

    fn push(&mut self, instruction: Instruction) -> Compiled {
        if self.instructions.len() >= ENGINE_INSTRUCTIONS {
            return Err(TooLarge);
        }
        self.instructions.push(instruction);
        Ok(self.instructions.len() as u32 - 1)
    }

    fn split(&mut self, inner: u32, next: u32, greedy: bool) -> Compiled {
        let (first, second) = if greedy { (inner, next) } else { (next, inner) };
        self.push(Instruction::Split(first, second))
    }

    /// Adds a node that goes on with an instruction, from its end to its start; returns where it
    /// starts. Recurses as deep as the tree is high.
    fn node(&mut self, node: &Node, next: u32) -> Compiled {
        match node.kind() {
            NodeKind::Empty => Ok(next),
            NodeKind::Literal { runes, fold } => {
                runes.iter().rev().try_fold(next, |next, &rune| {
                    let instruction = match fold {
                        true => Instruction::Set(self.folded(rune), next),
                        false => Instruction::Char(rune, next),
                    };
                    self.push(instruction)
                })
            }
            NodeKind::Class { set, .. } => {
                let set = self.class(set);
                self.push(Instruction::Set(set, next))
            }
            NodeKind::AnyChar => self.push(Instruction::Any(next)),
            NodeKind::AnyCharNotNewline => {
                let set = self.not_newline();
                self.push(Instruction::Set(set, next))
            }
            NodeKind::Look(look) => {
                match look {
                    Look::StartLF | Look::EndLF => self.looks.lines = true,
                    Look::WordAscii | Look::WordAsciiNegate => self.looks.words = true,
                    _ => {}
                }
                self.push(Instruction::Look(*look, next))
            }
            NodeKind::Capture(sub) => self.node(sub, next),
            NodeKind::Repeat { sub, min, max: Some(max), greedy, .. } => {
                let mut start = next;
                for _ in *min..*max {
                    let inner = self.node(sub, start)?;
                    start = self.split(inner, next, *greedy)?;
                }
                self.times(sub, *min, start)
            }
            NodeKind::Repeat { sub, min, max: None, greedy, .. } => {
                self.repeat(sub, *min, *greedy, next)
            }
            NodeKind::Concat(subs) => {
                subs.iter().rev().try_fold(next, |next, sub| self.node(sub, next))
            }
            NodeKind::Alternate(subs) => {
                let Some((last, before)) = subs.split_last() else { return Ok(next) };
                let mut start = self.node(last, next)?;
                for sub in before.iter().rev() {
                    let inner = self.node(sub, next)?;
                    start = self.split(inner, start, true)?;
                }
                Ok(start)
            }
        }
    }

    /// A node at least `min` times, without end.
    fn repeat(&mut self, sub: &Node, min: u32, greedy: bool, next: u32) -> Compiled {
        let again = self.split(next, next, greedy)?;
        let inner = self.node(sub, again)?;
        let (first, second) = if greedy { (inner, next) } else { (next, inner) };
        if let Some(place) = self.instructions.get_mut(again as usize) {
            *place = Instruction::Split(first, second);
        }
        match min {
            // What can be empty is one or more, or nothing, as in Go.
            0 if can_be_empty(sub) => self.split(inner, next, greedy),
            0 => Ok(again),
            min => self.times(sub, min - 1, inner),
        }
    }

    fn times(&mut self, sub: &Node, count: u32, next: u32) -> Compiled {
        (0..count).try_fold(next, |next, _| self.node(sub, next))
    }

    fn class(&mut self, set: &Arc<CharSet>) -> u32 {
        let (sets, number) = (&mut self.sets, Arc::as_ptr(set));
        *self.classes.entry(number).or_insert_with(|| add(sets, Arc::clone(set)))
    }

    fn folded(&mut self, rune: u32) -> u32 {
        let sets = &mut self.sets;
        let set = || Arc::new(folded(&CharSet::new(vec![(rune, rune)])));
        *self.folded.entry(rune).or_insert_with(|| add(sets, set()))
    }

    fn not_newline(&mut self) -> u32 {
        let sets = &mut self.sets;
        let set = || Arc::new(CharSet::new(vec![(0x0A, 0x0A)]).negated());
        *self.not_newline.get_or_insert_with(|| add(sets, set()))
    }
}

fn add(sets: &mut Vec<Arc<CharSet>>, set: Arc<CharSet>) -> u32 {
    sets.push(set);
    sets.len() as u32 - 1
}

/// Whether a node matches the empty text somewhere.
fn can_be_empty(node: &Node) -> bool {
    match node.kind() {
        NodeKind::Empty | NodeKind::Look(_) => true,
        NodeKind::Literal { runes, .. } => runes.is_empty(),
        NodeKind::Class { .. } | NodeKind::AnyChar | NodeKind::AnyCharNotNewline => false,
        NodeKind::Repeat { sub, min, .. } => *min == 0 || can_be_empty(sub),
        NodeKind::Capture(sub) => can_be_empty(sub),
        NodeKind::Concat(subs) => subs.iter().all(can_be_empty),
        NodeKind::Alternate(subs) => subs.iter().any(can_be_empty),
    }
}
