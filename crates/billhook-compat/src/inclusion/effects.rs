//! The effects of obstacles on stored objects (CC-21).

use billhook::Segment;
use billhook_apimachinery::value::grow;
use billhook_schema::JsonSchemaProps;

use super::Kinds;
use super::known::{Bare, Shape, Unlisted};
use super::obstacle::StoredEffect;
use super::unmet::{has_scalar_keys, has_unique_keys};
use super::walk::{At, Walk};
use crate::rules::{self, Unmatched};

impl<'s> Walk<'_, 's> {
    /// The effect of an obstacle on stored objects.
    pub(super) fn stored(
        &self,
        keyword: &str,
        (from, to): (Shape<'s>, Shape<'s>),
        at: &At<'s>,
    ) -> StoredEffect {
        let scalar = Kinds::BOOL.or(Kinds::WHOLE).or(Kinds::FRACTION).or(Kinds::STRING);
        let is_scalar = |schema: &JsonSchemaProps| {
            let types = ["string", "integer", "number", "boolean"];
            (schema.int_or_string || types.contains(&schema.type_.as_str()))
                && schema.junctors().all(|(keyword, ..)| keyword == "anyOf")
        };
        // Beside a format, a list is admitted, too (VV-12); it is forgiven as a whole.
        let kinds = self.prover.kinds_of(from.schema);
        let is_leaf_before =
            is_scalar(from.schema) && kinds.is_within(scalar.or(Kinds::NULL).or(Kinds::ARRAY));
        let is_scalar_before = is_leaf_before && !kinds.include(Kinds::ARRAY);
        let (before, after) = (from.schema.items_schema(), to.schema.items_schema());
        let lists_scalars = before.is_some_and(is_scalar) && after.is_some_and(is_scalar);
        let is_same_number = keyword == "format"
            && from.schema.type_ == to.schema.type_
            && matches!(&*to.schema.type_, "integer" | "number");
        let is_leaf = match keyword {
            "minLength" | "maxLength" | "pattern" | "minimum" | "maximum" | "multipleOf"
            | "enum" => is_leaf_before && is_scalar(to.schema),
            "x-kubernetes-validations" => {
                lists_scalars || (is_scalar_before && is_scalar(to.schema))
            }
            // Rules around see another type.
            "type" | "format" => {
                let has_rules = to.schema.validations.as_ref().is_some_and(|all| !all.is_empty());
                // A format of numbers is none of their business.
                let is_seen = (at.is_guarded() || has_rules) && !is_same_number;
                is_leaf_before && is_scalar(to.schema) && !is_seen
            }
            // An empty list has no elements that an update may change.
            "minItems" => lists_scalars || to.schema.min_items.is_some_and(|least| least <= 1),
            "maxItems" => lists_scalars,
            _ => false,
        };
        match is_leaf && self.is_forgiven(at) {
            true => StoredEffect::Forgiven,
            false => StoredEffect::Open,
        }
    }

    /// The effect of a rule on stored objects.
    pub(super) fn stored_rule(
        &self,
        Unmatched { index, compiles }: Unmatched,
        nodes: rules::Nodes<'_>,
        (from, to): (Shape<'s>, Shape<'s>),
        at: &At<'s>,
    ) -> StoredEffect {
        if !compiles {
            return StoredEffect::Open;
        }
        let rule = to.schema.validations.as_ref().and_then(|rules| rules.get(index));
        let is_kept =
            || rule.is_some_and(|rule| rules::holds_if_unchanged(rule, nodes, at.is_compared));
        // An update changes all of what it reads, or nothing. The whole object always changes (VV-85).
        let is_whole = !at.path.is_empty()
            && ((rules::reads_all(to.schema, index) && equals_itself(from, to, self.prover.bare))
                || rule.is_some_and(|rule| rules::holds_unless_empty(rule, nodes)));
        let stored = match rules::is_forgiven(from.schema, to.schema, index) {
            true if is_whole && self.is_forgiven(at) => StoredEffect::Forgiven,
            // As for any other constraint of a scalar.
            true => self.stored("x-kubernetes-validations", (from, to), at),
            false => StoredEffect::Open,
        };
        match stored {
            StoredEffect::Open if is_kept() => StoredEffect::None,
            stored => stored,
        }
    }

    /// Whether a server forgives what is wrong at a place as long as it stays as it is.
    fn is_forgiven(&self, at: &At<'s>) -> bool {
        let names: Vec<Segment<'_>> = at.path.segments().take(3).collect();
        let is_status = names.first() == Some(&Segment::Name("status"));
        // These are the type of what is written on its own (VV-84).
        let is_type = matches!(names.as_slice(), [_, Segment::Name("apiVersion" | "kind")]);
        at.is_compared
            && (self.prover.ratchets_status || !is_status)
            && !(self.prover.drops_status && is_status && is_type)
    }
}

/// Whether each value of one schema equals itself where another one correlates it (VV-85): it has
/// nothing that the other one does not describe, and the keys of its elements tell them apart.
fn equals_itself(from: Shape<'_>, to: Shape<'_>, bare: &Bare) -> bool {
    let schema = to.schema;
    if schema.embedded_resource || to.is_bare(bare) {
        return false;
    }
    grow(|| {
        let mut names = [from, to].into_iter().flat_map(|it| it.schema.properties.iter().flatten());
        let member = |name: &String| match (from.member(name, bare), to.member(name, bare)) {
            (Some(from), Some(to)) => equals_itself(from, to, bare),
            _ => true,
        };
        let has_others = || match (from.unlisted(bare), to.unlisted(bare)) {
            (Unlisted::Kept(from), Unlisted::Kept(to)) => !equals_itself(from, to, bare),
            _ => false,
        };
        let is_map = schema.list_type.as_deref() == Some("map");
        let has_equal_elements = || {
            has_unique_keys(from.schema, schema)
                && has_scalar_keys(from.schema, schema)
                && equals_itself(from.items(bare), to.items(bare), bare)
        };
        names.all(|(name, _)| member(name))
            && !has_others()
            // Elsewhere, all of a list is compared with all of the other one.
            && (!is_map || has_equal_elements())
    })
}
