//! The texts of stored objects: their revisions, and the resources that read them.

/// Returns the text of an object with its revision, which belongs before a member of its metadata.
pub(crate) fn with_revision(stored: &[u8], place: usize, revision: &str) -> Option<Vec<u8>> {
    let (before, after) = stored.split_at_checked(place)?;
    let mut text = Vec::with_capacity(stored.len() + revision.len() + 32);
    text.extend_from_slice(before);
    push_revision(revision, &mut text);
    text.extend_from_slice(after);
    Some(text)
}

/// Appends the member that shows a revision, with the comma after it.
pub(crate) fn push_revision(revision: &str, text: &mut Vec<u8>) {
    for part in revision_member(revision) {
        text.extend_from_slice(part.as_bytes());
    }
}

/// The parts of the member that shows a revision, with the comma after it.
pub(crate) fn revision_member(revision: &str) -> [&str; 3] {
    [r#""resourceVersion":""#, revision, r#"","#]
}
