//! Rules of a schema that do not follow from those of another one, and what they read (CC-14).

mod demands;
mod facts;
mod unchanged;

use billhook_apimachinery::KubernetesVersion;
use billhook_apimachinery::value::grow;
use billhook_cel::schema::SchemaType;
use billhook_cel::{Environment, ReadStep, Reads, implies_with_types, reads};
use billhook_schema::JsonSchemaProps;
use billhook_schema::props::{SchemaOrBool, ValidationRule};

use crate::limits::MAX_PREMISES;

pub(crate) use demands::{demand, demand_field, forbid_field};
pub(crate) use facts::facts;
use facts::statements;
pub(crate) use unchanged::{holds_if_unchanged, holds_unless_empty, is_read_same};

/// A node that two schemas describe.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Nodes<'s> {
    from: &'s JsonSchemaProps,
    to: &'s JsonSchemaProps,
    /// Whether it is in a list of which the first schema keeps everything (PR-21).
    in_kept_list: bool,
    /// The names that lead to the replicas of a scale subresource.
    replicas: Option<&'s [String]>,
    /// Whether values are whole objects.
    is_resource: bool,
}

impl<'s> Nodes<'s> {
    pub(crate) fn new(
        from: &'s JsonSchemaProps,
        to: &'s JsonSchemaProps,
        in_kept_list: bool,
    ) -> Self {
        Nodes { from, to, in_kept_list, replicas: None, is_resource: false }
    }

    /// Knows whether values are whole objects.
    pub(crate) fn of_resource(self, is_resource: bool) -> Self {
        Nodes { is_resource, ..self }
    }

    /// Knows which names lead to the replicas of a scale subresource, if any do.
    pub(crate) fn with_replicas(self, replicas: Option<&'s [String]>) -> Self {
        Nodes { replicas, ..self }
    }

    /// Whether no value of the first schema has all that the second one requires, so that rules of the
    /// second one are asked of none.
    fn are_apart(self) -> bool {
        let Nodes { from, to, .. } = self;
        let is_missed = |name: &String| {
            let part = to.property(name);
            from.property(name).is_none() && part.is_none_or(|part| part.default.is_none())
        };
        self.prunes() && !self.is_resource && to.required.iter().flatten().any(is_missed)
    }

    /// The nodes that a step leads to, where there are schemas.
    fn below(self, step: &ReadStep) -> (Option<&'s JsonSchemaProps>, Option<&'s JsonSchemaProps>) {
        (below(self.from, step), below(self.to, step))
    }

    fn at(self, step: &ReadStep, from: &'s JsonSchemaProps, to: &'s JsonSchemaProps) -> Nodes<'s> {
        let in_list = *step == ReadStep::Any && self.from.items_schema().is_some();
        Nodes::new(from, to, in_list && self.from.preserves_unknown_fields())
    }

    /// Whether values have no members but those that the first schema lists.
    fn prunes(self) -> bool {
        has_properties(self.from)
            && self.from.additional_properties.is_none()
            && !self.from.preserves_unknown_fields()
            && !self.from.embedded_resource
            && !self.in_kept_list
    }
}

/// A rule that is not implied by those of another schema.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unmatched {
    /// Its position in its schema.
    pub(crate) index: usize,
    /// Whether it compiles; otherwise it refuses all values.
    pub(crate) compiles: bool,
}

/// The rules of one schema that are not implied by those of another one.
pub(crate) fn unmatched(
    nodes: Nodes<'_>,
    is_correlated: bool,
    kubernetes: KubernetesVersion,
) -> Vec<Unmatched> {
    let rules = nodes.to.validations.as_deref().unwrap_or_default();
    if rules.is_empty() {
        return Vec::new();
    }
    let type_ = SchemaType::of(nodes.to, nodes.is_resource, kubernetes).map(|it| it.to_type());
    let compiles = |rule: &ValidationRule| {
        type_.clone().is_some_and(|type_| {
            let environment = Environment::of_rule(rule, type_).kubernetes(kubernetes);
            environment.compile(&rule.rule).is_ok()
        })
    };
    let unmatched = rules.iter().enumerate().filter_map(|(index, rule)| {
        let is_asked = is_correlated || !is_of_update(rule);
        let follows = !is_asked || nodes.are_apart() || follows(rule, nodes);
        let compiles = compiles(rule);
        (!(follows && compiles)).then_some(Unmatched { index, compiles })
    });
    unmatched.collect()
}

