//! The text of a generated suite.

use std::collections::BTreeSet;

use billhook::{FieldPath, Segment};
use billhook_apimachinery::print::yaml_string;
use serde_json::{Value, json};

use super::constraints::Broken;
use super::{UntestedConstraint, UntestedReason};

/// Writes a suite.
pub(super) struct Writer {
    text: String,
}

impl Writer {
    pub(super) fn new(name: &str, file: &str, valid: &Value) -> Self {
        let mut text = format!("name: {}\ncrds:\n- {}\n", scalar(name), scalar(file));
        text.push_str("cases:\n- name: The smallest object\n  object: &valid\n");
        let mut writer = Writer { text };
        writer.block(valid, 4);
        writer
    }

    /// Adds a case.
    pub(super) fn case(&mut self, broken: &Broken, valid: &Value) {
        let name: String = broken.name.split_whitespace().collect::<Vec<_>>().join(" ");
        self.text.push_str(&format!("\n- name: {}\n", scalar(&name)));
        if let Some(old) = &broken.old {
            self.object("old", old, valid);
        }
        if broken.is_status {
            self.text.push_str("  subresource: status\n");
        }
        match broken.changed.as_ref().and_then(|(place, value)| Some((path(place)?, value))) {
            Some((field, value)) => {
                self.text.push_str("  object: *valid\n  table:\n");
                self.block(&json!({"field": field, "invalid": [value]}), 4);
            }
            None => self.object("object", &broken.object, valid),
        }
        let rule = broken.error.error_type().reason();
        let field = broken.error.field().to_string();
        let detail = broken.error.detail().trim();
        let mut error = json!({"rule": rule, "field": field});
        if let (true, Some(members)) =
            (!detail.is_empty() && broken.needs_text, error.as_object_mut())
        {
            members.insert("text".to_owned(), detail.into());
        }
        self.text.push_str("  expect:\n    error:\n");
        self.block(&error, 6);
    }

    fn object(&mut self, key: &str, object: &Value, valid: &Value) {
        if object == valid {
            self.text.push_str(&format!("  {key}: *valid\n"));
            return;
        }
        self.text.push_str(&format!("  {key}:\n"));
        self.block(object, 4);
    }

    fn block(&mut self, value: &Value, indentation: usize) {
        let indentation = " ".repeat(indentation);
        for line in billhook::to_yaml(value).lines() {
            let indentation = if line.is_empty() { "" } else { &indentation };
            self.text.push_str(&format!("{indentation}{line}\n"));
        }
    }

    /// Adds the constraints without a case as comments, by their reasons.
    pub(super) fn finish(mut self, untested: &[UntestedConstraint]) -> String {
        let reasons: BTreeSet<UntestedReason> = untested.iter().map(|it| it.reason).collect();
        for reason in reasons {
            self.text.push_str(&format!("\n# {}:\n", heading(reason)));
            for constraint in untested.iter().filter(|it| it.reason == reason) {
                let UntestedConstraint { keyword, words, .. } = constraint;
                self.text.push_str(&format!("# - {keyword}: {}\n", scalar(words)));
            }
        }
        self.text
    }
}

fn heading(reason: UntestedReason) -> &'static str {
    match reason {
        UntestedReason::NeverFails => "Nothing breaks these constraints",
        UntestedReason::TooLarge => "What breaks these constraints is too large for a case",
        UntestedReason::NoValue => "No valid object with a value for these constraints was found",
        UntestedReason::NotFound => "No failing case was found for these constraints",
        UntestedReason::Full => "The suite has no room for these constraints",
    }
}

/// A string as a scalar on one line.
fn scalar(text: &str) -> String {
    let plain = billhook::to_yaml(&text.into());
    match plain.trim_end() {
        line if line.contains('\n') => yaml_string(text),
        line => line.to_owned(),
    }
}

/// A place as tables have it; none for the whole object.
fn path(place: &FieldPath) -> Option<String> {
    let is_simple = |segment: Segment<'_>| match segment {
        Segment::Name(name) => !name.is_empty() && !name.contains(['.', '[', '/', ']']),
        _ => true,
    };
    let starts_simple = matches!(place.segments().next()?, Segment::Name(_));
    Some(match starts_simple && place.segments().all(is_simple) {
        true => place.to_dotted(),
        false => place.to_json_pointer(),
    })
}
