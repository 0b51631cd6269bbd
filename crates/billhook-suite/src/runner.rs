//! Cases against one definition.

use billhook::{
    CrdOptions, CrdVersion, CustomResourceDefinition, DeepValue, KubernetesVersion, ManifestError,
    Status,
};
use billhook_admission::{
    Admission, Chain, JsonPatch, MemoryCluster, ObjectRequest, StoredObject, Unreachable,
};
use billhook_apimachinery::value::deep_clone;
use billhook_generation::set_metadata;
use billhook_schema::WrittenVersion;
use serde_json::Value;

use crate::compare;
use crate::exercise::Sent;
use crate::failure::{CaseStage, Failure};
use crate::install::{REVISION, accepted_definition, body, fields};
use crate::object_case::patch_text;
use crate::runner_error::RunnerError;
use crate::suite::{CreateCase, UpdateCase};

/// Runs cases against a definition, as it is served in one version.
#[derive(Clone, Debug)]
pub struct Runner {
    /// The document, with all its versions.
    document: DeepValue,
    version: String,
    kubernetes: KubernetesVersion,
    definition: CustomResourceDefinition,
    installed: Admission,
}

impl Runner {
    /// Installs a definition of which only one version is left, as on a server of a Kubernetes
    /// version. An empty version stands for the only one.
    ///
    /// # Errors
    ///
    /// If a server would not accept the definition, or if it does not have the version.
    pub fn new(
        definition: &Value,
        version: &str,
        kubernetes: KubernetesVersion,
    ) -> Result<Self, RunnerError> {
        let version = chosen_version(definition, version)?;
        let document = DeepValue::from(deep_clone(definition));
        let definition = served(definition, &version, kubernetes)?;
        let installed = install(definition.clone());
        Ok(Runner { document, version, kubernetes, definition, installed })
    }

    /// Runs a creation.
    ///
    /// # Errors
    ///
    /// How the case fails.
    pub fn create(&self, case: &CreateCase) -> Result<(), Failure> {
        let initial = initial_object(&case.initial)?;
        let request = ObjectRequest::create(&self.version, &body(&initial));
        let created = send(&self.installed, &request);
        match expect(created, CaseStage::Create, &case.expected_error)? {
            Some(stored) => compare(&stored, &case.expected),
            None => Ok(()),
        }
    }

    /// Runs an update.
    ///
    /// # Errors
    ///
    /// How the case fails.
    pub fn update(&self, case: &UpdateCase) -> Result<(), Failure> {
        let initial = initial_object(&case.initial)?;
        let updated = object("updated", &case.updated)?;
        let patched = self.patched(&case.initial_crd_patches)?;
        let request = ObjectRequest::create(&self.version, &body(&initial));
        let created = send(patched.as_ref().unwrap_or(&self.installed), &request);
        let Some(mut stored) = expect(created, CaseStage::Create, "")? else { return Ok(()) };
        if initial.get("status").is_some() {
            let written = self.write_status(patched.as_ref(), &stored, &initial);
            let Some(written) = expect(written, CaseStage::UpdateStatus, "")? else {
                return Ok(());
            };
            stored = written;
        }
        let replaced = self.replace(&stored, &updated);
        let Some(mut stored) = expect(replaced, CaseStage::Update, &case.expected_error)? else {
            return Ok(());
        };
        if updated.get("status").is_some() {
            let written = self.write_status(None, &stored, &updated);
            let expected = &case.expected_status_error;
            let Some(written) = expect(written, CaseStage::UpdateStatus, expected)? else {
                return Ok(());
            };
            stored = written;
        } else if !case.expected_status_error.is_empty() {
            let expected = case.expected_status_error.clone();
            return Err(Failure::Accepted { stage: CaseStage::UpdateStatus, expected });
        }
        compare(&stored, &case.expected)
    }

    /// The objects that a creation sends to the definition.
    pub(crate) fn created(&self, case: &CreateCase) -> Vec<Sent> {
        initial_object(&case.initial).map(Sent::create).into_iter().collect()
    }

    /// The objects that an update sends to the definition.
    pub(crate) fn updated(&self, case: &UpdateCase) -> Vec<Sent> {
        let (Ok(initial), Ok(updated)) =
            (initial_object(&case.initial), object("updated", &case.updated))
        else {
            return Vec::new();
        };
        let mut sent = vec![Sent::update(updated.clone(), initial.clone(), false)];
        if updated.get("status").is_some() {
            sent.push(Sent::update(updated, initial.clone(), true));
        }
        if case.initial_crd_patches.is_empty() {
            sent.insert(0, Sent::create(initial));
        }
        sent
    }

    /// The version that is served.
    pub(crate) fn version(&self) -> Option<CrdVersion> {
        self.definition.version(&self.version)
    }

    /// The definition under which the object of a case is created, if that is another one.
    fn patched(&self, patches: &[DeepValue]) -> Result<Option<Admission>, Failure> {
        if patches.is_empty() {
            return Ok(None);
        }
        let patched = JsonPatch::from_slice(&patch_text(patches))
            .and_then(|patch| patch.apply(&self.document))
            .map_err(RunnerError::from)
            .and_then(|patched| served(&patched, &self.version, self.kubernetes));
        let unusable = |error| Failure::Unusable(format!("initialCRDPatches: {error}"));
        patched.map(install).map(Some).map_err(unusable)
    }

