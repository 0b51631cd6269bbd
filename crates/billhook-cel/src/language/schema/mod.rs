//! The types that CEL sees for parts of an object (CE-04 to CE-07), made from the schema as it is
//! written.

mod convert;
pub(crate) mod names;
mod object_meta;

use std::collections::BTreeMap;
use std::sync::Arc;

use billhook_apimachinery::KubernetesVersion;
use billhook_apimachinery::value::grow;
use billhook_schema::JsonSchemaProps;

use crate::language::types::{ObjectType, Type};

/// How CEL sees a part of an object: its schema without what only validation needs.
#[derive(Clone, Debug)]
pub struct SchemaType {
    /// Its type.
    pub kind: SchemaKind,
    /// How lists are compared and added (CE-04).
    pub list_type: ListType,
    /// The most elements, members or bytes there may be, by the schema or by what a request holds
    /// (CE-25); none for what has no size.
    pub max: Option<u64>,
    /// The fewest bytes of JSON.
    pub(crate) min_bytes: u64,
    /// The values that the schema allows.
    pub(crate) bounds: Option<Box<Bounds>>,
    /// Whether members of an object that are null do not count when it is compared; otherwise such
    /// an object is equal to none (KV-40).
    pub(crate) ignores_nulls: bool,
    /// The properties that expressions cannot name, by their names in objects.
    hidden: BTreeMap<Arc<str>, Arc<SchemaType>>,
    type_: Type,
}

/// The type of a part of an object.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum SchemaKind {
    /// A string.
    String,
    /// A string that is base64.
    Bytes,
    /// A string that is a date.
    Date,
    /// A string that is a point in time.
    DateTime,
    /// A string that is a length of time.
    Duration,
    /// A boolean.
    Bool,
    /// An integer.
    Int,
    /// A number.
    Double,
    /// An integer or a string.
    IntOrString,
    /// A list.
    List(Arc<SchemaType>),
    /// A map from strings.
    Map(Arc<SchemaType>),
    /// An object with fields: by the names expressions use, with the names they have in objects.
    Object {
        /// The name of the type.
        name: Arc<str>,
        /// The fields.
        fields: BTreeMap<Arc<str>, Field>,
    },
    /// JSON without a schema: integers that fit are int, other numbers double, objects are maps.
    Any,
}

/// Bounds of values. Servers do not know of them in expressions.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Bounds {
    /// The least number or size.
    pub(crate) min: f64,
    /// The greatest.
    pub(crate) max: f64,
    /// The texts of an enum.
    pub(crate) texts: Box<[Box<str>]>,
}

impl Bounds {
    /// One number; of a condition, 1 says that it is true and 0 that it is false.
    pub(crate) fn exactly(number: f64) -> Self {
        Bounds { min: number, max: number, texts: Box::default() }
    }
}

/// A field of an object.
#[derive(Clone, Debug)]
pub struct Field {
    /// Its name in objects.
    pub json_name: Arc<str>,
    /// Its type.
    pub schema: Arc<SchemaType>,
}

/// The list type of a list (VV-40, VV-42).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ListType {
    /// A list.
    Atomic,
    /// A set: the order doesn't matter.
    Set,
    /// A map by the values of some fields: the order doesn't matter.
    Map(Vec<Arc<str>>),
}

impl SchemaType {
    /// A string.
    pub const STRING: SchemaType = SchemaType::simple(SchemaKind::String, Type::String, 2);
    /// A boolean.
    pub const BOOL: SchemaType = SchemaType::simple(SchemaKind::Bool, Type::Bool, 4);
    /// An integer.
    pub const INT: SchemaType = SchemaType::simple(SchemaKind::Int, Type::Int, 1);
    /// A number.
    pub const DOUBLE: SchemaType = SchemaType::simple(SchemaKind::Double, Type::Double, 1);
    /// A point in time.
    pub const TIMESTAMP: SchemaType = SchemaType::simple(SchemaKind::DateTime, Type::Timestamp, 21);
    /// JSON without a schema.
    pub const ANY: SchemaType = SchemaType::simple(SchemaKind::Any, Type::Dyn, 1);

    /// The type of the values at a node of a structural schema; none if CEL has none for it (CE-04).
    /// `is_resource` says that a whole resource is there: the top of a custom resource or an
    /// embedded one (CE-05). `kubernetes` is the version of the server.
    pub fn of(
        schema: &JsonSchemaProps,
        is_resource: bool,
        kubernetes: KubernetesVersion,
    ) -> Option<SchemaType> {
        convert::convert(schema, is_resource, kubernetes)
    }

