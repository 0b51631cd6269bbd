//! Kinds as fixed types: their rules as servers of a version apply them to an object that is read
//! and written, and definitions that are compiled with them.

use std::ptr;
use std::sync::Arc;

use billhook::{CrdError, CrdOptions, CustomResourceDefinition, ObjectType};
use billhook_apimachinery::metadata::subdomain_name;
use billhook_apimachinery::names::{
    dns1035_label, dns1123_label, mask_trailing_hyphen, path_segment,
};
use billhook_apimachinery::record::{Record, RecordError, complete};
use billhook_apimachinery::value::{at, deep_eq};
use billhook_apimachinery::{FieldError, KubernetesVersion, UserInfo};
use serde_json::Value;

use crate::behavior::{Behavior, Findings, WriteContext};
use crate::edition::EDITIONS;
use crate::kind::{Generation, Kind, NameRule};
use crate::values::text;

/// The time of writes that are only tried.
const NO_TIME: &str = "1970-01-01T00:00:00Z";

/// A kind as servers of a version read and write its objects.
#[derive(Clone, Debug)]
pub struct KindType {
    kind: &'static Kind,
    record: &'static Record,
    kubernetes: KubernetesVersion,
    user: UserInfo,
}

impl Kind {
    /// Compiles the kind as servers of a version know it: the definition decodes, prepares and
    /// validates objects as such a server does, defaults and rules of the kind included. None if the
    /// server does not have the kind.
    ///
    /// ```
    /// use billhook::{DecodeOptions, KubernetesVersion, ValidateOptions};
    /// use billhook_kinds::Kind;
    ///
    /// let kind = Kind::named("v1", "ConfigMap").unwrap();
    /// let definition = kind.compile(KubernetesVersion::default()).unwrap()?;
    /// let version = definition.served("v1")?;
    /// let body = br#"{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"},
    ///     "data": {"a b": ""}, "dta": {}}"#;
    /// let decoded = version.decode(body, &DecodeOptions::default())?;
    /// assert_eq!(decoded.warnings(), [r#"unknown field "dta""#]);
    ///
    /// let mut object = decoded.into_object();
    /// version.prepare_create(&mut object, "default");
    /// let validation = version.validate_create(&object, &ValidateOptions::default());
    /// assert_eq!(validation.errors()[0].field().to_string(), "data[a b]");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// The error says that the definition of the kind cannot be compiled.
    pub fn compile(
        &'static self,
        kubernetes: KubernetesVersion,
    ) -> Option<Result<CustomResourceDefinition, CrdError>> {
        let object_type = KindType::new(self, kubernetes)?;
        let definition = self.definition(kubernetes)?;
        let options = CrdOptions::default().kubernetes(kubernetes).built_in(true);
        let options = options.object_type(Arc::new(object_type));
        Some(CustomResourceDefinition::with_options(&definition, &options))
    }
}

impl KindType {
    /// Returns a kind as servers of a version know it; none if they do not have it, or if its fields
    /// are not known.
    pub fn new(kind: &'static Kind, kubernetes: KubernetesVersion) -> Option<Self> {
        let record = kind.record().filter(|_| kind.is_served(kubernetes))?;
        Some(KindType { kind, record, kubernetes, user: UserInfo::default() })
    }

    /// Returns the kind.
    pub fn kind(&self) -> &'static Kind {
        self.kind
    }

    /// Returns the fields of its objects.
    pub fn record(&self) -> &'static Record {
        self.record
    }

    /// Returns the rules of the kind beside its fields.
    pub fn behavior(&self) -> &'static dyn Behavior {
        self.kind.behavior()
    }

    /// Returns the version of the servers.
    pub fn kubernetes(&self) -> KubernetesVersion {
        self.kubernetes
    }

    /// Prepares an object for a write (BK-05): the fields that depend on others or on the stored
    /// object, all that is printed even if it is empty, and the generation.
    pub fn prepare_write(
        &self,
        object: &mut Value,
        old: Option<&Value>,
        context: &WriteContext<'_>,
    ) {
        // The content that counts is what was sent, or what is stored of it.
        let counts_sent = self.kind.generation == Generation::LabelsOrContent;
        if counts_sent {
            complete(object, self.record, self.kubernetes);
            self.set_generation(object, old);
        }
        self.behavior().prepare(object, old, context);
        complete(object, self.record, self.kubernetes);
        if !counts_sent && context.subresource != "status" {
            self.set_generation(object, old);
        }
    }

    /// Validates an object that is created, or that replaces another one.
    pub fn validate_write(
        &self,
        object: &Value,
        old: Option<&Value>,
        context: &WriteContext<'_>,
    ) -> Findings {
        let mut found = Findings::default();
        self.behavior().validate(object, old, context, &mut found);
        found.errors.splice(0..0, self.behavior().validate_finalizers(object, context));
        found
    }

    /// Sets `metadata.generation` as the kind has it (BK-11).
    fn set_generation(&self, object: &mut Value, old: Option<&Value>) {
        let before = old.and_then(|old| at(old, "/metadata/generation"));
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

    fn context(&self, is_status: bool) -> WriteContext<'_> {
        let context = WriteContext::new(self.kubernetes, &self.user, NO_TIME);
        context.subresource(if is_status { "status" } else { "" })
    }
}

