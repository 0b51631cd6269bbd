//! Coverage as a table, as JSON, and as a tracefile of lcov.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use billhook::{DeepValue, FieldPath};
use billhook_findings::visible;
use serde_json::{Map, Value, json};

use super::{Coverage, CoverageItem, CoverageKind, DocumentCoverage};

impl CoverageKind {
    /// The name in JSON, that of several there, and the words for several.
    fn names(self) -> [&'static str; 3] {
        match self {
            CoverageKind::Field => ["field", "fields", "fields"],
            CoverageKind::Rule => ["rule", "rules", "rules"],
            CoverageKind::Default => ["default", "defaults", "defaults"],
            CoverageKind::EnumValue => ["enumValue", "enumValues", "enum values"],
            CoverageKind::Expression => ["expression", "expressions", "expressions"],
            CoverageKind::Branch => ["branch", "branches", "branches"],
        }
    }
}

impl DocumentCoverage {
    /// Returns how many parts of a kind are covered, and how many there are.
    pub fn count(&self, kind: CoverageKind) -> (usize, usize) {
        let items = self.items.iter().filter(|item| item.kind == kind);
        (items.clone().filter(|item| item.is_covered()).count(), items.count())
    }

    /// The kinds of parts that such a document may have.
    fn kinds(&self) -> &'static [CoverageKind] {
        const OF_DEFINITIONS: [CoverageKind; 6] = [
            CoverageKind::Field,
            CoverageKind::Rule,
            CoverageKind::Expression,
            CoverageKind::Branch,
            CoverageKind::Default,
            CoverageKind::EnumValue,
        ];
        const OF_POLICIES: [CoverageKind; 3] =
            [CoverageKind::Rule, CoverageKind::Expression, CoverageKind::Branch];
        if self.policy.is_some() { &OF_POLICIES } else { &OF_DEFINITIONS }
    }

    fn file(&self) -> &str {
        self.place.source.name()
    }

    fn table(&self) -> String {
        let file = visible(self.file());
        let mut text = format!("{file}: {}\n", visible(&self.name));
        for kind in self.kinds().iter().copied() {
            let (covered, all) = self.count(kind);
            if let Some(percent) = (covered * 100).checked_div(all) {
                let [_, _, kind] = kind.names();
                let _ = writeln!(text, "  {kind:<11} {covered:>4} of {all:>4} {percent:>4} %");
            }
        }
        for item in self.items.iter().filter(|item| !item.is_covered()) {
            let _ = writeln!(text, "  {file}:{}: {}", item.line, visible(&self.missing(item)));
        }
        text
    }

    /// The part, and what has not happened to it.
    fn missing(&self, item: &CoverageItem) -> String {
        if self.policy.is_some() {
            return missing_expression(item);
        }
        let field = if item.field.is_empty() { "the object" } else { &item.field };
        let field = format!("{field} ({})", item.version);
        match item.kind {
            CoverageKind::Field => format!("no value of {field}"),
            CoverageKind::Default => format!("the default of {field} is never set"),
            CoverageKind::EnumValue => format!("{field} is never {}", self.written(&item.path)),
            CoverageKind::Expression | CoverageKind::Branch => {
                format!("in a rule of {field}, {}", missing_expression(item))
            }
            CoverageKind::Rule => {
                let not = match (item.hits, item.violations) {
                    (0, 0) => "evaluated",
                    (0, _) => "kept",
                    _ => "violated",
                };
                let rule = self.written(&item.path.clone().name("rule"));
                format!("the rule {rule} of {field} is never {not}")
            }
        }
    }

    /// The first line of a value as it is written.
    fn written(&self, path: &FieldPath) -> &str {
        let span = self.place.find(path).map(|found| found.span.value);
        let text = span.and_then(|span| self.place.source.text().get(span.start..span.end));
        text.unwrap_or_default().lines().next().unwrap_or_default()
    }

    fn json(&self) -> Value {
        let items = self.items.iter().map(|item| {
            let mut part = Map::new();
            let mut set = |name: &str, value: Value| drop(part.insert(name.to_owned(), value));
            let [kind, ..] = item.kind.names();
            set("kind", kind.into());
            set("path", item.path.to_json_pointer().into());
            if self.policy.is_none() {
                set("version", item.version.as_str().into());
                set("field", item.field.as_str().into());
            }
            if !item.text.is_empty() {
                set("text", item.text.as_str().into());
            }
            set("line", item.line.into());
            set("hits", item.hits.into());
            if item.kind.has_two_outcomes() {
                set("violations", item.violations.into());
            }
            set("covered", item.is_covered().into());
            Value::Object(part)
        });
        let count = |kind: CoverageKind| {
            let (covered, all) = self.count(kind);
            let [_, kinds, _] = kind.names();
            (kinds.to_owned(), json!({"covered": covered, "all": all}))
        };
        let mut document = json!({
            "name": self.name,
            "file": self.file(),
            "counts": self.kinds().iter().copied().map(count).collect::<Map<_, _>>(),
            "items": items.collect::<Value>(),
        });
        if let (Some(kind), Some(members)) = (self.policy, document.as_object_mut()) {
            members.insert("kind".to_owned(), kind.name().into());
        }
        document
    }

    /// The lines of the file: what has two outcomes is a branch that is taken with each of them.
    fn lcov(&self, text: &mut String) {
        let mut lines: BTreeMap<usize, u64> = BTreeMap::new();
        let (mut found, mut taken) = (0, 0);
        for (block, item) in self.items.iter().enumerate() {
            let hits = item.hits + item.violations;
            let least = lines.entry(item.line).or_insert(hits);
            *least = hits.min(*least);
            if item.kind.has_two_outcomes() {
                for (branch, count) in [item.hits, item.violations].into_iter().enumerate() {
                    let _ = writeln!(text, "BRDA:{},{block},{branch},{count}", item.line);
                    found += 1;
                    taken += usize::from(count > 0);
                }
            }
        }
        let _ = writeln!(text, "BRF:{found}\nBRH:{taken}");
        for (line, hits) in &lines {
            let _ = writeln!(text, "DA:{line},{hits}");
        }
        let hit = lines.values().filter(|hits| **hits > 0).count();
        let _ = writeln!(text, "LF:{}\nLH:{hit}", lines.len());
    }
}

