//! The shortest text that some patterns match and others do not: whether one pattern matches all
//! that another one does, and if not, a text that shows it.
//!
//! All patterns are followed at once, breadth first, over one character of each class that none of
//! them tells apart. What is found is therefore the shortest, and that nothing is found is a proof.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use crate::automaton::{Room, State};
use crate::edge::Edge;
use crate::limits::{TEXT_BYTES, TEXT_STATES};
use crate::program::{Instruction, Program};
use crate::{OutOfSteps, Pattern, Steps, parser};

/// The texts of some lengths that some patterns match and others do not.
///
/// ```
/// use billhook_regex::{Pattern, Steps, Texts};
///
/// let (narrow, wide) = (Pattern::new("^[a-z]+$")?, Pattern::new("^[a-z0-9]+$")?);
/// let mut steps = Steps::of(1 << 20);
/// let included = Texts::default().matching(&narrow).not_matching(&wide);
/// assert_eq!(included.shortest(&mut steps)?, None);
/// let more = Texts::default().matching(&wide).not_matching(&narrow);
/// assert_eq!(more.shortest(&mut steps)?.as_deref(), Some("0"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Texts {
    patterns: Vec<(Pattern, bool)>,
    min_length: usize,
    max_length: Option<usize>,
}

impl Texts {
    /// Returns those of the texts that a pattern matches.
    #[must_use]
    pub fn matching(mut self, pattern: &Pattern) -> Self {
        self.patterns.push((pattern.clone(), true));
        self
    }

    /// Returns those of the texts that a pattern does not match.
    #[must_use]
    pub fn not_matching(mut self, pattern: &Pattern) -> Self {
        self.patterns.push((pattern.clone(), false));
        self
    }

    /// Returns those of the texts that have at least `min` and, if there is a maximum, at most `max`
    /// code points.
    #[must_use]
    pub fn of_length(mut self, min: usize, max: Option<usize>) -> Self {
        self.min_length = self.min_length.max(min);
        self.max_length = self.max_length.into_iter().chain(max).min();
        self
    }

    /// Returns the shortest of the texts; none if there are none at all.
    ///
    /// # Errors
    ///
    /// If the search takes more than `steps`, or has more than [`TEXT_STATES`] states or
    /// [`TEXT_BYTES`]: then nothing is known.
    pub fn shortest(&self, steps: &mut Steps) -> Result<Option<String>, OutOfSteps> {
        let mut programs = Vec::new();
        for (pattern, is_wanted) in &self.patterns {
            let tree = parser::parse(pattern.as_str()).map_err(|_| OutOfSteps {})?;
            let program = Program::new(&tree).map_err(|_| OutOfSteps {})?;
            steps.take(program.len())?;
            programs.push((program, *is_wanted));
        }
        let alphabet = alphabet(&programs, steps)?;
        let rooms = programs.iter().map(|(program, _)| Room::new(program)).collect();
        Search { texts: self, programs, alphabet, rooms, bytes: 0 }.run(steps)
    }
}

/// How far a text has come with one pattern.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Progress {
    Open(Arc<State>),
    /// Whatever follows, it matches or it does not.
    Settled(bool),
}

/// How far a text has come with all patterns, and its length where that counts.
type Place = (Vec<Progress>, usize);

struct Search<'t> {
    texts: &'t Texts,
    programs: Vec<(Program, bool)>,
    alphabet: Vec<char>,
    rooms: Vec<Room>,
    bytes: usize,
}

