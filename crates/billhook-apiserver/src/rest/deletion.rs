//! The options of a deletion (RE-20, RE-21, RE-110).

use billhook_admission::DeleteOptions;
use billhook_apimachinery::Status;
use billhook_apimachinery::record::TypedRecord as _;
use billhook_decode::read_json;

use super::options::invalid;
use crate::request::{Query, Request};

/// Reads the options: the body, or the query if the body is empty.
pub(super) fn delete_options(request: &Request) -> Result<DeleteOptions, Status> {
    let options = if request.body.is_empty() {
        request.query.check()?;
        of_query(&request.query)
    } else {
        of_body(&request.body)?
    };
    invalid("DeleteOptions", &options.validate())?;
    Ok(options)
}

/// Whether nothing is to be deleted.
pub(super) fn is_dry_run(options: &DeleteOptions) -> bool {
    !options.dry_run.is_empty()
}

fn of_query(query: &Query) -> DeleteOptions {
    let mut options = DeleteOptions::default();
    options.dry_run = query.all("dryRun").map(str::to_owned).collect();
    options.orphan_dependents =
        query.get("orphanDependents").map(|_| query.flag("orphanDependents"));
    options.propagation_policy = query.get("propagationPolicy").map(str::to_owned);
    let (uid, resource_version) = (query.text("uid"), query.text("resourceVersion"));
    if !uid.is_empty() || !resource_version.is_empty() {
        let preconditions = options.preconditions.get_or_insert_default();
        uid.clone_into(&mut preconditions.uid);
        resource_version.clone_into(&mut preconditions.resource_version);
    }
    options
}

fn of_body(body: &[u8]) -> Result<DeleteOptions, Status> {
    let document = read_json(body).map_err(|error| Status::bad_request(error.to_string()))?;
    if document.value().is_null() {
        return Ok(DeleteOptions::default());
    }
    let read = DeleteOptions::read(document.value());
    read.map(|(options, _)| options).map_err(|error| Status::bad_request(error.to_string()))
}
