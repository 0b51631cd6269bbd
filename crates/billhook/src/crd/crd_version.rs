//! One version of a definition, and the separate steps of decoding an object of it.

use std::sync::Arc;

use billhook_apimachinery::record::to_value;
use billhook_apimachinery::value::DeepValue;
use billhook_apimachinery::{FieldError, FieldPath};
use billhook_apply::MergeSchema;
use billhook_cel::rules::Rules;
use billhook_cel::schema::SchemaType;
use billhook_decode::Decoder;
use billhook_defaulting::LimitError;
use billhook_definition::types::Column;
use billhook_schema::walk::Report;
use billhook_schema::{CompileOptions, CompiledSchema};
use billhook_validation::Validator;
use serde_json::Value;

use super::scale_paths::ScalePaths;
use super::{CustomResourceDefinition, VersionData};
use crate::edition::StatusResets;

/// One version of a [`CustomResourceDefinition`]. Cheap to clone.
///
/// The steps here follow the version's schema with the defaults that the server serves (DF-30),
/// one at a time, and say what they change to a [`Report`]; [`CrdVersion::decode`] runs them as the server does.
#[derive(Clone, Debug)]
pub struct CrdVersion {
    crd: CustomResourceDefinition,
    data: Arc<VersionData>,
    index: usize,
}

impl CrdVersion {
    pub(super) fn new(
        crd: &CustomResourceDefinition,
        (index, data): (usize, &Arc<VersionData>),
    ) -> Self {
        CrdVersion { crd: crd.clone(), data: Arc::clone(data), index }
    }

    /// Returns the definition it belongs to.
    pub fn definition(&self) -> &CustomResourceDefinition {
        &self.crd
    }

    /// Returns its name, e.g. `v1`.
    pub fn name(&self) -> &str {
        &self.data.name
    }

    /// `group/version`, as objects have it in `apiVersion`.
    pub fn api_version(&self) -> String {
        match self.crd.group() {
            "" => self.name().to_owned(),
            group => [group, "/", self.name()].concat(),
        }
    }

    /// Returns whether it is served.
    pub fn is_served(&self) -> bool {
        self.data.served
    }

    /// Returns whether objects are stored in it.
    pub fn is_storage(&self) -> bool {
        self.data.storage
    }

    /// Returns the warning written in the definition (which may be empty), if the version is
    /// deprecated.
    pub fn deprecation_warning(&self) -> Option<&str> {
        self.data.deprecation_warning.as_deref()
    }

    /// Returns whether it has the status subresource.
    pub fn has_status_subresource(&self) -> bool {
        self.data.has_status_subresource
    }

    /// Returns whether it has the scale subresource.
    pub fn has_scale_subresource(&self) -> bool {
        self.scale().is_some()
    }

    /// Returns the paths of the scale subresource, if it has one.
    pub fn scale(&self) -> Option<&ScalePaths> {
        self.data.scale.as_ref()
    }

    /// Returns the JSON paths of the fields that lists can be selected by.
    pub fn selectable_fields(&self) -> &[String] {
        &self.data.selectable_fields
    }

    /// Returns its schema, as a document; `None` if the definition has none.
    pub fn open_api_v3_schema(&self) -> Option<DeepValue> {
        self.data.has_schema.then(|| to_value(&self.data.written))
    }

    /// Returns the columns of tables of its objects, after that of the name.
    pub fn additional_printer_columns(&self) -> &[Column] {
        &self.data.additional_printer_columns
    }

    pub(crate) fn status_resets(&self) -> StatusResets {
        self.data.status_resets
    }

    /// Returns whether an update of the status forgives what was wrong before and has not changed
    /// (KV-80).
    pub fn ratchets_status(&self) -> bool {
        self.data.ratchets_status
    }

    /// The validator of its schema, compiled at the first use.
    pub(crate) fn validator(&self) -> &Validator {
        let VersionData { structural, compiled, written, .. } = &*self.data;
        self.data.validator.get_or_init(|| match structural {
            Some(_) => Validator::of(compiled, written),
            None => {
                let mut options = CompileOptions::default();
                options.resource_root = false;
                options.kubernetes = compiled.root().kubernetes();
                Validator::of(&CompiledSchema::of_part(written, options), written)
            }
        })
    }

