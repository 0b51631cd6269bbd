//! Whether there is a match. A state is the set of all places in the program that can go on; what
//! follows a state and a character is worked out when it is first needed, and kept until memory is
//! used up.

use std::collections::HashMap;
use std::sync::Arc;

use crate::edge::{Edge, holds};
use crate::limits::{ENGINE_CACHE_BYTES, SETTLED_PLACES, SETTLED_STEPS};
use crate::program::{Instruction, Program};
use crate::steps::{OutOfSteps, Steps};

/// The bytes that are counted for a state besides its places.
const STATE: usize = 160;
/// The bytes that are counted for what follows a character beyond ASCII.
const WIDE: usize = 32;

/// The follower is not known yet.
const UNKNOWN: u32 = u32::MAX;
/// There is a match.
const MATCH: u32 = u32::MAX - 1;
/// There can be none.
const DEAD: u32 = u32::MAX - 2;

/// A state: what stands before the next character, and the instructions to go on with. Where a
/// match can begin anywhere, the start of the program is always one of them and is left out.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct State {
    before: Edge,
    places: Box<[u32]>,
}

impl State {
    /// The state after some character, with the places in order.
    pub(crate) fn new(before: Edge, places: &[u32]) -> State {
        State { before, places: places.into() }
    }
}

/// The states of a program that are known, and room to work in.
#[derive(Debug)]
pub(crate) struct Automaton {
    states: Vec<Arc<State>>,
    rows: Vec<u32>,
    wide: HashMap<(u32, char), u32>,
    numbers: HashMap<Arc<State>, u32>,
    /// The number of the state before the first character, once it is known.
    start: Option<u32>,
    bytes: usize,
    /// The bytes of it that count as kept.
    pub(crate) kept: usize,
    /// How often it was matched, up to the largest number.
    pub(crate) matches: u8,
    /// How often all of it was forgotten.
    forgotten: u64,
    room: Room,
}

/// Room to follow a program in.
#[derive(Debug)]
pub(crate) struct Room {
    /// The round in which an instruction was last looked at.
    seen: Vec<u32>,
    /// The round in which a set was last looked at, and the answer.
    sets: Vec<(u32, bool)>,
    round: u32,
    waiting: Vec<u32>,
    places: Vec<u32>,
}

impl Automaton {
    pub(crate) fn new(program: &Program) -> Automaton {
        Automaton {
            states: Vec::new(),
            rows: Vec::new(),
            wide: HashMap::new(),
            numbers: HashMap::new(),
            start: None,
            bytes: 0,
            kept: 0,
            matches: 0,
            forgotten: 0,
            room: Room::new(program),
        }
    }

    /// Returns the bytes that it takes.
    pub(crate) fn footprint(&self) -> usize {
        let places = self.room.waiting.capacity() + self.room.places.capacity();
        self.bytes + 4 * (self.room.seen.len() + places) + 8 * self.room.sets.len()
    }

    /// Returns whether the program matches anywhere in a text.
    pub(crate) fn is_match(
        &mut self,
        program: &Program,
        text: &str,
        steps: &mut Steps,
    ) -> Result<bool, OutOfSteps> {
        let (mut state, mut at) = (self.start(program), 0);
        loop {
            match walk(program, &self.rows, text, at, state) {
                Stop::Result(is_match) => return Ok(is_match),
                Stop::End(last) => {
                    let next = self.follow(program, last, None, program.ascii_classes, steps)?;
                    return Ok(next == MATCH);
                }
                Stop::Unknown(before, place) => {
                    let Some(c) = text.get(place..).and_then(|rest| rest.chars().next()) else {
                        return Ok(false);
                    };
                    at = place + c.len_utf8();
                    state = self.after(program, before, c, steps)?;
                }
            }
        }
    }

    /// Returns what follows a state and a character that its row does not tell.
    #[cold]
    fn after(
        &mut self,
        program: &Program,
        state: u32,
        c: char,
        steps: &mut Steps,
    ) -> Result<u32, OutOfSteps> {
        if let Ok(byte) = u8::try_from(c)
            && byte.is_ascii()
        {
            return self.follow(program, state, Some(c), program.class(byte), steps);
        }
        match self.wide.get(&(state, c)) {
            Some(next) => Ok(*next),
            None => self.follow(program, state, Some(c), usize::MAX, steps),
        }
    }

