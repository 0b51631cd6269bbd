//! The macro that describes the fields of a type once.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::field_value::{FieldValue, Written};
use super::{Field, Record, RecordError, check_types, text};
use crate::KubernetesVersion;
use crate::value::DeepValue;

/// A type whose fields [`record!`](crate::record!) describes.
pub trait TypedRecord: FieldValue {
    /// The fields.
    const FIELDS: &'static [Field];

    /// Returns the table of the fields.
    fn record() -> &'static Record;

    /// Returns the names of the fields that are not empty.
    fn set_fields(&self) -> Vec<&'static str>;

    /// Reads a document with the server's errors; also returns the fields that are not known, as
    /// `unknown field "path"`.
    fn read(document: &Value) -> Result<(Self, Vec<String>), RecordError> {
        Self::read_for(document, KubernetesVersion::default())
    }

    /// Like [`TypedRecord::read`], for a server that may not know all fields.
    fn read_for(
        document: &Value,
        kubernetes: KubernetesVersion,
    ) -> Result<(Self, Vec<String>), RecordError> {
        let unknown = check_types(document, Self::record(), kubernetes, None)?;
        Ok((Self::of(document), unknown))
    }

    /// Returns the document, with the fields that a server writes.
    fn to_document(&self) -> DeepValue {
        to_value(self)
    }
}

/// Returns the value of a field as it is in documents.
pub fn to_value(field: &impl FieldValue) -> DeepValue {
    DeepValue::from(serde_json::to_value(Written(field)).unwrap_or_default())
}

/// Reads a record from any deserializer; unknown fields are ignored.
pub fn deserialize<'de, T: TypedRecord, D: Deserializer<'de>>(from: D) -> Result<T, D::Error> {
    let document = DeepValue::from(Value::deserialize(from)?);
    T::read(&document).map(|(record, _)| record).map_err(D::Error::custom)
}

/// Checks that a document, such as a file of configuration, says it is of one of some types, each an API
/// version and a kind. Returns which.
///
/// ```
/// use billhook_apimachinery::record::expect_type;
///
/// let document = serde_json::json!({"apiVersion": "v2", "kind": "Config"});
/// assert_eq!(expect_type(&document, &[("v1", "Config"), ("v2", "Config")]), Ok(("v2", "Config")));
/// assert_eq!(
///     expect_type(&document, &[("v1", "Config")]).unwrap_err().to_string(),
///     "expected Config of v1, found \"Config\" of \"v2\"",
/// );
/// ```
///
/// # Errors
///
/// If it is of another type, or says none.
pub fn expect_type<'t>(
    document: &Value,
    types: &[(&'t str, &'t str)],
) -> Result<(&'t str, &'t str), RecordError> {
    let (version, kind) = (text(document, "apiVersion"), text(document, "kind"));
    if let Some(found) = types.iter().find(|type_| **type_ == (version, kind)) {
        return Ok(*found);
    }
    let expected: Vec<String> =
        types.iter().map(|(version, kind)| format!("{kind} of {version}")).collect();
    let expected = expected.join(" or ");
    Err(RecordError::new(format!("expected {expected}, found \"{kind}\" of \"{version}\"")))
}

