//! `billhook admit`: objects go through the whole write path of a server, webhooks and
//! policies included.

pub(crate) mod args;
mod cluster;
mod found;
mod json;
mod printer;
mod progress;
mod text;

use billhook_apimachinery::split_api_version;
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use billhook::{CrdVersion, FieldValidation, KubernetesVersion, UserInfo};
use billhook_admission::{Admission, Chain, ObjectRequest, RequestOptions, StoredObject};
use billhook_findings::DeprecatedField;
use billhook_webhook_client::{AdmissionConfiguration, HttpsCaller};

use crate::admit::args::{Admit, Operation, Subresource};
use crate::admit::cluster::Cluster;
use crate::admit::found::Telling;
use crate::admit::printer::Printer;
use crate::admit::progress::Waiting;
use crate::crds::{Crd, Crds, Used, version_named};
use crate::decode::from_request;
use crate::findings::{self, About};
use crate::identity::{Identity, type_meta};
use crate::input::{Document, objects};
use crate::namespaces;
use crate::options::field_validation;
use crate::policy::Policy;
use crate::problem::{Place, Problem, RunError, Status};
use crate::resolving::resolver;
use crate::setup::{Origins, Setup};

/// Runs the command.
pub(crate) fn run(command: &Admit) -> Result<Status, RunError> {
    let config = command.server.config(&command.objects)?;
    let policy = Policy::new(&config, &command.known)?;
    let kubernetes = command.server.kubernetes(&config);
    let options = command.server.crd_options(&config);
    let inputs = [command.objects.as_slice(), &command.policies].concat();
    let (crds, problems) = Crds::read(&command.crd.paths, &config, &inputs, options);
    let mut setup = Setup { problems, ..Setup::default() };
    let is_update = matches!(command.operation(), Operation::Update | Operation::Replace);
    if command.subresource.is_some() && !is_update {
        let message = "a subresource is only updated, neither created nor deleted";
        setup.problems.push(*Problem::unusable(Place::file("--subresource"), message));
    }
    let cluster = Cluster::read(command, &crds, kubernetes, &mut setup);
    let mut printer = Printer::new(command, policy);
    let mut status = printer.setup(&mut setup)?;
    if status == Status::Unusable {
        printer.give_up()?;
        return Ok(status);
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let (crds, cluster, origins) = (&crds, &cluster, &setup.origins);
    let (chain, used) = (None, Used::default());
    let mut run = Run { command, kubernetes, crds, cluster, origins, chain, used, printer };
    for found in objects(&command.objects) {
        status = status.max(match found {
            Ok(document) => run.object(document, &runtime)?,
            Err(problem) => run.printer.problem(*problem, Identity::default())?,
        });
    }
    let mut printer = run.printer;
    status =
        status.max(printer.remarks(namespaces::assumed(&cluster.world).into_iter().collect())?);
    Ok(status.max(printer.finish()?))
}

/// The state that the objects of a run share.
struct Run<'r> {
    command: &'r Admit,
    kubernetes: KubernetesVersion,
    crds: &'r Crds,
    cluster: &'r Cluster,
    origins: &'r Origins,
    chain: Option<Chain>,
    used: Used,
    printer: Printer<'r>,
}

/// An object that can be sent: the request, and its way.
struct Prepared<'r> {
    admission: Admission,
    request: ObjectRequest,
    crd: Crd<'r>,
    version: CrdVersion,
    /// The problem with decoding the object strictly.
    undecodable: Option<Box<Problem>>,
    deprecated: Vec<DeprecatedField>,
}

impl<'r> Run<'r> {
    fn object(
        &mut self,
        document: Document,
        runtime: &tokio::runtime::Runtime,
    ) -> io::Result<Status> {
        let place = document.place.clone();
        let identity = Identity::of(&document.value);
        let waiting = Arc::new(Waiting::default());
        let prepared = self.prepare(document, &identity, Arc::clone(&waiting));
        let prepared = match prepared {
            Ok(prepared) => prepared,
            Err(problem) => return self.printer.problem(*problem, identity),
        };
        let Prepared { admission, request, crd, version, undecodable, deprecated } = prepared;
        let notes = self.used.notes(&crd, &version, true);
        let noted =
            self.printer.remarks(notes.iter().map(|note| findings::note(note)).collect())?;
        let mut outcome =
            runtime.block_on(waiting.watch(admission.admit(&request, &self.cluster.world)));
        if let Ok(accepted) = &mut outcome.result
            && !self.command.show_managed_fields
        {
            accepted.leave_out_managed_fields();
        }
        let about = About::new(&place, &identity).version(crd.schema(&version), &version);
        let origins = self.origins;
        let telling = Telling { about, origins, outcome: &outcome, undecodable, deprecated };
        let found = telling.findings();
        Ok(noted.max(self.printer.outcome(&outcome, found, &place, identity)?))
    }