    /// Returns the number of the state before the first character.
    #[inline]
    fn start(&mut self, program: &Program) -> u32 {
        match self.start {
            Some(start) => start,
            None => {
                let start = self.number(program, Edge::Text, &[]);
                self.start = Some(start);
                start
            }
        }
    }

    /// Works out all that can follow ASCII characters and returns it, unless that is too much.
    pub(crate) fn settle(&mut self, program: &Program) -> Option<Settled> {
        let mut steps = Steps::of(SETTLED_STEPS);
        let start = self.start(program);
        let (mut number, forgotten) = (0, self.forgotten);
        while number < self.rows.len() {
            for (class, c) in program.examples().chain([(program.ascii_classes, None)]) {
                if self.rows.get(number + class) == Some(&UNKNOWN) {
                    self.follow(program, number as u32, c, class, &mut steps).ok()?;
                }
            }
            if self.rows.len() > SETTLED_PLACES || self.forgotten != forgotten {
                return None;
            }
            number += program.row();
        }
        Some(Settled { rows: self.rows.as_slice().into(), start })
    }

    /// Works out what follows a state and a character, or the end of the text, and keeps it.
    #[cold]
    fn follow(
        &mut self,
        program: &Program,
        number: u32,
        c: Option<char>,
        class: usize,
        steps: &mut Steps,
    ) -> Result<u32, OutOfSteps> {
        let position = number as usize / program.row();
        let Some(state) = self.states.get(position).cloned() else { return Ok(DEAD) };
        let is_match = self.room.step(program, &state, c, steps)?;
        let forgotten = self.forgotten;
        let next = match c {
            _ if is_match => MATCH,
            None => DEAD,
            Some(_) if self.room.places.is_empty() && program.is_anchored => DEAD,
            Some(_) => {
                let mut places = std::mem::take(&mut self.room.places);
                places.sort_unstable();
                places.dedup();
                let next = self.number(program, program.looks.edge(c), &places);
                self.room.places = places;
                next
            }
        };
        // Unless all states were forgotten on the way.
        if self.forgotten == forgotten {
            match (self.rows.get_mut((number as usize).saturating_add(class)), c) {
                (Some(place), _) if class <= program.ascii_classes => *place = next,
                (_, Some(c)) => {
                    self.bytes += WIDE;
                    self.wide.insert((number, c), next);
                }
                _ => {}
            }
        }
        Ok(next)
    }

    /// Returns the number of a state, a new one if need be.
    fn number(&mut self, program: &Program, before: Edge, places: &[u32]) -> u32 {
        let state = State::new(before, places);
        if let Some(number) = self.numbers.get(&state) {
            return *number;
        }
        let row = program.row();
        self.bytes += STATE + 4 * (row + state.places.len());
        if self.bytes > ENGINE_CACHE_BYTES && !self.states.is_empty() {
            self.forget();
        }
        let number = self.rows.len() as u32;
        let state = Arc::new(state);
        self.numbers.insert(Arc::clone(&state), number);
        self.states.push(state);
        self.rows.resize(self.rows.len() + row, UNKNOWN);
        number
    }

    fn forget(&mut self) {
        self.states = Vec::new();
        self.rows = Vec::new();
        self.wide = HashMap::new();
        self.numbers = HashMap::new();
        self.start = None;
        self.bytes = 0;
        self.forgotten += 1;
    }
}

/// All that can follow ASCII characters, for any number of threads at a time.
#[derive(Debug)]
pub(crate) struct Settled {
    rows: Box<[u32]>,
    start: u32,
}

impl Settled {
    /// Returns the bytes that it takes.
    pub(crate) fn footprint(&self) -> usize {
        size_of_val(&*self.rows)
    }

