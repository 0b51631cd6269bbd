//! The statements of a schema about the parts of its values that rules read, as rules (CC-14).

use std::slice::from_ref;
use std::sync::Arc;

use billhook::to_json;
use billhook_apimachinery::value::grow;
use billhook_cel::ReadStep;
use billhook_schema::JsonSchemaProps;

use super::{Nodes, is_passed_alike};
use crate::limits::MAX_FACTS;

/// Returns rules that all values of a schema keep which another schema describes as well.
pub(crate) fn facts(variable: &str, nodes: Nodes<'_>, paths: &[&[ReadStep]]) -> Vec<String> {
    statements(variable, nodes, paths).0
}

/// Returns the same, and what is true of integers wherever rules can read them: `7.0` is one to the
/// schema alone (CE-06).
pub(super) fn statements(
    variable: &str,
    nodes: Nodes<'_>,
    paths: &[&[ReadStep]],
) -> (Vec<String>, Vec<String>) {
    let mut facts = Facts::default();
    facts.replicas(variable, nodes);
    facts.node(variable, nodes, paths);
    facts.found.truncate(MAX_FACTS);
    (facts.found, facts.types)
}

#[derive(Default)]
struct Facts {
    found: Vec<String>,
    types: Vec<String>,
    /// The alternatives under which there is a value at all.
    guard: String,
    /// How many lists are around.
    depth: usize,
}

impl Facts {
    fn add(&mut self, fact: &str) {
        if self.found.len() < MAX_FACTS {
            self.found.push(format!("{}{fact}", self.guard));
        }
    }

    /// The replicas of a scale subresource, which a server checks itself (RP-75).
    fn replicas(&mut self, variable: &str, nodes: Nodes<'_>) {
        let Some(names) = nodes.replicas else { return };
        let is_plain = |name: &String| name.chars().all(|letter| letter.is_ascii_alphanumeric());
        if !names.iter().all(is_plain) {
            return;
        }
        let mut expr = variable.to_owned();
        for name in names {
            expr = format!("{expr}.{name}");
            self.guard += &format!("!has({expr}) || ");
        }
        self.add(&format!("type({expr}) == int"));
        self.add(&format!("{expr} >= 0"));
        self.add(&format!("{expr} <= {}", i32::MAX));
        self.guard.clear();
    }

    fn node(&mut self, expr: &str, nodes: Nodes<'_>, paths: &[&[ReadStep]]) {
        if !is_passed_alike(nodes.from, nodes.to, true) {
            return;
        }
        if paths.iter().any(|path| path.is_empty()) {
            self.value(expr, nodes.from);
        }
        let mut firsts: Vec<&ReadStep> = Vec::new();
        for first in paths.iter().filter_map(|path| path.first()) {
            if !firsts.contains(&first) {
                firsts.push(first);
            }
        }
        for first in firsts {
            let rest = paths.iter().filter_map(|path| path.strip_prefix(from_ref(first)));
            let rest: Vec<&[ReadStep]> = rest.collect();
            grow(|| match first {
                ReadStep::Field(name) => self.field(expr, name, nodes, &rest),
                ReadStep::Any => self.elements(expr, nodes, &rest),
            });
        }
    }

    /// A field, by its name in expressions.
    fn field(&mut self, expr: &str, name: &Arc<str>, nodes: Nodes<'_>, paths: &[&[ReadStep]]) {
        // What a server keeps there has its own rules.
        let is_fixed = ["apiVersion", "kind", "metadata", "status"].contains(&&**name);
        if nodes.is_resource && is_fixed && **name != *"status" {
            self.add(&format!("has({expr}.{name})"));
        }
        if is_fixed || nodes.from.embedded_resource {
            return;
        }
        let (field, step) = (format!("{expr}.{name}"), ReadStep::Field(Arc::clone(name)));
        let (before, after) = nodes.below(&step);
        let Some(before) = before else {
            if nodes.prunes() {
                self.add(&format!("!has({field})"));
            }
            return;
        };
        let mut required = nodes.from.required.iter().flatten();
        let is_required = required.any(|it| **it == **name || *it == super::unescaped(name));
        // The default of a map is for the null of a key (DF-10). Null counts as absent (CE-04).
        let listed =
            nodes.from.property(name).or_else(|| nodes.from.property(&super::unescaped(name)));
        let has_default = listed.is_some_and(|part| part.default.is_some());
        let is_present = (is_required || has_default) && !before.nullable;
        // A list in place of what has a format cannot be asked for (VV-12).
        if super::format(before).is_empty() {
            match is_present {
                true => self.add(&format!("has({field})")),
                false => self.add(&format!("has({field}) || !has({field})")),
            }
        }
        if let Some(after) = after {
            let outside = self.guard.len();
            if !is_present {
                self.guard += &format!("!has({field}) || ");
            }
            self.node(&field, nodes.at(&step, before, after), paths);
            self.guard.truncate(outside);
        }
    }

