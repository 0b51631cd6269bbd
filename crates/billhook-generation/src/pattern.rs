//! Texts that match a pattern.

use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Class, Hir, HirKind};

/// The longest text that is made, in characters.
const MAX_LENGTH: usize = 1000;
/// How deep groups may be nested.
const MAX_DEPTH: usize = 100;

/// Returns the shortest text that a search for the pattern finds itself in.
pub(crate) fn sample(pattern: &str) -> Option<String> {
    sample_of(pattern, 0, 0)
}

/// Returns a text of a minimum length that matches a pattern; those of other numbers may differ.
pub fn sample_of(pattern: &str, minimum: usize, number: u64) -> Option<String> {
    // In Go, `\d` and the like are ASCII.
    let mut parser = ParserBuilder::new().unicode(false).utf8(false).build();
    let hir = parser.parse(pattern).ok()?;
    (0..=minimum.min(MAX_LENGTH)).find_map(|more| {
        let mut maker = Maker { text: String::new(), more, number };
        maker.add(&hir, 0)?;
        (maker.text.chars().count() >= minimum).then_some(maker.text)
    })
}

struct Maker {
    text: String,
    /// How often a repetition is repeated beyond its minimum.
    more: usize,
    number: u64,
}

impl Maker {
    fn add(&mut self, hir: &Hir, depth: usize) -> Option<()> {
        if depth > MAX_DEPTH || self.text.len() > MAX_LENGTH {
            return None;
        }
        match hir.kind() {
            HirKind::Empty | HirKind::Look(_) => {}
            HirKind::Literal(literal) => self.text.push_str(std::str::from_utf8(&literal.0).ok()?),
            HirKind::Class(class) => self.text.push(self.letter(class)?),
            HirKind::Repetition(repetition) => {
                let most = repetition.max.unwrap_or(u32::MAX);
                let wanted = u32::try_from(self.more).ok()?.saturating_add(repetition.min);
                for _ in 0..wanted.min(most) {
                    self.add(&repetition.sub, depth + 1)?;
                }
            }
            HirKind::Capture(capture) => self.add(&capture.sub, depth + 1)?,
            HirKind::Concat(parts) => {
                parts.iter().try_for_each(|part| self.add(part, depth + 1))?;
            }
            HirKind::Alternation(parts) => {
                let at = usize::try_from(self.number).ok()? % parts.len().max(1);
                self.add(parts.get(at)?, depth + 1)?;
            }
        }
        Some(())
    }

    /// A letter of a class: a small one if there is one, then a digit, then the first.
    fn letter(&self, class: &Class) -> Option<char> {
        let has = |wanted: char| match class {
            Class::Unicode(class) => {
                class.iter().any(|it| it.start() <= wanted && wanted <= it.end())
            }
            Class::Bytes(class) => class
                .iter()
                .any(|it| char::from(it.start()) <= wanted && wanted <= char::from(it.end())),
        };
        let number = u8::try_from(self.number % 20).ok()?;
        let preferred = [char::from(b'a' + number), 'a', '1', 'A', '-', '.'];
        let others = (b' '..=b'~').map(char::from);
        preferred.into_iter().chain(others).find(|letter| has(*letter))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts() {
        for (pattern, text) in [
            ("^[a-z]{3}$", "aaa"),
            (r"^[0-9]+(\.[0-9]+)?(m|k|M)?$", "1"),
            ("^(arn|urn):[A-Z]+$", "arn:A"),
            (r"^\d{4}-\d{2}$", "1111-11"),
            ("x|y", "x"),
            ("^$", ""),
        ] {
            assert_eq!(sample(pattern).as_deref(), Some(text), "{pattern}");
        }
        assert_eq!(sample_of("^[a-z]+$", 5, 0).as_deref(), Some("aaaaa"));
        assert_eq!(sample_of("^[a-z]$", 5, 0), None);
        assert_eq!(sample_of("^[a-z]+$", 1, 2).as_deref(), Some("c"));
        assert_eq!(sample("(a{1000}){1000}"), None);
        assert_eq!(sample("("), None);
    }
}
