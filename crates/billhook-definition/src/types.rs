//! The fields of a CustomResourceDefinition and of everything in it (SS-10, CV-06).

use billhook_apimachinery::record::{Field, OBJECT_META, Record, Type};

const STRING: Type = Type::Text("string");
const OPTIONAL_STRING: Type = Type::OptionalText("string");
const STRINGS: Type = Type::Texts("string");
const SCHEMAS: &str = "map[string]v1.JSONSchemaProps";

/// The whole document.
pub(crate) static DEFINITION: Record = Record {
    name: "CustomResourceDefinition",
    fields: &[
        Field("apiVersion", "APIVersion", STRING),
        Field("kind", "Kind", STRING),
        Field("metadata", "ObjectMeta", Type::Record(&OBJECT_META)),
        Field("spec", "Spec", Type::Record(&SPEC)),
        Field("status", "Status", Type::Record(&STATUS)),
    ],
};

static SPEC: Record = Record {
    name: "CustomResourceDefinitionSpec",
    fields: &[
        Field("group", "Group", STRING),
        Field("names", "Names", Type::Record(&NAMES)),
        Field("scope", "Scope", Type::Text("v1.ResourceScope")),
        Field("versions", "Versions", Type::Records(&VERSION)),
        Field("conversion", "Conversion", Type::OptionalRecord(&CONVERSION)),
        Field("preserveUnknownFields", "PreserveUnknownFields", Type::Flag),
    ],
};

static NAMES: Record = Record {
    name: "CustomResourceDefinitionNames",
    fields: &[
        Field("plural", "Plural", STRING),
        Field("singular", "Singular", STRING),
        Field("shortNames", "ShortNames", STRINGS),
        Field("kind", "Kind", STRING),
        Field("listKind", "ListKind", STRING),
        Field("categories", "Categories", STRINGS),
    ],
};

/// The type of `spec.versions[i].schema`.
pub(crate) const SCHEMA_CONTAINER: Type = Type::OptionalRecord(&VALIDATION);
/// The type of `spec.versions[i].subresources`.
pub(crate) const SUBRESOURCES: Type = Type::OptionalRecord(&VERSION_SUBRESOURCES);
/// The type of `spec.versions[i].additionalPrinterColumns`.
pub(crate) const COLUMNS: Type = Type::Records(&COLUMN);
/// The type of `spec.versions[i].selectableFields`.
pub(crate) const SELECTABLE_FIELDS: Type = Type::Records(&SELECTABLE_FIELD);

/// One version.
pub(crate) static VERSION: Record = Record {
    name: "CustomResourceDefinitionVersion",
    fields: &[
        Field("name", "Name", STRING),
        Field("served", "Served", Type::Flag),
        Field("storage", "Storage", Type::Flag),
        Field("deprecated", "Deprecated", Type::Flag),
        Field("deprecationWarning", "DeprecationWarning", OPTIONAL_STRING),
        Field("schema", "Schema", SCHEMA_CONTAINER),
        Field("subresources", "Subresources", SUBRESOURCES),
        Field("additionalPrinterColumns", "AdditionalPrinterColumns", COLUMNS),
        Field("selectableFields", "SelectableFields", SELECTABLE_FIELDS),
    ],
};

static VALIDATION: Record = Record {
    name: "CustomResourceValidation",
    fields: &[Field("openAPIV3Schema", "OpenAPIV3Schema", Type::OptionalRecord(&SCHEMA))],
};

static VERSION_SUBRESOURCES: Record = Record {
    name: "CustomResourceSubresources",
    fields: &[
        Field("status", "Status", Type::OptionalRecord(&STATUS_SUBRESOURCE)),
        Field("scale", "Scale", Type::OptionalRecord(&SCALE_SUBRESOURCE)),
    ],
};

static STATUS_SUBRESOURCE: Record = Record { name: "CustomResourceSubresourceStatus", fields: &[] };

static SCALE_SUBRESOURCE: Record = Record {
    name: "CustomResourceSubresourceScale",
    fields: &[
        Field("specReplicasPath", "SpecReplicasPath", STRING),
        Field("statusReplicasPath", "StatusReplicasPath", STRING),
        Field("labelSelectorPath", "LabelSelectorPath", OPTIONAL_STRING),
    ],
};

static COLUMN: Record = Record {
    name: "CustomResourceColumnDefinition",
    fields: &[
        Field("name", "Name", STRING),
        Field("type", "Type", STRING),
        Field("format", "Format", STRING),
        Field("description", "Description", STRING),
        Field("priority", "Priority", Type::Int("int32")),
        Field("jsonPath", "JSONPath", STRING),
    ],
};

static SELECTABLE_FIELD: Record =
    Record { name: "SelectableField", fields: &[Field("jsonPath", "JSONPath", STRING)] };

static CONVERSION: Record = Record {
    name: "CustomResourceConversion",
    fields: &[
        Field("strategy", "Strategy", Type::Text("v1.ConversionStrategyType")),
        Field("webhook", "Webhook", Type::OptionalRecord(&WEBHOOK_CONVERSION)),
    ],
};

static WEBHOOK_CONVERSION: Record = Record {
    name: "WebhookConversion",
    fields: &[
        Field("clientConfig", "ClientConfig", Type::OptionalRecord(&CLIENT_CONFIG)),
        Field("conversionReviewVersions", "ConversionReviewVersions", STRINGS),
    ],
};

static CLIENT_CONFIG: Record = Record {
    name: "WebhookClientConfig",
    fields: &[
        Field("url", "URL", OPTIONAL_STRING),
        Field("service", "Service", Type::OptionalRecord(&SERVICE_REFERENCE)),
        Field("caBundle", "CABundle", Type::Bytes),
    ],
};

