//! The known fields of metadata, with their names prepared for comparing them with text.

use billhook_apimachinery::metadata::fields::{Kind, OBJECT_META, Record};
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
    Plain(Kind),
    /// A list of records with these fields.
    Records(Fields),
}

impl Fields {
    /// The fields of metadata.
    pub(crate) fn object_meta() -> Self {
        Fields::new(OBJECT_META)
    }

    fn new(record: Record) -> Self {
        let mut record = record.to_vec();
        record.sort_by_key(|(name, _)| *name);
        let mut schema = JsonSchemaProps::default();
        let named = |(name, _): &(&str, Kind)| ((*name).to_owned(), JsonSchemaProps::default());
        schema.properties = Some(record.iter().map(named).collect());
        let mut options = CompileOptions::default();
        options.resource_root = false;
        let names = CompiledSchema::of_part(&schema, options);
        let is_required = |kind: Kind| matches!(kind, Kind::RequiredString(_));
        let required = record.iter().enumerate().fold(0, |bits, (position, (_, kind))| {
            bits | u32::from(is_required(*kind)) << position
        });
        let kinds = record.iter().map(|(_, kind)| FieldKind::new(*kind)).collect();
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
    fn new(kind: Kind) -> Self {
        match kind {
            Kind::Records { fields, .. } => FieldKind::Records(Fields::new(fields)),
            _ => FieldKind::Plain(kind),
        }
    }
}
