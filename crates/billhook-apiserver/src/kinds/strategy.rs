//! The rules of the server's own kinds, as the write path asks for them.

use crate::edition::EDITIONS;
use billhook::KubernetesVersion;
use billhook_admission::{self as admission, Strategy, StrategyContext, Subresource};
use billhook_apimachinery::metadata::subdomain_name;
use billhook_apimachinery::names::{
    dns1035_label, dns1123_label, mask_trailing_hyphen, path_segment,
};
use billhook_apimachinery::record::{Record, Type, complete};
use billhook_apimachinery::value::deep_eq;
use billhook_kinds::{Behavior, Findings, Generation, Kind, NameRule, WriteContext};
use serde_json::{Map, Value};

/// The rules of a kind.
pub(super) struct KindStrategy {
    kind: &'static Kind,
    behavior: &'static dyn Behavior,
    record: &'static Record,
    kubernetes: KubernetesVersion,
}

impl KindStrategy {
    pub(super) fn new(
        kind: &'static Kind,
        record: &'static Record,
        kubernetes: KubernetesVersion,
    ) -> Self {
        KindStrategy { kind, behavior: kind.behavior(), record, kubernetes }
    }

    fn context<'c>(&self, context: &StrategyContext<'c>) -> WriteContext<'c> {
        let subresource = context.subresource.map_or("", Subresource::name);
        WriteContext::new(self.kubernetes, context.user, context.now)
            .subresource(subresource)
            .body(context.body)
    }

    /// Sets `metadata.generation` as the kind has it (BK-11).
    fn set_generation(&self, object: &mut Value, old: Option<&Value>) {
        let before = old.and_then(|old| old.pointer("/metadata/generation"));
        let before = before.and_then(Value::as_i64).unwrap_or_default();
        let rises = |old: &Value| is_changed(self.kind.generation, object, old);
        let generation = match (self.kind.generation, old) {
            (Generation::None, _) => before,
            (Generation::SpecOnUpdate, None) => 0,
            (_, None) => 1,
            (_, Some(old)) => before.saturating_add(rises(old).into()),
        };
        let Some(Value::Object(metadata)) = object.get_mut("metadata") else { return };
        match generation {
            0 => metadata.remove("generation"),
            generation => metadata.insert("generation".to_owned(), generation.into()),
        };
    }
}

/// Whether the part of an object changes that its generation counts.
fn is_changed(generation: Generation, object: &Value, old: &Value) -> bool {
    let differs = |place: &str| match (object.pointer(place), old.pointer(place)) {
        (Some(new), Some(old)) => !deep_eq(new, old),
        (new, old) => new.is_some() || old.is_some(),
    };
    let has_other_content = || {
        let names = |object: &Value| -> Vec<String> {
            object.as_object().into_iter().flatten().map(|(name, _)| name.clone()).collect()
        };
        let mut all = names(object).into_iter().chain(names(old));
        all.any(|name| name != "metadata" && name != "status" && differs(&format!("/{name}")))
    };
    match generation {
        Generation::Template => differs("/template"),
        Generation::SpecOrAnnotations => differs("/spec") || differs("/metadata/annotations"),
        Generation::LabelsOrContent => differs("/metadata/labels") || has_other_content(),
        Generation::Spec | Generation::SpecOnUpdate => has_other_content(),
        _ => false,
    }
}

impl Strategy for KindStrategy {
    fn read(&self, object: &mut Value) -> Result<Vec<String>, String> {
        self.behavior.read(object, self.record, self.kubernetes)
    }

    /// A new object begins with what servers print even if it is empty.
    fn empty(&self) -> Option<Value> {
        let mut empty = Value::Object(Map::new());
        complete(&mut empty, self.record, self.kubernetes);
        remove_defaults(&mut empty, self.record);
        Some(empty)
    }

    fn takes_status(&self) -> bool {
        self.behavior.takes_status()
    }

    fn prepare(&self, object: &mut Value, old: Option<&Value>, context: &StrategyContext<'_>) {
        // The content that counts is what was sent, or what is stored of it.
        let counts_sent = self.kind.generation == Generation::LabelsOrContent;
        if counts_sent {
            complete(object, self.record, self.kubernetes);
            self.set_generation(object, old);
        }
        self.behavior.prepare(object, old, &self.context(context));
        complete(object, self.record, self.kubernetes);
        if !counts_sent && context.subresource != Some(Subresource::Status) {
            self.set_generation(object, old);
        }
    }