static SERVICE_REFERENCE: Record = Record {
    name: "ServiceReference",
    fields: &[
        Field("namespace", "Namespace", STRING),
        Field("name", "Name", STRING),
        Field("path", "Path", OPTIONAL_STRING),
        Field("port", "Port", Type::OptionalInt("int32")),
    ],
};

static STATUS: Record = Record {
    name: "CustomResourceDefinitionStatus",
    fields: &[
        Field("conditions", "Conditions", Type::Records(&CONDITION)),
        Field("acceptedNames", "AcceptedNames", Type::Record(&NAMES)),
        Field("storedVersions", "StoredVersions", STRINGS),
        Field("observedGeneration", "ObservedGeneration", Type::Int("int64")),
    ],
};

static CONDITION: Record = Record {
    name: "CustomResourceDefinitionCondition",
    fields: &[
        Field("type", "Type", Type::Text("v1.CustomResourceDefinitionConditionType")),
        Field("status", "Status", Type::Text("v1.ConditionStatus")),
        Field("lastTransitionTime", "LastTransitionTime", Type::Time),
        Field("reason", "Reason", STRING),
        Field("message", "Message", STRING),
        Field("observedGeneration", "ObservedGeneration", Type::Int("int64")),
    ],
};

/// A schema.
pub(crate) static SCHEMA: Record = Record {
    name: "JSONSchemaProps",
    fields: &[
        Field("id", "ID", STRING),
        Field("$schema", "Schema", Type::Text("v1.JSONSchemaURL")),
        Field("$ref", "Ref", OPTIONAL_STRING),
        Field("description", "Description", STRING),
        Field("type", "Type", STRING),
        Field("nullable", "Nullable", Type::Flag),
        Field("format", "Format", STRING),
        Field("title", "Title", STRING),
        Field("default", "Default", Type::Any),
        Field("maximum", "Maximum", Type::OptionalFloat),
        Field("exclusiveMaximum", "ExclusiveMaximum", Type::Flag),
        Field("minimum", "Minimum", Type::OptionalFloat),
        Field("exclusiveMinimum", "ExclusiveMinimum", Type::Flag),
        Field("maxLength", "MaxLength", Type::OptionalInt("int64")),
        Field("minLength", "MinLength", Type::OptionalInt("int64")),
        Field("pattern", "Pattern", STRING),
        Field("maxItems", "MaxItems", Type::OptionalInt("int64")),
        Field("minItems", "MinItems", Type::OptionalInt("int64")),
        Field("uniqueItems", "UniqueItems", Type::Flag),
        Field("multipleOf", "MultipleOf", Type::OptionalFloat),
        Field("enum", "Enum", Type::Anys),
        Field("maxProperties", "MaxProperties", Type::OptionalInt("int64")),
        Field("minProperties", "MinProperties", Type::OptionalInt("int64")),
        Field("required", "Required", STRINGS),
        Field("items", "Items", Type::RecordOrList(&SCHEMA)),
        Field("allOf", "AllOf", Type::Records(&SCHEMA)),
        Field("oneOf", "OneOf", Type::Records(&SCHEMA)),
        Field("anyOf", "AnyOf", Type::Records(&SCHEMA)),
        Field("not", "Not", Type::OptionalRecord(&SCHEMA)),
        Field("properties", "Properties", Type::RecordMap(&SCHEMA, SCHEMAS)),
        Field("additionalProperties", "AdditionalProperties", Type::RecordOrFlag(&SCHEMA)),
        Field("patternProperties", "PatternProperties", Type::RecordMap(&SCHEMA, SCHEMAS)),
        Field(
            "dependencies",
            "Dependencies",
            Type::RecordsOrTexts(&SCHEMA, "v1.JSONSchemaDependencies"),
        ),
        Field("additionalItems", "AdditionalItems", Type::RecordOrFlag(&SCHEMA)),
        Field("definitions", "Definitions", Type::RecordMap(&SCHEMA, "v1.JSONSchemaDefinitions")),
        Field("externalDocs", "ExternalDocs", Type::OptionalRecord(&EXTERNAL_DOCUMENTATION)),
        Field("example", "Example", Type::Any),
        Field("x-kubernetes-preserve-unknown-fields", "XPreserveUnknownFields", Type::OptionalFlag),
        Field("x-kubernetes-embedded-resource", "XEmbeddedResource", Type::Flag),
        Field("x-kubernetes-int-or-string", "XIntOrString", Type::Flag),
        Field("x-kubernetes-list-map-keys", "XListMapKeys", STRINGS),
        Field("x-kubernetes-list-type", "XListType", OPTIONAL_STRING),
        Field("x-kubernetes-map-type", "XMapType", OPTIONAL_STRING),
        Field("x-kubernetes-validations", "XValidations", Type::Records(&VALIDATION_RULE)),
    ],
};

static EXTERNAL_DOCUMENTATION: Record = Record {
    name: "ExternalDocumentation",
    fields: &[Field("description", "Description", STRING), Field("url", "URL", STRING)],
};

/// A CEL rule.
static VALIDATION_RULE: Record = Record {
    name: "ValidationRule",
    fields: &[
        Field("rule", "Rule", STRING),
        Field("message", "Message", STRING),
        Field("messageExpression", "MessageExpression", STRING),
        Field("reason", "Reason", Type::OptionalText("v1.FieldValueErrorReason")),
        Field("fieldPath", "FieldPath", STRING),
        Field("optionalOldSelf", "OptionalOldSelf", Type::OptionalFlag),
    ],
};
