//! Two structural schemas side by side: the places where it is not proved that what the one admits
//! is admitted, kept and completed by the other one alike.

use billhook::{FieldPath, Segment};
use billhook_apimachinery::value::{deep_clone, deep_eq, grow};
use billhook_generation::{Hints, changes};
use billhook_schema::JsonSchemaProps;
use billhook_schema::props::SchemaOrBool;
use serde_json::Value;

use super::attempt::{Attempt, Unmet, sized, too_many};
use super::known::{Known, Shape, Unlisted};
use super::names::{name_of_fixed, other_name};
use super::null::{Null, Place};
use super::obstacle::{Mode, Obstacle, StoredEffect};
use super::unmet::{has_scalar_keys, has_unique_keys};
use super::words::{change, shown};
use super::{Kinds, Prover};
use crate::limits::{MAX_OBSTACLES, MAX_REMOVED};
use crate::rules;

/// Collects the obstacles between two schemas of whole objects.
pub(crate) fn walk<'s>(
    prover: &Prover<'s>,
    from: Shape<'s>,
    to: Shape<'s>,
    mode: Mode,
) -> Vec<Obstacle<'s>> {
    let mut walk = Walk { prover, mode, found: Vec::new(), is_cut: false };
    let mut known = Known::of(from, prover.bare);
    if prover.drops_status && mode == Mode::Writes {
        known.present.retain(|name| *name != "status");
    }
    let at = At {
        path: FieldPath::default(),
        places: Default::default(),
        is_correlated: true,
        is_compared: true,
        is_required: false,
        guards: Vec::new(),
        place: Place::Root,
    };
    walk.node(from, to, &known, &at);
    if walk.is_cut {
        walk.found.push(Obstacle::rest((from.schema, to.schema), MAX_OBSTACLES));
    }
    walk.found
}

#[derive(Clone, Debug)]
pub(super) struct At<'s> {
    pub(super) path: FieldPath,
    places: (FieldPath, FieldPath),
    /// Whether an update may be compared with what is stored here (VV-81).
    pub(super) is_correlated: bool,
    /// Whether it is sure to be: no two elements around have the same keys.
    pub(super) is_compared: bool,
    /// Whether the old schema requires the member.
    is_required: bool,
    /// The nodes around that are checked as a whole, with how deep they are.
    guards: Vec<(usize, &'s JsonSchemaProps)>,
    place: Place,
}

impl<'s> At<'s> {
    /// Whether something around may be broken by a change here.
    pub(super) fn is_guarded(&self) -> bool {
        self.is_guarded_by(rules::may_read)
    }

    fn is_guarded_by(&self, may_read: fn(&JsonSchemaProps, &[Option<&str>]) -> bool) -> bool {
        let names: Vec<Option<&str>> = self
            .path
            .segments()
            .map(|segment| match segment {
                Segment::Name(name) => Some(name),
                _ => None,
            })
            .collect();
        self.guards.iter().any(|(depth, schema)| {
            let place = names.get(*depth..).unwrap_or_default();
            is_guard(schema) || may_read(schema, place)
        })
    }

    fn below(&self, path: FieldPath, steps: (&[&str], &[&str]), place: Place) -> At<'s> {
        let add = |path: &FieldPath, steps: &[&str]| {
            steps.iter().fold(path.clone(), |path, step| path.name(*step))
        };
        let places = (add(&self.places.0, steps.0), add(&self.places.1, steps.1));
        At { path, places, place, is_required: false, ..self.clone() }
    }
}

pub(super) struct Walk<'w, 's> {
    pub(super) prover: &'w Prover<'s>,
    mode: Mode,
    found: Vec<Obstacle<'s>>,
    /// Whether something was not looked at.
    is_cut: bool,
}

