//! The resources that are served: those of the server itself, and those of definitions.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use billhook::definition::DefinitionDocument;
use billhook::{CrdError, CrdOptions, CrdVersion, CustomResourceDefinition, KubernetesVersion};
use billhook_admission::{Admission, Chain, StoredObject, Strategy};
use billhook_apimachinery::record::{Record, TypedRecord as _, to_value};
use billhook_apimachinery::value::DeepValue;
use billhook_apimachinery::{GroupVersionResource, Status};
use billhook_decode::read_json;
use bytes::Bytes;
use serde::Deserialize;
use serde_json::Value;
use tokio::sync::watch;
use tokio::time::Instant;

use crate::readings::Readings;
use crate::storage::{Collection, Object, Range, Revision, Storage};

/// The name of the definition of definitions.
pub(crate) const DEFINITIONS: &str = "customresourcedefinitions.apiextensions.k8s.io";

/// The name of the definition of validating policies.
pub(crate) const VALIDATING_POLICIES: &str =
    "validatingadmissionpolicies.admissionregistration.k8s.io";

/// Where custom resources are stored, as some errors say (RE-72).
const REGISTRY: &str = "/registry/apiextensions.kubernetes.io";

/// How long the news of an established definition needs to reach other servers.
const NEWS_TIME: Duration = Duration::from_secs(2);
/// How long a server needs to fill a cache.
const CACHE_TIME: Duration = Duration::from_millis(60);

/// The resource of a definition, ready to serve.
#[derive(Clone, Debug)]
pub(crate) struct Resource {
    pub(crate) definition: CustomResourceDefinition,
    pub(crate) collection: Collection,
    /// The write path; it learns with each request where to write.
    pub(crate) admission: Admission,
    /// The type of its objects, if it is a resource of the server itself.
    pub(crate) record: Option<&'static Record>,
    /// Returns the text of a stored object, which another resource may have stored.
    pub(crate) own_text: OwnText,
    /// The revision since which it is served as it is: older changes are not told (LC-42).
    pub(crate) since: Revision,
    /// When the definition was established.
    established: Option<Instant>,
    /// Whether its definition was changed, so that there may be objects of a version that is gone.
    is_changed: bool,
    /// Differs from that of all other resources of the process, as forks share objects. Missing
    /// when all numbers are taken.
    reader: Option<NonZeroU32>,
}

/// A resource in a server. Forks of the server have the same resource.
#[derive(Clone, Debug)]
pub(crate) struct Served {
    pub(crate) resource: Arc<Resource>,
    pub(crate) live: Arc<Live>,
}

/// The lists and watches of a server's resources, by the names of their definitions: of those that
/// somebody asked for.
#[derive(Debug, Default)]
pub(crate) struct Lives(Mutex<BTreeMap<String, Arc<Live>>>);

/// The state of the lists and watches of a resource in a server.
#[derive(Debug, Default)]
pub(crate) struct Live {
    /// Says when the definition has become another one, or is gone.
    pub(crate) retired: watch::Sender<bool>,
    /// Made when the objects are first listed or watched since it is served as it is.
    cache: OnceLock<Cache>,
    /// The objects of the newest changes, as watches see them.
    pub(crate) readings: Readings,
}

/// The state of the memory that a server answers lists and watches from.
#[derive(Clone, Debug)]
struct Cache {
    began: Instant,
    /// Why it is never filled.
    failure: Option<String>,
}

/// The version of a stored object.
#[derive(Deserialize)]
struct Typed<'t> {
    #[serde(rename = "apiVersion", borrow)]
    api_version: Cow<'t, str>,
}

/// Returns the text of a stored object as an object of a resource.
pub(crate) type OwnText = fn(&Bytes) -> Bytes;

/// The number of the last resource.
static READERS: AtomicU32 = AtomicU32::new(0);

