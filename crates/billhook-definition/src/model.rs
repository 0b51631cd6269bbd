//! A definition as the checks see it: with the server's defaults (CV-01), and with the parts that
//! are equal in all versions moved to the top (CV-05).

use std::sync::Arc;

use billhook_apimachinery::FieldPath;
use billhook_apimachinery::record::{TypedRecord, member};
use billhook_apimachinery::value::DeepValue;
use billhook_schema::JsonSchemaProps;
use serde_json::Value;

use crate::types::{DefinitionDocument, DefinitionSpec, DefinitionStatus, Names, Version};

/// A definition; borrows from the document.
pub(crate) struct Model<'v> {
    pub(crate) metadata: DeepValue,
    pub(crate) spec: &'v DefinitionSpec,
    pub(crate) status: &'v DefinitionStatus,
    /// `spec.names` with the defaults.
    pub(crate) names: Names,
    pub(crate) versions: Vec<VersionModel<'v>>,
    /// `spec.versions` as written; none if it is missing.
    pub(crate) written_versions: Option<&'v Value>,
    pub(crate) hoisted: Hoisted,
    pub(crate) is_established: bool,
}

/// One version.
pub(crate) struct VersionModel<'v> {
    pub(crate) read: &'v Version,
    /// The whole version.
    pub(crate) written: &'v Value,
}

/// The parts that are equal in all versions (CV-05).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Hoisted {
    pub(crate) schema: bool,
    pub(crate) subresources: bool,
    pub(crate) columns: bool,
    pub(crate) selectable_fields: bool,
}

impl<'v> Model<'v> {
    /// The model of a document and what was read from it.
    pub(crate) fn new(written: &'v Value, read: &'v DefinitionDocument) -> Self {
        let (spec, status) = (&read.spec, &read.status);
        let written_versions = written.get("spec").and_then(|spec| member(spec, "versions"));
        let written = written_versions.and_then(Value::as_array).into_iter().flatten();
        let version = |(read, written)| VersionModel { read, written };
        let versions: Vec<_> = spec.versions.iter().zip(written).map(version).collect();
        Model {
            metadata: read.metadata.to_document(),
            spec,
            status,
            names: spec.names.with_defaults(),
            hoisted: Hoisted::of(&versions),
            versions,
            written_versions,
            is_established: status
                .conditions
                .iter()
                .any(|condition| condition.is_true("Established")),
        }
    }

    /// The name of the first version that objects are stored in.
    pub(crate) fn storage_version(&self) -> Option<&'v str> {
        let mut versions = self.spec.versions.iter();
        versions.find(|version| version.storage).map(|version| version.name.as_str())
    }

    /// The versions that are listed in the status of a stored definition (CV-01).
    pub(crate) fn stored_versions_or_first(&self) -> Vec<&'v str> {
        let stored = &self.status.stored_versions;
        if stored.is_empty() {
            return self.storage_version().into_iter().collect();
        }
        stored.iter().map(String::as_str).collect()
    }

    /// The nodes of all schemas.
    pub(crate) fn nodes(&self) -> impl Iterator<Item = &'v JsonSchemaProps> {
        self.versions.iter().filter_map(VersionModel::schema).flat_map(|schema| schema.nodes())
    }

    /// The schemas, each once, with the path of their container and whether the status
    /// subresource is there beside them (CV-05, CV-41).
    pub(crate) fn containers(&self) -> Vec<Container<'v>> {
        if self.hoisted.schema {
            let path = FieldPath::default().name("spec").name("validation");
            let has_status = self.versions.iter().any(VersionModel::has_status);
            let versions = self.versions.iter().map(|version| version.name()).collect();
            let first = self.versions.first().and_then(VersionModel::both);
            return first
                .map(|(schema, written)| Container { schema, written, path, has_status, versions })
                .into_iter()
                .collect();
        }
        let container = |(index, version): (usize, &VersionModel<'v>)| {
            let path = version_path(index).name("schema");
            // Subresources are found by the name of the version (CV-41).
            let mut named = self.versions.iter();
            let has_status = named.find(|other| other.name() == version.name());
            let has_status = has_status.is_some_and(VersionModel::has_status);
            let versions = vec![version.name()];
            let (schema, written) = version.both()?;
            Some(Container { schema, written, path, has_status, versions })
        };
        self.versions.iter().enumerate().filter_map(container).collect()
    }
}

/// A schema and where it is.
pub(crate) struct Container<'v> {
    pub(crate) schema: &'v Arc<JsonSchemaProps>,
    pub(crate) written: &'v Value,
    pub(crate) path: FieldPath,
    pub(crate) has_status: bool,
    /// The versions that it is the schema of.
    pub(crate) versions: Vec<&'v str>,
}

/// `spec.versions[index]`.
pub(crate) fn version_path(index: usize) -> FieldPath {
    FieldPath::default().name("spec").name("versions").index(index)
}

impl<'v> VersionModel<'v> {
    pub(crate) fn name(&self) -> &'v str {
        &self.read.name
    }

    pub(crate) fn schema(&self) -> Option<&'v Arc<JsonSchemaProps>> {
        self.read.schema.as_ref()?.open_api_v3_schema.as_ref()
    }

    pub(crate) fn written_schema(&self) -> Option<&'v Value> {
        member(member(self.written, "schema")?, "openAPIV3Schema")
    }

    fn both(&self) -> Option<(&'v Arc<JsonSchemaProps>, &'v Value)> {
        self.schema().zip(self.written_schema())
    }

    pub(crate) fn has_status(&self) -> bool {
        self.read.subresources.as_ref().is_some_and(|all| all.status.is_some())
    }
}

impl Hoisted {
    fn of(versions: &[VersionModel<'_>]) -> Self {
        fn equal<T: PartialEq>(versions: &[VersionModel<'_>], part: fn(&Version) -> &T) -> bool {
            let Some((first, others)) = versions.split_first() else { return true };
            others.iter().all(|version| part(version.read) == part(first.read))
        }
        Hoisted {
            schema: equal(versions, |version| &version.schema),
            subresources: equal(versions, |version| &version.subresources),
            columns: equal(versions, |version| &version.additional_printer_columns),
            selectable_fields: equal(versions, |version| &version.selectable_fields),
        }
    }

    /// Whether a field of versions is moved away from them.
    pub(crate) fn has(self, field: &str) -> bool {
        match field {
            "schema" => self.schema,
            "subresources" => self.subresources,
            "additionalPrinterColumns" => self.columns,
            "selectableFields" => self.selectable_fields,
            _ => false,
        }
    }
}
