//! Tokens as people write them.

use quote::ToTokens;

/// A signature in one line, without documentation.
pub(super) fn line(tokens: &impl ToTokens) -> String {
    let text = tokens.to_token_stream().to_string();
    let mut out = String::new();
    for word in text.split_whitespace() {
        let joins = |end: &str| ["(", "<", "&", "::", "[", "!", "'", "? "].contains(&end);
        let before = out.chars().next_back().map(String::from).unwrap_or_default();
        let is_glued = out.is_empty()
            || joins(&before)
            || out.ends_with("::")
            || word.starts_with([',', ')', '>', ':', '(', ';', '.', ']', '<']);
        if !is_glued || before == ">" && !word.starts_with([',', ')', '>', ';', ':', '(']) {
            out.push(' ');
        }
        out.push_str(word);
    }
    out.replace(",)", ")").replace(", }", " }")
}