impl<'s> Walk<'_, 's> {
    fn is_full(&self) -> bool {
        self.found.len() >= MAX_OBSTACLES
    }

    fn node(&mut self, from: Shape<'s>, to: Shape<'s>, known: &Known<'s>, at: &At<'s>) {
        let bare = self.prover.bare;
        // What no schema describes keeps nulls that the same schema removes, if it is written.
        let is_same = self.mode == Mode::Writes
            && from.is_bare(bare) == to.is_bare(bare)
            && from.in_kept_list == to.in_kept_list
            && (std::ptr::eq(from.document, to.document) || deep_eq(from.document, to.document));
        if is_same {
            return;
        }
        if self.is_full() {
            self.is_cut = true;
            return;
        }
        if from.is_bare(bare) && to.is_bare(bare) {
            if from.keeps() && !to.keeps() && self.mode == Mode::Writes {
                let value = serde_json::json!({"key0": 1});
                self.add("pruning", "fields below are no longer kept", vec![value], (from, to), at);
            }
            return;
        }
        grow(|| self.compare(from, to, known, at));
    }

    fn compare(&mut self, from: Shape<'s>, to: Shape<'s>, known: &Known<'s>, at: &At<'s>) {
        let mut known = known.clone();
        if at.place != Place::Root {
            self.null(from, to, &known, at);
        }
        known.kinds = known.kinds.without(Kinds::NULL);
        if known.kinds.is_empty() {
            return;
        }
        let target = to.schema;
        if target.embedded_resource != from.schema.embedded_resource && self.mode == Mode::Writes {
            let change = "x-kubernetes-embedded-resource changed";
            self.attempt("x-kubernetes-embedded-resource", change, Attempt::Search, (from, to), at);
        }
        let unmet = self.prover.unmet(&known, target);
        let has_other_kind = known.kinds.and(self.prover.kinds_of(target)).is_empty();
        let is_other_type = unmet.iter().any(|unmet| unmet.keyword == "type");
        let is_told = |unmet: &Unmet| match unmet.keyword {
            "type" => true,
            keyword if rules::demand(from.schema, keyword, target) => false,
            keyword if self.bounds_replicas(keyword, target, at) => false,
            "format" => !is_other_type,
            _ => !has_other_kind,
        };
        let unmet: Vec<Unmet> = unmet.into_iter().filter(is_told).collect();
        for unmet in unmet {
            self.unmet(unmet, (from, to), &known, at);
        }
        if has_other_kind {
            return;
        }
        self.junctors((from, to), &known, at);
        let is_single = known.at_most(|it| it.max_items).is_some_and(|most| most <= 1);
        let is_unique = is_single || has_unique_keys(from.schema, target);
        if self.mode == Mode::Writes {
            if known.kinds.include(Kinds::ARRAY) && !is_unique {
                self.list_type((from, to), at);
            }
            let prover = self.prover;
            let nodes = rules::Nodes::new(from.schema, target, from.in_kept_list)
                .with_replicas(prover.replicas_from(&at.path))
                .of_resource(to.is_resource);
            let kubernetes = self.prover.bare.kubernetes;
            for rule in rules::unmatched(nodes, at.is_correlated, kubernetes) {
                let change = rules::change(from.schema, target, rule.index);
                let stored = self.stored_rule(rule, nodes, (from, to), at);
                let (keyword, attempts) =
                    ("x-kubernetes-validations", vec![Attempt::Rule(rule.index)]);
                self.push(keyword, change, attempts, stored, (from, to), at);
            }
        }
        known.kinds = known.kinds.and(self.prover.kinds_of(target));
        let mut at = at.clone();
        let has_rules = target.validations.as_ref().is_some_and(|rules| !rules.is_empty());
        if has_rules || is_guard(target) {
            at.guards.push((at.path.segments().count(), target));
        }
        if known.kinds.include(Kinds::OBJECT) {
            self.members(from, to, &known, &at);
        }
        if known.kinds.include(Kinds::ARRAY) && known.at_most(|it| it.max_items) != Some(0) {
            let place = FieldPath::index(at.path.clone(), 0);
            let mut below = at.below(place, (&["items"], &["items"]), Place::Item);
            below.is_correlated &= target.list_type.as_deref() == Some("map");
            // An element is compared with the first one of its keys (VV-81).
            below.is_compared &=
                below.is_correlated && is_unique && has_scalar_keys(from.schema, target);
            let bare = self.prover.bare;
            self.node(from.items(bare), to.items(bare), &known.items(), &below);
        }
    }

    /// Whether a bound is one that a server has for the replicas of a scale subresource (RP-75).
    fn bounds_replicas(&self, keyword: &str, target: &JsonSchemaProps, at: &At<'s>) -> bool {
        let is_it = self.prover.replicas_from(&at.path).is_some_and(<[String]>::is_empty);
        is_it
            && match keyword {
                "minimum" => target.minimum.is_some_and(|least| {
                    least < 0.0 || (least == 0.0 && !target.exclusive_minimum)
                }),
                "maximum" => target.maximum.is_some_and(|most| most > f64::from(i32::MAX)),
                "format" => target.format == "int32" || target.format == "int64",
                _ => false,
            }
    }

    /// Compares the fates of null.
    fn null(&mut self, from: Shape<'s>, to: Shape<'s>, known: &Known<'s>, at: &At<'s>) {
        // A default that changed says so already.
        let is_told = self.found.last().is_some_and(|last| {
            last.keyword == "default" && last.path == at.path && last.attempts.len() > 1
        });
        let nullable = from.schema.nullable || to.schema.nullable;
        if is_told && !nullable && !from.is_bare(self.prover.bare) {
            return;
        }
        let is_sent = self.mode == Mode::Writes;
        let (before, after) = match is_sent {
            true => {
                let before = match Null::of(from, at.place, self.prover) {
                    // It is missed then.
                    Null::Removed if at.is_required => Null::Refused,
                    // It is never one of an enum (VV-38).
                    Null::Kept if !from.schema.enum_.is_empty() => Null::Refused,
                    before => before,
                };
                (before, Null::of(to, at.place, self.prover))
            }
            false => {
                let has_null =
                    |shape: Shape<'_>| self.prover.kinds_of(shape.schema).include(Kinds::NULL);
                let of = |has: bool| if has { Null::Kept } else { Null::Refused };
                // What is removed or replaced, and what an enum refuses (VV-38), is not stored.
                let is_kept = Null::of(from, at.place, self.prover) == Null::Kept;
                let is_sent = known.kinds.include(Kinds::NULL)
                    && has_null(from)
                    && is_kept
                    && from.schema.enum_.is_empty();
                (of(is_sent), of(has_null(to)))
            }
        };
        let is_alike = match (before, after) {
            (Null::Refused, _) => true,
            (Null::Replaced(before), Null::Replaced(after)) => deep_eq(before, after),
            (Null::Kept, Null::Kept) => to.schema.enum_.is_empty(),
            (before, after) => before == after,
        };
        if !is_alike {
            let (old, new) = self.in_time(from.schema, to.schema);
            let change = match (old.nullable, new.nullable) {
                (false, true) => "nullable added",
                (true, false) => "nullable removed",
                _ => "null is treated otherwise",
            };
            // Only where null is kept it is stored.
            let stored = match before {
                Null::Kept => StoredEffect::Open,
                _ => StoredEffect::None,
            };
            let attempts = vec![Attempt::Value(Value::Null)];
            self.push("nullable", change.to_owned(), attempts, stored, (from, to), at);
        }
    }

    fn unmet(
        &mut self,
        unmet: Unmet,
        nodes: (Shape<'s>, Shape<'s>),
        known: &Known<'s>,
        at: &At<'s>,
    ) {
        let Unmet { keyword, values } = unmet;
        if keyword == "required" {
            let names = values.iter().filter_map(Value::as_str);
            for name in names.filter(|name| !rules::demand_field(nodes.0.schema, name)) {
                self.required(name, nodes, at);
            }
            return;
        }
        let (old, new) = self.in_time(nodes.0.schema, nodes.1.schema);
        let change = change(keyword, old, new);
        let mut attempts: Vec<Attempt> = values.into_iter().map(Attempt::Value).collect();
        attempts.extend(sized(keyword, nodes.1.schema, nodes.0, known).map(Attempt::Value));
        attempts.extend(too_many(keyword, nodes.1.schema).map(Attempt::Items));
        attempts.push(Attempt::Search);
        let stored = self.stored(keyword, nodes, at);
        self.push(keyword, change, attempts, stored, nodes, at);
    }

    /// Two schemas, the old one first.
    fn in_time<'n>(
        &self,
        from: &'n JsonSchemaProps,
        to: &'n JsonSchemaProps,
    ) -> (&'n JsonSchemaProps, &'n JsonSchemaProps) {
        match self.mode {
            Mode::Writes => (from, to),
            Mode::Reads => (to, from),
        }
    }

    fn required(&mut self, name: &str, nodes: (Shape<'s>, Shape<'s>), at: &At<'s>) {
        let part = nodes.1.schema.property(name);
        let is_dropped = self.prover.drops_status && at.place == Place::Root && name == "status";
        let is_set = part.is_some_and(|part| part.default.is_some()) && !is_dropped;
        if self.mode == Mode::Writes && is_set {
            return;
        }
        let below = self.member_at(name, nodes, at);
        let is_listed = nodes.0.schema.property(name).is_some();
        let change = match (self.mode, is_listed) {
            (Mode::Writes, _) => "required added",
            (Mode::Reads, true) => "may be absent now",
            (Mode::Reads, false) => "property removed",
        };
        // Without another member, an update that leaves this one alone leaves all alone.
        let (from, to) = (nodes.0.schema, nodes.1.schema);
        let listed = |schema: &JsonSchemaProps| schema.properties.iter().flatten().count();
        let is_only = listed(from) == 1
            && listed(to) == 1
            && !from.preserves_unknown_fields()
            && !to.preserves_unknown_fields()
            && at.place == Place::Member
            && at.is_compared
            && self.prover.ratchets_status;
        let stored = if is_only { StoredEffect::Forgiven } else { StoredEffect::Open };
        let attempts = vec![Attempt::Absent];
        self.push("required", change.to_owned(), attempts, stored, nodes, &below);
    }

    fn junctors(&mut self, nodes: (Shape<'s>, Shape<'s>), known: &Known<'s>, at: &At<'s>) {
        let target = nodes.1.schema;
        let prover = self.prover;
        for part in target.all_of.iter().filter(|part| !prover.implies(known, part)) {
            let is_new = !nodes.0.schema.all_of.contains(part);
            let change = if is_new { "allOf added" } else { "allOf restricts more" };
            self.attempt("allOf", change, Attempt::Search, nodes, at);
        }
        let mut unproved = |is_proved: bool, keyword, had: bool| {
            if !is_proved {
                let change = format!("{keyword} {}", if had { "changed" } else { "added" });
                self.attempt(keyword, &change, Attempt::Search, nodes, at);
            }
        };
        let from = nodes.0.schema;
        unproved(prover.meets_any_of(known, &target.any_of), "anyOf", !from.any_of.is_empty());
        unproved(prover.meets_one_of(known, &target.one_of), "oneOf", !from.one_of.is_empty());
        let not = target.not.as_deref();
        unproved(not.is_none_or(|not| prover.refutes(known, not)), "not", from.not.is_some());
    }

    /// The uniqueness of elements (VV-40).
    fn list_type(&mut self, nodes: (Shape<'s>, Shape<'s>), at: &At<'s>) {
        let (from, to) = (nodes.0.schema, nodes.1.schema);
        let item = nodes.0.document.get("items").map(billhook_generation::sample);
        let item = item.unwrap_or(1.into());
        let twice = Value::Array(vec![deep_clone(&item), item]);
        let change = change("x-kubernetes-list-type", from, to);
        // If it is stored, the whole check is left out (RP-43).
        let (keyword, attempts) = ("x-kubernetes-list-type", vec![Attempt::Value(twice)]);
        self.push(keyword, change, attempts, StoredEffect::Forgiven, nodes, at);
    }

    fn members(&mut self, from: Shape<'s>, to: Shape<'s>, known: &Known<'s>, at: &At<'s>) {
        let bare = self.prover.bare;
        let is_fixed = |shape: Shape<'_>, name: &str| {
            (at.place == Place::Root || shape.is_resource)
                && ["apiVersion", "kind", "metadata"].contains(&name)
        };
        for (name, part) in to.schema.properties.iter().flatten() {
            let Some(target) = to.listed(name) else { continue };
            if is_fixed(to, name) {
                self.fixed(name, part, (from, to), known, at);
                continue;
            }
            let below = self.member_at(name, (from, to), at);
            let before = from.member(name, bare);
            if self.mode == Mode::Writes {
                self.default(from.listed(name), Some(target), (from, to), &below);
            }
            if let Some(before) = before {
                self.node(before, target, &known.member(name), &below);
            }
        }
        if self.mode == Mode::Reads {
            return self.unlisted_reads(from, to, known, at);
        }
        let is_forbidden = |name: &str| {
            from.schema.property(name).is_some_and(|part| !part.nullable)
                && rules::forbid_field(from.schema, name, from.is_resource)
        };
        for name in from.schema.properties.iter().flatten().map(|(name, _)| name) {
            let Some(before) = from.listed(name) else { continue };
            if to.schema.property(name).is_some() || is_fixed(from, name) {
                continue;
            }
            let below = self.member_at(name, (from, to), at);
            match to.unlisted(bare) {
                Unlisted::Kept(target) => {
                    self.default(Some(before), None, (from, to), &below);
                    self.node(before, target, &known.member(name), &below);
                }
                Unlisted::Pruned if is_forbidden(name) => {}
                Unlisted::Pruned => self.removed(before, to, "property removed", &below),
            }
        }
        let Unlisted::Kept(before) = from.unlisted(bare) else { return };
        let below = self.member_at(&other_name(from.schema, to.schema), (from, to), at);
        match to.unlisted(bare) {
            Unlisted::Kept(target) => {
                self.node(before, target, &known.unlisted_member(), &below);
            }
            Unlisted::Pruned => self.removed(before, to, "other fields are no longer kept", &below),
        }
    }

    /// Members that clients do not know by name.
    fn unlisted_reads(&mut self, from: Shape<'s>, to: Shape<'s>, known: &Known<'s>, at: &At<'s>) {
        let Some(additional) = to.schema.additional_schema() else { return };
        let bare = self.prover.bare;
        let Some(document) = to.document.get("additionalProperties") else { return };
        let target = Shape::new(additional, document);
        for name in from.schema.properties.iter().flatten().map(|(name, _)| name) {
            if to.schema.property(name).is_none()
                && let Some(before) = from.listed(name)
            {
                let below = self.member_at(name, (from, to), at);
                self.node(before, target, &known.member(name), &below);
            }
        }
        if let Unlisted::Kept(before) = from.unlisted(bare) {
            let below = self.member_at(&other_name(from.schema, to.schema), (from, to), at);
            self.node(before, target, &known.unlisted_member(), &below);
        }
    }

    /// A member that pruning and defaulting leave alone.
    fn fixed(
        &mut self,
        name: &str,
        part: &'s JsonSchemaProps,
        nodes: (Shape<'s>, Shape<'s>),
        known: &Known<'s>,
        at: &At<'s>,
    ) {
        let held = nodes.0.schema.property(name);
        let mut known = Known { shape: None, ..known.member(name) };
        known.kinds = known.kinds.and(match name {
            "metadata" => Kinds::OBJECT,
            _ => Kinds::STRING,
        });
        let is_equal = held.is_some_and(|held| held == part);
        if !is_equal && !self.prover.implies(&known, part) && self.mode == Mode::Writes {
            let below = self.member_at(name, nodes, at);
            self.attempt(
                name_of_fixed(name),
                "constraints changed",
                Attempt::Search,
                nodes,
                &below,
            );
        }
    }

    /// A member that is pruned.
    fn removed(&mut self, before: Shape<'s>, to: Shape<'s>, change: &str, at: &At<'s>) {
        let values = match before.is_bare(self.prover.bare) {
            true => vec![1.into()],
            false => {
                // Rules may refuse the first one.
                let sample = billhook_generation::sample(before.document);
                let others = changes(before.document, &sample, &Hints::default());
                let others = others.into_iter().take(MAX_REMOVED);
                [sample].into_iter().chain(others).collect()
            }
        };
        let mut attempts: Vec<Attempt> = values.into_iter().map(Attempt::Value).collect();
        attempts.insert(1, Attempt::Present);
        self.push("properties", change.to_owned(), attempts, StoredEffect::Open, (before, to), at);
    }

    /// The default of a member (DF-20).
    fn default(
        &mut self,
        from: Option<Shape<'s>>,
        to: Option<Shape<'s>>,
        nodes: (Shape<'s>, Shape<'s>),
        at: &At<'s>,
    ) {
        let default = |shape: Option<Shape<'s>>| shape.and_then(|it| it.schema.default_value());
        let (before, after) = (default(from), default(to));
        // What is required is always sent, and null is refused or kept.
        let is_never_missed = before.is_none() && from.is_some() && at.is_required;
        let change = match (before, after) {
            (None, None) => return,
            (None, Some(_)) if is_never_missed => return,
            (Some(before), Some(after)) if deep_eq(before, after) => return,
            (Some(before), Some(after)) => {
                format!("default changed from {} to {}", shown(before), shown(after))
            }
            (None, Some(after)) if from.is_none() => {
                format!("property added with the default {}", shown(after))
            }
            (None, Some(after)) => format!("default {} added", shown(after)),
            (Some(before), None) => format!("default {} removed", shown(before)),
        };
        // What is stored keeps the default that it had.
        let is_completed = before.is_none() && at.is_guarded_by(rules::may_read_completed);
        let stored = if is_completed { StoredEffect::Open } else { StoredEffect::None };
        let attempts = vec![Attempt::Absent, Attempt::Value(Value::Null)];
        let nodes = (from.unwrap_or(nodes.0), to.unwrap_or(nodes.1));
        self.push("default", change, attempts, stored, nodes, at);
    }

    fn member_at(&self, name: &str, (from, to): (Shape<'s>, Shape<'s>), at: &At<'s>) -> At<'s> {
        let steps = |shape: Shape<'_>| match &shape.schema.additional_properties {
            _ if shape.schema.property(name).is_some() => vec!["properties", name],
            Some(SchemaOrBool::Schema(_)) => vec!["additionalProperties"],
            _ => Vec::new(),
        };
        let is_named = to.schema.property(name).is_some() || from.schema.property(name).is_some();
        let path = match is_named {
            true => at.path.clone().name(name),
            false => at.path.clone().key(name),
        };
        let mut below = at.below(path, (&steps(from), &steps(to)), Place::Member);
        below.is_required = from.schema.required.iter().flatten().any(|required| required == name);
        below.is_correlated &=
            to.schema.property(name).is_some() || to.schema.additional_schema().is_some();
        below.is_compared &= below.is_correlated;
        below
    }

    fn add(
        &mut self,
        keyword: &'static str,
        change: &str,
        values: Vec<Value>,
        nodes: (Shape<'s>, Shape<'s>),
        at: &At<'s>,
    ) {
        let attempts = values.into_iter().map(Attempt::Value).collect();
        self.push(keyword, change.to_owned(), attempts, StoredEffect::Open, nodes, at);
    }

    fn attempt(
        &mut self,
        keyword: &'static str,
        change: &str,
        attempt: Attempt,
        nodes: (Shape<'s>, Shape<'s>),
        at: &At<'s>,
    ) {
        self.push(keyword, change.to_owned(), vec![attempt], StoredEffect::Open, nodes, at);
    }

    fn push(
        &mut self,
        keyword: &'static str,
        change: String,
        attempts: Vec<Attempt>,
        stored: StoredEffect,
        nodes: (Shape<'s>, Shape<'s>),
        at: &At<'s>,
    ) {
        if self.is_full() {
            self.is_cut = true;
            return;
        }
        let nodes = (nodes.0.schema, nodes.1.schema);
        let (path, places) = (at.path.clone(), at.places.clone());
        self.found.push(Obstacle { path, keyword, change, attempts, stored, nodes, places });
    }
}

/// Whether a node checks its members together, rules aside.
fn is_guard(schema: &JsonSchemaProps) -> bool {
    schema.junctors().next().is_some()
        || schema.max_properties.is_some()
        || !schema.enum_.is_empty()
}
