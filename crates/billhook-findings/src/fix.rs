//! Making the edits of findings.

use std::collections::HashSet;
use std::sync::Arc;

use crate::finding::{Edit, Finding};
use crate::source::Source;

/// A text after edits.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Fixed {
    /// The text.
    pub text: String,
    /// The edits that were made, in the order of the text.
    pub edits: Vec<Edit>,
}

/// Makes the safe edits of findings in a source; `None` if there are none. Nothing but the parts that
/// the edits name is changed. Of two edits of the same part, or that would write the same field
/// twice, only the first one in the text is made.
///
/// An edit may bring other findings to light, such as those inside a field whose name was wrong: who
/// wants all of them reads the text again.
pub fn fix<'f>(
    source: &Arc<Source>,
    findings: impl IntoIterator<Item = &'f Finding>,
) -> Option<Fixed> {
    let mut wanted: Vec<(Option<usize>, &Edit)> = Vec::new();
    for finding in findings {
        let place = finding.place.as_ref().filter(|place| Arc::ptr_eq(&place.source, source));
        let edit = finding.edits.iter().find(|edit| edit.is_safe);
        wanted.extend(place.zip(edit).map(|(place, edit)| (place.document, edit)));
    }
    wanted.sort_by_key(|(_, edit)| (edit.span, edit.path.to_json_pointer()));
    let mut fields = HashSet::new();
    let (mut text, mut done, mut edits) = (String::new(), 0, Vec::new());
    for (document, edit) in wanted {
        let before = source.text().get(done..edit.span.start);
        let is_free = before.is_some() && edit.span.end >= edit.span.start;
        if is_free && fields.insert((document, edit.path.to_json_pointer())) {
            text.push_str(before.unwrap_or_default());
            text.push_str(&edit.replacement);
            done = edit.span.end;
            edits.push(edit.clone());
        }
    }
    text.push_str(source.text().get(done..)?);
    (!edits.is_empty()).then_some(Fixed { text, edits })
}
