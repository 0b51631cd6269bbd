//! The one type that users hold.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use crate::engine::Engine;
use crate::{Error, ErrorKind, parser};

/// A compiled pattern, cheap to clone and to share between threads.
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

struct Inner {
    text: Box<str>,
    engine: Engine,
}

impl Pattern {
    /// Compiles a pattern.
    ///
    /// # Errors
    ///
    /// Go's own error if Go refuses the pattern; [`ErrorKind::TooLargeToMatch`] if its automaton
    /// would be larger than the [`limits`](crate::limits) allow.
    pub fn new(pattern: &str) -> Result<Self, Error> {
        let tree = parser::parse(pattern)?;
        let engine =
            Engine::build(tree).map_err(|_| Error::new(ErrorKind::TooLargeToMatch, pattern))?;
        Ok(Self { inner: Arc::new(Inner { text: pattern.into(), engine }) })
    }

    /// Returns whether the pattern matches anywhere in the text.
    #[must_use]
    pub fn is_match(&self, text: &str) -> bool {
        self.inner.engine.is_match(text)
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
        self.inner.engine.find_iter(text)
    }

    /// Returns the pattern as it was written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.inner.text
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
