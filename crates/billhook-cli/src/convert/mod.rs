//! `billhook convert`: objects in another version, by their definition or its webhook.

pub(crate) mod args;
mod round_trip;

use std::sync::Arc;

use billhook::ClientConfig;
use billhook_admission::{
    Admission, BoxFuture, CallerError, Chain, ConversionCall, StoredObject, WebhookAnswer,
    WebhookCall, WebhookCaller,
};
use billhook_apimachinery::split_api_version;
use billhook_apimachinery::value::DeepValue;
use billhook_webhook_client::HttpsCaller;
use serde_json::Value;
use tokio::runtime::{Builder, Runtime};

use crate::convert::args::Convert;
use crate::convert::round_trip::RoundTrip;
use crate::crds::{Crds, Used, version_named};
use crate::identity::Identity;
use crate::input::{Document, objects, read_file, readable_documents};
use crate::problem::{Place, Problem, RunError, Status};
use crate::report::{self, Objects};
use crate::resolving::resolver;

/// Runs the command.
pub(crate) fn run(command: &Convert) -> Result<Status, RunError> {
    let config = command.server.config(&command.objects)?;
    let options = command.server.crd_options(&config);
    let (crds, mut problems) = Crds::read(&command.crd.paths, &config, &command.objects, options);
    let caller = Caller::new(command).map_err(|problem| problems.push(*problem)).ok();
    let mut status = report::problems(&problems);
    let Some(caller) = caller.filter(|_| status == Status::Fine) else { return Ok(status) };
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let caller = Arc::new(caller);
    if command.round_trip {
        return round_trip(command, &crds, &caller, &runtime);
    }
    let printer = Objects::new(command.output);
    let mut run = Run { command, crds: &crds, used: Used::default(), caller, printer };
    for found in objects(&command.objects) {
        let converted = found.and_then(|document| run.convert(&document, &runtime));
        status = status.max(match converted {
            Ok(object) => {
                run.printer.print(&object)?;
                Status::Fine
            }
            Err(problem) => report::problem(&problem),
        });
    }
    Ok(status)
}

/// Sends the objects of each definition through its other versions.
fn round_trip(
    command: &Convert,
    crds: &Crds,
    caller: &Arc<Caller>,
    runtime: &Runtime,
) -> Result<Status, RunError> {
    let mut problems = Vec::new();
    let objects = readable_documents(&command.objects, &mut problems);
    let mut status = report::problems(&problems);
    if !crds.definitions().any(|definition| round_trip::versions(definition).count() > 1) {
        report::warning("no definition has several versions that are served or stored");
    }
    for definition in crds.definitions() {
        let is_own = |value: &&Value| {
            let identity = Identity::of(value);
            let api_version = identity.api_version.unwrap_or_default();
            split_api_version(&api_version).0 == definition.group()
                && identity.kind.as_deref() == Some(definition.kind())
        };
        let own: Vec<&Value> =
            objects.iter().map(|document| &*document.value).filter(is_own).collect();
        if own.is_empty() && !command.objects.is_empty() {
            continue;
        }
        let admission = Admission::new(definition.clone(), Chain::new(Arc::clone(caller)));
        status = status.max(RoundTrip { definition, admission, runtime }.run(&own)?);
    }
    Ok(status)
}

/// The state that the objects of a run share.
struct Run<'r> {
    command: &'r Convert,
    crds: &'r Crds,
    used: Used,
    caller: Arc<Caller>,
    printer: Objects,
}

impl Run<'_> {
    fn convert(
        &mut self,
        document: &Document,
        runtime: &Runtime,
    ) -> Result<DeepValue, Box<Problem>> {
        let place = document.place.clone();
        let identity = Identity::of(&document.value);
        let (crd, _) = self.crds.version_of(&document.value, &identity, &place)?;
        let to = self.command.to.as_deref().unwrap_or_default();
        let version = version_named(&crd, to, &place)?;
        let notes = self.used.notes(&crd, &version, false);
        notes.iter().for_each(|note| report::warning(note));
        let chain = Chain::new(Arc::clone(&self.caller));
        let admission = Admission::new(crd.definition.clone(), chain);
        let stored = StoredObject::new(billhook::to_json(&document.value));
        let read = runtime.block_on(admission.read(version.name(), &stored));
        read.map_err(|status| Problem::refused(place, status.message))
    }
}

/// Reaches conversion webhooks, where they are or where the options say.
struct Caller {
    https: HttpsCaller,
    url: Option<String>,
    ca_bundle: Option<Vec<u8>>,
}

impl Caller {
    fn new(command: &Convert) -> Result<Self, Box<Problem>> {
        let read = |path: &std::path::PathBuf| {
            let place = Place::path(path);
            read_file(path).map_err(|error| Problem::io(place, &error))
        };
        Ok(Caller {
            https: HttpsCaller::default().resolver(resolver(&command.resolve)),
            url: command.url.clone(),
            ca_bundle: command.ca_bundle.as_ref().map(read).transpose()?,
        })
    }

    /// The address of a webhook, with the changes that the options make.
    fn moved(&self, config: &ClientConfig) -> ClientConfig {
        let mut config = config.clone();
        if let Some(url) = &self.url {
            config.url = Some(url.clone());
            config.service = None;
        }
        if let Some(ca_bundle) = &self.ca_bundle {
            config.ca_bundle.clone_from(ca_bundle);
        }
        config
    }
}

impl WebhookCaller for Caller {
    fn call<'a>(
        &'a self,
        call: WebhookCall<'a>,
    ) -> BoxFuture<'a, Result<WebhookAnswer, CallerError>> {
        self.https.call(call)
    }

    fn convert<'a>(
        &'a self,
        call: ConversionCall<'a>,
    ) -> BoxFuture<'a, Result<WebhookAnswer, CallerError>> {
        Box::pin(async move {
            let config = self.moved(call.client_config);
            let mut call = call;
            call.client_config = &config;
            self.https.convert(call).await
        })
    }
}
