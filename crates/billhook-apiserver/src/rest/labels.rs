//! The labels of an object, read from its text without the rest of it.

use billhook_apimachinery::label_selector::Labels;
use memchr::memchr2;

/// The labels of a text, all in ASCII.
pub(super) struct TextLabels<'t>(Vec<(&'t [u8], &'t [u8])>);

impl Labels for TextLabels<'_> {
    fn label(&self, key: &str) -> Option<&str> {
        let (_, value) = self.0.iter().find(|(known, _)| *known == key.as_bytes())?;
        str::from_utf8(value).ok()
    }
}

/// How many labels most objects have at most.
const USUAL_LABELS: usize = 8;

/// Reads the labels of an object in JSON; none if they cannot be read so, as when they have
/// escapes. What comes after them is not looked at.
pub(super) fn labels(text: &[u8]) -> Option<TextLabels<'_>> {
    let mut rest = Rest(text);
    let mut labels = Vec::with_capacity(USUAL_LABELS);
    if rest.find(b"metadata")? && rest.find(b"labels")? {
        let mut more = rest.begins_object()?;
        while more {
            let label = (rest.key()?, rest.string()?);
            if !label.0.is_ascii() || !label.1.is_ascii() {
                return None;
            }
            labels.push(label);
            more = rest.goes_on()?;
        }
    }
    Some(TextLabels(labels))
}

/// The rest of a text, of which a part was read.
struct Rest<'t>(&'t [u8]);

impl<'t> Rest<'t> {
    /// Goes to the value of a member of the object that comes next; to its end if it has none of the
    /// name, which is false.
    fn find(&mut self, name: &[u8]) -> Option<bool> {
        let mut more = self.begins_object()?;
        while more {
            if self.key()? == name {
                return Some(true);
            }
            self.skip()?;
            more = self.goes_on()?;
        }
        Some(false)
    }

    /// Begins an object. Returns whether it has members.
    fn begins_object(&mut self) -> Option<bool> {
        self.take(b'{').then(|| !self.take(b'}'))
    }

    /// Goes on after a member. Returns whether there is another one.
    fn goes_on(&mut self) -> Option<bool> {
        let more = self.take(b',');
        (more || self.take(b'}')).then_some(more)
    }

    /// Reads the name of a member.
    fn key(&mut self) -> Option<&'t [u8]> {
        self.string().filter(|_| self.take(b':'))
    }

    /// Reads a string without escapes; such ones are short.
    fn string(&mut self) -> Option<&'t [u8]> {
        let text = self.take(b'"').then_some(self.0)?;
        let end = text.iter().position(|byte| matches!(byte, b'"' | b'\\'))?;
        let (string, rest) = text.split_at_checked(end)?;
        self.0 = rest.strip_prefix(b"\"")?;
        Some(string)
    }

    /// Goes over a value.
    fn skip(&mut self) -> Option<()> {
        let mut depth = 0_usize;
        loop {
            let is_mark = |byte: &u8| matches!(byte, b'"' | b',' | b'[' | b']' | b'{' | b'}');
            let place = self.0.iter().position(is_mark)?;
            let (_, marked) = self.0.split_at_checked(place)?;
            let (mark, rest) = marked.split_first()?;
            self.0 = rest;
            match mark {
                b'"' => self.0 = after_string(rest)?,
                b'[' | b'{' => depth += 1,
                b']' | b'}' if depth > 0 => depth -= 1,
                b',' if depth > 0 => {}
                _ => {
                    // This is of the object that the value is in.
                    self.0 = marked;
                    return Some(());
                }
            }
        }
    }

    /// Goes over a byte, if it comes next after white space.
    fn take(&mut self, byte: u8) -> bool {
        let text = self.0.trim_ascii_start();
        let rest = text.strip_prefix(&[byte]);
        self.0 = rest.unwrap_or(text);
        rest.is_some()
    }
}

/// Returns what comes after a string that has begun.
fn after_string(mut text: &[u8]) -> Option<&[u8]> {
    loop {
        match text.split_at_checked(memchr2(b'"', b'\\', text)?)?.1 {
            [b'\\', _, rest @ ..] => text = rest,
            [b'"', rest @ ..] => return Some(rest),
            _ => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_found_in_texts() {
        for (text, expected) in [
            (r#"{"a":{"labels":{"k":"no"}},"metadata":{"labels":{"k":"v"},"x":1},"z""#, Some("v")),
            (r#"{ "metadata" : { "x" : -1 , "labels" : { "a" : "b" , "k" : "" } } }"#, Some("")),
            (r#"{"a":["]}\"\\",{"metadata":[]}],"metadata":{"labels":{"k":"v"}}"#, Some("v")),
            (r#"{"metadata":{"name":"x","labels":{}},"spec":{"labels":{"k":"no"}}}"#, None),
            (r#"{"metadata":{"name":"x"},"spec":{"labels":{"k":"no"}}}"#, None),
            (r#"{"metadata":{}}"#, None),
            (r#"{"spec":{"k":"no"}}"#, None),
            ("{}", None),
        ] {
            let labels = labels(text.as_bytes());
            assert_eq!(labels.unwrap().label("k"), expected, "{text}");
        }
        for text in [
            "{",
            "",
            "[]",
            "k8s\0",
            r#"{"metadata":{"labels":{"k":1}}}"#,
            r#"{"metadata":{"labels":null}}"#,
            r#"{"metadata":{"labels":{"\u006b":"v"}}}"#,
            r#"{"metadata":{"labels":{"k":"\"v"}}}"#,
            r#"{"metadata":{"labels":{"k":"é"}}}"#,
            r#"{"metadata":{"a":"\"}}"#,
        ] {
            assert!(labels(text.as_bytes()).is_none(), "{text}");
        }
    }
}
