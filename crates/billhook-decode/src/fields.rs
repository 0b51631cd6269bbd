//! The known fields of metadata, with their names prepared for comparing them with text.

use billhook_apimachinery::metadata::ObjectMeta;
use billhook_apimachinery::record::{Field, Record, Type, TypedRecord};
use billhook_schema::props::JsonSchemaProps;
use billhook_schema::{CompileOptions, CompiledSchema, NodeRef, PropertyRef};

/// The fields of a record.
#[derive(Debug)]
pub(crate) struct Fields {
    /// Only for finding fields by name.
    names: CompiledSchema,
    /// By position in the order of names.
    kinds: Vec<FieldKind>,
    /// The positions of the fields that are always written, a bit each.
    required: u32,
}

#[derive(Debug)]
pub(crate) enum FieldKind {
    /// The type of its values, and whether it is written even if it is empty.
    Plain(Type, bool),
    /// A list of records with these fields.
    Records(Fields),
}

impl Fields {
    /// The fields of metadata. Where `creationTimestamp` is written even if it is not set, only
    /// the slower path writes it (KV-01).
    pub(crate) fn object_meta(writes_unset_time: bool) -> Self {
        let mut fields = Fields::new(ObjectMeta::record());
        let time = fields.names().property_named(b"creationTimestamp");
        let time = time.filter(|_| writes_unset_time).map_or(0, |time| 1 << time.position());
        fields.required |= time;
        fields
    }

    fn new(record: &'static Record) -> Self {
        let mut fields = record.fields.to_vec();
        fields.sort_by_key(|field| field.name);
        let mut schema = JsonSchemaProps::default();
        let named = |field: &Field| (field.name.to_owned(), Box::default());
        schema.properties = Some(fields.iter().map(named).collect());
        let mut options = CompileOptions::default();
        options.resource_root = false;
        let names = CompiledSchema::of_part(&schema, options);
        let required = fields
            .iter()
            .enumerate()
            .fold(0, |bits, (position, field)| bits | u32::from(field.is_required) << position);
        let kinds = fields.iter().map(FieldKind::new).collect();
        Fields { names, kinds, required }
    }

    #[inline]
    pub(crate) fn names(&self) -> NodeRef<'_> {
        self.names.root()
    }

    #[inline]
    pub(crate) fn kind(&self, field: PropertyRef<'_>) -> Option<&FieldKind> {
        self.kinds.get(field.position())
    }

    /// Whether all that are always written were seen.
    #[inline]
    pub(crate) fn has_required(&self, seen: u32) -> bool {
        self.required & !seen == 0
    }
}

impl FieldKind {
    fn new(field: &Field) -> Self {
        match field.type_.unnamed() {
            Type::List(Type::Record(table)) => FieldKind::Records(Fields::new(table())),
            type_ => FieldKind::Plain(type_, field.is_required),
        }
    }
}
