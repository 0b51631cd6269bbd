//! Coercion of embedded resources (OM-20 to OM-24).

use billhook_apimachinery::metadata::{Invalid, normalize_metadata};
use billhook_apimachinery::value::{deep_clone, dismantle};
use billhook_apimachinery::{Change, ChangeKind, FieldError, Location, Reason};
use billhook_schema::walk::{AllPlaces, At, Located, Place, Places, Report, Rules, walk};
use billhook_schema::{Effects, NodeRef};
use serde_json::{Map, Value};

/// Normalizes the resource fields of all embedded resources in a value that belongs to `node`. With
/// `is_resource` the value itself is treated as one.
///
/// # Errors
///
/// Returns the first error; resources before it are coerced already.
pub fn coerce<R: Report>(
    node: NodeRef<'_>,
    is_resource: bool,
    invalid: Invalid,
    value: &mut Value,
    report: &mut R,
) -> Result<(), FieldError> {
    let mut coercion = Coercion::new(invalid);
    let (at, report) = (AllPlaces::top(node), &mut Located(report));
    if is_resource
        && !node.is_embedded_resource()
        && let Value::Object(members) = value
    {
        coercion.resource(node, members, at, report).map_err(|error| *error)?;
    }
    walk(&mut coercion, node, value, at, report).map_err(|error| *error)
}

/// The rules of coercion, for walks that remember their place.
#[derive(Clone, Copy, Debug)]
pub struct Coercion {
    invalid: Invalid,
}

impl<'s> Rules<'s> for Coercion {
    type Refusal = Box<FieldError>;

    #[inline]
    fn effects(&self) -> Effects {
        Effects::COERCE
    }

    fn resource<R: Report>(
        &mut self,
        node: NodeRef<'s>,
        members: &mut Map<String, Value>,
        at: At<'_, 's, R>,
        report: &mut R,
    ) -> Result<(), Self::Refusal> {
        let Some(place) = R::Places::place(at) else { return Ok(()) };
        self.type_field("apiVersion", node, members, place, report)?;
        self.type_field("kind", node, members, place, report)?;
        match members.get_mut("metadata") {
            Some(metadata) => self.metadata(node, metadata, place, report),
            None => Ok(()),
        }
    }
}

impl Coercion {
    /// Returns the rules that refuse or drop invalid fields.
    pub fn new(invalid: Invalid) -> Self {
        Coercion { invalid }
    }

    /// Checks `apiVersion` or `kind` of a resource at `place`.
    ///
    /// # Errors
    ///
    /// If it is not a string and that is refused (OM-21).
    pub fn type_field<R: Report>(
        &self,
        name: &str,
        node: NodeRef<'_>,
        members: &mut Map<String, Value>,
        place: Place<'_, '_>,
        report: &mut R,
    ) -> Result<(), Box<FieldError>> {
        let Some(value) = members.get(name).filter(|value| !value.is_string()) else {
            return Ok(());
        };
        let at = place.at.name(name);
        if self.invalid == Invalid::Refuse {
            return refuse(node, &at, value, "must be a string");
        }
        if R::IS_ON {
            let values = (Some(deep_clone(value)), None);
            let reason = Reason::new("OM-20", "not a string");
            let kind = ChangeKind::MetadataDropped;
            let schema_path = node.schema_path();
            report.push(Change::new(kind, at.to_path(), values, reason, schema_path));
        }
        if let Some(value) = members.remove(name) {
            dismantle(value);
        }
        Ok(())
    }

    /// Normalizes the metadata of a resource at `place`.
    ///
    /// # Errors
    ///
    /// If it does not decode and that is refused (OM-22).
    pub fn metadata<R: Report>(
        &self,
        node: NodeRef<'_>,
        metadata: &mut Value,
        place: Place<'_, '_>,
        report: &mut R,
    ) -> Result<(), Box<FieldError>> {
        let at = place.at.name("metadata");
        let decoded =
            match (normalize_metadata(metadata, self.invalid, node.dialect()), self.invalid) {
                (Ok(decoded), _) => decoded,
                // Metadata that is not an object stays as it is (OM-24).
                (Err(_), Invalid::Drop) => return Ok(()),
                (Err(error), Invalid::Refuse) => {
                    return refuse(node, &at, metadata, &error.to_string());
                }
            };
        if let Some(decoded) = decoded.changed() {
            report.metadata(metadata, &decoded, &at, node);
            dismantle(std::mem::replace(metadata, decoded.into_inner()));
        }
        Ok(())
    }
}

fn refuse(
    node: NodeRef<'_>,
    at: &Location<'_>,
    value: &Value,
    detail: &str,
) -> Result<(), Box<FieldError>> {
    let error = FieldError::invalid(at.to_path(), deep_clone(value), detail);
    Err(Box::new(error.worded(node.wording())))
}
