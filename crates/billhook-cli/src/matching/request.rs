//! Requests: from captured reviews, or made from objects.

use std::path::PathBuf;

use billhook::webhook::{AdmissionAttributes, ApiResource, EquivalentResources};
use billhook::{GroupVersionKind, KubernetesVersion, ObjectType as _, Scope, UserInfo};
use billhook_apimachinery::split_api_version;
use billhook_apimachinery::value::DeepValue;
use billhook_kinds::{Kind, KindType};
use serde_json::{Value, json};

use super::args::{Match, Operation};
use super::subject::Subject;
use crate::crds::{Crds, version_named};
use crate::identity::{Identity, type_meta};
use crate::input::{Document, manifests};
use crate::problem::{Place, Problem};
use crate::stored::Stored;

/// The sources of requests.
pub(super) struct Requests<'r> {
    pub(super) command: &'r Match,
    pub(super) crds: Option<&'r Crds>,
    pub(super) registry: &'r EquivalentResources,
    pub(super) kubernetes: KubernetesVersion,
}

impl Requests<'_> {
    /// All requests, in the order of the files.
    pub(super) fn read(&self) -> Vec<Subject> {
        let mut subjects = Vec::new();
        let old = documents(&self.command.old, &mut subjects);
        let old = Stored::new(old, &self.command.namespace, self.crds);
        for document in documents(&self.command.request, &mut subjects) {
            let read = AdmissionAttributes::from_review(&document.value);
            let request =
                read.map_err(|error| Problem::unusable(document.place.clone(), error.to_string()));
            let identity = Identity::default();
            subjects.push(Subject { place: document.place, identity, request });
        }
        for document in documents(&self.command.objects, &mut subjects) {
            let place = document.place.clone();
            let identity = Identity::of(&document.value);
            let request = self.request(document, &identity, &old);
            subjects.push(Subject { place, identity, request });
        }
        if subjects.is_empty() {
            let paths = self.command.request.iter().chain(&self.command.objects);
            let names: Vec<_> = paths.map(|path| path.to_string_lossy()).collect();
            let place = Place::file(&names.join(", "));
            subjects.push(failed(Problem::unusable(place, "no objects here")));
        }
        subjects
    }

    fn request(
        &self,
        mut document: Document,
        identity: &Identity,
        old: &Stored,
    ) -> Result<AdmissionAttributes, Box<Problem>> {
        let place = document.place.clone();
        let (api_version, kind) = type_meta(&document.value, identity, &place)?;
        let api = self.resource(api_version, kind, &place)?;
        let subresource = self.command.subresource.as_deref().unwrap_or_default();
        let sub_kind = self.registry.kind_for(&api.resource, subresource).cloned();
        if sub_kind.is_none() && !subresource.is_empty() {
            let message = format!("{} has no subresource `{subresource}`", api.resource);
            return Err(Problem::unusable(place, message));
        }
        let sub_kind = sub_kind.unwrap_or_else(|| api.kind.clone());
        if sub_kind == api.kind {
            self.read_built_in(&mut document.value, &sub_kind, &place)?;
        }
        let mut request = match self.command.operation() {
            Operation::Create => api.create(document.value),
            Operation::Delete => api.delete(document.value),
            Operation::Update => {
                let mut old = self.old_object(&document, identity, old)?;
                if sub_kind == api.kind {
                    self.read_built_in(&mut old, &sub_kind, &place)?;
                }
                api.update(document.value, old)
            }
            Operation::Connect => connect(&api, &sub_kind, document.value),
        };
        let is_unnamed = identity.namespace.as_deref().unwrap_or_default().is_empty();
        if api.scope == Scope::Namespaced && is_unnamed {
            request.namespace.clone_from(&self.command.namespace);
        }
        request.kind = sub_kind;
        let user = UserInfo::named(&self.command.user);
        let user = self.command.group.iter().fold(user, UserInfo::group);
        Ok(request.subresource(subresource).user(user).dry_run(self.command.dry_run))
    }

    /// Reads an object of a built-in kind as a server reads a body: with its defaults, and without
    /// fields that the kind does not have.
    fn read_built_in(
        &self,
        object: &mut Value,
        kind: &GroupVersionKind,
        place: &Place,
    ) -> Result<(), Box<Problem>> {
        let known = Kind::named(&kind.api_version(), &kind.kind);
        let Some(known) = known.and_then(|known| KindType::new(known, self.kubernetes)) else {
            return Ok(());
        };
        known.read(object).map(drop).map_err(|error| {
            let GroupVersionKind { kind, version, .. } = kind;
            let message =
                format!("{kind} in version \"{version}\" cannot be handled as a {kind}: {error}");
            Problem::refused(place.clone(), message)
        })
    }

    /// The object as the server has it; the new one itself if none was given at all.
    fn old_object(
        &self,
        document: &Document,
        identity: &Identity,
        old: &Stored,
    ) -> Result<DeepValue, Box<Problem>> {
        if self.command.old.is_empty() {
            return Ok(document.value.clone());
        }
        let found = old.find(identity).map(|old| old.value.clone());
        found.ok_or_else(|| {
            Problem::unusable(document.place.clone(), "no object of this kind and name in `--old`")
        })
    }

    fn resource(
        &self,
        api_version: &str,
        kind: &str,
        place: &Place,
    ) -> Result<ApiResource, Box<Problem>> {
        let built_in = Kind::named(api_version, kind);
        if let Some(kind) = built_in.filter(|kind| kind.is_served(self.kubernetes)) {
            return Ok(kind.api_resource());
        }
        let (group, version) = split_api_version(api_version);
        let Some(crds) = self.crds else {
            let Requests { kubernetes, .. } = self;
            let message =
                format!("Kubernetes {kubernetes} has no kind `{kind}` of `{api_version}`");
            let help = match built_in {
                Some(kind) => format!("Kubernetes {} and later have it", kind.since),
                None => "`--crd` gives the definition of a custom resource".to_owned(),
            };
            return Err(Problem::unusable(place.clone(), message).help(help));
        };
        let crd = crds.find(group, version, kind, place)?;
        Ok(ApiResource::of_version(&version_named(&crd, version, place)?))
    }
}