    /// A list of values of a type.
    pub fn list(of: SchemaType) -> SchemaType {
        SchemaType::list_of(Arc::new(of), ListType::Atomic)
    }

    /// A map from strings to values of a type.
    pub fn map(of: SchemaType) -> SchemaType {
        SchemaType::map_of(Arc::new(of))
    }

    /// The type of the field that expressions know by this name.
    pub fn field(&self, name: &str) -> Option<&Arc<SchemaType>> {
        match &self.kind {
            SchemaKind::Object { fields, .. } => fields.get(name).map(|field| &field.schema),
            _ => None,
        }
    }

    /// The type of the property with this name in objects, whether or not expressions can name it.
    pub fn property(&self, json_name: &str) -> Option<&Arc<SchemaType>> {
        match names::escape(json_name) {
            Some(name) => self.field(&name),
            None => self.hidden.get(json_name),
        }
    }

    /// The type of the elements of a list or of the values of a map.
    pub fn elements(&self) -> Option<&Arc<SchemaType>> {
        match &self.kind {
            SchemaKind::List(of) | SchemaKind::Map(of) => Some(of),
            _ => None,
        }
    }

    pub(crate) fn is_map(&self) -> bool {
        matches!(self.kind, SchemaKind::Map(_))
    }

    /// The type of CEL.
    pub fn to_type(&self) -> Type {
        self.type_.clone()
    }

    /// The same with bounds of its values.
    pub(crate) fn bounded(mut self, bounds: Bounds) -> SchemaType {
        self.bounds = Some(Box::new(bounds));
        self
    }

    const fn simple(kind: SchemaKind, type_: Type, min_bytes: u64) -> SchemaType {
        let list_type = ListType::Atomic;
        let hidden = BTreeMap::new();
        SchemaType {
            kind,
            list_type,
            max: None,
            min_bytes,
            bounds: None,
            ignores_nulls: true,
            hidden,
            type_,
        }
    }

    fn list_of(of: Arc<SchemaType>, list_type: ListType) -> SchemaType {
        let type_ = element_type(&of).list();
        let mut list = SchemaType::simple(SchemaKind::List(of), type_, 2);
        list.list_type = list_type;
        list
    }

    fn map_of(of: Arc<SchemaType>) -> SchemaType {
        let type_ = element_type(&of).map();
        SchemaType::simple(SchemaKind::Map(of), type_, 2)
    }

    fn object_of(name: Arc<str>, fields: BTreeMap<Arc<str>, Field>) -> SchemaType {
        let types = fields.iter().map(|(name, field)| (Arc::clone(name), field.schema.to_type()));
        let type_ = ObjectType::new(Arc::clone(&name), types.collect());
        let kind = SchemaKind::Object { name, fields };
        SchemaType::simple(kind, Type::Object(Arc::new(type_)), 2)
    }
}

/// An object with these fields, whose names stand for themselves in expressions. The name of the
/// type must differ from those of other types of the same environment.
pub fn object_type<'n>(
    name: &str,
    fields: impl IntoIterator<Item = (&'n str, SchemaType)>,
) -> SchemaType {
    let field = |(name, schema): (&str, SchemaType)| {
        let name: Arc<str> = name.into();
        (Arc::clone(&name), Field { json_name: name, schema: Arc::new(schema) })
    };
    SchemaType::object_of(name.into(), fields.into_iter().map(field).collect())
}

/// How many lists and maps may be nested in each other directly before the type gives up: types
/// are walked and dropped by recursion.
const MAX_DIRECTLY_NESTED: usize = 64;

fn element_type(of: &SchemaType) -> Type {
    let mut type_ = &of.type_;
    for _ in 0..MAX_DIRECTLY_NESTED {
        match type_ {
            Type::List(of) | Type::Map(_, of) => type_ = of,
            _ => return of.to_type(),
        }
    }
    Type::Dyn
}

/// Deeply nested types must not overflow the stack.
impl Drop for SchemaType {
    fn drop(&mut self) {
        if matches!(self.kind, SchemaKind::List(_) | SchemaKind::Map(_) | SchemaKind::Object { .. })
        {
            let kind = std::mem::replace(&mut self.kind, SchemaKind::Any);
            let hidden = std::mem::take(&mut self.hidden);
            grow(|| drop((kind, hidden)));
        }
    }
}
