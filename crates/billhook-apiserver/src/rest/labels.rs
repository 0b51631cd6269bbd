//! The labels of an object, read from its text without the rest of it.

use std::borrow::Cow;

use billhook_apimachinery::label_selector::Labels;
use billhook_decode::ObjectView;

/// The labels of a text.
pub(super) struct TextLabels<'t>(Vec<(Cow<'t, str>, Cow<'t, str>)>);

impl Labels for TextLabels<'_> {
    fn label(&self, key: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| known == key).map(|(_, value)| &**value)
    }
}

/// How many labels most objects have at most.
const USUAL_LABELS: usize = 8;

/// Reads the labels of a stored object; none if it is not one, as when it is encrypted, or one of them is
/// not a text. What comes after them is not looked at.
pub(super) fn labels(text: &[u8]) -> Option<TextLabels<'_>> {
    let mut labels = Vec::with_capacity(USUAL_LABELS);
    let object = Some(ObjectView::of_checked(text)).filter(ObjectView::is_object)?;
    let found = object.at(["metadata", "labels"]);
    for (key, value) in found.iter().flat_map(ObjectView::members) {
        labels.push((key, value.as_str()?));
    }
    Some(TextLabels(labels))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_found_in_texts() {
        for (text, expected) in [
            (r#"{"a":{"labels":{"k":"no"}},"metadata":{"labels":{"k":"v"},"x":1},"z""#, Some("v")),
            (r#"{ "metadata" : { "x" : -1 , "labels" : { "a" : "b" , "k" : "" } } }"#, Some("")),
            (r#"{"a":["]}\"\\",{"metadata":[]}],"metadata":{"labels":{"k":"v"}}"#, Some("v")),
            (r#"{"metadata":{"name":"x","labels":{}},"spec":{"labels":{"k":"no"}}}"#, None),
            (r#"{"metadata":{"name":"x"},"spec":{"labels":{"k":"no"}}}"#, None),
            (r#"{"metadata":{"labels":{"\u006b":"\"é"}}}"#, Some("\"é")),
            (r#"{"metadata":{}}"#, None),
            (r#"{"spec":{"k":"no"}}"#, None),
            ("{}", None),
        ] {
            let labels = labels(text.as_bytes());
            assert_eq!(labels.unwrap().label("k"), expected, "{text}");
        }
        for text in [
            r#"{"metadata":{"labels":{"k":1}}}"#,
            r#"{"metadata":{"labels":{"k":null}}}"#,
            "k8s:enc:kms",
            "[]",
            "",
        ] {
            assert!(labels(text.as_bytes()).is_none(), "{text}");
        }
        for text in ["{", r#"{"metadata":{"labels":null}}"#] {
            assert_eq!(labels(text.as_bytes()).unwrap().label("k"), None, "{text}");
        }
    }
}