/// An expression of a policy or a branch, and what it has not been.
fn missing_expression(item: &CoverageItem) -> String {
    let not = match (item.hits, item.violations) {
        (0, 0) => "evaluated",
        (0, _) => "true",
        _ => "false",
    };
    let text = item.text.trim().lines().next().unwrap_or_default();
    format!("{text} is never {not}")
}

impl Coverage {
    /// Returns how many parts of each document are covered, and those that are not.
    pub fn table(&self) -> String {
        self.documents().map(DocumentCoverage::table).collect()
    }

    /// Returns all parts as JSON.
    pub fn to_json(&self) -> DeepValue {
        let (policies, definitions): (Vec<_>, Vec<_>) =
            self.documents().partition(|document| document.policy.is_some());
        let list = |documents: Vec<&DocumentCoverage>| {
            documents.into_iter().map(DocumentCoverage::json).collect::<Value>()
        };
        DeepValue::from(json!({"definitions": list(definitions), "policies": list(policies)}))
    }

    /// Returns the lines of the files that hold definitions and policies as a tracefile of lcov, which editors
    /// show. Of several parts in a line the one with the fewest hits counts.
    pub fn to_lcov(&self) -> String {
        let mut text = String::new();
        let mut file = "";
        for document in self.documents() {
            if document.file() != file {
                if !file.is_empty() {
                    text.push_str("end_of_record\n");
                }
                file = document.file();
                let _ = writeln!(text, "SF:{file}");
            }
            document.lcov(&mut text);
        }
        if !text.is_empty() {
            text.push_str("end_of_record\n");
        }
        text
    }
}