    fn elements(&mut self, expr: &str, nodes: Nodes<'_>, paths: &[&[ReadStep]]) {
        let Nodes { from, to, .. } = nodes;
        let (Some(before), Some(after)) = (from.items_schema(), to.items_schema()) else { return };
        if before.nullable {
            return;
        }
        if let Some(same) = same_element(from) {
            self.add(&format!("{expr}.all(one, {expr}.exists_one(other, {same}))"));
        }
        let variable = format!("element{}", self.depth);
        let mut inner = Facts { depth: self.depth + 1, ..Facts::default() };
        inner.node(&variable, nodes.at(&ReadStep::Any, before, after), paths);
        for fact in inner.found {
            self.add(&format!("{expr}.all({variable}, {fact})"));
        }
    }

    /// The value of an expression.
    fn value(&mut self, expr: &str, schema: &JsonSchemaProps) {
        if schema.type_ == "integer" && self.depth == 0 {
            self.types.push(format!("type({expr}) == int"));
            self.types.extend(bounds(expr, schema));
        }
        // A format admits lists (VV-12).
        if schema.int_or_string || !schema.format.is_empty() {
            return;
        }
        let (least, most) = match &*schema.type_ {
            "boolean" => return self.add(&format!("type({expr}) == bool")),
            "string" => {
                self.add(&format!("type({expr}) == string"));
                (schema.min_length, schema.max_length)
            }
            "array" => (schema.min_items, schema.max_items),
            "object" if schema.additional_schema().is_some() => {
                (schema.min_properties, schema.max_properties)
            }
            _ => return,
        };
        self.add(&format!("size({expr}) >= {}", least.unwrap_or_default().max(0)));
        if let Some(most) = most {
            self.add(&format!("size({expr}) <= {most}"));
        }
        if schema.type_ == "string" && !schema.pattern.is_empty() {
            self.add(&format!("{expr}.matches({})", to_json(&schema.pattern.as_str().into())));
        }
        let entries = schema.enum_.iter().map(|it| it.as_str().map(|_| to_json(it)));
        match entries.collect::<Option<Vec<_>>>() {
            Some(entries) if !entries.is_empty() => {
                self.add(&format!("{expr} in [{}]", entries.join(", ")));
            }
            _ => {}
        }
    }
}

/// The bounds of an integer that rules can say: a server cuts others (VV-27).
pub(super) fn bounds(expr: &str, schema: &JsonSchemaProps) -> impl Iterator<Item = String> {
    const MAX_EXACT: f64 = 9_007_199_254_740_992.0;
    let operator = |is_exclusive, open, closed| if is_exclusive { open } else { closed };
    let least = (schema.minimum, operator(schema.exclusive_minimum, ">", ">="));
    let most = (schema.maximum, operator(schema.exclusive_maximum, "<", "<="));
    let is_exact = |bound: &f64| bound.fract() == 0.0 && bound.abs() < MAX_EXACT;
    let bound = move |(bound, operator): (Option<f64>, &str)| {
        bound.filter(is_exact).map(|bound| format!("{expr} {operator} {}", bound as i64))
    };
    [least, most].into_iter().filter_map(bound)
}

/// The condition that no two elements of a list meet, of which each has all keys; none if there is
/// no such condition, or it fails for some.
fn same_element(list: &JsonSchemaProps) -> Option<String> {
    let items = list.items_schema()?;
    let is_text = |schema: &JsonSchemaProps| schema.type_ == "string" && schema.format.is_empty();
    match list.list_type.as_deref()? {
        "set" => is_text(items).then(|| "other == one".to_owned()),
        "map" => {
            let keys = list.list_map_keys.iter().flatten().map(|key| {
                let part = items.property(key).filter(|part| is_text(part) && !part.nullable)?;
                let mut required = items.required.iter().flatten();
                let is_there = part.default.is_some() || required.any(|name| name == key);
                let is_plain = key.chars().all(|letter| letter.is_ascii_alphanumeric());
                (is_there && is_plain).then(|| format!("other.{key} == one.{key}"))
            });
            let keys: Vec<String> = keys.collect::<Option<_>>()?;
            (!keys.is_empty()).then(|| keys.join(" && "))
        }
        _ => None,
    }
}
