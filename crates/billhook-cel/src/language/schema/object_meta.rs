//! The type of the metadata of objects, as servers publish it.

use std::sync::{Arc, LazyLock};

use billhook_apimachinery::metadata::ObjectMeta;
use billhook_apimachinery::record::{self, Record, Type, TypedRecord};

use super::{Field, ListType, SchemaKind, SchemaType, names};

/// The type of `metadata`. Its sizes are not known: no schema sets them.
static OBJECT_META: LazyLock<Arc<SchemaType>> =
    LazyLock::new(|| Arc::new(of_record(ObjectMeta::record(), "ObjectMeta")));

impl SchemaType {
    /// The type of a resource with all fields of its metadata, of which rules see only the names
    /// (CE-05): as it is published, and as policies are checked against it (PO-92).
    pub fn with_object_meta(mut self) -> SchemaType {
        let SchemaKind::Object { name, fields } = &mut self.kind else { return self };
        let (name, mut fields) = (Arc::clone(name), std::mem::take(fields));
        let metadata = Field { json_name: "metadata".into(), schema: Arc::clone(&OBJECT_META) };
        fields.insert("metadata".into(), metadata);
        let of = SchemaType::object_of(name, fields);
        (self.kind, self.type_) = (of.kind.clone(), of.type_.clone());
        self
    }
}

fn of_record(record: &'static Record, name: &str) -> SchemaType {
    let fields = record.fields.iter().filter_map(|field| {
        let name = format!("{name}.{}", field.name);
        let schema = Arc::new(of_type(field.type_, field.merge.list, &name));
        let field = Field { json_name: field.name.into(), schema };
        Some((names::escape(&field.json_name)?.into(), field))
    });
    SchemaType::object_of(name.into(), fields.collect())
}

fn of_type(type_: Type, merged: record::ListType, name: &str) -> SchemaType {
    match type_ {
        Type::Optional(of) | Type::Named(_, of) => of_type(*of, merged, name),
        Type::Text => SchemaType::STRING,
        Type::Flag => SchemaType::BOOL,
        Type::Int32 | Type::Int64 => SchemaType::INT,
        Type::Time => SchemaType::TIMESTAMP,
        Type::Record(table) => of_record(table(), name),
        Type::Map(of) => SchemaType::map(of_type(*of, record::ListType::Atomic, name)),
        Type::List(of) => {
            let items =
                of_type(*of, record::ListType::Atomic, &format!("{name}{}", names::ELEMENT));
            SchemaType::list_of(Arc::new(items), list_type(merged))
        }
        _ => SchemaType::ANY,
    }
}

fn list_type(merged: record::ListType) -> ListType {
    match merged {
        record::ListType::Atomic => ListType::Atomic,
        record::ListType::Set => ListType::Set,
        record::ListType::Map(keys) => {
            ListType::Map(keys.iter().map(|key| (*key).into()).collect())
        }
    }
}
