//! `billhook data export`: all objects as a list.

use std::path::Path;

use billhook_apiserver::etcd::{Etcd, EtcdOptions};
use billhook_apiserver::storage::{BackendError, Collection, HistoryLimits, Object, Redb, Storage};
use serde_json::value::RawValue;

use super::{problem, runtime};
use crate::etcd::EtcdArgs;
use crate::problem::{Place, Problem, RunError, Status};
use crate::report;

type Objects = Vec<(Collection, Vec<Object>)>;

pub(super) fn run(file: Option<&Path>, etcd: &EtcdArgs) -> Result<Status, RunError> {
    match (file, etcd.options()?) {
        (Some(file), _) => {
            let objects = Redb::export(file).map_err(|error| problem(file, &error))?;
            print(&Place::path(file), objects)
        }
        (None, Some(options)) => {
            let place = EtcdArgs::place();
            let objects = runtime()?.block_on(of_etcd(options));
            let objects =
                objects.map_err(|error| Problem::unusable(place.clone(), error.to_string()))?;
            print(&place, objects)
        }
        // One of them is required.
        (None, None) => Ok(Status::Fine),
    }
}

async fn of_etcd(options: EtcdOptions) -> Result<Objects, BackendError> {
    let backend = Etcd::open(options).await?;
    let storage = Storage::open(backend, HistoryLimits::default()).await?;
    Ok(storage.objects())
}

/// Prints the stored texts as they are.
fn print(place: &Place, exported: Objects) -> Result<Status, RunError> {
    let mut text = String::from(r#"{"apiVersion":"v1","kind":"List","items":["#);
    let mut separator = "\n";
    for (collection, objects) in exported {
        for object in objects {
            let read: Result<&RawValue, _> = serde_json::from_slice(&object.text);
            let read = read.map_err(|error| {
                let message = format!("{collection} {}: {error}", object.key);
                Problem::unusable(place.clone(), message)
            })?;
            text.push_str(separator);
            text.push_str(read.get());
            separator = ",\n";
        }
    }
    text.push_str("\n]}\n");
    report::write(&text)?;
    Ok(Status::Fine)
}
