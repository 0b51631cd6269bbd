//! The fields of a CustomResourceDefinition and of everything in it (SS-10, CV-06).

use std::sync::Arc;

use billhook_apimachinery::metadata::{ObjectMeta, Time};
use billhook_apimachinery::names::lower_case;
use billhook_apimachinery::record;
use billhook_schema::JsonSchemaProps;

use crate::client_config::ClientConfig;

record! {
    /// A CustomResourceDefinition as documents have it.
    #[derive(Clone, Debug, Default)]
    #[non_exhaustive]
    pub struct DefinitionDocument = "CustomResourceDefinition" {
        /// `CustomResourceDefinition`.
        pub kind: String = "kind",
        /// `apiextensions.k8s.io/v1`.
        pub api_version: String = "apiVersion" as "APIVersion",
        /// The metadata.
        pub metadata: ObjectMeta = "metadata" [1] as "ObjectMeta",
        /// The resource that is wanted.
        pub spec: DefinitionSpec = "spec" [2],
        /// The state that the server observed.
        pub status: DefinitionStatus = "status" [3],
    }

    /// `spec`.
    #[derive(Clone, Debug, Default, PartialEq)]
    #[non_exhaustive]
    pub struct DefinitionSpec = "CustomResourceDefinitionSpec" {
        /// The API group.
        pub group: String = "group" [1] @required,
        /// The names.
        pub names: Names = "names" [3],
        /// `Namespaced` or `Cluster`.
        pub scope: String = "scope" [4] of "v1.ResourceScope" @required,
        /// The versions.
        pub versions: Vec<Version> = "versions" [7] @required,
        /// How objects are converted between versions.
        pub conversion: Option<Conversion> = "conversion" [9],
        /// Whether fields that no schema has are kept.
        pub preserve_unknown_fields: bool = "preserveUnknownFields" [10],
    }