/// Whether a rule is asked only where a value has an old one (CE-40).
fn is_of_update(rule: &ValidationRule) -> bool {
    rule.optional_old_self != Some(true) && reads(&rule.rule).is_ok_and(|reads| reads.uses_old)
}

/// Whether a rule follows from those that values of the first schema keep.
fn follows(rule: &ValidationRule, nodes: Nodes<'_>) -> bool {
    let held = nodes.from.validations.as_deref().unwrap_or_default();
    let Ok(wanted) = reads(&rule.rule) else { return false };
    if !is_read_alike(&wanted, nodes) {
        return false;
    }
    // A transition rule is not asked of new objects.
    let is_asked_alike = |held: &ValidationRule, read: &Reads| {
        let is_optional = |rule: &ValidationRule| rule.optional_old_self.unwrap_or_default();
        !read.uses_old || (wanted.uses_old && is_optional(held) == is_optional(rule))
    };
    let is_same = |other: &ValidationRule| {
        other.rule == rule.rule && other.optional_old_self == rule.optional_old_self
    };
    if held.iter().any(is_same) {
        return true;
    }
    let premises = held.iter().filter_map(|held| Some((held, reads(&held.rule).ok()?)));
    let premises = premises
        .filter(|(held, read)| is_asked_alike(held, read) && is_read_alike(read, nodes))
        .take(MAX_PREMISES);
    let (premises, read): (Vec<_>, Vec<_>) = premises.unzip();
    let parts = read.iter().chain([&wanted]).flat_map(|reads| &reads.parts);
    let paths: Vec<&[ReadStep]> = parts.map(|part| part.path.as_slice()).collect();
    let (mut facts, mut types) = statements("self", nodes, &paths);
    if wanted.uses_old && rule.optional_old_self != Some(true) {
        let (more_facts, more_types) = statements("oldSelf", nodes, &paths);
        facts.extend(more_facts);
        types.extend(more_types);
    }
    let rules = premises.iter().map(|held| held.rule.as_str());
    let premises: Vec<&str> = rules.chain(facts.iter().map(String::as_str)).collect();
    let types: Vec<&str> = types.iter().map(String::as_str).collect();
    implies_with_types(&premises, &types, &rule.rule)
}

/// The change of a rule in words.
pub(crate) fn change(from: &JsonSchemaProps, to: &JsonSchemaProps, index: usize) -> String {
    let rule = to.validations.as_ref().and_then(|rules| rules.get(index));
    let text = rule.map(|rule| rule.rule.trim()).unwrap_or_default();
    let is_known = from.validations.iter().flatten().any(|held| held.rule.trim() == text);
    match is_known {
        true => format!("the types that a rule sees changed: {text}"),
        false => format!("rule added: {text}"),
    }
}

/// Whether a rule that a stored value violates is forgiven as long as a scalar is unchanged (CE-50).
pub(crate) fn is_forgiven(from: &JsonSchemaProps, schema: &JsonSchemaProps, index: usize) -> bool {
    if kind(from) != kind(schema) || format(from) != format(schema) {
        return false;
    }
    let rule = schema.validations.as_ref().and_then(|rules| rules.get(index));
    let reads = rule.and_then(|rule| reads(&rule.rule).ok());
    reads.is_some_and(|reads| match reads.uses_old {
        true => reads.asks_for_equality && unchanged::equals_itself(from),
        false => {
            (reads.is_total && is_typed(schema))
                || rule.is_some_and(|rule| unchanged::is_total(rule, from))
        }
    })
}

/// Whether each value has the type of its schema, and so has all below it: a format admits lists as
/// well (VV-12).
fn is_typed(schema: &JsonSchemaProps) -> bool {
    let is_one = !schema.int_or_string && !schema.type_.is_empty() && format(schema).is_empty();
    let mut listed = schema.properties.iter().flatten().map(|(_, part)| &**part);
    let parts = [schema.items_schema(), schema.additional_schema()];
    is_one && grow(|| listed.all(is_typed) && parts.into_iter().flatten().all(is_typed))
}

