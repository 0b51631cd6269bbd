//! The place of a walk, as error texts and error paths name it (VV-05, VV-61).

use billhook_apimachinery::{FieldPath, Location, Segment};

/// The text path of a place, empty at the top: a listed member adds `.key` (no dot at the start),
/// a member under `additionalProperties` always `.key`, an element `[i]` (VV-05).
pub(crate) fn name(at: &Location<'_>) -> String {
    let mut out = String::new();
    for segment in at.to_path().segments() {
        match segment {
            Segment::Name(key) => {
                out.push_str(if out.is_empty() { "" } else { "." });
                out.push_str(key);
            }
            Segment::Key(key) => {
                out.push('.');
                out.push_str(key);
            }
            Segment::Index(index) => out.push_str(&format!("[{index}]")),
            _ => {}
        }
    }
    out
}

/// Returns the error path of a place below a base path (VV-61). The server appends the whole text
/// path as one name; where it prints the same, the path keeps its separate steps, so that it can be
/// made a JSON pointer.
pub(crate) fn path(base: &FieldPath, at: &Location<'_>) -> FieldPath {
    let steps = at.to_path();
    let mut segments = steps.segments();
    let is_empty =
        |segment| matches!(segment, Segment::Name(key) | Segment::Key(key) if key.is_empty());
    let prints_otherwise = match segments.clone().next() {
        Some(Segment::Index(_)) if !base.is_empty() => true,
        _ => segments.any(is_empty),
    };
    let mut path = base.clone();
    if prints_otherwise {
        let name = name(at);
        let name = name.strip_prefix('.').unwrap_or(&name);
        return if name.is_empty() { path } else { path.name(name) };
    }
    path.extend(steps.segments().map(|segment| match segment {
        Segment::Key(key) => Segment::Name(key),
        other => other,
    }));
    path
}
