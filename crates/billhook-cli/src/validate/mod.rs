//! `billhook validate`: every object finds its definition, version and, for updates, the object it
//! replaces, and goes through the library as a write goes through a server.

mod outcome;
pub(crate) mod report;

use billhook::{CrdVersion, CustomResourceDefinition, DecodeOptions, ValidateOptions};
use billhook_admission::deprecation_warning;
use billhook_apimachinery::split_api_version;
use billhook_apimachinery::value::{DeepValue, deep_clone};
use billhook_findings::DeprecatedField;
use serde_json::{Map, Value};

use crate::args::Validate;
use crate::crds::{Crd, Crds, list};
use crate::decode::from_request;
use crate::identity::Identity;
use crate::input::{Document, readable_documents};
use crate::options::field_validation;
use crate::policy::Policy;
use crate::problem::{Place, Problem, RunError, Status, no_objects};
use crate::stored::Stored;
use crate::work::{self, Done, Event, Pass, Work};
use outcome::{Checked, Outcome};
use report::Printer;

/// The kind of the documents that are read as definitions.
const DEFINITION: &str = "CustomResourceDefinition";

/// A UID, and the end of a generated name, like any other.
const UID: &str = "00000000-0000-4000-8000-000000000000";
const NAME_SUFFIX: &str = "xxxxx";

/// Runs the command.
pub(crate) fn run(command: &Validate) -> Result<Status, RunError> {
    let config = command.server.config(&command.objects)?;
    let options = command.server.crd_options(&config);
    let (crds, mut problems) = Crds::read(&command.crd.paths, &config, &command.objects, options);
    let old = readable_documents(&command.old, &mut problems);
    let old = Stored::new(old, &command.namespace, Some(&crds));
    let mut status = crate::report::problems(&problems);
    if crds.is_empty() && status > Status::Fine {
        return Ok(Status::Unusable);
    }
    let mut printer = Printer::new(command);
    let run = Run { command, crds: &crds, old: &old };
    let policy = Policy::new(&config, &command.known)?;
    let (threads, quiet) = (command.jobs.threads(), command.quiet);
    let pass = Pass { fixing: command.fixing, policy, threads, quiet };
    let end = work::run(&run, &command.objects, pass, |event| printer.add(event))?;
    let skipped = end.others.kinds.iter().filter(|kind| *kind != DEFINITION);
    let skipped: Vec<&str> = skipped.map(String::as_str).collect();
    if command.ignore_missing && !skipped.is_empty() && !command.quiet {
        let text = format!("skipped, as no CRD is known: objects of {}", list(&skipped));
        crate::report::note("note", &text);
    }
    if end.others.is_all && skipped.is_empty() {
        let done = Done::failed(no_objects(&command.objects));
        status = status.max(done.status());
        printer.add(Event::Done(done))?;
    }
    printer.finish(&end.summary)?;
    Ok(status.max(end.status))
}

/// The state that the objects of a run share.
struct Run<'r> {
    command: &'r Validate,
    crds: &'r Crds,
    old: &'r Stored,
}

impl<'r> Work for Run<'r> {
    type Outcome = Outcome<'r>;

    fn takes(&self, value: &Value) -> bool {
        !CustomResourceDefinition::is_definition(value) && !self.is_missing(value)
    }

    fn outcome(&self, document: Document) -> Outcome<'r> {
        let place = document.place.clone();
        let identity = Identity::of(&document.value);
        let mut known = Known::default();
        let result = self.check(document, &identity, &mut known);
        let Known { used, deprecated } = known;
        Outcome { place, identity, used, deprecated, result }
    }

    fn finds_all(&self) -> bool {
        true
    }
}

/// The definition of an object, once it is found, and what it says of the fields.
#[derive(Default)]
struct Known<'r> {
    used: Option<(Crd<'r>, CrdVersion)>,
    deprecated: Vec<DeprecatedField>,
}

impl<'r> Run<'r> {
    /// Whether an object is left out, as nothing is known of its kind.
    fn is_missing(&self, value: &Value) -> bool {
        let Identity { kind: Some(kind), api_version: Some(api_version), .. } = Identity::of(value)
        else {
            return false;
        };
        let (group, _) = split_api_version(&api_version);
        self.command.ignore_missing && !self.crds.has(group, &kind)
    }

