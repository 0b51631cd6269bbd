//! Names of hosts and of Kubernetes objects (VV-71).

use billhook_apimachinery::names::{dns1123_label, dns1123_subdomain};
use billhook_regex::Pattern;

/// Host names: one label, or several with a last one of letters. Besides ASCII letters and digits,
/// labels may have symbols and letters of any script.
#[derive(Clone, Debug)]
pub(crate) struct Hostnames {
    /// For single characters; `None` if the pattern is missing.
    symbol_or_letter: Option<Pattern>,
    letter: Option<Pattern>,
}

impl Hostnames {
    pub(super) fn new() -> Self {
        Hostnames {
            symbol_or_letter: Pattern::new(r"^[\p{S}\p{L}]$").ok(),
            letter: Pattern::new(r"^\p{L}$").ok(),
        }
    }

    pub(super) fn admit(&self, text: &str) -> bool {
        if text.len() > 255 || !text.split('.').all(|part| part.len() <= 63) {
            return false;
        }
        match text.rsplit_once('.') {
            None => self.is_single_label(text),
            Some((labels, last)) => {
                (2..=63).contains(&last.chars().count())
                    && last.chars().all(|c| self.is_letter(c))
                    && labels.split('.').all(|label| self.is_label(label))
            }
        }
    }

    /// A hyphen may only be its second character, be it the last one, too.
    fn is_single_label(&self, text: &str) -> bool {
        let mut characters = text.chars();
        let Some(first) = characters.next() else { return false };
        let rest = characters.as_str();
        let rest = rest.strip_prefix('-').unwrap_or(rest);
        rest.chars().count() <= 62 && self.is_inner(first) && rest.chars().all(|c| self.is_inner(c))
    }

    /// Hyphens may be anywhere but at the ends.
    fn is_label(&self, text: &str) -> bool {
        !text.is_empty()
            && text.chars().count() <= 63
            && !text.starts_with('-')
            && !text.ends_with('-')
            && text.chars().all(|c| c == '-' || self.is_inner(c))
    }

    fn is_inner(&self, c: char) -> bool {
        c.is_ascii_alphanumeric() || matches(&self.symbol_or_letter, c)
    }

    fn is_letter(&self, c: char) -> bool {
        c.is_ascii_alphabetic() || matches(&self.letter, c)
    }
}

fn matches(pattern: &Option<Pattern>, c: char) -> bool {
    let mut buffer = [0; 4];
    let text = c.encode_utf8(&mut buffer);
    pattern.as_ref().is_some_and(|pattern| pattern.is_match(text))
}

pub(super) fn is_short_name(text: &str) -> bool {
    dns1123_label(text).is_empty()
}

pub(super) fn is_long_name(text: &str) -> bool {
    dns1123_subdomain(text).is_empty()
}