    /// The names of a resource.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct Names = "CustomResourceDefinitionNames" {
        /// The name in URLs.
        pub plural: String = "plural" [1] @required,
        /// The name for a single object on command lines.
        pub singular: String = "singular" [2],
        /// Abbreviations for command lines.
        pub short_names: Vec<String> = "shortNames" [3],
        /// The value of `kind` in objects.
        pub kind: String = "kind" [4] @required,
        /// The value of `kind` in lists.
        pub list_kind: String = "listKind" [5],
        /// Groups of resources this one belongs to.
        pub categories: Vec<String> = "categories" [6],
    }

    /// One version.
    #[derive(Clone, Debug, Default, PartialEq)]
    #[non_exhaustive]
    pub struct Version = "CustomResourceDefinitionVersion" {
        /// The name, e.g. `v1`.
        pub name: String = "name" [1] @required,
        /// Whether there are requests for it.
        pub served: bool = "served" [2] @required,
        /// Whether objects are stored in it.
        pub storage: bool = "storage" [3] @required,
        /// Whether requests for it are answered with a warning.
        pub deprecated: bool = "deprecated" [7],
        /// The text of the warning.
        pub deprecation_warning: Option<String> = "deprecationWarning" [8],
        /// The schema of its objects.
        pub schema: Option<SchemaContainer> = "schema" [4],
        /// Its subresources.
        pub subresources: Option<Subresources> = "subresources" [5],
        /// The columns of tables.
        pub additional_printer_columns: Vec<Column> = "additionalPrinterColumns" [6],
        /// The fields that lists can be selected by.
        pub selectable_fields: Vec<SelectableField> = "selectableFields" [9],
    }

    /// The object that holds a schema.
    #[derive(Clone, Debug, Default, PartialEq)]
    #[non_exhaustive]
    pub struct SchemaContainer = "CustomResourceValidation" {
        /// The schema.
        pub open_api_v3_schema: Option<Arc<JsonSchemaProps>> = "openAPIV3Schema" [1] as "OpenAPIV3Schema",
    }

    /// The subresources of a version.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct Subresources = "CustomResourceSubresources" {
        /// `status`.
        pub status: Option<StatusSubresource> = "status" [1],
        /// `scale`.
        pub scale: Option<ScaleSubresource> = "scale" [2],
    }

    /// The status subresource; it has no fields.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct StatusSubresource = "CustomResourceSubresourceStatus" {}

    /// The scale subresource.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct ScaleSubresource = "CustomResourceSubresourceScale" {
        /// Where the wanted number is.
        pub spec_replicas_path: String = "specReplicasPath" [1] @required,
        /// Where the observed number is.
        pub status_replicas_path: String = "statusReplicasPath" [2] @required,
        /// Where the selector is.
        pub label_selector_path: Option<String> = "labelSelectorPath" [3],
    }

    /// A column of tables.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct Column = "CustomResourceColumnDefinition" {
        /// The heading.
        pub name: String = "name" [1] @required,
        /// The type of the values.
        pub type_: String = "type" [2] @required,
        /// The format of the values.
        pub format: String = "format" [3],
        /// The meaning of the values.
        pub description: String = "description" [4],
        /// 0 for columns that are always shown.
        pub priority: i32 = "priority" [5],
        /// Where the values are.
        pub json_path: String = "jsonPath" [6] as "JSONPath" @required,
    }

    /// A field that lists can be selected by.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct SelectableField = "SelectableField" {
        /// Where it is.
        pub json_path: String = "jsonPath" [1] as "JSONPath" @required,
    }

    /// How objects are converted between versions.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct Conversion = "CustomResourceConversion" {
        /// `None` or `Webhook`.
        pub strategy: String = "strategy" [1] of "v1.ConversionStrategyType" @required,
        /// The webhook.
        pub webhook: Option<ConversionWebhook> = "webhook" [2],
    }

    /// The webhook that converts objects.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct ConversionWebhook = "WebhookConversion" {
        /// Where it is.
        pub client_config: Option<ClientConfig> = "clientConfig" [2],
        /// The versions of ConversionReview that it understands.
        pub conversion_review_versions: Vec<String> = "conversionReviewVersions" [3] @required,
    }

    /// The state that the server observed.
    #[derive(Clone, Debug, Default, PartialEq)]
    #[non_exhaustive]
    pub struct DefinitionStatus = "CustomResourceDefinitionStatus" {
        /// Whether names are accepted, and so on.
        pub conditions: Vec<Condition> = "conditions" [1],
        /// The names that are served.
        pub accepted_names: Names = "acceptedNames" [2],
        /// All versions that objects may be stored in.
        pub stored_versions: Vec<String> = "storedVersions" [3],
        /// The generation of the definition that this is about.
        pub observed_generation: i64 = "observedGeneration" [4] since V1_35,
    }

    /// A condition of a definition.
    #[derive(Clone, Debug, Default, PartialEq)]
    #[non_exhaustive]
    pub struct Condition = "CustomResourceDefinitionCondition" {
        /// The type, e.g. `Established`.
        pub type_: String = "type" [1] of "v1.CustomResourceDefinitionConditionType" @required,
        /// `True`, `False` or `Unknown`.
        pub status: String = "status" [2] of "v1.ConditionStatus" @required,
        /// When the status changed.
        pub last_transition_time: Time = "lastTransitionTime" [3],
        /// Why, for programs.
        pub reason: String = "reason" [4],
        /// Why, for people.
        pub message: String = "message" [5],
        /// The generation of the definition that this is about.
        pub observed_generation: i64 = "observedGeneration" [6] since V1_35,
    }
}

impl Condition {
    /// Whether the condition of a type is true.
    pub fn is_true(&self, type_: &str) -> bool {
        self.type_ == type_ && self.status == "True"
    }
}

impl Names {
    /// Returns the names with those that may be left out (CV-01).
    #[must_use]
    pub fn with_defaults(&self) -> Self {
        let mut names = self.clone();
        if names.singular.is_empty() {
            names.singular = lower_case(&names.kind);
        }
        if names.list_kind.is_empty() && !names.kind.is_empty() {
            names.list_kind = format!("{}List", names.kind);
        }
        names
    }
}
