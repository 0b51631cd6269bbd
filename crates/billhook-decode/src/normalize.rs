//! The rare text: repeated keys, invalid UTF-8, lone surrogates. It is written anew with the last
//! of repeated members and with U+FFFD, everything else as it was spelled.

use std::collections::HashMap;
use std::ops::Range;

use billhook_apimachinery::TypeField;
use billhook_apimachinery::value::grow;

use crate::reader::MAX_DEPTH;
use crate::scanner::{Part, Scan, Step, Stop};
use crate::string;

/// Writes a text anew; white space between tokens is lost.
pub(crate) fn rewrite(text: &[u8]) -> Step<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len());
    Scan::new(text)
        .whole(|scan, at, byte| Rewriter { scan, out: &mut out }.value(at, byte, MAX_DEPTH))?;
    Ok(out)
}

struct Rewriter<'r, 't> {
    scan: &'r mut Scan<'t>,
    out: &'r mut Vec<u8>,
}

impl Rewriter<'_, '_> {
    fn value(&mut self, at: usize, byte: u8, left: usize) -> Step {
        match byte {
            b'{' | b'[' => {
                let Some(left) = left.checked_sub(1) else { return Err(Stop::Invalid) };
                grow(|| match byte {
                    b'{' => self.object(at + 1, left),
                    _ => self.array(at + 1, left),
                })
            }
            b'"' => self.string(at).map(|(end, _)| end),
            _ => {
                let end = self.scan.skip_scalar(at, byte)?;
                self.out.extend_from_slice(self.scan.slice(at, end));
                Ok(end)
            }
        }
    }

    /// Writes a string as it is spelled, or anew if it is not Unicode; returns its content.
    fn string(&mut self, at: usize) -> Step<(usize, String)> {
        self.scan.lone_surrogate = false;
        let end = self.scan.skip_string(at)?;
        let spelled = self.scan.slice(at, end);
        let content = string::string(self.scan.text, None, at + 1).map_err(|_| Stop::Invalid)?.0;
        if self.scan.lone_surrogate || std::str::from_utf8(spelled).is_err() {
            let spelled = billhook_apimachinery::print::plain_json(&content.as_str().into());
            self.out.extend_from_slice(spelled.as_bytes());
        } else {
            self.out.extend_from_slice(spelled);
        }
        Ok((end, content))
    }

    fn array(&mut self, at: usize, left: usize) -> Step {
        self.out.push(b'[');
        let (mut at, mut byte) = self.scan.token(at);
        if byte == b']' {
            self.out.push(b']');
            return Ok(at + 1);
        }
        loop {
            let end = self.value(at, byte, left)?;
            match self.scan.next_part(end, b']')? {
                Part::Next(next, first) => (at, byte) = (next, first),
                Part::End(end) => {
                    self.out.push(b']');
                    return Ok(end);
                }
            }
            self.out.push(b',');
        }
    }

    fn object(&mut self, at: usize, left: usize) -> Step {
        let start = self.out.len();
        self.out.push(b'{');
        let (mut at, mut byte) = self.scan.token(at);
        if byte == b'}' {
            self.out.push(b'}');
            return Ok(at + 1);
        }
        // The place where each member was written; `None` for one that a later member replaces.
        let mut members: Vec<Option<Range<usize>>> = Vec::new();
        let mut by_key: HashMap<String, usize> = HashMap::new();
        let mut repeated = false;
        let end = loop {
            if byte != b'"' {
                return Err(Stop::Invalid);
            }
            let member = self.out.len();
            let (end, key) = self.string(at)?;
            (at, byte) = self.scan.skip_colon(end)?;
            self.out.push(b':');
            let end = self.value(at, byte, left)?;
            let names_type = left == MAX_DEPTH - 1 && TypeField::of(&key).is_some();
            if let Some(old) = by_key.insert(key, members.len()) {
                if names_type {
                    return Err(Stop::OtherKind);
                }
                repeated = true;
                if let Some(old) = members.get_mut(old) {
                    *old = None;
                }
            }
            members.push(Some(member..self.out.len()));
            match self.scan.next_part(end, b'}')? {
                Part::Next(next, first) => (at, byte) = (next, first),
                Part::End(end) => break end,
            }
            self.out.push(b',');
        };
        if repeated {
            let kept: Vec<&[u8]> =
                members.into_iter().flatten().filter_map(|member| self.out.get(member)).collect();
            let kept = kept.join(&b',');
            self.out.truncate(start + 1);
            self.out.extend_from_slice(&kept);
        }
        self.out.push(b'}');
        Ok(end)
    }
}
