//! The options of a deletion (RE-20, RE-21, RE-110).

use billhook::BodyFormat;
use billhook_admission::DeleteOptions;
use billhook_apimachinery::record::{TypedRecord as _, text};
use billhook_apimachinery::{Status, TypeMeta, not_registered_error};
use billhook_decode::read_json;
use serde_json::Value;

use super::context::Context;
use super::options::{Body, invalid};
use crate::request::Query;

/// Reads the options: the body, or the query if the body is empty.
pub(super) fn delete_options(context: &Context<'_>) -> Result<DeleteOptions, Status> {
    let request = context.request;
    let options = if request.body()?.is_empty() {
        of_query(&request.query)?
    } else {
        let read = of_body(&Body::of(request, Some(DeleteOptions::record()))?);
        read.map_err(|error| context.server.settings.edition.unreadable_options(error))?
    };
    invalid("DeleteOptions", &options.validate())?;
    Ok(options)
}

/// Whether nothing is to be deleted.
pub(super) fn is_dry_run(options: &DeleteOptions) -> bool {
    !options.dry_run.is_empty()
}

fn of_query(query: &Query) -> Result<DeleteOptions, Status> {
    let mut options = DeleteOptions::default();
    options.dry_run = query.all("dryRun").map(str::to_owned).collect();
    options.orphan_dependents =
        query.get("orphanDependents").map(|_| query.flag("orphanDependents"));
    options.propagation_policy = query.get("propagationPolicy").map(str::to_owned);
    if query.get("gracePeriodSeconds").is_some() {
        options.grace_period_seconds = Some(query.integer("gracePeriodSeconds")?);
    }
    let given = |name| query.get(name).filter(|text| !text.is_empty()).map(str::to_owned);
    let (uid, resource_version) = (given("uid"), given("resourceVersion"));
    if uid.is_some() || resource_version.is_some() {
        let preconditions = options.preconditions.get_or_insert_default();
        preconditions.uid = uid;
        preconditions.resource_version = resource_version;
    }
    Ok(options)
}

fn of_body(body: &Body) -> Result<DeleteOptions, String> {
    let document = if body.format == BodyFormat::Yaml {
        let document = billhook_yaml::read_document(&body.text);
        document.map_err(|error| error.to_string())?.into_value()
    } else {
        let document = read_json(&body.text);
        let document = document
            .map_err(|error| format!("couldn't get version/kind; json parse error: {error}"))?;
        document.into_value()
    };
    if document.is_null() {
        return Ok(DeleteOptions::default());
    }
    check_kind(&document)?;
    let read = DeleteOptions::read(&document);
    read.map(|(options, _)| options).map_err(|error| error.to_string())
}

/// The body may leave its kind out, but not be of another one.
fn check_kind(body: &Value) -> Result<(), String> {
    const SCHEME: &str = "k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme/register.go:27";
    TypeMeta::of_object(body).map_err(|error| error.to_string())?;
    let kind = text(body, "kind");
    if matches!(kind, "" | "DeleteOptions") {
        return Ok(());
    }
    let version = match text(body, "apiVersion") {
        "" => "meta.k8s.io/v1",
        version => version,
    };
    Err(not_registered_error(kind, version, SCHEME))
}
