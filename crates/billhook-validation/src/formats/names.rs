//! Names of hosts and of Kubernetes objects (VV-71).

/// What a host name looks like.
pub(super) const HOSTNAME: &str = concat!(
    r"^([a-zA-Z0-9\p{S}\p{L}]((-?[a-zA-Z0-9\p{S}\p{L}]{0,62})?)",
    r"|([a-zA-Z0-9\p{S}\p{L}](([a-zA-Z0-9-\p{S}\p{L}]{0,61}[a-zA-Z0-9\p{S}\p{L}])?)(\.)){1,}",
    r"([a-zA-Z\p{L}]){2,63})$",
);

pub(super) fn has_hostname_lengths(text: &str) -> bool {
    text.len() <= 255 && text.split('.').all(|part| part.len() <= 63)
}

pub(super) fn is_short_name(text: &str) -> bool {
    text.len() <= 63 && is_label(text)
}

pub(super) fn is_long_name(text: &str) -> bool {
    text.len() <= 253 && text.split('.').all(is_label)
}

/// Lower-case letters, digits and hyphens, none of these at the ends; of any length.
fn is_label(text: &str) -> bool {
    let bytes = text.as_bytes();
    let is_inner = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || *byte == b'-';
    bytes.first().is_some_and(|first| *first != b'-')
        && bytes.last().is_some_and(|last| *last != b'-')
        && bytes.iter().all(is_inner)
}
