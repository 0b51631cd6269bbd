//! Coverage as a table, as JSON, and as a tracefile of lcov.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use billhook::{DeepValue, FieldPath};
use billhook_findings::visible;
use serde_json::{Map, Value, json};

use super::{Coverage, CoverageItem, CoverageKind, DefinitionCoverage};

impl CoverageKind {
    /// The word for several.
    fn plural(self) -> &'static str {
        match self {
            CoverageKind::Field => "fields",
            CoverageKind::Rule => "rules",
            CoverageKind::Default => "defaults",
            CoverageKind::EnumValue => "enum values",
        }
    }

    /// The name in JSON.
    fn key(self) -> &'static str {
        match self {
            CoverageKind::Field => "field",
            CoverageKind::Rule => "rule",
            CoverageKind::Default => "default",
            CoverageKind::EnumValue => "enumValue",
        }
    }
}

impl DefinitionCoverage {
    /// Returns how many parts of a kind are covered, and how many there are.
    pub fn count(&self, kind: CoverageKind) -> (usize, usize) {
        let items = self.items.iter().filter(|item| item.kind == kind);
        (items.clone().filter(|item| item.is_covered()).count(), items.count())
    }

    fn file(&self) -> &str {
        self.place.source.name()
    }

    fn table(&self) -> String {
        let file = visible(self.file());
        let mut text = format!("{file}: {}\n", visible(&self.name));
        for kind in CoverageKind::ALL {
            let (covered, all) = self.count(kind);
            if let Some(percent) = (covered * 100).checked_div(all) {
                let kind = kind.plural();
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
        let field = if item.field.is_empty() { "the object" } else { &item.field };
        let field = format!("{field} ({})", item.version);
        match item.kind {
            CoverageKind::Field => format!("no value of {field}"),
            CoverageKind::Default => format!("the default of {field} is never set"),
            CoverageKind::EnumValue => format!("{field} is never {}", self.written(&item.path)),
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
            let mut part = json!({
                "kind": item.kind.key(),
                "version": item.version,
                "path": item.path.to_json_pointer(),
                "field": item.field,
                "line": item.line,
                "hits": item.hits,
                "covered": item.is_covered(),
            });
            if let (CoverageKind::Rule, Some(members)) = (item.kind, part.as_object_mut()) {
                members.insert("violations".to_owned(), item.violations.into());
            }
            part
        });
        let count = |kind: CoverageKind| {
            let (covered, all) = self.count(kind);
            (format!("{}s", kind.key()), json!({"covered": covered, "all": all}))
        };
        json!({
            "name": self.name,
            "file": self.file(),
            "counts": Map::from_iter(CoverageKind::ALL.map(count)),
            "items": items.collect::<Value>(),
        })
    }

    /// The lines of the file: a rule is a branch that is taken when it is kept and when not.
    fn lcov(&self, text: &mut String) {
        let mut lines: BTreeMap<usize, u64> = BTreeMap::new();
        let (mut found, mut taken) = (0, 0);
        for (block, item) in self.items.iter().enumerate() {
            let hits = match item.kind {
                CoverageKind::Rule => item.hits + item.violations,
                _ => item.hits,
            };
            let least = lines.entry(item.line).or_insert(hits);
            *least = hits.min(*least);
            if item.kind == CoverageKind::Rule {
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

impl Coverage {
    /// Returns how many parts of each definition are covered, and those that are not.
    pub fn table(&self) -> String {
        self.definitions().map(DefinitionCoverage::table).collect()
    }

    /// Returns all parts as JSON.
    pub fn to_json(&self) -> DeepValue {
        let definitions = self.definitions().map(DefinitionCoverage::json).collect::<Value>();
        DeepValue::from(json!({ "definitions": definitions }))
    }

    /// Returns the lines of the files that hold definitions as a tracefile of lcov, which editors
    /// show. Of several parts in a line the one with the fewest hits counts.
    pub fn to_lcov(&self) -> String {
        let mut text = String::new();
        let mut file = "";
        for definition in self.definitions() {
            if definition.file() != file {
                if !file.is_empty() {
                    text.push_str("end_of_record\n");
                }
                file = definition.file();
                let _ = writeln!(text, "SF:{file}");
            }
            definition.lcov(&mut text);
        }
        if !text.is_empty() {
            text.push_str("end_of_record\n");
        }
        text
    }
}
