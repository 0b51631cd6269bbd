//! The syntaxes of names, kinds, label keys and label values (OM-31, OM-50 to OM-54).
//!
//! Each function returns the server's messages about a text, in its order; none if the text is
//! well-formed.

use crate::wording::Wording;

const LABEL: &str = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const LABEL_LENGTH: usize = 63;
const SUBDOMAIN_LENGTH: usize = 253;

/// Checks a DNS-1035 label, such as the lower-cased kind of a resource (OM-50).
pub fn dns1035_label(value: &str) -> Vec<String> {
    let mut messages = too_long(value, LABEL_LENGTH, "characters");
    if !(value.starts_with(|c: char| c.is_ascii_lowercase()) && is_label(value)) {
        messages.push(format_message(
            "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start \
             with an alphabetic character, and end with an alphanumeric character",
            &["my-name", "abc-123"],
            "[a-z]([-a-z0-9]*[a-z0-9])?",
        ));
    }
    messages
}

/// Checks a kind: in lower case it must be a DNS-1035 label (OM-30, CV-101). All messages are in
/// one, as in the server's answer.
pub fn kind(value: &str) -> Option<String> {
    let messages = dns1035_label(&lower_case(value));
    let prefix = "may have mixed case, but should otherwise match: ";
    (!messages.is_empty()).then(|| format!("{prefix}{}", messages.join(",")))
}

/// Returns a text in lower case as the server makes it: one character for each.
pub fn lower_case(value: &str) -> String {
    value.chars().filter_map(|c| c.to_lowercase().next()).collect()
}

/// Checks a DNS-1123 label, such as a namespace (OM-51).
///
/// ```
/// use billhook_apimachinery::names::dns1123_label;
/// assert!(dns1123_label("kube-system").is_empty());
/// assert_eq!(dns1123_label("example.com"), ["must not contain dots"]);
/// ```
pub fn dns1123_label(value: &str) -> Vec<String> {
    let mut messages = too_long(value, LABEL_LENGTH, "characters");
    if is_subdomain(value) {
        if value.contains('.') {
            messages.push("must not contain dots".to_owned());
        }
    } else {
        messages.push(format_message(
            "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or \
             '-', and must start and end with an alphanumeric character",
            &["my-name", "123-abc"],
            LABEL,
        ));
    }
    messages
}

/// Checks a DNS-1123 subdomain, such as the name of an object or a group (OM-52).
pub fn dns1123_subdomain(value: &str) -> Vec<String> {
    subdomain(value, "characters")
}

/// Returns a prefix that may end with `-` in the form that the rules for names check: the last two
/// characters are replaced by one that is allowed (OM-40).
pub fn mask_trailing_hyphen(prefix: &str) -> String {
    let mut masked = prefix.to_owned();
    if let Some(rest) = prefix.strip_suffix('-').filter(|rest| !rest.is_empty()) {
        rest.clone_into(&mut masked);
        if masked.ends_with(|c: char| c.is_ascii()) {
            masked.pop();
            masked.push('a');
        }
    }
    masked
}

/// Checks a name that becomes part of a URL path (OM-31). A prefix of a name may be `.` or `..`.
pub fn path_segment(value: &str, is_prefix: bool) -> Vec<String> {
    if !is_prefix && matches!(value, "." | "..") {
        return vec![format!("may not be '{value}'")];
    }
    let found = ["/", "%"].into_iter().filter(|character| value.contains(character));
    found.map(|character| format!("may not contain '{character}'")).collect()
}

/// Checks a qualified name `[prefix/]name`: the key of a label or annotation, or a finalizer
/// (OM-53).
pub fn qualified_name(value: &str, wording: &Wording) -> Vec<String> {
    let mut messages = Vec::new();
    let name = match value.split_once('/') {
        None => value,
        Some((_, name)) if name.contains('/') => {
            let format = qualified_format(wording.label_key);
            let prefix =
                "with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')";
            return vec![format!("{format} {prefix}")];
        }
        Some(("", name)) => {
            messages.push("prefix part must be non-empty".to_owned());
            name
        }
        Some((prefix, name)) => {
            let about_prefix = subdomain(prefix, wording.label_unit);
            messages.extend(about_prefix.iter().map(|message| format!("prefix part {message}")));
            name
        }
    };
    if name.is_empty() {
        messages.push("name part must be non-empty".to_owned());
    }
    let length = too_long(name, LABEL_LENGTH, wording.label_unit);
    messages.extend(length.iter().map(|message| format!("name part {message}")));
    if !is_qualified_part(name) {
        messages.push(qualified_format("name part"));
    }
    messages
}

/// Checks the value of a label (OM-54).
pub fn label_value(value: &str, wording: &Wording) -> Vec<String> {
    let mut messages = too_long(value, LABEL_LENGTH, wording.label_unit);
    if !value.is_empty() && !is_qualified_part(value) {
        messages.push(format_message(
            "a valid label must be an empty string or consist of alphanumeric characters, '-', \
             '_' or '.', and must start and end with an alphanumeric character",
            &["MyValue", "my_value", "12345"],
            "(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?",
        ));
    }
    messages
}

fn subdomain(value: &str, unit: &str) -> Vec<String> {
    let mut messages = too_long(value, SUBDOMAIN_LENGTH, unit);
    if !is_subdomain(value) {
        messages.push(format_message(
            "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, \
             '-' or '.', and must start and end with an alphanumeric character",
            &["example.com"],
            &format!(r"{LABEL}(\.{LABEL})*"),
        ));
    }
    messages
}

fn qualified_format(what: &str) -> String {
    format_message(
        &format!(
            "{what} must consist of alphanumeric characters, '-', '_' or '.', and must start and \
             end with an alphanumeric character"
        ),
        &["MyName", "my.name", "123-abc"],
        "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]",
    )
}

fn too_long(value: &str, max: usize, unit: &str) -> Vec<String> {
    if value.len() > max { vec![format!("must be no more than {max} {unit}")] } else { Vec::new() }
}

/// A message that shows the syntax: further examples follow after two spaces (OM-50).
fn format_message(message: &str, examples: &[&str], regex: &str) -> String {
    let examples: Vec<String> = examples.iter().map(|example| format!("'{example}', ")).collect();
    let examples = examples.join(" or ");
    format!("{message} (e.g. {examples}regex used for validation is '{regex}')")
}

fn is_label(value: &str) -> bool {
    value.bytes().all(|byte| is_lower_alphanumeric(byte) || byte == b'-')
        && value.bytes().next().is_some_and(is_lower_alphanumeric)
        && value.bytes().next_back().is_some_and(is_lower_alphanumeric)
}

fn is_subdomain(value: &str) -> bool {
    value.split('.').all(is_label)
}

fn is_qualified_part(value: &str) -> bool {
    value.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
        && value.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric())
        && value.bytes().next_back().is_some_and(|byte| byte.is_ascii_alphanumeric())
}

fn is_lower_alphanumeric(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit()
}