    fn updates_unconditionally(&self) -> bool {
        self.kind.updates_unconditionally
    }

    fn creates_on_update(&self) -> bool {
        self.kind.creates_on_update
    }

    fn group_in_errors(&self) -> Option<&str> {
        self.behavior.group_in_errors()
    }

    fn name_rule(&self) -> fn(&str, bool) -> Vec<String> {
        match self.kind.name_rule {
            NameRule::ServiceName if !EDITIONS.of(self.kubernetes).relaxes_service_names => {
                older_label_name
            }
            NameRule::Label | NameRule::ServiceName => label_name,
            NameRule::PathSegment => path_segment,
            NameRule::Address => |_, _| Vec::new(),
            _ if self.kind.kind == "ReplicationController" => declared_name,
            _ => subdomain_name,
        }
    }

    fn takes_metadata(&self, _: Subresource) -> bool {
        self.behavior.takes_metadata()
    }

    fn resets(&self, subresource: Option<Subresource>) -> Option<&'static [&'static str]> {
        self.behavior.resets(subresource.map_or("", Subresource::name))
    }

    fn grace_period(&self, object: &Value, requested: Option<i64>) -> Option<i64> {
        self.behavior.grace_period(object, requested)
    }

    fn orphans_by_default(&self) -> bool {
        self.kind.orphans_by_default
    }

    fn convert(&self, object: &mut Value, api_version: &str) -> bool {
        self.behavior.convert(object, api_version, self.kubernetes)
    }

    fn has_dependents(&self) -> bool {
        self.behavior.has_dependents()
    }

    fn undeletable(&self, name: &str) -> Option<&'static str> {
        self.behavior.undeletable(name)
    }

    fn deletion_warning(&self) -> Option<&'static str> {
        self.behavior.deletion_warning()
    }

    fn is_typed(&self) -> bool {
        true
    }

    fn validate(
        &self,
        object: &Value,
        old: Option<&Value>,
        context: &StrategyContext<'_>,
    ) -> admission::Findings {
        let mut found = Findings::default();
        let context = self.context(context);
        self.behavior.validate(object, old, &context, &mut found);
        found.errors.splice(0..0, self.behavior.validate_finalizers(object, &context));
        admission::Findings::new(found.errors, found.warnings)
    }

    fn marks_deletions(&self) -> bool {
        self.behavior.marks_deletions()
    }

    fn mark(&self, object: &mut Value, now: &str, finalizers: Vec<Value>) {
        self.behavior.mark(object, now, finalizers);
    }

    fn record(&self) -> &'static Record {
        self.record
    }

    fn has_plain_metadata(&self) -> bool {
        self.behavior.has_plain_metadata()
    }

    fn is_kept(&self, object: &Value) -> bool {
        self.behavior.is_kept(object)
    }
}

/// Checks a name by the rule that its type declares, which counts bytes (BK-31).
fn declared_name(name: &str, is_prefix: bool) -> Vec<String> {
    let messages = subdomain_name(name, is_prefix).into_iter();
    messages.map(|message| message.replace("253 characters", "253 bytes")).collect()
}

/// Removes the fields that have defaults: those are of the manager who leaves them out.
fn remove_defaults(object: &mut Value, record: &'static Record) {
    let Value::Object(members) = object else { return };
    for field in record.fields {
        if !field.default.is_empty() {
            members.remove(field.name);
        } else if let Type::Record(table) = field.type_
            && let Some(member) = members.get_mut(field.name)
        {
            remove_defaults(member, table());
        }
    }
}

/// Checks a name that is a DNS label. The end of a prefix is not checked if it is a hyphen.
fn label_name(name: &str, is_prefix: bool) -> Vec<String> {
    if is_prefix { dns1123_label(&mask_trailing_hyphen(name)) } else { dns1123_label(name) }
}

/// Checks a name that is a DNS label as older servers want those of services (BK-770).
fn older_label_name(name: &str, is_prefix: bool) -> Vec<String> {
    if is_prefix { dns1035_label(&mask_trailing_hyphen(name)) } else { dns1035_label(name) }
}
