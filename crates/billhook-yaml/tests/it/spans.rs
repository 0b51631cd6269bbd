//! The places of keys and values: each, cut out of the text and read again, is what is there.

use billhook_apimachinery::value::deep_eq;
use billhook_apimachinery::{FieldPath, Span, Spans};
use billhook_yaml::{read_document, read_documents_with_spans};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value, json};

/// The parts of a value and their paths.
pub(crate) fn children<'v>(value: &'v Value, path: &FieldPath) -> Vec<(FieldPath, &'v Value)> {
    match value {
        Value::Object(members) => {
            members.iter().map(|(name, below)| (path.clone().name(name), below)).collect()
        }
        Value::Array(items) => {
            let item = |(index, below)| (path.clone().index(index), below);
            items.iter().enumerate().map(item).collect()
        }
        _ => Vec::new(),
    }
}

fn slice(text: &str, span: Span) -> &str {
    text.get(span.start..span.end).unwrap_or_else(|| panic!("{span:?} of {text:?}"))
}

/// Checks a value and everything in it. What holds aliases cannot be read alone.
fn check(text: &str, value: &Value, spans: &Spans, path: &FieldPath) {
    let found = spans.find(path).unwrap_or_else(|| panic!("{path} has no place in {text:?}"));
    if let Some(key) = found.key {
        let read = read_document(slice(text, key).as_bytes()).unwrap().into_value();
        let name = path.segments().last().unwrap();
        let name = match name {
            billhook_apimachinery::Segment::Name(name) => name,
            other => panic!("{other:?} has a key"),
        };
        assert_eq!(read.as_str(), Some(name), "{path} in {text:?}");
    }
    let part = slice(text, found.value);
    if !part.contains('*') {
        let before = text.get(..found.value.start).unwrap();
        let column = before.rsplit(['\n', '\u{feff}']).next().unwrap_or_default().chars().count();
        let is_collection = value.is_array() || value.is_object();
        let margin = if is_collection { " ".repeat(column) } else { String::new() };
        let read = read_document(format!("{margin}{part}").as_bytes());
        let read = read.unwrap_or_else(|error| panic!("{error}: {path}: {part:?} of {text:?}"));
        assert!(deep_eq(read.value(), value), "{path}: {part:?} of {text:?}");
    }
    for (path, below) in children(value, path) {
        check(text, below, spans, &path);
    }
}