/// A connection to a subresource of an object, with empty options.
fn connect(api: &ApiResource, kind: &GroupVersionKind, object: DeepValue) -> AdmissionAttributes {
    let options = json!({"apiVersion": kind.api_version(), "kind": kind.kind});
    let named = api.create(object);
    AdmissionAttributes::connect(kind.clone(), api.resource.clone(), "", options)
        .name(named.name)
        .namespace(named.namespace)
}

/// The objects below the paths; problems are added to the subjects.
fn documents(paths: &[PathBuf], subjects: &mut Vec<Subject>) -> Vec<Document> {
    let readable = |found: Result<_, _>| found.map_err(|it| subjects.push(failed(it))).ok();
    manifests(paths).filter_map(readable).collect()
}

fn failed(problem: Box<Problem>) -> Subject {
    let place = problem.place.clone();
    Subject { place, identity: Identity::default(), request: Err(problem) }
}

/// Describes a request, e.g. `CREATE v1 pods/exec `web` in namespace `shop``.
pub(super) fn describe(request: &AdmissionAttributes) -> String {
    let target = request.resource.with_subresource(&request.subresource);
    let mut text = format!("{} {target}", request.operation);
    if !request.name.is_empty() {
        text.push_str(&format!(" `{}`", request.name));
    }
    if !request.namespace.is_empty() && !request.resource.is_namespaces() {
        text.push_str(&format!(" in namespace `{}`", request.namespace));
    }
    text
}

/// The parts of a request, for programs.
pub(super) fn to_value(request: &AdmissionAttributes) -> Value {
    json!({
        "operation": request.operation,
        "kind": request.kind,
        "resource": request.resource,
        "subResource": request.subresource,
        "name": request.name,
        "namespace": request.namespace,
        "dryRun": request.dry_run,
    })
}
