//! A definition as the checks see it: with the server's defaults (CV-01) and with what is equal
//! in all versions moved to the top (CV-05).

use billhook_objectmeta::names::lower_case;
use billhook_objectmeta::{Invalid, decode_metadata};
use billhook_schema::FieldPath;
use billhook_schema::value::DeepValue;
use serde_json::Value;

use super::equal::same;
use super::record::{Type, flag, list, member, text, texts};
use super::types::{COLUMNS, SCHEMA_CONTAINER, SELECTABLE_FIELDS, SUBRESOURCES};

/// A definition; borrows from the document.
pub(super) struct Model<'v> {
    pub(super) metadata: DeepValue,
    pub(super) group: &'v str,
    pub(super) scope: &'v str,
    pub(super) names: NamesModel<'v>,
    pub(super) accepted_names: NamesModel<'v>,
    pub(super) versions: Vec<VersionModel<'v>>,
    /// `spec.versions` as written; none if it is missing.
    pub(super) written_versions: Option<&'v Value>,
    pub(super) hoisted: Hoisted,
    pub(super) conversion: Option<&'v Value>,
    pub(super) preserve_unknown_fields: bool,
    pub(super) stored_versions: Vec<&'v str>,
    pub(super) is_established: bool,
}

/// `spec.names` or `status.acceptedNames`.
pub(super) struct NamesModel<'v> {
    pub(super) plural: &'v str,
    pub(super) singular: String,
    pub(super) kind: &'v str,
    pub(super) list_kind: String,
    pub(super) short_names: Vec<&'v str>,
    pub(super) categories: Vec<&'v str>,
}

/// One version.
pub(super) struct VersionModel<'v> {
    pub(super) name: &'v str,
    pub(super) served: bool,
    pub(super) storage: bool,
    pub(super) deprecated: bool,
    pub(super) deprecation_warning: Option<&'v str>,
    /// The value of `openAPIV3Schema`.
    pub(super) schema: Option<&'v Value>,
    pub(super) subresources: Option<&'v Value>,
    pub(super) columns: &'v [Value],
    pub(super) selectable_fields: &'v [Value],
    /// The whole version.
    pub(super) written: &'v Value,
}

/// What is equal in all versions (CV-05).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Hoisted {
    pub(super) schema: bool,
    pub(super) subresources: bool,
    pub(super) columns: bool,
    pub(super) selectable_fields: bool,
}

impl<'v> Model<'v> {
    /// The model of a document whose types have been checked.
    pub(super) fn new(definition: &'v Value) -> Self {
        let absent = &Value::Null;
        let spec = definition.get("spec").unwrap_or(absent);
        let status = definition.get("status").unwrap_or(absent);
        let metadata = definition.get("metadata").unwrap_or(absent);
        let metadata = decode_metadata(metadata, Invalid::Refuse).unwrap_or_default();
        let versions: Vec<_> = list(spec, "versions").iter().map(VersionModel::new).collect();
        Model {
            metadata,
            group: text(spec, "group"),
            scope: text(spec, "scope"),
            names: NamesModel::new(spec.get("names").unwrap_or(absent), true),
            accepted_names: NamesModel::new(status.get("acceptedNames").unwrap_or(absent), false),
            hoisted: Hoisted::of(&versions),
            versions,
            written_versions: member(spec, "versions"),
            conversion: member(spec, "conversion"),
            preserve_unknown_fields: flag(spec, "preserveUnknownFields"),
            stored_versions: texts(status, "storedVersions"),
            is_established: list(status, "conditions").iter().any(|condition| {
                text(condition, "type") == "Established" && text(condition, "status") == "True"
            }),
        }
    }

