//! A definition as the checks see it: with the server's defaults (CV-01), and with the parts that
//! are equal in all versions moved to the top (CV-05).

use billhook_apimachinery::FieldPath;
use billhook_apimachinery::metadata::{Invalid, decode_metadata};
use billhook_apimachinery::names::lower_case;
use billhook_apimachinery::value::DeepValue;
use serde_json::Value;

use crate::types::{COLUMNS, SCHEMA_CONTAINER, SELECTABLE_FIELDS, SUBRESOURCES};
use billhook_apimachinery::record::same;
use billhook_apimachinery::record::{Type, flag, list, member, text, texts};

/// A definition; borrows from the document.
pub(crate) struct Model<'v> {
    pub(crate) metadata: DeepValue,
    pub(crate) group: &'v str,
    pub(crate) scope: &'v str,
    pub(crate) names: NamesModel<'v>,
    pub(crate) accepted_names: NamesModel<'v>,
    pub(crate) versions: Vec<VersionModel<'v>>,
    /// `spec.versions` as written; none if it is missing.
    pub(crate) written_versions: Option<&'v Value>,
    pub(crate) hoisted: Hoisted,
    pub(crate) conversion: Option<&'v Value>,
    pub(crate) preserve_unknown_fields: bool,
    pub(crate) stored_versions: Vec<&'v str>,
    pub(crate) is_established: bool,
}

/// `spec.names` or `status.acceptedNames`.
pub(crate) struct NamesModel<'v> {
    pub(crate) plural: &'v str,
    pub(crate) singular: String,
    pub(crate) kind: &'v str,
    pub(crate) list_kind: String,
    pub(crate) short_names: Vec<&'v str>,
    pub(crate) categories: Vec<&'v str>,
}

/// One version.
pub(crate) struct VersionModel<'v> {
    pub(crate) name: &'v str,
    pub(crate) served: bool,
    pub(crate) storage: bool,
    pub(crate) deprecated: bool,
    pub(crate) deprecation_warning: Option<&'v str>,
    /// The value of `openAPIV3Schema`.
    pub(crate) schema: Option<&'v Value>,
    pub(crate) subresources: Option<&'v Value>,
    pub(crate) columns: &'v [Value],
    pub(crate) selectable_fields: &'v [Value],
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
    /// The model of a document whose types have been checked.
    pub(crate) fn new(definition: &'v Value) -> Self {
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
    pub(crate) fn storage_version(&self) -> Option<&'v str> {
        self.versions.iter().find(|version| version.storage).map(|version| version.name)
    }

    /// The versions that are listed in the status of a stored definition (CV-01).
    pub(crate) fn stored_versions_or_first(&self) -> Vec<&'v str> {
        if self.stored_versions.is_empty() {
            return self.storage_version().into_iter().collect();
        }
        self.stored_versions.clone()
    }

    /// The schemas, each once, with the path of their container and whether the status
    /// subresource is there beside them (CV-05, CV-41).
    pub(crate) fn containers(&self) -> Vec<Container<'v>> {
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
            // Subresources are found by the name of the version (CV-41).
            let mut named = self.versions.iter();
            let has_status = named.find(|other| other.name == version.name);
            let has_status = has_status.is_some_and(VersionModel::has_status);
            let versions = vec![version.name];
            version.schema.map(|schema| Container { schema, path, has_status, versions })
        };
        self.versions.iter().enumerate().filter_map(container).collect()
    }
}

/// A schema and where it is.
pub(crate) struct Container<'v> {
    pub(crate) schema: &'v Value,
    pub(crate) path: FieldPath,
    pub(crate) has_status: bool,
    /// The versions that it is the schema of.
    pub(crate) versions: Vec<&'v str>,
}

/// `spec.versions[index]`.
pub(crate) fn version_path(index: usize) -> FieldPath {
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

    pub(crate) fn has_status(&self) -> bool {
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