impl Resource {
    pub(crate) fn new(
        document: &Value,
        kubernetes: KubernetesVersion,
        chain: Chain,
    ) -> Result<Self, CrdError> {
        let options = CrdOptions::default().kubernetes(kubernetes);
        let definition = CustomResourceDefinition::with_options(document, &options)?;
        let collection = Collection::new(definition.group(), &definition.names().plural);
        let admission = Admission::new(definition.clone(), chain).registry(REGISTRY);
        let last =
            READERS.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |last| last.checked_add(1));
        Ok(Resource {
            definition,
            collection,
            admission,
            record: None,
            own_text: Bytes::clone,
            since: 0,
            established: None,
            is_changed: false,
            reader: last.ok().and_then(|last| NonZeroU32::new(last + 1)),
        })
    }

    /// The resource as one of the server itself, with rules of its own.
    pub(crate) fn native(mut self, strategy: Arc<dyn Strategy>, record: &'static Record) -> Self {
        self.admission = self.admission.strategy(strategy).registry("/registry");
        self.record = Some(record);
        self
    }

    /// Whether it is a resource of the server itself, which has other texts of some errors.
    pub(crate) fn is_native(&self) -> bool {
        self.record.is_some()
    }

    /// Returns an object of the storage, as the write path takes it.
    pub(crate) fn stored(&self, object: &Object) -> StoredObject {
        stored_object(object, self.own_text)
    }

    /// How long a server still holds back the creation of objects: for a time after the definition
    /// is established, so that other servers hear of it.
    pub(crate) fn holds_back(&self) -> Duration {
        match self.established {
            Some(established) if established.elapsed() < NEWS_TIME => NEWS_TIME,
            _ => Duration::ZERO,
        }
    }

    /// Returns why an object cannot be read whose version is gone, if there is one.
    fn find_lost(&self, storage: &impl Storage, version: &str) -> Option<String> {
        if !self.is_changed || self.definition.is_converted_by_webhook() {
            return None;
        }
        let versions: Vec<String> =
            self.definition.versions().map(|version| version.api_version()).collect();
        let is_lost = |object: &&Object| {
            serde_json::from_slice::<Typed<'_>>(&object.text)
                .is_ok_and(|typed| !versions.iter().any(|known| *known == typed.api_version))
        };
        let listing = storage.list(&self.collection, Range::default());
        let lost = listing.objects.iter().find(is_lost)?;
        let failure = self.admission.read_blocking(version, &self.stored(lost)).err()?;
        Some(failure.message)
    }

    /// Returns the text of an object as it was at a revision, if that is its stored text with the
    /// revision. It costs no tree.
    pub(crate) fn text(
        &self,
        version: &str,
        object: &Object,
        revision: Revision,
    ) -> Option<String> {
        let place = self.revision_place(version, object)?;
        with_revision(&object.text, place, &revision.to_string())
    }

    /// Returns the place in an object's stored text that its revision belongs into, if it is shown so
    /// otherwise.
    pub(crate) fn revision_place(&self, version: &str, object: &Object) -> Option<usize> {
        let storage = self.definition.storage().ok()?;
        let reader = self.reader.filter(|_| storage.name() == version)?;
        // 0 stands for none: no member begins before the object.
        let find = || {
            let place = self.admission.revision_place(version, &object.text);
            place.and_then(|place| u32::try_from(place).ok()).unwrap_or_default()
        };
        let place = object.remembered.get_or_find(reader, find) as usize;
        Some(place).filter(|place| (1..=object.text.len()).contains(place))
    }

    /// Names the resource in a version.
    pub(crate) fn name(&self, version: &str) -> GroupVersionResource {
        let plural = &self.definition.names().plural;
        GroupVersionResource::new(self.definition.group(), version, plural)
    }
}

impl Lives {
    fn all(&self) -> MutexGuard<'_, BTreeMap<String, Arc<Live>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The lists and watches of a resource; nobody may define it at the same time.
    pub(crate) fn of(&self, resource: &Resource) -> Arc<Live> {
        let (name, mut all) = (resource.definition.name(), self.all());
        if let Some(live) = all.get(name) {
            return Arc::clone(live);
        }
        let live = Arc::<Live>::default();
        all.insert(name.to_owned(), Arc::clone(&live));
        live
    }

    /// Ends the watches of a resource that has become another one, or is gone.
    pub(crate) fn retire(&self, name: &str) {
        if let Some(live) = self.all().remove(name) {
            live.retired.send_replace(true);
        }
    }

    /// Copies them for another server: what is filled stays so, and watches are those of one server.
    pub(crate) fn fork(&self) -> Self {
        let all = self.all();
        let filled = all.iter().filter(|(_, live)| live.cache.get().is_some());
        let copies = filled.map(|(name, live)| {
            let copy = Live { cache: live.cache.clone(), ..Live::default() };
            (name.clone(), Arc::new(copy))
        });
        Lives(Mutex::new(copies.collect()))
    }
}