    /// Its rules in CEL, compiled at the first use; none without rules.
    pub(crate) fn rules(&self) -> Option<&Rules> {
        let compile = || Rules::new(&self.data.written, self.validator());
        self.data.rules.get_or_init(compile).as_ref()
    }

    /// Returns the type of its objects in expressions; none without a schema (CE-04).
    pub fn expression_type(&self) -> Option<SchemaType> {
        SchemaType::of(self.data.structural.as_ref()?.root(), true, self.definition().kubernetes())
    }

    /// Returns the merge types of its schema, which are made at the first use.
    pub fn merge_schema(&self) -> &MergeSchema {
        self.data.merge_schema.get_or_init(|| match &self.data.structural {
            Some(structural) => {
                let preserves = self.crd.preserves_unknown_fields();
                MergeSchema::new(&self.data.compiled, structural.root(), preserves)
            }
            None => MergeSchema::deduced(),
        })
    }

    /// Its schema in the form that objects are walked with.
    pub(crate) fn schema(&self) -> &CompiledSchema {
        &self.data.compiled
    }

    /// Its schema prepared for text.
    pub(crate) fn decoder(&self) -> &Decoder {
        self.data.decoder.get_or_init(|| {
            Decoder::new(self.data.compiled.clone(), &self.api_version(), self.crd.kind())
        })
    }

    /// Whether its schema is structural.
    pub(crate) fn is_structural(&self) -> bool {
        self.data.structural.is_some()
    }

    /// Returns the violations of the structural rules in its schema (SS-40 to SS-71).
    pub fn structural_errors(&self) -> Vec<FieldError> {
        let base = FieldPath::default().name("spec").name("versions").index(self.index);
        let base = base.name("schema").name("openAPIV3Schema");
        self.data.structural.as_ref().map_or(Vec::new(), |schema| schema.validate(&base))
    }

    /// Removes the fields that the schema does not specify, in an object of this version. Does
    /// nothing if the definition preserves unknown fields.
    ///
    /// ```
    /// # use billhook::CustomResourceDefinition;
    /// # let crd = CustomResourceDefinition::from_value(&serde_json::json!({
    /// #   "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
    /// #   "spec": {"group": "example.com", "scope": "Namespaced",
    /// #     "names": {"plural": "foos", "kind": "Foo"},
    /// #     "versions": [{"name": "v1", "served": true, "storage": true, "schema":
    /// #       {"openAPIV3Schema": {"type": "object"}}}]}}))?;
    /// # let v1 = crd.version("v1").unwrap();
    /// let mut object = serde_json::json!({"kind": "Foo", "extra": 1});
    /// let mut changes = Vec::new();
    /// v1.prune(&mut object, &mut changes);
    /// assert_eq!(changes[0].path().to_string(), "extra");
    ///
    /// // Nobody listens.
    /// v1.prune(&mut object, &mut ());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn prune(&self, object: &mut Value, report: &mut impl Report) {
        billhook_pruning::prune(self.schema().root(), object, report);
    }

    /// Removes the nulls that the server removes before it applies defaults (DF-10). Does nothing
    /// if the definition preserves unknown fields (DF-16).
    pub fn remove_nulls(&self, object: &mut Value, report: &mut impl Report) {
        if !self.crd.preserves_unknown_fields() {
            billhook_defaulting::remove_nulls(self.schema().root(), object, report);
        }
    }

    /// Applies the defaults of the schema (DF-20).
    ///
    /// # Errors
    ///
    /// If the defaults are too large; the object then has some of them.
    pub fn apply_defaults(
        &self,
        object: &mut Value,
        report: &mut impl Report,
    ) -> Result<(), LimitError> {
        billhook_defaulting::apply_defaults(self.schema().root(), object, report)
    }

    /// Prunes, removes nulls and applies defaults in one walk. Equals [`CrdVersion::prune`],
    /// [`CrdVersion::remove_nulls`] and [`CrdVersion::apply_defaults`] one after the other, but
    /// touches nothing that stays and allocates nothing if nothing changes.
    ///
    /// # Errors
    ///
    /// If the defaults are too large; the object is then partly changed.
    pub fn prune_and_default(
        &self,
        object: &mut Value,
        report: &mut impl Report,
    ) -> Result<(), LimitError> {
        if self.crd.preserves_unknown_fields() {
            return self.apply_defaults(object, report);
        }
        billhook_decode::prune_and_default(self.schema(), object, report)
    }
}
