//! Several errors in one text (WCF-25, WM-80).

use std::fmt::Display;

/// One error alone, several as `[e1, e2]`; equal texts stand there once.
pub(crate) fn aggregate<E: Display>(errors: &[E]) -> String {
    let mut texts: Vec<String> = Vec::new();
    for error in errors {
        let text = error.to_string();
        if !texts.contains(&text) {
            texts.push(text);
        }
    }
    match texts.as_slice() {
        [text] => text.clone(),
        texts => format!("[{}]", texts.join(", ")),
    }
}
