//! The types that users hold.

use std::collections::HashMap;
use std::fmt;
use std::str::FromStr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, TryLockError};

use crate::automaton::{Automaton, Settled};
use crate::limits::{KEPT_BYTES, KEPT_PATTERNS, SETTLED_MATCHES};
use crate::program::Program;
use crate::search::Search;
use crate::steps::{OutOfSteps, Steps};
use crate::{Error, parser};

/// A pattern, cheap to clone and to share between threads. It is compiled when it is first matched.
///
/// ```
/// use billhook_regex::Pattern;
///
/// let pattern = Pattern::new(r"^\d+(?:ms|s)$")?;
/// assert!(pattern.is_match("250ms"));
/// assert!(!pattern.is_match("٣s"), r"`\d` is ASCII");
/// # Ok::<(), billhook_regex::Error>(())
/// ```
#[derive(Clone)]
pub struct Pattern {
    inner: Arc<Inner>,
}

/// The threads that match one pattern at a time without working out again what is known.
const AUTOMATA: usize = 8;

struct Inner {
    text: Box<str>,
    program: OnceLock<Program>,
    /// Matches most texts once the pattern has matched often.
    settled: OnceLock<Settled>,
    /// Those kept for the next matches, each for one thread at a time.
    automata: [Mutex<Option<Box<Automaton>>>; AUTOMATA],
    memory: Memory,
}

/// The bytes that may still be kept.
#[derive(Clone)]
struct Memory(Arc<AtomicUsize>);

impl Default for Memory {
    fn default() -> Self {
        Memory(Arc::new(AtomicUsize::new(KEPT_BYTES)))
    }
}

impl Memory {
    fn take(&self, bytes: usize) -> bool {
        let take = |left: usize| left.checked_sub(bytes);
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_ok()
    }

    fn give_back(&self, bytes: usize) {
        self.0.fetch_add(bytes, Ordering::Relaxed);
    }
}

impl Pattern {
    /// Reads a pattern.
    ///
    /// # Errors
    ///
    /// Go's own error if Go refuses the pattern; [`ErrorKind::TooLargeToMatch`](crate::ErrorKind::TooLargeToMatch)
    /// if it is larger than the [`limits`](crate::limits) allow.
    pub fn new(pattern: &str) -> Result<Self, Error> {
        Self::within(pattern, Memory::default())
    }

    fn within(pattern: &str, memory: Memory) -> Result<Self, Error> {
        parser::check_to_match(pattern)?;
        let inner = Inner {
            text: pattern.into(),
            program: OnceLock::new(),
            settled: OnceLock::new(),
            automata: Default::default(),
            memory,
        };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// Returns whether the pattern matches anywhere in the text.
    #[must_use]
    pub fn is_match(&self, text: &str) -> bool {
        self.is_match_within(text, &mut Steps::UNBOUNDED.clone()).unwrap_or_default()
    }

    /// Returns whether the pattern matches anywhere in the text, if that takes no more than a number of
    /// steps.
    ///
    /// # Errors
    ///
    /// If it takes more.
    pub fn is_match_within(&self, text: &str, steps: &mut Steps) -> Result<bool, OutOfSteps> {
        self.inner.with_program(steps, |program, steps| {
            steps.take(text.len() / 8 + 1)?;
            let settled = self.inner.settled.get();
            match settled.and_then(|settled| settled.is_match(program, text)) {
                Some(is_match) => Ok(is_match),
                None => self
                    .inner
                    .with_automaton(program, |automaton| automaton.is_match(program, text, steps)),
            }
        })
    }

    /// Returns the texts that the pattern matches, one after the other, as Go's `FindAllString`
    /// finds them.
    ///
    /// ```
    /// use billhook_regex::Pattern;
    ///
    /// let pattern = Pattern::new("a+?b|c*")?;
    /// assert_eq!(pattern.find_iter("aabccd").collect::<Vec<_>>(), ["aab", "cc", ""]);
    /// # Ok::<(), billhook_regex::Error>(())
    /// ```
    pub fn find_iter<'t>(&self, text: &'t str) -> impl Iterator<Item = &'t str> {
        let found = self.find_within(text, usize::MAX, &mut Steps::UNBOUNDED.clone());
        found.unwrap_or_default().into_iter()
    }

    /// Returns the first of these texts, up to a number, if that takes no more than a number of steps.
    ///
    /// # Errors
    ///
    /// If it takes more.
    pub fn find_within<'t>(
        &self,
        text: &'t str,
        limit: usize,
        steps: &mut Steps,
    ) -> Result<Vec<&'t str>, OutOfSteps> {
        self.inner.with_program(steps, |program, steps| {
            steps.take(program.len())?;
            Search::new(program, text).all(limit, steps)
        })
    }

    /// Returns the pattern as it was written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.inner.text
    }
}