    fn check(
        &self,
        document: Document,
        identity: &Identity,
        known: &mut Known<'r>,
    ) -> Result<Checked, Box<Problem>> {
        let place = document.place.clone();
        let (crd, version) = self.crds.version_of(&document.value, identity, &place)?;
        known.deprecated = crd.deprecated(&version, &document.value);
        let is_built_in = crd.is_built_in();
        known.used = Some((crd, version.clone()));
        let old = match self.command.old.is_empty() {
            true => None,
            false => Some(self.old_object(&version, identity, &place)?),
        };
        let (mut object, mut warnings) = if self.command.no_decode {
            (document.value, Vec::new())
        } else {
            let validation = field_validation(self.command.field_validation());
            let done = from_request(&version, document, validation, false)?;
            (done.object, done.warnings)
        };
        let options = ValidateOptions::default();
        let validation = match old {
            None => {
                billhook::remove_server_fields(&mut object);
                if is_built_in {
                    set_server_fields(&mut object);
                }
                version.prepare_create(&mut object, &self.command.namespace);
                version.validate_create(&object, &options)
            }
            Some(mut old) => {
                complete(&mut object, &mut old, &self.command.namespace, &version);
                match self.command.subresource {
                    None => {
                        version.prepare_update(&mut object, &old);
                        version.validate_update(&object, &old, &options)
                    }
                    Some(_) => {
                        version.prepare_status_update(&mut object, &old);
                        version.validate_status_update(&object, &old, &options)
                    }
                }
            }
        };
        warnings.splice(0..0, deprecation_warning(&version));
        warnings.extend(validation.warnings().iter().cloned());
        Ok(Checked { warnings, validation })
    }

    /// The old object of the same group, kind, namespace and name, as a read returns it.
    fn old_object(
        &self,
        version: &CrdVersion,
        identity: &Identity,
        place: &Place,
    ) -> Result<DeepValue, Box<Problem>> {
        let Some(document) = self.old.find(identity) else {
            let name = identity.name.as_deref().unwrap_or_default();
            let message = format!("no old object of this kind with the name `{name}`");
            let help = "without `--old` the object is validated as a new one";
            return Err(Problem::unusable(place.clone(), message).help(help));
        };
        let mut old = document.value.clone();
        version
            .decode_storage_value(&mut old, &DecodeOptions::default())
            .map_err(|error| Problem::unusable(document.place.clone(), error.to_string()))?;
        Ok(old)
    }
}

/// Adds to both objects the fields that a server and a client with the old object have set:
/// without it, nothing but an update without a resource version could be shown.
fn complete(object: &mut Value, old: &mut Value, namespace: &str, version: &CrdVersion) {
    if let Some(metadata) = metadata(old) {
        if version.definition().scope() == billhook::Scope::Namespaced {
            metadata.entry("namespace").or_insert_with(|| Value::from(namespace));
        }
        metadata.entry("resourceVersion").or_insert_with(|| Value::from("1"));
    }
    let (Some(new), Some(old)) = (metadata(object), old.get("metadata")) else { return };
    for name in ["namespace", "resourceVersion", "uid", "creationTimestamp"] {
        if let (None, Some(value)) = (new.get(name), old.get(name)) {
            new.insert(name.to_owned(), deep_clone(value));
        }
    }
}

/// Sets the fields that a server sets before it validates a new object: some kinds take over the UID
/// and the name, which may be generated.
fn set_server_fields(object: &mut Value) {
    let Some(metadata) = metadata(object) else { return };
    metadata.insert("uid".to_owned(), UID.into());
    let text = |name: &str| metadata.get(name).and_then(Value::as_str).unwrap_or_default();
    let (name, base) = (text("name"), text("generateName"));
    if name.is_empty() && !base.is_empty() {
        let generated = format!("{base}{NAME_SUFFIX}");
        metadata.insert("name".to_owned(), generated.into());
    }
}

/// The metadata of an object, added if absent.
fn metadata(object: &mut Value) -> Option<&mut Map<String, Value>> {
    let metadata = object.as_object_mut()?.entry("metadata");
    metadata.or_insert_with(|| Value::Object(Map::new())).as_object_mut()
}
