//! Several errors in one text (WCF-25, WM-80).

use std::collections::BTreeSet;
use std::fmt::Display;

/// One error alone, several as `[e1, e2]`; equal texts stand there once.
pub(crate) fn aggregate<E: Display>(errors: &[E]) -> String {
    let texts: Vec<String> = errors.iter().map(ToString::to_string).collect();
    let mut seen = BTreeSet::new();
    let texts: Vec<&str> =
        texts.iter().map(String::as_str).filter(|text| seen.insert(*text)).collect();
    match texts.as_slice() {
        [text] => (*text).to_owned(),
        texts => format!("[{}]", texts.join(", ")),
    }
}
