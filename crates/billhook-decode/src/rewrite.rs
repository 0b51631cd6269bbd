//! The rare text: repeated keys, invalid UTF-8, lone surrogates. It is written anew with the last
//! of repeated members and with U+FFFD, everything else as it was spelled.

use std::collections::HashMap;
use std::ops::Range;

use billhook_schema::value::grow;

use crate::read::MAX_DEPTH;
use crate::scan::{Scan, Step, Stop};
use crate::text;

/// Writes a text anew; white space between tokens is lost.
pub(crate) fn rewrite(text: &[u8]) -> Step<Vec<u8>> {
    let mut rewriter = Rewriter { scan: Scan::new(text), out: Vec::with_capacity(text.len()) };
    rewriter.scan.skip_space();
    rewriter.value(MAX_DEPTH)?;
    rewriter.scan.skip_space();
    if rewriter.scan.at == text.len() { Ok(rewriter.out) } else { Err(Stop::Invalid) }
}

struct Rewriter<'t> {
    scan: Scan<'t>,
    out: Vec<u8>,
}

impl Rewriter<'_> {
    fn value(&mut self, left: usize) -> Step {
        let open = self.scan.peek();
        match open {
            Some(b'{' | b'[') => {
                let Some(left) = left.checked_sub(1) else { return Err(Stop::Invalid) };
                self.scan.at += 1;
                self.scan.skip_space();
                grow(|| if open == Some(b'{') { self.object(left) } else { self.array(left) })
            }
            Some(b'"') => self.string().map(|_| ()),
            _ => {
                let start = self.scan.at;
                self.scan.skip_scalar()?;
                self.out.extend_from_slice(self.scan.slice(start, self.scan.at));
                Ok(())
            }
        }
    }

    /// Writes a string as it is spelled, or anew if it is not Unicode; gives its content.
    fn string(&mut self) -> Step<String> {
        let start = self.scan.at;
        self.scan.lone_surrogate = false;
        self.scan.skip_string()?;
        let spelled = self.scan.slice(start, self.scan.at);
        let content = text::string(self.scan.text, start + 1).map_err(|_| Stop::Invalid)?.0;
        if self.scan.lone_surrogate || std::str::from_utf8(spelled).is_err() {
            let spelled = billhook_schema::print::plain_json(&content.as_str().into());
            self.out.extend_from_slice(spelled.as_bytes());
        } else {
            self.out.extend_from_slice(spelled);
        }
        Ok(content)
    }

    fn array(&mut self, left: usize) -> Step {
        self.out.push(b'[');
        let mut first = true;
        loop {
            if first && self.scan.peek() == Some(b']') {
                break;
            }
            first = false;
            self.value(left)?;
            self.scan.skip_space();
            match self.scan.peek() {
                Some(b',') => self.out.push(b','),
                Some(b']') => break,
                _ => return Err(Stop::Invalid),
            }
            self.scan.at += 1;
            self.scan.skip_space();
        }
        self.scan.at += 1;
        self.out.push(b']');
        Ok(())
    }

    fn object(&mut self, left: usize) -> Step {
        let start = self.out.len();
        self.out.push(b'{');
        // Where each member was written; none for one that a later member replaces.
        let mut members: Vec<Option<Range<usize>>> = Vec::new();
        let mut by_key: HashMap<String, usize> = HashMap::new();
        let mut repeated = false;
        loop {
            if members.is_empty() && self.scan.peek() == Some(b'}') {
                break;
            }
            if self.scan.peek() != Some(b'"') {
                return Err(Stop::Invalid);
            }
            if !members.is_empty() {
                self.out.push(b',');
            }
            let member = self.out.len();
            let key = self.string()?;
            self.scan.skip_space();
            self.scan.expect(b':')?;
            self.scan.skip_space();
            self.out.push(b':');
            self.value(left)?;
            if let Some(old) = by_key.insert(key, members.len()) {
                repeated = true;
                if let Some(old) = members.get_mut(old) {
                    *old = None;
                }
            }
            members.push(Some(member..self.out.len()));
            self.scan.skip_space();
            match self.scan.peek() {
                Some(b',') => self.scan.at += 1,
                Some(b'}') => break,
                _ => return Err(Stop::Invalid),
            }
            self.scan.skip_space();
        }
        self.scan.at += 1;
        if repeated {
            let kept: Vec<&[u8]> =
                members.into_iter().flatten().filter_map(|member| self.out.get(member)).collect();
            let kept = kept.join(&b',');
            self.out.truncate(start + 1);
            self.out.extend_from_slice(&kept);
        }
        self.out.push(b'}');
        Ok(())
    }
}
