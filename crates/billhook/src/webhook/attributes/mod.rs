//! The attributes of a request (WM-01).

mod review;

pub use review::AdmissionRequest;

use std::fmt;
use std::str::FromStr;

use billhook_apimachinery::value::DeepValue;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::webhook::configuration::GROUP;
use crate::webhook::exempt::is_exempt_kind;
use billhook_apimachinery::UserInfo;
use billhook_apimachinery::{GroupVersionKind, GroupVersionResource};

/// The operation of a request (WM-02).
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "UPPERCASE")]
pub enum Operation {
    /// Creates an object.
    #[default]
    Create,
    /// Changes an object; patches do this too.
    Update,
    /// Deletes an object.
    Delete,
    /// Opens a connection, such as `pods/exec`.
    Connect,
}

impl Operation {
    /// All operations.
    pub const ALL: [Operation; 4] =
        [Operation::Create, Operation::Update, Operation::Delete, Operation::Connect];

    /// The name in rules and reviews, e.g. `CREATE`.
    pub fn name(self) -> &'static str {
        match self {
            Operation::Create => "CREATE",
            Operation::Update => "UPDATE",
            Operation::Delete => "DELETE",
            Operation::Connect => "CONNECT",
        }
    }

    /// Returns the options of a request that sets none, e.g. an empty `CreateOptions`; none for
    /// connections, whose options are their object (AR-19).
    pub fn empty_options(self) -> Option<Map<String, Value>> {
        let kind = match self {
            Operation::Create => "CreateOptions",
            Operation::Update => "UpdateOptions",
            Operation::Delete => "DeleteOptions",
            Operation::Connect => return None,
        };
        let mut options = Map::new();
        for (name, text) in [("apiVersion", "meta.k8s.io/v1"), ("kind", kind)] {
            options.insert(name.to_owned(), text.into());
        }
        Some(options)
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A text that names no [`Operation`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown operation `{0}`; expected CREATE, UPDATE, DELETE or CONNECT")]
pub struct UnknownOperationError(String);

impl FromStr for Operation {
    type Err = UnknownOperationError;

    fn from_str(text: &str) -> Result<Self, UnknownOperationError> {
        let named = Operation::ALL.into_iter().find(|operation| operation.name() == text);
        named.ok_or_else(|| UnknownOperationError(text.to_owned()))
    }
}

/// A request as admission sees it (WM-01).
///
/// The constructors take what the operation needs, and find name and namespace in the object's
/// metadata; both can be set afterwards.
///
/// ```
/// use billhook::{GroupVersionKind, GroupVersionResource};
/// use billhook::webhook::AdmissionAttributes;
/// use serde_json::json;
///
/// let object = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "namespace": "n"}});
/// let request = AdmissionAttributes::create(
///     GroupVersionKind::new("", "v1", "Pod"),
///     GroupVersionResource::new("", "v1", "pods"),
///     object,
/// );
/// assert_eq!((request.name.as_str(), request.namespace.as_str()), ("a", "n"));
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct AdmissionAttributes {
    /// The operation of the request.
    pub operation: Operation,
    /// The kind of the object in the request.
    pub kind: GroupVersionKind,
    /// The resource that the client addressed.
    pub resource: GroupVersionResource,
    /// The subresource; may be empty.
    pub subresource: String,
    /// The name of the object; empty while it is not known yet.
    pub name: String,
    /// The namespace; for a Namespace object its own name, for other objects without one empty.
    pub namespace: String,
    /// The new object, or the options of a connection.
    pub object: Option<DeepValue>,
    /// The object as it is stored.
    pub old_object: Option<DeepValue>,
    /// The options of the operation.
    pub options: Option<DeepValue>,
    /// Whether nothing will be stored.
    pub dry_run: bool,
    /// The user who makes the request.
    pub user: UserInfo,
}

impl AdmissionAttributes {
    /// The creation of an object.
    pub fn create(
        kind: GroupVersionKind,
        resource: GroupVersionResource,
        object: impl Into<DeepValue>,
    ) -> Self {
        Self::new(Operation::Create, kind, resource, Some(object.into()), None)
    }

    /// A change of an object, whether by replacement or by a patch.
    pub fn update(
        kind: GroupVersionKind,
        resource: GroupVersionResource,
        object: impl Into<DeepValue>,
        old_object: impl Into<DeepValue>,
    ) -> Self {
        let (object, old_object) = (object.into(), old_object.into());
        Self::new(Operation::Update, kind, resource, Some(object), Some(old_object))
    }

    /// The deletion of an object.
    pub fn delete(
        kind: GroupVersionKind,
        resource: GroupVersionResource,
        old_object: impl Into<DeepValue>,
    ) -> Self {
        Self::new(Operation::Delete, kind, resource, None, Some(old_object.into()))
    }

    /// A connection to a subresource of an object, with the options of the connection, e.g.
    /// PodExecOptions.
    pub fn connect(
        kind: GroupVersionKind,
        resource: GroupVersionResource,
        subresource: impl Into<String>,
        options: impl Into<DeepValue>,
    ) -> Self {
        Self::new(Operation::Connect, kind, resource, Some(options.into()), None)
            .subresource(subresource)
    }

    fn new(
        operation: Operation,
        kind: GroupVersionKind,
        resource: GroupVersionResource,
        object: Option<DeepValue>,
        old_object: Option<DeepValue>,
    ) -> Self {
        let metadata =
            [&object, &old_object].into_iter().flatten().find_map(|object| object.get("metadata"));
        let text = |name: &str| {
            let text = metadata.and_then(|metadata| metadata.get(name)).and_then(Value::as_str);
            text.unwrap_or_default().to_owned()
        };
        let name = text("name");
        let namespace = if resource.is_namespaces() { name.clone() } else { text("namespace") };
        AdmissionAttributes {
            operation,
            kind,
            resource,
            subresource: String::new(),
            name,
            namespace,
            object,
            old_object,
            options: None,
            dry_run: false,
            user: UserInfo::default(),
        }
    }

    /// The request for a subresource, e.g. `status`.
    #[must_use]
    pub fn subresource(mut self, subresource: impl Into<String>) -> Self {
        self.subresource = subresource.into();
        self
    }

    /// The request with another name.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// The request in another namespace.
    #[must_use]
    pub fn namespace(mut self, namespace: impl Into<String>) -> Self {
        self.namespace = namespace.into();
        self
    }

    /// The request with the options of its operation.
    #[must_use]
    pub fn options(mut self, options: impl Into<DeepValue>) -> Self {
        self.options = Some(options.into());
        self
    }

    /// The request with or without storing anything.
    #[must_use]
    pub fn dry_run(mut self, dry_run: bool) -> Self {
        self.dry_run = dry_run;
        self
    }

    /// The request of another user.
    #[must_use]
    pub fn user(mut self, user: UserInfo) -> Self {
        self.user = user;
        self
    }

    /// Whether the request is for a kind of admission configuration, which no webhook sees
    /// (WM-03).
    pub fn is_exempt(&self) -> bool {
        self.kind.group == GROUP && is_exempt_kind(&self.kind.kind)
    }
}