/// Whether a rule reads all of the value, itself, each of its fields or each of its elements, as far as
/// the schema describes it.
pub(crate) fn reads_all(schema: &JsonSchemaProps, index: usize) -> bool {
    let rule = schema.validations.as_ref().and_then(|rules| rules.get(index));
    let Some(Reads { parts, .. }) = rule.and_then(|rule| reads(&rule.rule).ok()) else {
        return false;
    };
    let is_read = |path: &[ReadStep]| parts.iter().any(|part| part.whole && part.path == path);
    let mut listed = schema.properties.iter().flatten();
    is_read(&[])
        || (schema.type_ == "array" && is_read(&[ReadStep::Any]))
        || (has_properties(schema)
            && listed.all(|(name, _)| is_read(&[ReadStep::Field(name.as_str().into())])))
}

/// Whether any rule of a schema may read something at or below a place, given by names; the names
/// of elements do not count.
pub(crate) fn may_read(schema: &JsonSchemaProps, place: &[Option<&str>]) -> bool {
    may_any_read(schema, place, |_| true)
}

/// The same for rules that may be false where the old value was completed like the new one.
pub(crate) fn may_read_completed(schema: &JsonSchemaProps, place: &[Option<&str>]) -> bool {
    may_any_read(schema, place, |reads| {
        !(reads.asks_for_equality && unchanged::equals_itself(schema))
    })
}

fn may_any_read(
    schema: &JsonSchemaProps,
    place: &[Option<&str>],
    counts: impl Fn(&Reads) -> bool,
) -> bool {
    let rules = schema.validations.as_deref().unwrap_or_default();
    rules.iter().any(|rule| {
        let Ok(reads) = reads(&rule.rule) else { return true };
        counts(&reads)
            && reads.parts.iter().any(|part| {
                // The part is around the place, or inside of it.
                let mut steps = part.path.iter().zip(place);
                let is_on_the_way = steps.all(|pair| match pair {
                    (ReadStep::Any, _) | (_, None) => true,
                    (ReadStep::Field(field), Some(name)) => {
                        **field == **name || field.contains("__")
                    }
                });
                is_on_the_way && (part.whole || part.path.len() >= place.len())
            })
    })
}

/// Whether a rule sees what it reads alike in two schemas.
fn is_read_alike(reads: &Reads, nodes: Nodes<'_>) -> bool {
    reads.parts.iter().all(|part| {
        let mut nodes = nodes;
        // Expressions know the metadata of objects even if the schema does not.
        let is_fixed = matches!(part.path.first(), Some(ReadStep::Field(first))
            if ["apiVersion", "kind", "metadata"].contains(&&**first));
        // Rules are not asked of null, and a field that is null is absent to them (CE-03, CE-04).
        let mut may_be_null = true;
        for (index, step) in part.path.iter().enumerate() {
            if !is_passed_alike(nodes.from, nodes.to, may_be_null) {
                return false;
            }
            let is_last = index + 1 == part.path.len();
            match nodes.below(step) {
                (Some(before), Some(after)) => {
                    nodes = nodes.at(step, before, after);
                    let has_default = before.default.is_some() || after.default.is_some();
                    may_be_null = matches!(step, ReadStep::Field(_)) && !has_default;
                }
                // What has no schema looks alike as long as it has none.
                (None, None) => return is_fixed || nodes.from.preserves_unknown_fields(),
                // It is absent to both, unless a default fills it in.
                (None, Some(after)) => return nodes.prunes() && after.default.is_none(),
                (Some(_), None) => return false,
            }
            if is_last && !part.whole {
                let Nodes { from, to, .. } = nodes;
                return (may_be_null || from.nullable == to.nullable) && kind(from) == kind(to);
            }
        }
        match part.whole {
            // What is dropped of two equal values leaves two equal values.
            true => same_types(nodes.from, nodes.to, reads.asks_for_equality, may_be_null),
            false => is_like(nodes.from, nodes.to, may_be_null),
        }
    })
}

/// The schema that a step leads to.
fn below<'s>(schema: &'s JsonSchemaProps, step: &ReadStep) -> Option<&'s JsonSchemaProps> {
    match step {
        ReadStep::Field(name) => {
            let listed = schema.property(name).or_else(|| schema.property(&unescaped(name)));
            listed.or_else(|| schema.additional_schema())
        }
        ReadStep::Any => schema.items_schema().or_else(|| schema.additional_schema()),
    }
}