impl Search<'_> {
    fn run(mut self, steps: &mut Steps) -> Result<Option<String>, OutOfSteps> {
        let start = |_: &(Program, bool)| Progress::Open(Arc::new(State::new(Edge::Text, &[])));
        let start: Place = (self.programs.iter().map(start).collect(), 0);
        // The places in the order in which they are found, each with that before it.
        let mut found: Vec<(Place, usize, char)> = vec![(start.clone(), 0, '\0')];
        let mut known = HashMap::from([(start, ())]);
        let mut at = 0;
        while let Some((place, ..)) = found.get(at) {
            let place = place.clone();
            if self.ends(&place, steps)? {
                return Ok(Some(text(&found, at)));
            }
            let is_full = self.texts.max_length.is_some_and(|max| place.1 >= max);
            for index in 0..if is_full { 0 } else { self.alphabet.len() } {
                let Some(&c) = self.alphabet.get(index) else { break };
                let Some(next) = self.next(&place, c, steps)? else { continue };
                if known.insert(next.clone(), ()).is_none() {
                    self.bytes += 64 + next.0.len() * 24;
                    if known.len() > TEXT_STATES || self.bytes > TEXT_BYTES {
                        return Err(OutOfSteps {});
                    }
                    found.push((next, at, c));
                }
            }
            at += 1;
        }
        Ok(None)
    }

    /// Whether a text that ends here is one of those looked for.
    fn ends(&mut self, (all, length): &Place, steps: &mut Steps) -> Result<bool, OutOfSteps> {
        if *length < self.texts.min_length {
            return Ok(false);
        }
        for ((progress, (program, is_wanted)), room) in
            all.iter().zip(&self.programs).zip(&mut self.rooms)
        {
            let matches = match progress {
                Progress::Settled(matches) => *matches,
                Progress::Open(state) => room.step(program, state, None, steps)?,
            };
            if matches != *is_wanted {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The place after a character; none if no text that begins so is one of those looked for.
    fn next(
        &mut self,
        (all, length): &Place,
        c: char,
        steps: &mut Steps,
    ) -> Result<Option<Place>, OutOfSteps> {
        let mut next = Vec::with_capacity(all.len());
        for ((progress, (program, is_wanted)), room) in
            all.iter().zip(&self.programs).zip(&mut self.rooms)
        {
            let after = match progress {
                Progress::Settled(_) => progress.clone(),
                Progress::Open(state) if room.step(program, state, Some(c), steps)? => {
                    Progress::Settled(true)
                }
                Progress::Open(_) => {
                    let places = room.sorted_places();
                    if places.is_empty() && program.is_anchored {
                        Progress::Settled(false)
                    } else {
                        self.bytes += 4 * places.len();
                        let edge = program.looks.edge(Some(c));
                        Progress::Open(Arc::new(State::new(edge, places)))
                    }
                }
            };
            if after == Progress::Settled(!is_wanted) {
                return Ok(None);
            }
            next.push(after);
        }
        // Without a maximum, lengths from the minimum on are alike.
        let counted = self.texts.max_length.unwrap_or(self.texts.min_length);
        Ok(Some((next, (length + 1).min(counted))))
    }
}

/// The text that leads to a place.
fn text(found: &[(Place, usize, char)], mut at: usize) -> String {
    let mut characters = Vec::new();
    while at > 0
        && let Some((_, before, c)) = found.get(at)
    {
        characters.push(*c);
        at = *before;
    }
    characters.iter().rev().collect()
}

/// Returns one character of each class that no pattern tells apart, those that read best first.
fn alphabet(programs: &[(Program, bool)], steps: &mut Steps) -> Result<Vec<char>, OutOfSteps> {
    // Words and newlines are places, too.
    let mut begins: BTreeSet<u32> = [0, 0x0A, 0x0B, 0xD800, 0xE000].into();
    for (lo, hi) in [('0', '9'), ('A', 'Z'), ('_', '_'), ('a', 'z')] {
        begins.extend([u32::from(lo), u32::from(hi) + 1]);
    }
    let mut literals = BTreeSet::new();
    for (program, _) in programs {
        for at in 0..program.len() {
            if let Some(Instruction::Char(rune, _)) = program.instruction(at as u32) {
                begins.extend([rune, rune + 1]);
                literals.insert(rune);
            }
        }
        for (lo, hi) in program.sets().flat_map(|set| set.ranges()) {
            begins.extend([*lo, hi.saturating_add(1)]);
        }
    }
    let sets: Vec<_> = programs.iter().flat_map(|(program, _)| program.sets()).collect();
    let mut classes: HashMap<(Edge, Option<u32>, Vec<bool>), char> = HashMap::new();
    let mut ends = begins.iter().skip(1).copied().chain([0x11_0000]);
    for begin in &begins {
        let end = ends.next().unwrap_or(0x11_0000);
        steps.take(sets.len() + 1)?;
        let Some(c) = best(*begin, end) else { continue };
        let rune = u32::from(c);
        let literal = literals.get(&rune).copied();
        let holds = sets.iter().map(|set| set.contains(rune)).collect();
        let class = classes.entry((Edge::of(Some(c)), literal, holds)).or_insert(c);
        if rank(c) < rank(*class) {
            *class = c;
        }
    }
    let mut alphabet: Vec<char> = classes.into_values().collect();
    alphabet.sort_by_key(|c| rank(*c));
    Ok(alphabet)
}

/// The character of a range that reads best.
fn best(begin: u32, end: u32) -> Option<char> {
    let preferred = ['a', '0', 'A', '-', '.', ' '].into_iter();
    let inside = |c: &char| (begin..end).contains(&u32::from(*c));
    let first = || (begin..end).take(1).find_map(char::from_u32);
    let printable = || (begin.max(0x20)..end.min(0x7F)).find_map(char::from_u32);
    preferred.into_iter().find(inside).or_else(printable).or_else(first)
}

/// Characters in the order in which they are tried.
fn rank(c: char) -> (u8, char) {
    let group = match c {
        'a'..='z' => 0,
        '0'..='9' => 1,
        'A'..='Z' => 2,
        '!'..='~' => 3,
        ' ' => 4,
        '\u{a0}'.. => 5,
        _ => 6,
    };
    (group, c)
}
