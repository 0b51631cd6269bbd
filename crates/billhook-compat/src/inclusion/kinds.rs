//! Sets of kinds of values, as types tell them apart (VV-10, VV-14).

use billhook_apimachinery::KubernetesVersion;
use billhook_schema::JsonSchemaProps;
use billhook_validation::Format;
use serde_json::Value;

/// A set of kinds. Numbers that count as integers are a kind, all others another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Kinds(u8);

impl Kinds {
    pub(crate) const NULL: Kinds = Kinds(1);
    pub(crate) const BOOL: Kinds = Kinds(1 << 1);
    pub(crate) const WHOLE: Kinds = Kinds(1 << 2);
    pub(crate) const FRACTION: Kinds = Kinds(1 << 3);
    pub(crate) const STRING: Kinds = Kinds(1 << 4);
    pub(crate) const ARRAY: Kinds = Kinds(1 << 5);
    pub(crate) const OBJECT: Kinds = Kinds(1 << 6);
    pub(crate) const ALL: Kinds = Kinds(0x7F);
    const EACH: [Kinds; 7] = [
        Kinds::NULL,
        Kinds::BOOL,
        Kinds::WHOLE,
        Kinds::FRACTION,
        Kinds::STRING,
        Kinds::ARRAY,
        Kinds::OBJECT,
    ];

    /// The kinds that the type and the format of a schema admit (VV-10, VV-12).
    pub(crate) fn of(schema: &JsonSchemaProps, kubernetes: KubernetesVersion) -> Self {
        let type_ = if schema.int_or_string { "" } else { schema.type_.as_str() };
        let has_format = Format::has_effect(type_, &schema.format, kubernetes);
        let kinds = match schema.type_.as_str() {
            _ if schema.int_or_string => Kinds::WHOLE.or(Kinds::STRING),
            "" if has_format => Kinds::NULL,
            "" => return Kinds::ALL,
            "boolean" => Kinds::BOOL,
            "integer" => Kinds::WHOLE,
            "number" => Kinds::WHOLE.or(Kinds::FRACTION),
            "string" => Kinds::STRING,
            "array" => Kinds::ARRAY,
            "object" => Kinds::OBJECT,
            _ => Kinds(0),
        };
        let is_number = schema.int_or_string || matches!(type_, "integer" | "number");
        // A format admits all texts and lists, whatever the type says.
        let kinds = match has_format && !is_number {
            true => kinds.or(Kinds::STRING).or(Kinds::ARRAY),
            false => kinds,
        };
        if schema.nullable { kinds.or(Kinds::NULL) } else { kinds }
    }

    pub(crate) fn or(self, other: Kinds) -> Kinds {
        Kinds(self.0 | other.0)
    }

    pub(crate) fn and(self, other: Kinds) -> Kinds {
        Kinds(self.0 & other.0)
    }

    pub(crate) fn without(self, other: Kinds) -> Kinds {
        Kinds(self.0 & !other.0)
    }

    pub(crate) fn include(self, other: Kinds) -> bool {
        self.0 & other.0 != 0
    }

    pub(crate) fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether all kinds of this set are in another one.
    pub(crate) fn is_within(self, other: Kinds) -> bool {
        self.without(other).is_empty()
    }

    pub(crate) fn each(self) -> impl Iterator<Item = Kinds> {
        Kinds::EACH.into_iter().filter(move |kind| self.include(*kind))
    }

    /// A value of each kind.
    pub(crate) fn values(self) -> Vec<Value> {
        let value = |kind| match kind {
            Kinds::NULL => Value::Null,
            Kinds::BOOL => true.into(),
            Kinds::WHOLE => 1.into(),
            Kinds::FRACTION => 0.5.into(),
            Kinds::STRING => "a".into(),
            Kinds::ARRAY => Value::Array(Vec::new()),
            _ => Value::Object(serde_json::Map::new()),
        };
        self.each().map(value).collect()
    }
}
