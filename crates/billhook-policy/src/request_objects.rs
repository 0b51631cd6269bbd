//! The objects of a request in the kinds that policies match it in (PO-63).

use std::collections::{BTreeMap, BTreeSet};

use billhook::webhook::AdmissionAttributes;
use billhook_apimachinery::GroupVersionKind;
use billhook_apimachinery::value::DeepValue;

use crate::object_model::{ObjectModel, ObjectModelError, unknown_conversion};

/// The new and the old object of a request, in one version.
#[derive(Clone, Debug, Default)]
pub struct RequestObjects {
    /// The new object.
    pub object: Option<DeepValue>,
    /// The old object.
    pub old_object: Option<DeepValue>,
}

impl RequestObjects {
    /// Returns the objects of a request in its own version.
    pub fn of(request: &AdmissionAttributes) -> Self {
        let AdmissionAttributes { object, old_object, .. } = request;
        RequestObjects { object: object.clone(), old_object: old_object.clone() }
    }

    /// Returns the objects in another version, with `apiVersion` and `kind`.
    ///
    /// # Errors
    ///
    /// If an object cannot be converted.
    pub async fn convert(
        &self,
        to: &GroupVersionKind,
        model: &dyn ObjectModel,
    ) -> Result<Self, ObjectModelError> {
        let convert = async |object: &Option<DeepValue>| match object {
            Some(object) => model.convert(object, to).await.map(Some),
            None => Ok(None),
        };
        let (old_object, object) = (convert(&self.old_object).await, convert(&self.object).await);
        Ok(RequestObjects { object: object?, old_object: old_object? })
    }
}

/// The objects of a request in kinds other than its own, or the errors of their conversion. Policies do not
/// wait, so all is converted before they are evaluated.
#[derive(Clone, Debug, Default)]
pub struct ConvertedObjects(BTreeMap<GroupVersionKind, Converted>);

type Converted = Result<RequestObjects, ObjectModelError>;

impl ConvertedObjects {
    /// Converts the objects of a request into kinds, such as
    /// [`PolicySet::validating_kinds`](crate::PolicySet::validating_kinds).
    pub async fn of(
        request: &AdmissionAttributes,
        kinds: BTreeSet<GroupVersionKind>,
        model: &dyn ObjectModel,
    ) -> Self {
        let mut converted = ConvertedObjects::default();
        for kind in kinds {
            let objects = RequestObjects::of(request).convert(&kind, model).await;
            converted.0.insert(kind, objects);
        }
        converted
    }

    /// Returns the objects in a kind.
    pub(crate) fn in_kind(
        &self,
        kind: &GroupVersionKind,
    ) -> Result<RequestObjects, ObjectModelError> {
        self.0.get(kind).cloned().unwrap_or_else(|| Err(unknown_conversion(kind)))
    }
}

impl FromIterator<(GroupVersionKind, Converted)> for ConvertedObjects {
    fn from_iter<I: IntoIterator<Item = (GroupVersionKind, Converted)>>(converted: I) -> Self {
        ConvertedObjects(converted.into_iter().collect())
    }
}