    /// The name of the first version that objects are stored in.
    pub(super) fn storage_version(&self) -> Option<&'v str> {
        self.versions.iter().find(|version| version.storage).map(|version| version.name)
    }

    /// The versions that are listed in the status of a stored definition (CV-01).
    pub(super) fn stored_versions_or_first(&self) -> Vec<&'v str> {
        if self.stored_versions.is_empty() {
            return self.storage_version().into_iter().collect();
        }
        self.stored_versions.clone()
    }

    /// The schemas, each once, with the path of their container and whether the status
    /// subresource is there beside them (CV-05, CV-41).
    pub(super) fn containers(&self) -> Vec<Container<'v>> {
        if self.hoisted.schema {
            let path = FieldPath::default().name("spec").name("validation");
            let has_status = self.versions.iter().any(VersionModel::has_status);
            let schema = self.versions.first().and_then(|version| version.schema);
            let versions = self.versions.iter().map(|version| version.name).collect();
            return schema
                .map(|schema| Container { schema, path, has_status, versions })
                .into_iter()
                .collect();
        }
        let container = |(index, version): (usize, &VersionModel<'v>)| {
            let path = version_path(index).name("schema");
            let has_status = version.has_status();
            let versions = vec![version.name];
            version.schema.map(|schema| Container { schema, path, has_status, versions })
        };
        self.versions.iter().enumerate().filter_map(container).collect()
    }
}

/// A schema and where it is.
pub(super) struct Container<'v> {
    pub(super) schema: &'v Value,
    pub(super) path: FieldPath,
    pub(super) has_status: bool,
    /// The versions that it is the schema of.
    pub(super) versions: Vec<&'v str>,
}

/// `spec.versions[index]`.
pub(super) fn version_path(index: usize) -> FieldPath {
    FieldPath::default().name("spec").name("versions").index(index)
}

impl<'v> NamesModel<'v> {
    fn new(names: &'v Value, with_defaults: bool) -> Self {
        let kind = text(names, "kind");
        let mut singular = text(names, "singular").to_owned();
        let mut list_kind = text(names, "listKind").to_owned();
        if with_defaults && singular.is_empty() {
            singular = lower_case(kind);
        }
        if with_defaults && list_kind.is_empty() && !kind.is_empty() {
            list_kind = format!("{kind}List");
        }
        NamesModel {
            plural: text(names, "plural"),
            singular,
            kind,
            list_kind,
            short_names: texts(names, "shortNames"),
            categories: texts(names, "categories"),
        }
    }
}

impl<'v> VersionModel<'v> {
    fn new(version: &'v Value) -> Self {
        VersionModel {
            name: text(version, "name"),
            served: flag(version, "served"),
            storage: flag(version, "storage"),
            deprecated: flag(version, "deprecated"),
            deprecation_warning: member(version, "deprecationWarning").and_then(Value::as_str),
            schema: member(version, "schema").and_then(|schema| member(schema, "openAPIV3Schema")),
            subresources: member(version, "subresources"),
            columns: list(version, "additionalPrinterColumns"),
            selectable_fields: list(version, "selectableFields"),
            written: version,
        }
    }

    pub(super) fn has_status(&self) -> bool {
        self.subresources.is_some_and(|subresources| member(subresources, "status").is_some())
    }
}

impl Hoisted {
    fn of(versions: &[VersionModel<'_>]) -> Self {
        let equal = |name: &str, type_: Type| {
            let mut parts = versions.iter().map(|version| version.written.get(name));
            let first = parts.next().flatten();
            parts.all(|part| same(first, part, type_))
        };
        Hoisted {
            schema: equal("schema", SCHEMA_CONTAINER),
            subresources: equal("subresources", SUBRESOURCES),
            columns: equal("additionalPrinterColumns", COLUMNS),
            selectable_fields: equal("selectableFields", SELECTABLE_FIELDS),
        }
    }

    /// Whether a field of versions is moved away from them.
    pub(super) fn has(self, field: &str) -> bool {
        match field {
            "schema" => self.schema,
            "subresources" => self.subresources,
            "additionalPrinterColumns" => self.columns,
            "selectableFields" => self.selectable_fields,
            _ => false,
        }
    }
}