impl Live {
    /// Fails while a server fills the cache that lists and watches are answered from, if it takes
    /// its time for it; it begins at the first of them (RE-140). It is never filled if an object is
    /// stored in a version that is gone, unless a webhook may do better next time (LC-43).
    pub(crate) fn check_cache(
        &self,
        resource: &Resource,
        storage: &impl Storage,
        version: &CrdVersion,
        takes_time: bool,
    ) -> Result<(), Status> {
        let cache = self.cache.get_or_init(|| Cache {
            began: Instant::now(),
            failure: resource.find_lost(storage, version.name()),
        });
        if let Some(failure) = &cache.failure {
            let (api_version, kind) = (version.api_version(), resource.definition.kind());
            return Err(reinitializing(&format!(
                ": failed to list {api_version}, Kind={kind}: {failure}"
            )));
        }
        if takes_time && resource.established.is_some() && cache.began.elapsed() < CACHE_TIME {
            return Err(reinitializing(""));
        }
        Ok(())
    }
}

/// Returns the text of an object with its revision, which belongs before a member of its metadata.
pub(crate) fn with_revision(stored: &[u8], place: usize, revision: &str) -> Option<String> {
    let (before, after) = std::str::from_utf8(stored).ok()?.split_at_checked(place)?;
    let mut text = String::with_capacity(stored.len() + revision.len() + 32);
    text.push_str(before);
    text.extend(revision_member(revision));
    text.push_str(after);
    Some(text)
}

