//! Where the labels of namespaces come from (WM-14 to WM-16).

use std::borrow::Cow;
use std::collections::BTreeMap;

use billhook_apimachinery::message_error;
use serde_json::Value;

message_error! {
    /// The failure of looking up a namespace.
    pub struct NamespaceError;
}

/// The labels of a namespace.
pub type NamespaceLabels = BTreeMap<String, String>;

/// The label that every namespace has of its name.
pub const NAMESPACE_NAME_LABEL: &str = "kubernetes.io/metadata.name";

/// Returns the labels of a Namespace object as selectors see them: with that of its name, which a
/// server adds to each.
pub fn labels_of_namespace(namespace: &Value) -> NamespaceLabels {
    let name = namespace.pointer("/metadata/name").and_then(Value::as_str);
    let given = namespace.pointer("/metadata/labels").and_then(Value::as_object);
    let given = given.into_iter().flatten();
    let given = given.map(|(key, value)| (key.clone(), value.as_str().unwrap_or_default().into()));
    let mut labels: NamespaceLabels = given.collect();
    labels.insert(NAMESPACE_NAME_LABEL.to_owned(), name.unwrap_or_default().to_owned());
    labels
}

/// Returns the labels of a namespace of which only the name is known.
pub fn labels_of_name(name: &str) -> NamespaceLabels {
    NamespaceLabels::from([(NAMESPACE_NAME_LABEL.to_owned(), name.to_owned())])
}

/// The namespaces that are stored. A map from names to labels is one, and so is a function. New
/// methods will have defaults.
///
/// ```
/// use billhook::webhook::{NamespaceLabels, Namespaces};
/// use std::collections::BTreeMap;
///
/// let labels = NamespaceLabels::from([("env".to_owned(), "prod".to_owned())]);
/// let known = BTreeMap::from([("shop".to_owned(), labels)]);
/// assert_eq!(known.labels("shop")?.unwrap()["env"], "prod");
/// assert_eq!(known.labels("other")?, None);
///
/// let broken = |_: &str| Err::<Option<NamespaceLabels>, _>("connection refused".into());
/// assert_eq!(broken.labels("shop").unwrap_err().to_string(), "connection refused");
/// # Ok::<(), billhook::webhook::NamespaceError>(())
/// ```
pub trait Namespaces {
    /// Returns the labels of a namespace; none if it does not exist, which refuses the request with
    /// the server's 404. An error refuses it with a 500.
    fn labels<'n>(&'n self, name: &str)
    -> Result<Option<Cow<'n, NamespaceLabels>>, NamespaceError>;
}

impl Namespaces for BTreeMap<String, NamespaceLabels> {
    fn labels<'n>(
        &'n self,
        name: &str,
    ) -> Result<Option<Cow<'n, NamespaceLabels>>, NamespaceError> {
        Ok(self.get(name).map(Cow::Borrowed))
    }
}

impl<F> Namespaces for F
where
    F: Fn(&str) -> Result<Option<NamespaceLabels>, NamespaceError>,
{
    fn labels<'n>(
        &'n self,
        name: &str,
    ) -> Result<Option<Cow<'n, NamespaceLabels>>, NamespaceError> {
        self(name).map(|found| found.map(Cow::Owned))
    }
}

/// The labels of namespaces by their names: the [`Namespaces`](Namespaces) of a
/// chain.
///
/// ```
/// use billhook::webhook::{Namespaces, namespace_labels};
/// use k8s_openapi::api::core::v1::Namespace;
///
/// # let labels = std::collections::BTreeMap::from([("env".to_owned(), "prod".to_owned())]);
/// let mut shop = Namespace::default();
/// shop.metadata.name = Some("shop".to_owned());
/// shop.metadata.labels = Some(labels);
/// let known = namespace_labels([shop]);
/// assert_eq!(known.labels("shop")?.unwrap()["env"], "prod");
/// # Ok::<(), billhook::webhook::NamespaceError>(())
/// ```
#[cfg(feature = "k8s-openapi")]
pub fn namespace_labels(
    namespaces: impl IntoIterator<Item = k8s_openapi::api::core::v1::Namespace>,
) -> BTreeMap<String, NamespaceLabels> {
    namespaces
        .into_iter()
        .map(|namespace| namespace.metadata)
        .map(|metadata| (metadata.name.unwrap_or_default(), metadata.labels.unwrap_or_default()))
        .collect()
}