    /// Returns whether the program matches anywhere in a text, if ASCII characters decide it.
    #[inline]
    pub(crate) fn is_match(&self, program: &Program, text: &str) -> Option<bool> {
        match walk(program, &self.rows, text, 0, self.start) {
            Stop::Result(is_match) => Some(is_match),
            Stop::End(_) | Stop::Unknown(..) => None,
        }
    }
}

/// Where a walk stops.
enum Stop {
    /// There is a match, or there can be none.
    Result(bool),
    /// At the end of the text in a state of which the end is unknown.
    End(u32),
    /// In a state of which the character at a place of the text is unknown.
    Unknown(u32, usize),
}

/// Walks over a text from a place and a state on. A row is what follows each class of ASCII
/// characters and the end of the text; at last a place that stays unknown, for all other characters.
/// The number of a state is where its row begins.
#[inline]
fn walk(program: &Program, rows: &[u32], text: &str, mut at: usize, mut state: u32) -> Stop {
    let mut next = state;
    // Numbers of other outcomes are beyond the rows, so that a byte takes one comparison.
    for byte in text.as_bytes().get(at..).unwrap_or_default() {
        let Some(known) = rows.get(next as usize + program.class(*byte)) else { break };
        (state, next) = (next, *known);
        at += 1;
    }
    match next {
        MATCH => Stop::Result(true),
        DEAD => Stop::Result(false),
        UNKNOWN => Stop::Unknown(state, at - 1),
        last => match rows.get(last as usize + program.ascii_classes) {
            Some(&UNKNOWN) | None => Stop::End(last),
            Some(end) => Stop::Result(*end == MATCH),
        },
    }
}

impl Room {
    pub(crate) fn new(program: &Program) -> Room {
        Room {
            seen: vec![0; program.len()],
            sets: vec![(0, false); program.sets().len()],
            round: 0,
            waiting: Vec::new(),
            places: Vec::new(),
        }
    }

    /// Returns the places after the last step, in order.
    pub(crate) fn sorted_places(&mut self) -> &[u32] {
        self.places.sort_unstable();
        self.places.dedup();
        &self.places
    }

    /// Goes from a state over a character and collects the places after it; tells whether there is
    /// a match in front of the character.
    pub(crate) fn step(
        &mut self,
        program: &Program,
        state: &State,
        c: Option<char>,
        steps: &mut Steps,
    ) -> Result<bool, OutOfSteps> {
        self.next_round();
        self.places.clear();
        self.waiting.clear();
        self.waiting.extend(&state.places);
        if !program.is_anchored || state.before == Edge::Text {
            self.waiting.push(program.start());
        }
        let after = program.looks.edge(c);
        while let Some(at) = self.waiting.pop() {
            match self.seen.get_mut(at as usize) {
                Some(seen) if *seen != self.round => *seen = self.round,
                _ => continue,
            }
            steps.take(1)?;
            let next = match program.instruction(at) {
                Some(Instruction::Match) => return Ok(true),
                Some(Instruction::Split(first, second)) => {
                    self.waiting.extend([second, first]);
                    continue;
                }
                Some(Instruction::Look(look, next)) => {
                    self.waiting.extend(holds(look, state.before, after).then_some(next));
                    continue;
                }
                Some(Instruction::Char(rune, next)) => {
                    c.is_some_and(|c| u32::from(c) == rune).then_some(next)
                }
                Some(Instruction::Set(set, next)) => {
                    c.is_some_and(|c| self.set_holds(program, set, c)).then_some(next)
                }
                Some(Instruction::Any(next)) => c.map(|_| next),
                None => None,
            };
            self.places.extend(next);
        }
        Ok(false)
    }

    /// Whether the character of this round is in a set, which is looked up once.
    fn set_holds(&mut self, program: &Program, set: u32, c: char) -> bool {
        let Some((round, holds)) = self.sets.get_mut(set as usize) else { return false };
        if *round != self.round {
            (*round, *holds) = (self.round, program.set_holds(set, u32::from(c)));
        }
        *holds
    }

    fn next_round(&mut self) {
        self.round = self.round.wrapping_add(1);
        if self.round == 0 {
            self.seen.fill(0);
            self.sets.fill((0, false));
            self.round = 1;
        }
    }
}