/// The parts of the member that shows a revision, with the comma after it.
pub(crate) fn revision_member(revision: &str) -> [&str; 3] {
    [r#""resourceVersion":""#, revision, r#"","#]
}

/// Returns an object of the storage with the text that its resource reads.
pub(crate) fn stored_object(object: &Object, own_text: OwnText) -> StoredObject {
    let text = own_text(&object.text).to_vec();
    StoredObject::new(text).resource_version(object.modified.to_string())
}

/// The failure of a list or a watch whose cache is not filled (RE-140).
fn reinitializing(why: &str) -> Status {
    let message = format!("storage is (re)initializing{why}");
    let mut status = Status::failure(429, "TooManyRequests", message);
    status.details.get_or_insert_default().retry_after_seconds = 1;
    status
}

/// A stored definition.
#[derive(Debug)]
pub(crate) struct Defined {
    pub(crate) document: Arc<DefinitionDocument>,
    pub(crate) created: Revision,
    pub(crate) revision: Revision,
    /// Its resource, if there are answers for its objects (LC-60).
    pub(crate) served: Option<Arc<Resource>>,
}

impl Defined {
    /// Reads a stored definition. What is served stays as it was if it need not change (LC-42);
    /// returns whether it does.
    fn new(
        object: &Object,
        before: Option<&Defined>,
        kubernetes: KubernetesVersion,
        chain: &Chain,
    ) -> Option<(Self, bool)> {
        let value = read_json(&object.text).ok()?.into_value();
        let (document, _) = DefinitionDocument::read(&value).ok()?;
        let served_before = before.and_then(|before| before.served.as_ref());
        let kept = served_before.filter(|_| {
            before.is_some_and(|before| {
                before.document.metadata.uid == document.metadata.uid
                    && before.document.status.accepted_names == document.status.accepted_names
                    && before.document.spec == document.spec
            })
        });
        let served = is_served(&document).then(|| {
            let is_terminating = has(&document, "Terminating");
            let mut resource = match kept {
                Some(kept) if kept.definition.is_terminating() == is_terminating => {
                    Resource::clone(kept)
                }
                _ => {
                    let definition = under_accepted_names(value, &document);
                    Resource::new(&definition, kubernetes, chain.clone()).ok()?
                }
            };
            resource.since = kept.map_or(object.modified, |kept| kept.since);
            resource.is_changed = document.metadata.generation > 1;
            let established = served_before.and_then(|before| before.established);
            let is_established = has(&document, ESTABLISHED);
            resource.established = is_established.then(|| established.unwrap_or_else(Instant::now));
            Some(Arc::new(resource))
        });
        let (created, revision, is_kept) = (object.created, object.modified, kept.is_some());
        let (document, served) = (Arc::new(document), served.flatten());
        Some((Defined { document, created, revision, served }, is_kept))
    }
}

/// Whether there are answers for the objects of a definition (LC-60).
fn is_served(document: &DefinitionDocument) -> bool {
    has(document, "NamesAccepted") || has(document, ESTABLISHED)
}

/// The definition that clients are served by: under the accepted names (LC-36).
fn under_accepted_names(mut definition: DeepValue, document: &DefinitionDocument) -> DeepValue {
    if !document.status.accepted_names.kind.is_empty()
        && let Some(Value::Object(spec)) = definition.get_mut("spec")
    {
        let names = to_value(&document.status.accepted_names).into_inner();
        spec.insert("names".to_owned(), names);
    }
    definition
}

impl Defined {
    /// Whether clients are told of it (LC-60).
    fn is_established(&self) -> bool {
        has(&self.document, ESTABLISHED)
    }
}

const ESTABLISHED: &str = "Established";

fn has(document: &DefinitionDocument, condition: &str) -> bool {
    document.status.conditions.iter().any(|found| found.is_true(condition))
}

/// All resources, by the names of their definitions. A clone costs nothing.
#[derive(Clone, Debug, Default)]
pub(crate) struct Catalog {
    pub(crate) kubernetes: KubernetesVersion,
    native: Arc<BTreeMap<String, Arc<Resource>>>,
    definitions: Arc<BTreeMap<String, Arc<Defined>>>,
}

impl Catalog {
    /// A catalog without resources, of a server of a version.
    pub(crate) fn new(kubernetes: KubernetesVersion) -> Self {
        Catalog { kubernetes, ..Catalog::default() }
    }

    /// Finds the resource that a part of URLs names (RE-05, LC-36).
    pub(crate) fn find(&self, group: &str, plural: &str) -> Option<Arc<Resource>> {
        let name = [plural, ".", group].concat();
        let native = self.native.get(&name);
        native.or_else(|| self.definitions.get(&name)?.served.as_ref()).cloned()
    }

    /// All resources that discovery shows, by the names of their definitions (LC-62).
    pub(crate) fn resources(&self) -> impl Iterator<Item = &Resource> {
        let defined = self.definitions.values().filter(|defined| defined.is_established());
        let defined = defined.filter_map(|defined| defined.served.as_ref());
        self.native.values().chain(defined).map(|resource| &**resource)
    }

    /// Finds the resource that has the objects of a kind.
    pub(crate) fn of_kind(&self, group: &str, kind: &str) -> Option<&Resource> {
        self.resources().find(|resource| {
            resource.definition.group() == group && resource.definition.kind() == kind
        })
    }

    /// Finds the resource whose objects are in a collection.
    pub(crate) fn of_collection(&self, collection: &Collection) -> Option<Arc<Resource>> {
        let (group, plural) = collection.parts();
        self.find(group, plural)
    }

    /// Returns a resource of the server itself, by the name of its definition.
    pub(crate) fn native(&self, name: &str) -> Option<Arc<Resource>> {
        self.native.get(name).cloned()
    }

    /// Whether the server itself has resources in a group, or in a version of it.
    pub(crate) fn is_own(&self, group: &str, version: Option<&str>) -> bool {
        self.native.values().any(|resource| {
            let definition = &resource.definition;
            definition.group() == group
                && version.is_none_or(|version| definition.version(version).is_some())
        })
    }

    /// Returns the group of each definition.
    pub(crate) fn groups(&self) -> impl Iterator<Item = &str> {
        self.definitions.values().map(|defined| defined.document.spec.group.as_str())
    }

    /// Returns the groups of the definitions that are being deleted.
    pub(crate) fn terminating_groups(&self) -> BTreeSet<String> {
        let documents = self.definitions.values().map(|defined| &defined.document);
        let terminating = documents.filter(|it| !it.metadata.deletion_timestamp.is_zero());
        terminating.map(|document| document.spec.group.clone()).collect()
    }

    /// Returns the definitions of a group, the oldest first.
    pub(crate) fn definitions(&self, group: &str) -> Vec<Arc<Defined>> {
        let of_group = |defined: &&Arc<Defined>| defined.document.spec.group == group;
        let mut found: Vec<_> = self.definitions.values().filter(of_group).cloned().collect();
        found.sort_by_key(|defined| defined.created);
        found
    }

    /// Adds a resource of the server itself.
    pub(crate) fn add(&mut self, resource: Resource) {
        let name = resource.definition.name().to_owned();
        Arc::make_mut(&mut self.native).insert(name, Arc::new(resource));
    }

    /// Takes over a definition as it is stored now; `None` if it is gone. Returns whether the same is
    /// served as before.
    pub(crate) fn define(&mut self, name: &str, object: Option<&Object>, chain: &Chain) -> bool {
        let definitions = Arc::make_mut(&mut self.definitions);
        let before = definitions.remove(name);
        let defined = object
            .and_then(|object| Defined::new(object, before.as_deref(), self.kubernetes, chain));
        let Some((defined, is_kept)) = defined else { return false };
        definitions.insert(name.to_owned(), Arc::new(defined));
        is_kept
    }
}
