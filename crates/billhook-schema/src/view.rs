//! Schemas as they are written, for what shows their text or makes objects of them: explanations,
//! coverage, samples. What decides on objects walks the compiled schema.

use billhook_apimachinery::value::sorted;
use billhook_apimachinery::{FieldPath, Segment};
use serde_json::Value;

use crate::SchemaStep;

/// A written schema, which parts can be read from. A part that is not an object is absent, as are
/// keywords of another type than they should have.
///
/// ```
/// use billhook_schema::SchemaView;
/// use serde_json::json;
///
/// let written = json!({"type": "object", "properties": {"names": {"items": {"type": "string"}}}});
/// let names = SchemaView::new(&written).property("names").unwrap();
/// assert_eq!(names.items().unwrap().text("type"), "string");
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SchemaView<'s>(&'s Value);

impl<'s> SchemaView<'s> {
    /// Creates a view of a schema.
    pub fn new(written: &'s Value) -> Self {
        SchemaView(written)
    }

    /// Returns the schema as it is written.
    pub fn written(self) -> &'s Value {
        self.0
    }

    /// Returns the value of a keyword.
    pub fn keyword(self, name: &str) -> Option<&'s Value> {
        self.0.get(name)
    }

    /// Returns the text of a keyword; empty if absent.
    pub fn text(self, name: &str) -> &'s str {
        self.keyword(name).and_then(Value::as_str).unwrap_or_default()
    }

    /// Returns whether a keyword is true.
    pub fn is_set(self, name: &str) -> bool {
        self.keyword(name).and_then(Value::as_bool) == Some(true)
    }

    /// Returns a size or a count.
    pub fn size(self, name: &str) -> Option<u64> {
        self.keyword(name).and_then(Value::as_u64)
    }

    /// Returns the elements of a keyword that is a list.
    pub fn list(self, name: &str) -> impl Iterator<Item = &'s Value> + use<'s> {
        self.keyword(name).and_then(Value::as_array).into_iter().flatten()
    }

    /// Returns the texts of a keyword that is a list.
    pub fn texts(self, name: &str) -> impl Iterator<Item = &'s str> + use<'s> {
        self.list(name).filter_map(Value::as_str)
    }

    /// Returns the listed properties, in byte order of their names.
    pub fn properties(self) -> impl Iterator<Item = (&'s str, Self)> + use<'s> {
        let listed = self.keyword("properties").and_then(Value::as_object).map(sorted);
        let listed = listed.into_iter().flatten();
        listed.filter_map(|(name, part)| Some((name.as_str(), Self::part(part)?)))
    }

    /// Returns the schema of a listed property.
    pub fn property(self, name: &str) -> Option<Self> {
        self.keyword("properties")?.get(name).and_then(Self::part)
    }

    /// Returns the schema of the members that are not listed.
    pub fn additional(self) -> Option<Self> {
        self.keyword("additionalProperties").and_then(Self::part)
    }

    /// Returns the schema of the elements.
    pub fn items(self) -> Option<Self> {
        self.keyword("items").and_then(Self::part)
    }

    /// Returns the parts one step down: listed properties in byte order of their names, then members
    /// that are not listed, then elements.
    pub fn parts(self) -> impl Iterator<Item = (SchemaStep<'s>, Self)> + use<'s> {
        let listed = self.properties().map(|(name, part)| (SchemaStep::Property(name), part));
        let others = self.additional().map(|part| (SchemaStep::AdditionalProperties, part));
        listed.chain(others).chain(self.items().map(|part| (SchemaStep::Items, part)))
    }

    /// Returns the part for one step into an object, and the step. A listed property comes before the
    /// schema of the others.
    pub fn below<'n>(self, segment: Segment<'n>) -> Option<(SchemaStep<'n>, Self)> {
        match segment {
            Segment::Name(name) | Segment::Key(name) => {
                let listed = self.property(name).map(|part| (SchemaStep::Property(name), part));
                let others = || Some((SchemaStep::AdditionalProperties, self.additional()?));
                listed.or_else(others)
            }
            _ => Some((SchemaStep::Items, self.items()?)),
        }
    }

    /// Returns the part for a field of an object.
    pub fn at(self, field: &FieldPath) -> Option<Self> {
        field.segments().try_fold(self, |view, segment| Some(view.below(segment)?.1))
    }

    fn part(written: &'s Value) -> Option<Self> {
        written.is_object().then_some(SchemaView(written))
    }
}

impl SchemaStep<'_> {
    /// Returns a path in a schema with the step added.
    pub fn add_to(self, path: FieldPath) -> FieldPath {
        match self {
            SchemaStep::Property(name) => path.name("properties").name(name),
            SchemaStep::AdditionalProperties => path.name("additionalProperties"),
            SchemaStep::Items => path.name("items"),
        }
    }
}

/// A version in a written definition.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct WrittenVersion<'d> {
    /// Its name; empty if it has none.
    pub name: &'d str,
    /// Whether it is served.
    pub is_served: bool,
    /// The path of its schema in the definition.
    pub path: FieldPath,
    /// Its schema; none if it has none.
    pub schema: Option<SchemaView<'d>>,
}

impl<'d> WrittenVersion<'d> {
    /// Returns the versions of a definition, in their order.
    pub fn all(definition: &'d Value) -> impl Iterator<Item = Self> + use<'d> {
        let versions = definition.pointer("/spec/versions").and_then(Value::as_array);
        versions.into_iter().flatten().enumerate().map(|(index, version)| {
            let path = FieldPath::default().name("spec").name("versions").index(index);
            WrittenVersion {
                name: version.get("name").and_then(Value::as_str).unwrap_or_default(),
                is_served: version.get("served").and_then(Value::as_bool) == Some(true),
                path: path.name("schema").name("openAPIV3Schema"),
                schema: version.pointer("/schema/openAPIV3Schema").and_then(SchemaView::part),
            }
        })
    }

    /// Returns the version of a name.
    pub fn named(definition: &'d Value, name: &str) -> Option<Self> {
        Self::all(definition).find(|version| version.name == name)
    }
}