    fn replace(&self, stored: &Stored, updated: &Value) -> Result<Stored, Box<Status>> {
        let mut updated = DeepValue::from(deep_clone(updated));
        for name in ["name", "namespace", "resourceVersion"] {
            let value = stored.object.get("metadata").and_then(|metadata| metadata.get(name));
            set_metadata(&mut updated, name, value.and_then(Value::as_str));
        }
        send(&self.installed, &self.replacement(stored, &updated))
    }

    /// Writes the status of an object to the stored one.
    fn write_status(
        &self,
        admission: Option<&Admission>,
        stored: &Stored,
        object: &Value,
    ) -> Result<Stored, Box<Status>> {
        let mut updated = stored.object.clone();
        if let (Some(members), Some(status)) = (updated.as_object_mut(), object.get("status")) {
            members.insert("status".to_owned(), deep_clone(status));
        }
        let request = self.replacement(stored, &updated).status_update();
        send(admission.unwrap_or(&self.installed), &request)
    }

    fn replacement(&self, stored: &Stored, object: &Value) -> ObjectRequest {
        ObjectRequest::replace(&self.version, &body(object), &[]).stored(stored.stored.clone())
    }
}

/// A stored object, and how a client reads it.
struct Stored {
    stored: StoredObject,
    object: DeepValue,
}

fn chosen_version(definition: &Value, version: &str) -> Result<String, RunnerError> {
    let names: Vec<&str> = WrittenVersion::all(definition).map(|version| version.name).collect();
    match names.as_slice() {
        [only] if version.is_empty() => Ok((*only).to_owned()),
        names if version.is_empty() => Err(RunnerError::Versions(names.len())),
        names if names.contains(&version) => Ok(version.to_owned()),
        _ => Err(RunnerError::NoVersion(version.to_owned())),
    }
}

/// A definition with one of its versions, which is served and stored.
fn served(
    definition: &Value,
    version: &str,
    kubernetes: KubernetesVersion,
) -> Result<CustomResourceDefinition, RunnerError> {
    let mut definition = DeepValue::from(deep_clone(definition));
    if let Some(Value::Array(versions)) = definition.pointer_mut("/spec/versions") {
        versions.retain(|known| known.get("name").and_then(Value::as_str) == Some(version));
        for known in versions.iter_mut().filter_map(Value::as_object_mut) {
            known.insert("served".to_owned(), Value::Bool(true));
            known.insert("storage".to_owned(), Value::Bool(true));
        }
    }
    let definition = accepted_definition(&definition, kubernetes)?;
    let options = CrdOptions::default().kubernetes(kubernetes);
    Ok(CustomResourceDefinition::with_options(&definition, &options)?)
}

fn install(definition: CustomResourceDefinition) -> Admission {
    Admission::new(definition, Chain::new(Unreachable)).server_fields(fields)
}

/// Sends a request; returns what is stored, or the server's answer.
fn send(admission: &Admission, request: &ObjectRequest) -> Result<Stored, Box<Status>> {
    let accepted = admission.admit_blocking(request, &MemoryCluster::new()).result?;
    let stored =
        StoredObject::new(accepted.stored.clone().unwrap_or_default()).resource_version(REVISION);
    let mut object = accepted.into_returned().unwrap_or_default();
    set_metadata(&mut object, "resourceVersion", Some(REVISION));
    Ok(Stored { stored, object })
}

/// Compares the outcome of a request with an expected error; returns what is stored if none was
/// expected.
fn expect(
    outcome: Result<Stored, Box<Status>>,
    stage: CaseStage,
    expected: &str,
) -> Result<Option<Stored>, Failure> {
    match outcome {
        Ok(stored) if expected.is_empty() => Ok(Some(stored)),
        Ok(_) => Err(Failure::Accepted { stage, expected: expected.to_owned() }),
        Err(actual) if expected.is_empty() => Err(Failure::Refused { stage, actual }),
        Err(actual) => match actual.to_string() {
            actual if actual.contains(expected) => Ok(None),
            actual => Err(Failure::Text { stage, expected: expected.to_owned(), actual }),
        },
    }
}

fn compare(stored: &Stored, expected: &str) -> Result<(), Failure> {
    if expected.is_empty() {
        return Ok(());
    }
    let expected = object("expected", expected)?;
    compare::whole(&expected, &stored.object)
}

fn object(field: &str, text: &str) -> Result<DeepValue, Failure> {
    let unusable = |error: &str| Failure::Unusable(format!("{field}: {error}"));
    let mut documents = billhook::read_manifests(text.as_bytes())
        .map_err(|error: ManifestError| unusable(&error.to_string()))?;
    match (documents.pop(), documents.is_empty()) {
        (Some(document), true) if document.value().is_object() => Ok(document.into_value()),
        _ => Err(unusable("expected one object")),
    }
}

/// The object of a creation, with the name and the namespace that it is created with.
fn initial_object(text: &str) -> Result<DeepValue, Failure> {
    let mut object = object("initial", text)?;
    set_metadata(&mut object, "generateName", Some("test-"));
    set_metadata(&mut object, "namespace", Some("default"));
    Ok(object)
}