fn any_value() -> impl Strategy<Value = Value> {
    let words = vec(select(&["alpha", "zé", "日本", "w-1", "c:d", "e#f", "x"][..]), 1..5);
    let scalar = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-2i64..12).prop_map(Value::from),
        Just(json!(1.5)),
        words.clone().prop_map(|words| Value::from(words.join(" "))),
        (words, select(&["", "\n", "\n\n"][..]))
            .prop_map(|(words, end)| Value::from(words.join("\n") + end)),
        "[ -~é\\n]{0,6}"
            .prop_filter("aliases are told by it", |s| !s.contains('*'))
            .prop_map(Value::from),
    ];
    let names = select(&["a", "b", "spec", "é", "k 1", "x.y/z", ": #", "true"][..]);
    scalar.prop_recursive(4, 30, 5, move |inner| {
        prop_oneof![
            vec(inner.clone(), 0..5).prop_map(Value::from),
            vec((names.clone(), inner), 0..5).prop_map(|members| {
                let members = members.into_iter().map(|(name, value)| (name.to_owned(), value));
                Value::Object(members.collect::<Map<_, _>>())
            }),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn what_is_cut_out_is_what_is_there(
        values in vec(any_value(), 1..4),
        choices in vec(any::<u8>(), 1..200),
        windows: bool,
        mark: bool,
    ) {
        let mut text = String::new();
        for value in &values {
            let mut writer = Writer::new(&choices);
            writer.node(value, 0, Style::Document);
            text.push_str(&format!("---{}", writer.out));
        }
        if windows {
            text = text.replace('\n', "\r\n");
        }
        if mark {
            text.insert(0, '\u{feff}');
        }
        let documents = read_documents_with_spans(text.as_bytes());
        for (document, value) in documents.iter().zip(&values) {
            let document = document.as_ref().unwrap_or_else(|error| panic!("{error}: {text:?}"));
            prop_assert!(deep_eq(document.value(), value), "{text:?}: {}", document.value());
            check(&text, value, document.spans().unwrap(), &FieldPath::default());
        }
        prop_assert_eq!(documents.len(), values.len(), "{:?}", text);
    }
}

/// The place of a value.
#[derive(Clone, Copy, PartialEq)]
enum Style {
    Document,
    Item,
    Member,
}

/// Writes values in a style that the choices decide.
struct Writer<'c> {
    out: String,
    choices: std::iter::Cycle<std::slice::Iter<'c, u8>>,
    /// The values of the anchors.
    anchors: Vec<Value>,
}

impl<'c> Writer<'c> {
    fn new(choices: &'c [u8]) -> Self {
        Writer { out: String::new(), choices: choices.iter().cycle(), anchors: Vec::new() }
    }

    fn pick(&mut self, count: u8) -> u8 {
        self.choices.next().unwrap() % count
    }

    fn line(&mut self, indent: usize) {
        if self.pick(6) == 0 {
            self.out.push_str(&format!("{}# - a: 'b\n", " ".repeat(indent)));
        }
        self.out.push_str(&" ".repeat(indent));
    }

    fn end(&mut self) {
        let comment = if self.pick(6) == 0 { "  # é: [" } else { "" };
        self.out.push_str(comment);
        self.out.push('\n');
    }

    /// Writes a value after `---`, a dash or the colon of a key, and the line break after it.
    fn node(&mut self, value: &Value, indent: usize, style: Style) {
        if let Some(anchor) = self.anchors.iter().position(|known| known == value)
            && self.pick(2) == 0
        {
            self.out.push_str(&format!(" *a{anchor}"));
            return self.end();
        }
        let is_anchor = self.pick(4) == 0;
        if is_anchor {
            // The number is known only when the value is complete: values in it have anchors, too.
            self.out.push_str(" &a");
        }
        let at = self.out.len();
        match value {
            Value::Object(members) if !members.is_empty() && self.pick(3) > 0 => {
                self.members(members, indent, style == Style::Item && !is_anchor);
            }
            Value::Array(items) if !items.is_empty() && self.pick(3) > 0 => {
                let indent = match style {
                    Style::Member if self.pick(2) == 0 => indent - 2,
                    _ => indent,
                };
                self.items(items, indent, style == Style::Item && !is_anchor);
            }
            Value::String(text) if self.literal(text, indent) => {}
            Value::Null if self.pick(2) == 0 => self.end(),
            _ => {
                self.out.push(' ');
                self.flow(value, indent + 1, false);
                self.end();
            }
        }
        if is_anchor {
            self.out.insert_str(at, &self.anchors.len().to_string());
            self.anchors.push(value.clone());
        }
    }

    fn members(&mut self, members: &Map<String, Value>, indent: usize, compact: bool) {
        let mut compact = compact && self.pick(2) == 0;
        self.out.push_str(if compact { " " } else { "\n" });
        for (name, member) in self.merge(members, indent, &mut compact) {
            if !std::mem::take(&mut compact) {
                self.line(indent);
            }
            let explicit = self.pick(8) == 0;
            self.out.push_str(if explicit { "? " } else { "" });
            self.key(&name);
            if explicit {
                self.out.push('\n');
                self.line(indent);
            }
            self.out.push(':');
            self.node(&member, indent + 2, Style::Member);
        }
    }

    /// Merges an object of which all members are wanted; returns the others.
    fn merge(
        &mut self,
        members: &Map<String, Value>,
        indent: usize,
        compact: &mut bool,
    ) -> Map<String, Value> {
        let is_part = |known: &Value| {
            known.as_object().is_some_and(|known| {
                known.iter().all(|(name, member)| members.get(name) == Some(member))
            })
        };
        let Some(anchor) = self.anchors.iter().position(is_part) else { return members.clone() };
        if !std::mem::take(compact) {
            self.line(indent);
        }
        self.out.push_str(&format!("<<: *a{anchor}\n"));
        let merged = &self.anchors[anchor];
        let others = members.iter().filter(|(name, _)| merged.get(*name).is_none());
        others.map(|(name, member)| (name.clone(), member.clone())).collect()
    }

    fn items(&mut self, items: &[Value], indent: usize, compact: bool) {
        let mut compact = compact && self.pick(2) == 0;
        self.out.push_str(if compact { " " } else { "\n" });
        for item in items {
            if !std::mem::take(&mut compact) {
                self.line(indent);
            }
            self.out.push('-');
            self.node(item, indent + 2, Style::Item);
        }
    }

    fn key(&mut self, name: &str) {
        let is_plain = name.chars().all(|c| c.is_alphanumeric()) && name != "true";
        match self.pick(3) {
            0 if is_plain => self.out.push_str(name),
            1 => self.out.push_str(&format!("'{name}'")),
            _ => self.out.push_str(&Value::from(name).to_string()),
        }
    }

    /// Writes a block scalar, if the text can be one.
    fn literal(&mut self, text: &str, indent: usize) -> bool {
        let body = text.trim_end_matches('\n');
        let is_fit = body.lines().all(|line| line.starts_with(|c: char| c.is_alphanumeric()));
        if body.is_empty() || !is_fit || self.pick(2) == 0 {
            return false;
        }
        let header = match text.len() - body.len() {
            0 => " |-",
            1 => " |",
            _ => " |+",
        };
        self.out.push_str(header);
        self.end();
        let margin = " ".repeat(indent.max(1) + usize::from(self.pick(3)));
        for line in body.split('\n') {
            self.out.push_str(&format!("{margin}{line}\n"));
        }
        self.out.push_str(&"\n".repeat((text.len() - body.len()).saturating_sub(1)));
        true
    }

    /// Writes a value of one line, or of several in flow style.
    fn flow(&mut self, value: &Value, indent: usize, inside: bool) {
        match value {
            Value::Object(members) => {
                self.out.push('{');
                for (position, (name, member)) in members.iter().enumerate() {
                    self.separate(position, indent);
                    self.key(name);
                    match (member, self.pick(3)) {
                        (Value::Null, 0) => {}
                        (Value::Null, 1) => self.out.push_str(": "),
                        _ => {
                            self.out.push_str(": ");
                            self.flow(member, indent, true);
                        }
                    }
                }
                self.out.push('}');
            }
            Value::Array(items) => {
                self.out.push('[');
                for (position, item) in items.iter().enumerate() {
                    self.separate(position, indent);
                    match item.as_object().and_then(|members| members.iter().next()) {
                        Some((name, member)) if item.as_object().unwrap().len() == 1 => {
                            self.key(name);
                            self.out.push_str(": ");
                            self.flow(member, indent, true);
                        }
                        _ => self.flow(item, indent, true),
                    }
                }
                self.out.push(']');
            }
            Value::String(text) => self.string(text, indent, inside),
            Value::Null if self.pick(2) == 0 => self.out.push('~'),
            scalar => self.out.push_str(&scalar.to_string()),
        }
    }

    fn separate(&mut self, position: usize, indent: usize) {
        if position > 0 {
            self.out.push_str(", ");
        }
        if self.pick(5) == 0 {
            self.out.push_str(" # ]\n");
            self.out.push_str(&" ".repeat(indent));
        }
    }

    /// Writes a string of words over several lines.
    fn string(&mut self, text: &str, indent: usize, inside: bool) {
        let is_words = text.starts_with(char::is_alphabetic)
            && text.split(' ').all(|word| word.chars().all(|c| c.is_alphanumeric() || c == '-'))
            && !text.ends_with(' ')
            && !text.contains("  ")
            && !["n", "N", "y", "Y"].contains(&text);
        let margin = format!("\n{}", " ".repeat(indent));
        match self.pick(4) {
            0 if is_words && text.len() > 5 => self.out.push_str(text),
            1 if is_words && text.len() > 5 && !inside => {
                self.out.push_str(&text.replacen(' ', &margin, 1));
            }
            2 if is_words => self.out.push_str(&format!("'{}'", text.replacen(' ', &margin, 1))),
            3 if is_words => {
                self.out.push_str(&format!("\"{}\"", text.replace(' ', &format!("{margin} "))));
            }
            _ => self.out.push_str(&Value::from(text).to_string()),
        }
    }
}

/// Text that the property does not generate.
#[test]
fn places() {
    let text = "---\nspec:\n  ports:\n    - port: 1\n      name: \"é\" \n    -\n      80\n  <<: &x {m: 1}\n\
                é: [a, {b: c}]\nz: *x\ntext: |2-\n     a\n    b\n\nlast: !!str 3 # c\nlast: &y\n- 1\n\
                ? none\n? list\n:  # c\n - ! x\n - &z\n";
    let documents = read_documents_with_spans(text.as_bytes());
    let document = documents[0].as_ref().unwrap();
    let spans = document.spans().unwrap();
    let top = FieldPath::default;
    let spec = || top().name("spec");
    for (path, key, value) in [
        (spec().name("ports").index(0), None, "port: 1\n      name: \"é\""),
        (spec().name("ports").index(0).name("name"), Some("name"), "\"é\""),
        (spec().key("ports").index(1), None, "80"),
        (spec().name("m"), Some("m"), "1"),
        (top().name("é"), Some("é"), "[a, {b: c}]"),
        (top().name("é").index(1).name("b"), Some("b"), "c"),
        (top().name("z"), Some("z"), "&x {m: 1}"),
        (top().name("z").name("m"), Some("m"), "1"),
        (top().name("text"), Some("text"), "|2-\n     a\n    b\n\n"),
        (top().name("last"), Some("last"), "&y\n- 1"),
        (top().name("none"), Some("none"), ""),
        (top().name("list"), Some("list"), "- ! x\n - &z"),
        (top().name("list").index(1), None, "&z"),
    ] {
        let found = spans.find(&path).unwrap_or_else(|| panic!("{path}"));
        assert_eq!(found.key.map(|key| slice(text, key)), key, "{path}");
        assert_eq!(slice(text, found.value), value, "{path}");
    }
    for path in [top().name("no"), top().index(0), top().name("z").name("m").name("n")] {
        assert_eq!(spans.find(&path), None, "{path}");
    }
    let (depth, span) = spans.nearest(&spec().name("ports").index(2).name("x")).unwrap();
    assert_eq!((depth, slice(text, span.key.unwrap())), (2, "ports"));
    assert!(read_document(text.as_bytes()).unwrap().spans().is_none());
}

/// Lines that the grammar gets with more spaces than they have; other encodings.
#[test]
fn places_are_those_of_the_bytes() {
    let text = "a:\n  b: 'x\ny\n z'\n  c: 1\n";
    let value = json!({"a": {"b": "x y z", "c": 1}});
    let documents = read_documents_with_spans(text.as_bytes());
    let document = documents[0].as_ref().unwrap();
    check(text, &value, document.spans().unwrap(), &FieldPath::default());
    let path = FieldPath::default().name("a").name("b");
    let span = document.spans().unwrap().find(&path).unwrap().value;
    assert_eq!(slice(text, span), "'x\ny\n z'");
    let documents = read_documents_with_spans(b"\xff\xfea\0:\0 \x001\0");
    assert!(documents[0].as_ref().unwrap().spans().is_none());
}
