//! Fields that a definition calls deprecated, in the way of Go's comments: their description, or a
//! line of it, begins with `Deprecated:`.

use std::collections::BTreeMap;

use billhook::FieldPath;
use billhook_apimachinery::value::grow;
use billhook_schema::{SchemaView, WrittenVersion};
use serde_json::Value;

/// The markers that descriptions and their lines begin with.
const MARKERS: [&str; 2] = ["Deprecated", "DEPRECATED"];
/// The longest notice, in characters.
const LONGEST: usize = 200;

/// The deprecated fields of a version of a definition, and the way to them.
#[derive(Clone, Debug, Default)]
pub struct DeprecatedFields {
    root: Node,
}

/// A field of a schema. Those that lead nowhere are left out.
#[derive(Clone, Debug, Default)]
struct Node {
    /// The notice, if the field is deprecated.
    notice: Option<String>,
    fields: BTreeMap<String, Node>,
    /// The items of a list, or the values of a map.
    each: Option<Box<Node>>,
}

/// A deprecated field that an object sets.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeprecatedField {
    /// The field.
    pub path: FieldPath,
    /// The first sentence of the notice in the description.
    pub notice: String,
}

impl DeprecatedFields {
    /// Reads the schema of a version of a definition.
    pub fn of(definition: &Value, version: &str) -> Self {
        let schema = WrittenVersion::named(definition, version).and_then(|version| version.schema);
        DeprecatedFields { root: schema.map(Node::of).unwrap_or_default() }
    }

    /// Returns those that an object sets, in the order of their paths.
    pub fn find(&self, object: &Value) -> Vec<DeprecatedField> {
        let mut found = Vec::new();
        self.root.find(object, &FieldPath::default(), &mut found);
        found
    }
}

impl Node {
    fn of(schema: SchemaView<'_>) -> Self {
        let child = |schema: SchemaView<'_>| {
            let mut node = grow(|| Node::of(schema));
            node.notice = notice(schema.text("description"));
            (!node.is_empty()).then_some(node)
        };
        let properties = schema.properties();
        let fields = properties.filter_map(|(name, part)| Some((name.to_owned(), child(part)?)));
        let each = schema.items().or(schema.additional());
        Node {
            notice: None,
            fields: fields.collect(),
            // Items have the description of their type.
            each: each
                .map(|schema| grow(|| Node::of(schema)))
                .filter(|it| !it.is_empty())
                .map(Box::new),
        }
    }

    fn is_empty(&self) -> bool {
        self.notice.is_none() && self.fields.is_empty() && self.each.is_none()
    }

    fn find(&self, value: &Value, path: &FieldPath, found: &mut Vec<DeprecatedField>) {
        for (name, node) in &self.fields {
            let Some(value) = value.get(name) else { continue };
            let path = path.clone().name(name);
            if let Some(notice) = &node.notice {
                found.push(DeprecatedField { path: path.clone(), notice: notice.clone() });
            }
            grow(|| node.find(value, &path, found));
        }
        let Some(each) = &self.each else { return };
        match value {
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    grow(|| each.find(item, &path.clone().index(index), found));
                }
            }
            Value::Object(members) => {
                let others = members.iter().filter(|(name, _)| !self.fields.contains_key(*name));
                for (name, member) in others {
                    grow(|| each.find(member, &path.clone().key(name), found));
                }
            }
            _ => {}
        }
    }
}

/// The first sentence of a description, or of a line of it, that says that a field is deprecated.
fn notice(description: &str) -> Option<String> {
    let begins = |line: &str, ends: &[char]| {
        let rest = MARKERS.iter().find_map(|marker| line.strip_prefix(marker))?;
        (rest.is_empty() || rest.starts_with(ends)).then_some(())
    };
    let text = description.trim_start();
    let text = match begins(text, &[':', '.', ',', ';', '\n']) {
        Some(()) => text,
        None => {
            let mut lines = description.match_indices('\n').map(|(at, _)| at + 1);
            let start = lines.find(|at| {
                let line = description.get(*at..).unwrap_or_default().trim_start();
                begins(line, &[':']).is_some()
            })?;
            description.get(start..)?
        }
    };
    let paragraph = text.split("\n\n").next().unwrap_or_default();
    let words = paragraph.split_whitespace().collect::<Vec<_>>().join(" ");
    // A marker with a stop is not a sentence.
    let skipped = words.find(' ').filter(|at| words.get(..*at).is_some_and(|it| it.ends_with('.')));
    let start = skipped.map_or(0, |at| at + 1);
    let rest = words.get(start..).unwrap_or_default();
    let end = rest.find(". ").map_or(words.len(), |at| start + at);
    let sentence = words.get(..end).unwrap_or_default().trim_end_matches('.');
    Some(sentence.chars().take(LONGEST).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notices() {
        let is = |description: &str, expected: Option<&str>| {
            assert_eq!(notice(description).as_deref(), expected, "{description}");
        };
        is("Deprecated: use keep.", Some("Deprecated: use keep"));
        is("DEPRECATED: use keep. It is better.", Some("DEPRECATED: use keep"));
        is("Deprecated.", Some("Deprecated"));
        is("Deprecated. Use keep. Now.", Some("Deprecated. Use keep"));
        is("How long.\n\nDeprecated: use\nkeep\n\nMore.", Some("Deprecated: use keep"));
        is("How long.\nDeprecated: use keep", Some("Deprecated: use keep"));
        is("Deprecated fields are kept here.", None);
        is("How long. Deprecated: no", None);
        is("The field is deprecated", None);
        is("", None);
    }
}
