//! Names of images (BK-102).

/// Returns the policy for an image that names none: images that may change under the same name are
/// always pulled.
pub(super) fn pull_policy(image: &str) -> &'static str {
    if is_latest(image) { "Always" } else { "IfNotPresent" }
}

/// Whether the tag of an image is `latest`, which is also the tag of one without tag and digest.
fn is_latest(image: &str) -> bool {
    let (name, digest) = match image.split_once('@') {
        Some((name, digest)) => (name, Some(digest)),
        None => (image, None),
    };
    let (path, tag) = match name.rsplit_once(':') {
        Some((path, tag)) if !tag.contains('/') => (path, Some(tag)),
        _ => (name, None),
    };
    let is_well_formed = is_path(path) && tag.is_none_or(is_tag) && digest.is_none_or(is_digest);
    is_well_formed && tag.map_or(digest.is_none(), |tag| tag == "latest")
}

/// Whether a text is `[host[:port]/]path`.
fn is_path(text: &str) -> bool {
    let mut parts = text.split('/');
    let mut rest = text;
    if let Some(first) = parts.next()
        && text.contains('/')
        && (first.contains(['.', ':', '[']) || first == "localhost" || has_upper_case(first))
    {
        if !is_host(first) {
            return false;
        }
        rest = text.get(first.len() + 1..).unwrap_or_default();
    }
    text.len() <= 255 && rest.split('/').all(is_component)
}

fn has_upper_case(text: &str) -> bool {
    text.contains(|c: char| c.is_ascii_uppercase())
}

fn is_host(text: &str) -> bool {
    let (host, port) = match text.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, Some(port)),
        _ => (text, None),
    };
    let is_number = |port: &str| !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
    let is_label = |label: &str| {
        let is_allowed = |c: char| c.is_ascii_alphanumeric() || c == '-';
        let is_whole = !label.is_empty() && !label.starts_with('-') && !label.ends_with('-');
        is_whole && label.chars().all(is_allowed)
    };
    let is_literal = host.starts_with('[') && host.ends_with(']');
    port.is_none_or(is_number) && (is_literal || host.split('.').all(is_label))
}

/// Lower-case words, joined by `.`, `_`, `__` or hyphens.
fn is_component(text: &str) -> bool {
    let is_word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let ends = text.starts_with(is_word) && text.ends_with(is_word);
    let mut separators = text.split(is_word).filter(|separator| !separator.is_empty());
    ends && separators.all(|separator| {
        matches!(separator, "." | "_" | "__") || separator.chars().all(|c| c == '-')
    })
}

fn is_tag(text: &str) -> bool {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let is_allowed = |c: char| is_word(c) || c == '.' || c == '-';
    text.len() <= 128 && text.starts_with(is_word) && text.chars().all(is_allowed)
}

fn is_digest(text: &str) -> bool {
    let Some((algorithm, hash)) = text.split_once(':') else { return false };
    let is_name = algorithm.starts_with(|c: char| c.is_ascii_alphabetic());
    is_name && hash.len() >= 32 && hash.chars().all(|c| c.is_ascii_hexdigit())
}
