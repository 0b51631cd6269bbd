//! Compiling match conditions: the variables that they have (WM-73, WM-74), and the check of an
//! expression when a configuration is written (WCF-74).

use std::sync::LazyLock;

use billhook_apimachinery::KubernetesVersion;
use billhook_cel::schema::{SchemaType, object_type};
use billhook_cel::{Environment, Libraries, Program, Type};

/// The variables of the authorizer (WM-73).
pub(super) const AUTHORIZER: &str = "authorizer";
pub(super) const REQUEST_RESOURCE: &str = "authorizer.requestResource";

/// WM-87, WM-88, WCF-74, WCF-76.
pub(super) fn compile(
    expression: &str,
    kubernetes: KubernetesVersion,
    libraries: Libraries,
    has_params: bool,
) -> Result<Program, String> {
    let environment = match has_params {
        true => CONDITIONS.clone().variable("params", Type::Dyn),
        false => CONDITIONS.clone(),
    };
    let environment = environment.kubernetes(kubernetes).libraries(libraries);
    let program = environment.compile(expression).map_err(|error| error.detail())?;
    match program.result_type() {
        Type::Bool => Ok(program),
        other => Err(format!("must evaluate to bool but got {}", other.declared_name())),
    }
}

/// JSON without a schema.
pub(super) static ANY: SchemaType = SchemaType::ANY;

/// WM-74.
pub(super) static REQUEST: LazyLock<SchemaType> = LazyLock::new(|| {
    let string = || SchemaType::STRING;
    let kind = || {
        let fields = [("group", string()), ("version", string()), ("kind", string())];
        object_type("kubernetes.GroupVersionKind", fields)
    };
    let resource = || {
        let fields = [("group", string()), ("version", string()), ("resource", string())];
        object_type("kubernetes.GroupVersionResource", fields)
    };
    let user = object_type(
        "kubernetes.UserInfo",
        [
            ("username", string()),
            ("uid", string()),
            ("groups", SchemaType::list(string())),
            ("extra", SchemaType::map(SchemaType::list(string()))),
        ],
    );
    object_type(
        "kubernetes.AdmissionRequest",
        [
            ("kind", kind()),
            ("resource", resource()),
            ("subResource", string()),
            ("requestKind", kind()),
            ("requestResource", resource()),
            ("requestSubResource", string()),
            ("name", string()),
            ("namespace", string()),
            ("operation", string()),
            ("userInfo", user),
            ("dryRun", SchemaType::BOOL),
            ("options", SchemaType::ANY),
        ],
    )
});

/// The type of `namespaceObject` (WM-73, PO-46).
fn namespace_type() -> SchemaType {
    let string = || SchemaType::STRING;
    let texts = || SchemaType::map(string());
    let metadata = object_type(
        "kubernetes.NamespaceMetadata",
        [
            ("name", string()),
            ("generateName", string()),
            ("namespace", string()),
            ("labels", texts()),
            ("annotations", texts()),
            ("UID", string()),
            ("creationTimestamp", SchemaType::TIMESTAMP),
            ("deletionGracePeriodSeconds", SchemaType::INT),
            ("deletionTimestamp", SchemaType::TIMESTAMP),
            ("generation", SchemaType::INT),
            ("resourceVersion", string()),
            ("finalizers", SchemaType::list(string())),
        ],
    );
    let spec =
        object_type("kubernetes.NamespaceSpec", [("finalizers", SchemaType::list(string()))]);
    let condition = object_type(
        "kubernetes.NamespaceCondition",
        ["type", "status", "reason", "message"]
            .map(|name| (name, string()))
            .into_iter()
            .chain([("lastTransitionTime", SchemaType::TIMESTAMP)]),
    );
    let status = object_type(
        "kubernetes.NamespaceStatus",
        [("conditions", SchemaType::list(condition)), ("phase", string())],
    );
    let fields = [("metadata", metadata), ("spec", spec), ("status", status)];
    object_type("kubernetes.Namespace", fields)
}

/// The variables of all expressions about requests.
pub(super) static ENVIRONMENT: LazyLock<Environment> = LazyLock::new(|| {
    Environment::default()
        .variable("object", Type::Dyn)
        .variable("oldObject", Type::Dyn)
        .variable("request", REQUEST.to_type())
        .variable("namespaceObject", namespace_type().to_type())
});

/// Those of match conditions.
static CONDITIONS: LazyLock<Environment> = LazyLock::new(|| {
    ENVIRONMENT
        .clone()
        .variable(AUTHORIZER, Type::authorizer())
        .variable(REQUEST_RESOURCE, Type::resource_check())
});