/// The name that a field has in objects, by its name in expressions (CE-05).
pub(crate) fn unescaped(name: &str) -> String {
    const ESCAPES: [(&str, &str); 4] =
        [("__underscores__", "__"), ("__dot__", "."), ("__dash__", "-"), ("__slash__", "/")];
    let word = name.strip_prefix("__").and_then(|rest| rest.strip_suffix("__"));
    if let Some(word) = word.filter(|word| !word.contains("__")) {
        let escape = ESCAPES.iter().find(|(escape, _)| *escape == name);
        return escape.map_or(word, |(_, plain)| plain).to_owned();
    }
    let (mut plain, mut rest) = (String::new(), name);
    while let Some(first) = rest.chars().next() {
        let escape = ESCAPES
            .iter()
            .find_map(|(escape, plain)| rest.strip_prefix(escape).map(|rest| (*plain, rest)));
        match escape {
            Some((text, after)) => {
                plain.push_str(text);
                rest = after;
            }
            None => {
                plain.push(first);
                rest = rest.get(first.len_utf8()..).unwrap_or_default();
            }
        }
    }
    plain
}

/// The kind of values that decides about size and presence.
fn kind(schema: &JsonSchemaProps) -> (&str, bool, bool) {
    (&schema.type_, schema.int_or_string, schema.additional_properties.is_some())
}

/// Whether expressions find what is below a node of two schemas alike.
fn is_passed_alike(from: &JsonSchemaProps, to: &JsonSchemaProps, may_be_null: bool) -> bool {
    kind(from) == kind(to)
        && (may_be_null || from.nullable == to.nullable)
        && from.embedded_resource == to.embedded_resource
        && has_properties(from) == has_properties(to)
        && (has_properties(from)
            || from.preserves_unknown_fields() == to.preserves_unknown_fields())
}

fn has_properties(schema: &JsonSchemaProps) -> bool {
    schema.properties.as_ref().is_some_and(|listed| !listed.is_empty())
}

/// Whether expressions see a node of two schemas alike, what is below aside.
fn is_like(from: &JsonSchemaProps, to: &JsonSchemaProps, may_be_null: bool) -> bool {
    let list_type = |schema: &JsonSchemaProps| {
        schema.list_type.clone().filter(|list_type| list_type != "atomic")
    };
    kind(from) == kind(to)
        && format(from) == format(to)
        && (may_be_null || from.nullable == to.nullable)
        && from.embedded_resource == to.embedded_resource
        && from.preserves_unknown_fields() == to.preserves_unknown_fields()
        && has_properties(from) == has_properties(to)
        && list_type(from) == list_type(to)
        && from.list_map_keys == to.list_map_keys
}

/// The format of values, if expressions have another type for it (CE-04).
fn format(schema: &JsonSchemaProps) -> &str {
    match &*schema.type_ {
        "integer" | "number" if !schema.int_or_string => "",
        _ => &schema.format,
    }
}

/// Whether expressions see values of two schemas alike, as far as the first one describes them and
/// the second one keeps them, if it may drop some.
fn same_types(
    from: &JsonSchemaProps,
    to: &JsonSchemaProps,
    may_drop: bool,
    may_be_null: bool,
) -> bool {
    if !is_like(from, to, may_be_null) {
        return false;
    }
    let same_part = |from: Option<&JsonSchemaProps>, to: Option<&JsonSchemaProps>| match (from, to)
    {
        (Some(from), Some(to)) => same_types(from, to, may_drop, false),
        (None, None) => true,
        _ => false,
    };
    grow(|| {
        let parts = from.properties.iter().flatten();
        let mut parts = parts.map(|(name, part)| (&**part, to.property(name)));
        parts.all(|(part, other)| match other {
            Some(other) => same_types(part, other, may_drop, false),
            None => may_drop,
        }) && same_part(from.items_schema(), to.items_schema())
            && match (&from.additional_properties, &to.additional_properties) {
                (Some(SchemaOrBool::Schema(from)), Some(SchemaOrBool::Schema(to))) => {
                    same_types(from, to, may_drop, false)
                }
                (Some(SchemaOrBool::Bool(from)), Some(SchemaOrBool::Bool(to))) => from == to,
                (None, None) => true,
                _ => false,
            }
    })
}