impl Inner {
    /// Calls a function with the program, which is compiled for the first time or, if it takes too
    /// much memory to be kept, once more.
    fn with_program<T>(
        &self,
        steps: &mut Steps,
        call: impl FnOnce(&Program, &mut Steps) -> Result<T, OutOfSteps>,
    ) -> Result<T, OutOfSteps> {
        if let Some(program) = self.program.get() {
            return call(program, steps);
        }
        let tree = parser::parse(&self.text).map_err(|_| OutOfSteps {})?;
        let program = Program::new(&tree).map_err(|_| OutOfSteps {})?;
        steps.take(program.len())?;
        if !self.memory.take(program.footprint()) {
            return call(&program, steps);
        }
        call(self.program.get_or_init(|| program), steps)
    }

    /// Calls a function with an automaton that no other thread uses: one that is kept or, where
    /// other threads have them all, a new one.
    fn with_automaton<T>(&self, program: &Program, call: impl FnOnce(&mut Automaton) -> T) -> T {
        let unused = self.automata.iter().find_map(|automaton| match automaton.try_lock() {
            Ok(unused) => Some(unused),
            Err(TryLockError::Poisoned(unused)) => Some(unused.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        });
        let Some(mut kept) = unused else { return call(&mut Automaton::new(program)) };
        let automaton = kept.get_or_insert_with(|| Box::new(Automaton::new(program)));
        let result = call(automaton);
        if self.settle(program, automaton) {
            self.memory.give_back(automaton.kept);
            *kept = None;
        } else if !self.may_keep(automaton) {
            *kept = None;
        }
        result
    }

    /// Works out ahead all that can follow, once an automaton has matched often; returns whether that
    /// was done now.
    fn settle(&self, program: &Program, automaton: &mut Automaton) -> bool {
        automaton.matches = automaton.matches.saturating_add(1);
        let is_due = automaton.matches == SETTLED_MATCHES && self.settled.get().is_none();
        if !is_due || self.program.get().is_none() {
            return false;
        }
        let settled = automaton.settle(program);
        let settled = settled.filter(|settled| self.memory.take(settled.footprint()));
        settled.is_some_and(|settled| self.settled.set(settled).is_ok())
    }

    /// Accounts for the memory of an automaton; returns whether there is enough to keep it for the
    /// next match.
    fn may_keep(&self, automaton: &mut Automaton) -> bool {
        let footprint = automaton.footprint();
        if footprint == automaton.kept {
            return true;
        }
        self.memory.give_back(std::mem::replace(&mut automaton.kept, footprint));
        self.program.get().is_some() && self.memory.take(footprint)
    }
}

/// Patterns that are matched within one bound of memory, as those of one definition are. Equal ones
/// are compiled once.
///
/// ```
/// use billhook_regex::Patterns;
///
/// let patterns = Patterns::default();
/// let (one, other) = (patterns.get("^a+$")?, patterns.get("^a+$")?);
/// assert!(one.is_match("aa") && other.is_match("aaa"));
/// # Ok::<(), billhook_regex::Error>(())
/// ```
#[derive(Clone, Default)]
pub struct Patterns {
    known: Arc<Mutex<HashMap<Box<str>, Pattern>>>,
    memory: Memory,
}

impl Patterns {
    /// Returns a pattern.
    ///
    /// # Errors
    ///
    /// Those of [`Pattern::new`].
    pub fn get(&self, pattern: &str) -> Result<Pattern, Error> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(pattern) = known.get(pattern) {
            return Ok(pattern.clone());
        }
        let new = Pattern::within(pattern, self.memory.clone())?;
        if known.len() < KEPT_PATTERNS {
            known.insert(pattern.into(), new.clone());
        }
        Ok(new)
    }
}

impl fmt::Debug for Patterns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Patterns").finish_non_exhaustive()
    }
}

impl fmt::Debug for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Pattern").field(&self.as_str()).finish()
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Pattern {
    type Err = Error;

    fn from_str(pattern: &str) -> Result<Self, Error> {
        Self::new(pattern)
    }
}

/// Checks a pattern as Go's `regexp.Compile` would, without compiling it.
///
/// Only walks over the text, so it is the cheaper choice if the pattern is never matched.
///
/// ```
/// assert!(billhook_regex::check("a{1000}").is_ok());
/// assert_eq!(
///     billhook_regex::check("a{1001}").unwrap_err().to_string(),
///     "error parsing regexp: invalid repeat count: `{1001}`",
/// );
/// ```
///
/// # Errors
///
/// Go's own error if Go refuses the pattern.
pub fn check(pattern: &str) -> Result<(), Error> {
    parser::check(pattern)
}