    /// The write path for an object, and the request to send along it.
    fn prepare(
        &mut self,
        document: Document,
        identity: &Identity,
        waiting: Arc<Waiting>,
    ) -> Result<Prepared<'r>, Box<Problem>> {
        let place = document.place.clone();
        let command = self.command;
        let (api_version, kind) = type_meta(&document.value, identity, &place)?;
        let is_scale = api_version == "autoscaling/v1" && kind == "Scale";
        let scales = command.subresource == Some(Subresource::Scale) && is_scale;
        let old = match scales {
            true => self.cluster.old.find_by_name(identity),
            false => self.cluster.old.find(identity),
        };
        // A Scale does not say whose it is; the object does.
        let scaled = old.filter(|_| scales).map(|old| Identity::of(&old.value));
        let (api_version, kind) = match (&scaled, old) {
            (Some(scaled), Some(old)) => type_meta(&old.value, scaled, &old.place)?,
            _ if scales => return Err(no_old_object(identity, place)),
            _ => (api_version, kind),
        };
        let (group, own) = split_api_version(api_version);
        let crd = self.crds.find(group, own, kind, &place).map_err(|problem| match is_scale {
            true => problem.help("a Scale goes to `--subresource scale`"),
            false => problem,
        })?;
        let version = version_named(&crd, command.version.as_deref().unwrap_or(own), &place)?;
        let chain = self.chain()?.observer(waiting);
        let stored = old.map(json);
        let undecodable = self.undecodable(&version, &document);
        let deprecated = crd.deprecated(&version, &document.value);
        let request = self.request(&version, document, stored, identity)?;
        let admission = crd.admission(chain);
        Ok(Prepared { admission, request, crd, version, undecodable, deprecated })
    }

    /// The problem of a strict server with decoding an object: it lists the fields one by one.
    fn undecodable(&self, version: &CrdVersion, document: &Document) -> Option<Box<Problem>> {
        let validation = field_validation(self.command.field_validation);
        if validation != FieldValidation::Strict || self.command.patch.is_some() {
            return None;
        }
        from_request(version, document.clone(), validation, false).err()
    }

    /// The chain, which is made once.
    fn chain(&mut self) -> Result<Chain, Box<Problem>> {
        if let Some(chain) = &self.chain {
            return Ok(chain.clone());
        }
        let chain = Chain::new(self.caller()?)
            .kubernetes(self.kubernetes)
            .webhooks(&self.cluster.configurations)
            .policies(self.cluster.policies.clone())
            .results_in_hook_order(true);
        Ok(self.chain.insert(chain).clone())
    }

    /// The request for an object.
    fn request(
        &self,
        version: &CrdVersion,
        document: Document,
        stored: Option<Vec<u8>>,
        identity: &Identity,
    ) -> Result<ObjectRequest, Box<Problem>> {
        let command = self.command;
        let place = document.place.clone();
        let mut request = match (command.operation(), stored) {
            (Operation::Update, stored) if command.apply => {
                let stored = StoredObject::new(stored.unwrap_or_default());
                ObjectRequest::apply(version.name(), &body(document), &[], "")
                    .stored(stored)
                    .force(command.force)
            }
            (Operation::Create, stored) => {
                let stored = StoredObject::new(stored.unwrap_or_default());
                ObjectRequest::create(version.name(), &body(document)).stored(stored)
            }
            (Operation::Update, stored) => match (&self.cluster.patch, stored) {
                (Some(patch), _) => patch.request(version.name(), &json(&document)),
                (None, Some(old)) => ObjectRequest::update(version.name(), &body(document), &old),
                (None, None) => return Err(no_old_object(identity, place)),
            },
            (Operation::Replace, Some(old)) => {
                ObjectRequest::replace(version.name(), &body(document), &old)
            }
            (Operation::Replace, None) => return Err(no_old_object(identity, place)),
            (Operation::Delete, old) => {
                // What is deleted is the object itself unless something else is stored.
                ObjectRequest::delete(version.name(), &old.unwrap_or_else(|| json(&document)))
            }
        };
        request.namespace = identity.namespace.clone().unwrap_or(command.namespace.clone());
        request.subresource = command.subresource.map(|subresource| match subresource {
            Subresource::Status => billhook_admission::Subresource::Status,
            Subresource::Scale => billhook_admission::Subresource::Scale,
        });
        request.dry_run = command.dry_run;
        command.field_manager().clone_into(&mut request.field_manager);
        request.field_validation = field_validation(command.field_validation);
        request.user = command
            .group
            .iter()
            .fold(UserInfo::named(&command.user), |user, group| user.group(group));
        request.options = RequestOptions::default()
            .deadline(Instant::now() + Duration::from_secs(command.timeout))
            .trace(true)
            .check_idempotence(command.check_idempotence);
        Ok(request)
    }

    fn caller(&self) -> Result<HttpsCaller, Box<Problem>> {
        let caller = HttpsCaller::default().resolver(resolver(&self.command.resolve));
        let Some(path) = &self.command.admission_config else { return Ok(caller) };
        let place = Place::path(path);
        let configuration = AdmissionConfiguration::from_file(path).map_err(|error| {
            let text = error.to_string();
            let text = text.strip_prefix(&format!("{place}: ")).unwrap_or(&text).to_owned();
            Problem::unusable(place, text)
        })?;
        Ok(caller.admission_configuration(configuration))
    }
}

fn no_old_object(identity: &Identity, place: Place) -> Box<Problem> {
    let name = identity.name.as_deref().unwrap_or_default();
    let message = match identity.kind.as_deref() {
        Some("Scale") => format!("no old object with the name `{name}`"),
        _ => format!("no old object of this kind with the name `{name}`"),
    };
    let help = "an update needs the object as it is stored: `--old FILE`";
    Problem::unusable(place, message).help(help)
}

fn json(document: &Document) -> Vec<u8> {
    billhook::to_json(&document.value).into_bytes()
}

/// The text of a document; one of several is written as JSON.
fn body(document: Document) -> Vec<u8> {
    match document.body {
        Some(body) => body.bytes().to_vec(),
        None => json(&document),
    }
}
