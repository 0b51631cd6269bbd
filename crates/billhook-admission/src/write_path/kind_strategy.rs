//! The rules of built-in kinds, as the write path asks for them.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};

use billhook::webhook::EquivalentResources;
use billhook::{CrdOptions, CustomResourceDefinition, KubernetesVersion, ObjectType as _};
use billhook_apimachinery::GroupVersionKind;
use billhook_apimachinery::record::{Record, RecordError, Type, complete};
use billhook_apply::MergeSchema;
use billhook_kinds::{Kind, KindType, WriteContext};
use serde_json::{Map, Value};

use super::admission::Admission;
use super::request::Subresource;
use super::strategy::{Findings, Strategy, StrategyContext};
use crate::chain::Chain;

/// The rules of a built-in kind.
#[derive(Debug)]
pub struct KindStrategy {
    kind: KindType,
    refuses_privileged: bool,
    /// How objects are merged as other kinds, once that was asked for.
    merge_schemas: RwLock<BTreeMap<GroupVersionKind, Option<MergeSchema>>>,
}

impl KindStrategy {
    /// Returns the rules of a kind as a server of a version has them, if it has the kind.
    pub fn new(kind: &'static Kind, kubernetes: KubernetesVersion) -> Option<Self> {
        let kind = KindType::new(kind, kubernetes)?;
        Some(KindStrategy { kind, refuses_privileged: false, merge_schemas: RwLock::default() })
    }

    /// The rules of a server that may refuse privileged containers.
    #[must_use]
    pub fn refuse_privileged(mut self, refuses: bool) -> Self {
        self.refuses_privileged = refuses;
        self
    }

    /// Returns another kind that objects exist in, too, by its name.
    fn equivalent(&self, kind: &GroupVersionKind) -> Option<&'static Kind> {
        let (own, other) = (self.kind.kind(), Kind::named(&kind.api_version(), &kind.kind)?);
        (own.is_same_object(other) && !std::ptr::eq(other, own)).then_some(other)
    }

    fn context<'c>(&self, context: &StrategyContext<'c>) -> WriteContext<'c> {
        let subresource = context.subresource.map_or("", Subresource::name);
        WriteContext::new(self.kind.kubernetes(), context.user, context.now)
            .subresource(subresource)
            .body(context.body)
            .refuse_privileged(self.refuses_privileged)
    }
}

impl Admission {
    /// The write path of a built-in kind, as a server of a version has it; none if that server does not
    /// have the kind.
    pub fn of_kind(
        kind: &'static Kind,
        kubernetes: KubernetesVersion,
        chain: Chain,
    ) -> Option<Self> {
        let strategy = KindStrategy::new(kind, kubernetes)?;
        let definition = definition_of(kind, kubernetes)?;
        Some(Admission::new(definition, chain).strategy(Arc::new(strategy)))
    }
}

fn definition_of(kind: &Kind, kubernetes: KubernetesVersion) -> Option<CustomResourceDefinition> {
    let options = CrdOptions::default().kubernetes(kubernetes).built_in(true);
    CustomResourceDefinition::with_options(&kind.definition(kubernetes)?, &options).ok()
}

impl Strategy for KindStrategy {
    fn read(&self, object: &mut Value) -> Result<Vec<String>, RecordError> {
        self.kind.read(object)
    }

    /// A new object begins with what servers print even if it is empty.
    fn empty(&self) -> Option<Value> {
        let mut empty = Value::Object(Map::new());
        complete(&mut empty, self.kind.record(), self.kind.kubernetes());
        remove_defaults(&mut empty, self.kind.record());
        Some(empty)
    }

    fn storage_path(&self) -> Option<String> {
        Some(self.kind.kind().storage_path())
    }

    fn takes_status(&self, subresource: Option<Subresource>) -> bool {
        self.kind.behavior().takes_status(subresource.map_or("", Subresource::name))
    }

    fn prepare(&self, object: &mut Value, old: Option<&Value>, context: &StrategyContext<'_>) {
        self.kind.prepare_write(object, old, &self.context(context));
    }

    fn copies_identity(&self) -> bool {
        self.kind.behavior().copies_identity()
    }

    fn updates_unconditionally(&self) -> bool {
        self.kind.kind().updates_unconditionally
    }

    fn creates_on_update(&self) -> bool {
        self.kind.kind().creates_on_update
    }

    fn group_in_errors(&self) -> Option<&str> {
        self.kind.behavior().group_in_errors()
    }

    fn name_rule(&self) -> fn(&str, bool) -> Vec<String> {
        self.kind.name_rule()
    }

    fn takes_metadata(&self, _: Subresource) -> bool {
        self.kind.behavior().takes_metadata()
    }

    fn resets(&self, subresource: Option<Subresource>) -> Option<&'static [&'static str]> {
        self.kind.behavior().resets(subresource.map_or("", Subresource::name))
    }

    fn grace_period(&self, object: &Value, requested: Option<i64>) -> Option<i64> {
        self.kind.behavior().grace_period(object, requested)
    }

    fn orphans_by_default(&self) -> bool {
        self.kind.kind().orphans_by_default
    }

    fn convert(&self, object: &mut Value, api_version: &str) -> bool {
        self.kind.behavior().convert(object, api_version, self.kind.kubernetes())
    }

    fn equivalents(&self) -> Option<EquivalentResources> {
        Some(self.kind.kind().equivalents(self.kind.kubernetes()))
    }

    fn of_equivalent(&self, kind: &GroupVersionKind) -> Option<Box<dyn Strategy>> {
        Some(Box::new(KindStrategy::new(self.equivalent(kind)?, self.kind.kubernetes())?))
    }

    fn merge_schema_of(&self, kind: &GroupVersionKind) -> Option<MergeSchema> {
        let other = self.equivalent(kind)?;
        let known = self.merge_schemas.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = known.get(kind) {
            return known.clone();
        }
        drop(known);
        let definition = definition_of(other, self.kind.kubernetes());
        let version = definition.and_then(|definition| definition.version(&kind.version));
        let schema = version.map(|version| version.merge_schema().clone());
        let mut known = self.merge_schemas.write().unwrap_or_else(PoisonError::into_inner);
        known.insert(kind.clone(), schema.clone());
        schema
    }

    fn has_dependents(&self) -> bool {
        self.kind.behavior().has_dependents()
    }

    fn undeletable(&self, name: &str) -> Option<&'static str> {
        self.kind.behavior().undeletable(name)
    }

    fn deletion_warning(&self) -> Option<&'static str> {
        self.kind.behavior().deletion_warning()
    }

    fn is_typed(&self) -> bool {
        true
    }

    fn validate(
        &self,
        object: &Value,
        old: Option<&Value>,
        context: &StrategyContext<'_>,
    ) -> Findings {
        let found = self.kind.validate_write(object, old, &self.context(context));
        Findings::new(found.errors, found.warnings)
    }

    fn marks_deletions(&self) -> bool {
        self.kind.behavior().marks_deletions()
    }

    fn mark(&self, object: &mut Value, now: &str, finalizers: Vec<Value>) {
        self.kind.behavior().mark(object, now, finalizers);
    }

    fn record(&self) -> &'static Record {
        self.kind.record()
    }

    fn has_plain_metadata(&self) -> bool {
        self.kind.behavior().has_plain_metadata()
    }

    fn is_kept(&self, object: &Value) -> bool {
        self.kind.behavior().is_kept(object)
    }
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