impl ObjectType for KindType {
    fn read(&self, object: &mut Value) -> Result<Vec<String>, RecordError> {
        self.behavior().read(object, self.record, self.kubernetes)
    }

    fn convert(&self, object: &mut Value) -> Result<bool, RecordError> {
        let other = Kind::named(text(object, "/apiVersion"), text(object, "/kind"));
        let other = other.filter(|other| !ptr::eq(*other, self.kind));
        let other = other.filter(|other| other.is_same_object(self.kind));
        let Some(other) = other.and_then(|other| KindType::new(other, self.kubernetes)) else {
            return Ok(false);
        };
        other.read(object)?;
        Ok(self.behavior().convert(object, &self.kind.api_version(), self.kubernetes))
    }

    fn record(&self) -> Option<&'static Record> {
        Some(self.record)
    }

    fn prepare(&self, object: &mut Value, old: Option<&Value>, is_status: bool) {
        self.prepare_write(object, old, &self.context(is_status));
    }

    fn validate(
        &self,
        object: &Value,
        old: Option<&Value>,
        is_status: bool,
    ) -> (Vec<FieldError>, Vec<String>) {
        let found = self.validate_write(object, old, &self.context(is_status));
        (found.errors, found.warnings)
    }

    fn takes_status(&self) -> bool {
        self.behavior().takes_status("")
    }

    fn takes_metadata(&self) -> bool {
        self.behavior().takes_metadata()
    }

    fn has_plain_metadata(&self) -> bool {
        self.behavior().has_plain_metadata()
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

    fn group_in_errors(&self) -> Option<&str> {
        self.behavior().group_in_errors()
    }
}

/// Whether the part of an object changes that its generation counts.
fn is_changed(generation: Generation, object: &Value, old: &Value) -> bool {
    let differs = |place: &str| match (at(object, place), at(old, place)) {
        (Some(new), Some(old)) => !deep_eq(new, old),
        (new, old) => new.is_some() || old.is_some(),
    };
    let has_other_content = || {
        let names = |object: &Value| -> Vec<String> {
            object.as_object().into_iter().flatten().map(|(name, _)| name.clone()).collect()
        };
        let mut all = names(object).into_iter().chain(names(old));
        all.any(|name| name != "metadata" && name != "status" && differs(&name))
    };
    match generation {
        Generation::Template => differs("/template"),
        Generation::SpecOrAnnotations => differs("/spec") || differs("/metadata/annotations"),
        Generation::LabelsOrContent => differs("/metadata/labels") || has_other_content(),
        Generation::Spec | Generation::SpecOnUpdate => has_other_content(),
        _ => false,
    }
}

/// Checks a name by the rule that its type declares, which counts bytes (BK-31).
fn declared_name(name: &str, is_prefix: bool) -> Vec<String> {
    let messages = subdomain_name(name, is_prefix).into_iter();
    messages.map(|message| message.replace("253 characters", "253 bytes")).collect()
}

/// Checks a name that is a DNS label. The end of a prefix is not checked if it is a hyphen.
fn label_name(name: &str, is_prefix: bool) -> Vec<String> {
    if is_prefix { dns1123_label(&mask_trailing_hyphen(name)) } else { dns1123_label(name) }
}

/// Checks a name that is a DNS label as older servers want those of services (BK-770).
fn older_label_name(name: &str, is_prefix: bool) -> Vec<String> {
    if is_prefix { dns1035_label(&mask_trailing_hyphen(name)) } else { dns1035_label(name) }
}
