//! Text from outside of this program as people see it.

use std::borrow::Cow;

use billhook_apimachinery::print::is_printable;

/// The characters that a line shows of a text that is longer than both: the start says where and
/// what, the end says why.
const SHOWN_START: usize = 800;
const SHOWN_END: usize = 200;

/// Returns text from outside of this program as people see it: on one line, so that it cannot pass
/// for another message; without characters that a terminal obeys and passwords in URLs; and cut if
/// it is long. All such text goes through this function.
pub fn visible(text: &str) -> String {
    let text = &without_user_info(text);
    if text.chars().nth(SHOWN_START + SHOWN_END).is_none() {
        return text.chars().map(shown).collect();
    }
    let start = text.chars().take(SHOWN_START);
    let end: Vec<char> = text.chars().rev().take(SHOWN_END).collect();
    start.chain(" […] ".chars()).chain(end.into_iter().rev()).map(shown).collect()
}

/// Escapes the characters of JSON that a terminal obeys; only strings have them.
pub(crate) fn escaped(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        if is_printable(c) {
            out.push(c);
            continue;
        }
        let units = c.encode_utf16(&mut [0; 2]).to_vec();
        out.extend(units.iter().map(|unit| format!("\\u{unit:04x}")));
    }
    out
}

/// Leaves out the user information of URLs.
fn without_user_info(text: &str) -> Cow<'_, str> {
    let mut out = String::new();
    let mut done = 0;
    for (scheme, separator) in text.match_indices("://") {
        let start = scheme + separator.len();
        let rest = text.get(start..).unwrap_or_default();
        let end = rest.find(|c: char| "/?#\"'`".contains(c) || c.is_whitespace());
        let authority = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
        if let Some(at) = authority.rfind('@') {
            out.push_str(text.get(done..start).unwrap_or_default());
            out.push('…');
            done = start + at;
        }
    }
    if done == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(text.get(done..).unwrap_or_default());
    Cow::Owned(out)
}

/// A character as people see it.
fn shown(c: char) -> String {
    match c {
        '\n' => "\\n".to_owned(),
        c if is_printable(c) => c.to_string(),
        c => c.escape_unicode().to_string(),
    }
}