/// Describes records: the structs, the tables of their fields, how they are read and written.
///
/// A field has its name in Rust, its type (a [`FieldValue`]) and its name in documents. Then may
/// come: in brackets its number in protobuf, after those of the messages around it whose fields are
/// fields of the record, `in` with the Go type that declares it if that is embedded, `as` with the name in Go if that is not the other one with a capital letter, `of` with
/// the name of a Go type, `@required` if the field is written even if it is empty, and `since` with
/// the first version of the server that knows it, where older ones do not, and `merge` with the key of the items of a list that is merged by it (in
/// brackets if strategic merge patches replace it), or
/// `set` or `patched_set` for a list of texts. `@atomic` after the name
/// of a record says that apply treats it as one value.
///
/// ```
/// use billhook_apimachinery::record;
/// use billhook_apimachinery::record::TypedRecord;
///
/// record! {
///     /// Where a webhook is.
///     #[derive(Debug, Default, PartialEq)]
///     pub struct Target = "Target" {
///         /// The name.
///         pub name: String = "name" @required,
///         /// The URL.
///         pub url: Option<String> = "url" as "URL",
///     }
/// }
///
/// let (target, unknown) = Target::read(&serde_json::json!({"url": "https://x", "port": 1}))?;
/// assert_eq!(unknown, ["unknown field \"port\""]);
/// assert_eq!(*target.to_document(), serde_json::json!({"name": "", "url": "https://x"}));
///
/// let error = Target::read(&serde_json::json!({"url": 1})).unwrap_err();
/// let text = "json: cannot unmarshal number into Go struct field Target.url of type string";
/// assert_eq!(error.to_string(), text);
/// # Ok::<(), record::RecordError>(())
/// ```
#[macro_export]
macro_rules! record {
    ($(
        $(#[$meta:meta])*
        $vis:vis struct $name:ident = $go:literal $(@ $atomic:ident)? {
            $(
                $(#[$field_meta:meta])*
                $field_vis:vis $field:ident: $type:ty = $json:literal
                    $([$($number:literal)+])? $(in $embedded:literal)? $(as $go_field:literal)? $(of $go_type:literal)? $(@ $required:ident)?
                    $(since $since:ident)? $(merge $merge:tt)?
            ),* $(,)?
        }
    )*) => {$(
        $(#[$meta])*
        $vis struct $name { $( $(#[$field_meta])* $field_vis $field: $type, )* }

        impl $crate::record::TypedRecord for $name {
            const FIELDS: &'static [$crate::record::Field] = &[$($crate::record::Field {
                go_name: concat!($($go_field)?),
                is_required: $crate::record!(@required $($required)?),
                since: $crate::record!(@since $($since)?),
                numbers: &[$($($number),+)?],
                embedded: concat!($($embedded)?),
                merge: $crate::record!(@merge $($merge)?),
                ..$crate::record::Field::new(
                    $json,
                    $crate::record!(@type $type $(, $go_type)?),
                )
            }),*];

            fn record() -> &'static $crate::record::Record {
                static RECORD: $crate::record::Record = $crate::record::Record::new(
                    $go,
                    <$name as $crate::record::TypedRecord>::FIELDS,
                )$(.$atomic())?;
                &RECORD
            }

            fn set_fields(&self) -> Vec<&'static str> {
                let fields: &[(&str, bool)] = &[$((
                    $json,
                    $crate::record::FieldValue::is_empty(&self.$field),
                )),*];
                fields.iter().filter(|(_, is_empty)| !is_empty).map(|(name, _)| *name).collect()
            }
        }

        impl $crate::record::FieldValue for $name {
            const TYPE: $crate::record::Type =
                $crate::record::Type::Record(<$name as $crate::record::TypedRecord>::record);

            fn of(value: &$crate::record::private::Value) -> Self {
                $crate::value::grow(|| {
                    let mut record = <$name>::default();
                    for (name, _value) in value.as_object().into_iter().flatten() {
                        match name.as_str() {
                            $($json => record.$field = $crate::record::FieldValue::of(_value),)*
                            _ => {}
                        }
                    }
                    record
                })
            }

            fn write<S: $crate::record::private::Serializer>(
                &self,
                to: S,
            ) -> ::core::result::Result<S::Ok, S::Error> {
                use $crate::record::private::SerializeMap as _;
                $crate::value::grow(|| {
                    let mut members = to.serialize_map(None)?;
                    $(
                        let field = &self.$field;
                        let is_required = $crate::record!(@required $($required)?);
                        if is_required || !$crate::record::FieldValue::is_empty(field) {
                            members.serialize_entry($json, &$crate::record::Written(field))?;
                        }
                    )*
                    members.end()
                })
            }
        }

        impl $crate::record::private::Serialize for $name {
            fn serialize<S: $crate::record::private::Serializer>(
                &self,
                to: S,
            ) -> ::core::result::Result<S::Ok, S::Error> {
                $crate::record::FieldValue::write(self, to)
            }
        }

        impl<'de> $crate::record::private::Deserialize<'de> for $name {
            fn deserialize<D: $crate::record::private::Deserializer<'de>>(
                from: D,
            ) -> ::core::result::Result<Self, D::Error> {
                $crate::record::private::deserialize(from)
            }
        }
    )*};
    (@type $type:ty) => { <$type as $crate::record::FieldValue>::TYPE };
    (@type $type:ty, $go:literal) => {
        $crate::record::Type::Named($go, &<$type as $crate::record::FieldValue>::TYPE)
    };
    (@merge) => { $crate::record::Merge::PLAIN };
    (@merge set) => { $crate::record::Merge::SET };
    (@merge patched_set) => { $crate::record::Merge::PATCHED_SET };
    (@merge [$($key:literal),+]) => { $crate::record::Merge::listed_by(&[$($key),+]) };
    (@merge $key:literal) => { $crate::record::Merge::by_key(&[$key], $key) };
    (@since) => { $crate::KubernetesVersion::V1_32 };
    (@since $since:ident) => { $crate::KubernetesVersion::$since };
    (@required) => { false };
    (@required required) => { true };
}
