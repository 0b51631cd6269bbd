//! The definitions that were given and those of built-in kinds, found by group and kind. Each is
//! compiled when the first object asks for it: in a directory of hundreds most are not needed.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::OnceLock;

use billhook::{CrdError, CrdOptions, CrdVersion, CustomResourceDefinition, KubernetesVersion};
use billhook_admission::{Admission, Chain, Unreachable};
use billhook_apimachinery::split_api_version;
use billhook_apimachinery::value::DeepValue;
use billhook_findings::{DeprecatedField, DeprecatedFields, SchemaSource};
use billhook_kinds::Kind;
use serde_json::Value;

use crate::built_in::BuiltIn;
use crate::crd_files::Files;
use crate::identity::{Identity, type_meta};
use crate::input::{Document, documents_of, readable_documents, sources};
use crate::policy::Config;
use crate::problem::{Place, Problem, nothing};
use crate::report::warning;

/// How many names a help line lists.
const LISTED: usize = 12;

/// All definitions.
#[derive(Debug)]
pub(crate) struct Crds {
    found: Vec<Entry>,
    built_in: BuiltIn<Entry>,
    /// Kinds of the other documents that were read on the way.
    others: Vec<String>,
    options: CrdOptions,
}

/// A definition as it was written, or that of a built-in kind.
#[derive(Debug)]
pub(crate) struct Entry {
    place: Place,
    group: String,
    kind_name: String,
    value: DeepValue,
    compiled: OnceLock<Result<CustomResourceDefinition, CrdError>>,
    /// By version; made when the first object asks.
    deprecated: OnceLock<BTreeMap<String, DeprecatedFields>>,
    /// The kind, if it is built in, and its write path; made when the first object is written.
    kind: Option<&'static Kind>,
    admission: OnceLock<Option<Admission>>,
}

impl Entry {
    /// The definition of a built-in kind, which is compiled with its rules.
    pub(crate) fn built_in(kind: &'static Kind, kubernetes: KubernetesVersion) -> Option<Self> {
        let compiled = kind.compile(kubernetes)?;
        Some(Entry {
            place: Place::file(&format!("Kubernetes {kubernetes}")),
            group: kind.group.to_owned(),
            kind_name: kind.kind.to_owned(),
            value: DeepValue::default(),
            compiled: OnceLock::from(compiled),
            deprecated: OnceLock::new(),
            kind: Some(kind),
            admission: OnceLock::new(),
        })
    }

    fn compiled(&self, options: &CrdOptions) -> &Result<CustomResourceDefinition, CrdError> {
        let compile = || CustomResourceDefinition::with_options(&self.value, options);
        self.compiled.get_or_init(compile)
    }

    fn deprecated(&self) -> &BTreeMap<String, DeprecatedFields> {
        self.deprecated.get_or_init(|| {
            let versions = self.value.pointer("/spec/versions").and_then(Value::as_array);
            let names = versions.into_iter().flatten().filter_map(|it| it.get("name")?.as_str());
            names.map(|name| (name.to_owned(), DeprecatedFields::of(&self.value, name))).collect()
        })
    }
}

/// A definition and where it was found.
#[derive(Clone, Debug)]
pub(crate) struct Crd<'c> {
    pub(crate) definition: &'c CustomResourceDefinition,
    pub(crate) place: &'c Place,
    entry: &'c Entry,
    built_in: &'c BuiltIn<Entry>,
    /// Where different definitions of the same kind are, which are ignored.
    pub(crate) ignored: Vec<&'c Place>,
}

impl Crd<'_> {
    /// Whether it is of a built-in kind.
    pub(crate) fn is_built_in(&self) -> bool {
        self.entry.kind.is_some()
    }

    /// The write path of its objects through a chain.
    pub(crate) fn admission(&self, chain: Chain) -> Admission {
        let kubernetes = self.definition.kubernetes();
        let of_kind = |kind| Admission::of_kind(kind, kubernetes, Chain::new(Unreachable));
        let built_in = self.entry.admission.get_or_init(|| self.entry.kind.and_then(of_kind));
        match built_in {
            Some(admission) => admission.clone().chain(chain),
            None => Admission::new(self.definition.clone(), chain),
        }
    }

    /// The schema of a version, for explanations.
    pub(crate) fn schema(&self, version: &CrdVersion) -> Option<SchemaSource> {
        SchemaSource::new(self.place.of_finding()?, self.entry.value.clone(), version.name())
    }

    /// The deprecated fields that an object sets.
    pub(crate) fn deprecated(&self, version: &CrdVersion, object: &Value) -> Vec<DeprecatedField> {
        let fields = self.entry.deprecated().get(version.name());
        fields.map(|fields| fields.find(object)).unwrap_or_default()
    }
}

impl Crds {
    /// Reads the definitions below the paths, those that the settings name, and those among the
    /// inputs; returns the problems of reading beside them.
    pub(crate) fn read(
        paths: &[PathBuf],
        config: &Config,
        inputs: &[PathBuf],
        options: CrdOptions,
    ) -> (Self, Vec<Problem>) {
        let built_in = BuiltIn::new(&options);
        let mut crds = Crds { found: Vec::new(), built_in, others: Vec::new(), options };
        let named = config.crds();
        let given: Vec<PathBuf> = paths.iter().chain(&named).cloned().collect();
        let files = Files::find(&given);
        files.remote.iter().for_each(|text| warning(text));
        let mut problems = files.problems;
        readable_documents(&files.paths, &mut problems).into_iter().for_each(|it| crds.add(it));
        for problem in &mut problems {
            if named.iter().any(|path| path.to_string_lossy() == problem.place.file) {
                let file = config.path().display();
                problem.help.get_or_insert(format!("`crds` in `{file}` names it"));
            }
        }
        if crds.found.is_empty() && problems.is_empty() && !given.is_empty() {
            problems.push(*crds.nothing(&given));
        }
        crds.add_inputs(inputs);
        (crds, problems)
    }

    /// Adds the definitions among the inputs. Those that cannot be read are reported when they are
    /// read as inputs.
    fn add_inputs(&mut self, inputs: &[PathBuf]) {
        const KIND: &str = "CustomResourceDefinition";
        let sources = sources(inputs).filter_map(Result::ok);
        for source in sources.filter(|source| source.text().contains(KIND)) {
            let documents = documents_of(&source).unwrap_or_default().into_iter();
            let is_definition =
                |document: &Document| CustomResourceDefinition::is_definition(&document.value);
            documents.filter(is_definition).for_each(|document| self.add(document));
        }
    }

    fn add(&mut self, document: Document) {
        let Document { place, value, .. } = document;
        let text = |path: &str| value.pointer(path).and_then(Value::as_str).unwrap_or_default();
        if !CustomResourceDefinition::is_definition(&value) {
            let kind = text("/kind").to_owned();
            if !self.others.contains(&kind) {
                self.others.push(kind);
            }
            return;
        }
        let group = text("/spec/group").to_owned();
        let kind_name = text("/spec/names/kind").to_owned();
        self.found.push(Entry {
            place,
            group,
            kind_name,
            value,
            compiled: OnceLock::new(),
            deprecated: OnceLock::new(),
            kind: None,
            admission: OnceLock::new(),
        });
    }

    fn nothing(&self, paths: &[PathBuf]) -> Box<Problem> {
        let problem = nothing(paths, "no CustomResourceDefinition here");
        let kinds: Vec<&str> =
            self.others.iter().map(String::as_str).filter(|kind| !kind.is_empty()).collect();
        if kinds.is_empty() {
            return problem;
        }
        problem.help(format!("documents of other kinds were found: {}", list(&kinds)))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// All definitions that were given and are usable.
    pub(crate) fn definitions(&self) -> impl Iterator<Item = &CustomResourceDefinition> {
        self.found.iter().filter_map(|entry| entry.compiled(&self.options).as_ref().ok())
    }

    /// Whether there is a definition of a kind.
    pub(crate) fn has(&self, group: &str, kind: &str) -> bool {
        self.found.iter().any(|entry| entry.group == group && entry.kind_name == kind)
            || self.built_in.is_cluster_scoped(group, kind).is_some()
    }

    /// Whether the objects of a kind have no namespace.
    pub(crate) fn is_cluster_scoped(&self, group: &str, kind: &str) -> bool {
        let mut found = self.found.iter();
        let entry = found.find(|entry| entry.group == group && entry.kind_name == kind);
        let Some(entry) = entry else {
            return self.built_in.is_cluster_scoped(group, kind).unwrap_or_default();
        };
        entry.value.pointer("/spec/scope").and_then(Value::as_str) == Some("Cluster")
    }

    /// The definition of a kind; the problem, if there is one, is at `place`, where the object is.
    /// The first of several definitions counts, but a current one before those of old formats, and
    /// what was given before what is built in: of that, the version is to be found.
    pub(crate) fn find(
        &self,
        group: &str,
        version: &str,
        kind: &str,
        place: &Place,
    ) -> Result<Crd<'_>, Box<Problem>> {
        let fits = |entry: &&Entry| entry.group == group && entry.kind_name == kind;
        let is_current = |entry: &&Entry| {
            entry.value.get("apiVersion") == Some(&"apiextensions.k8s.io/v1".into())
        };
        let current = self.found.iter().filter(fits).find(is_current);
        let given = current.or_else(|| self.found.iter().find(fits));
        let built_in = || self.built_in.find([group, version, kind], Entry::built_in);
        let Some(entry) = given.or_else(built_in) else {
            return Err(self.unknown(group, kind, place));
        };
        let is_other = |other: &&Entry| is_current(other) && other.value != entry.value;
        let others = self.found.iter().filter(fits).filter(is_other);
        let ignored = others.map(|other| &other.place).collect();
        match entry.compiled(&self.options) {
            Ok(definition) => Ok(Crd {
                definition,
                place: &entry.place,
                entry,
                built_in: &self.built_in,
                ignored,
            }),
            Err(error) => {
                let message =
                    format!("the CRD for kind `{kind}` in `{}` is unusable: {error}", entry.place);
                Err(Problem::unusable(place.clone(), message))
            }
        }
    }

    /// The definition and the version that an object is of, as it says itself.
    pub(crate) fn version_of(
        &self,
        value: &Value,
        identity: &Identity,
        place: &Place,
    ) -> Result<(Crd<'_>, CrdVersion), Box<Problem>> {
        let (api_version, kind) = type_meta(value, identity, place)?;
        let (group, version) = split_api_version(api_version);
        let crd = self.find(group, version, kind, place)?;
        let version =
            version_named(&crd, version, place).map_err(|problem| problem.field("apiVersion"))?;
        Ok((crd, version))
    }

    fn unknown(&self, group: &str, kind: &str, place: &Place) -> Box<Problem> {
        let message = match group {
            "" => format!("no kind `{kind}` in the core group"),
            group => format!("no CRD for kind `{kind}` of group `{group}`"),
        };
        let same_kind = self.names(|_, known| known.eq_ignore_ascii_case(kind));
        let same_group = self.names(|known, _| known == group);
        let since = self.built_in.since(group, kind);
        let help = if let Some(since) = since {
            format!("it is built in from Kubernetes {since} on; `--kubernetes` sets the version")
        } else if !same_kind.is_empty() {
            format!("a similar kind is known: {}", list(&same_kind))
        } else if !same_group.is_empty() {
            format!("known kinds of this group: {}", list(&same_group))
        } else if self.found.is_empty() {
            "name its CRD with `--crd`, or as `crds` in billhook.toml".to_owned()
        } else {
            let given = self.found.iter().map(|entry| name(&entry.group, &entry.kind_name));
            format!("kinds of the CRDs: {}", list(&sorted(given)))
        };
        let field = if since.is_some() || same_kind.is_empty() { "kind" } else { "apiVersion" };
        let problem = Problem::unusable(place.clone(), message).field(field).help(help);
        problem.once(format!("{kind}.{group}"))
    }

    /// `Kind.group` of the definitions whose group and kind fit.
    fn names(&self, fits: impl Fn(&str, &str) -> bool) -> Vec<String> {
        let given = self.found.iter().map(|entry| (&*entry.group, &*entry.kind_name));
        let fitting = given.chain(self.built_in.names()).filter(|(group, kind)| fits(group, kind));
        sorted(fitting.map(|(group, kind)| name(group, kind)))
    }
}

fn name(group: &str, kind: &str) -> String {
    if group.is_empty() { kind.to_owned() } else { format!("{kind}.{group}") }
}

fn sorted(names: impl Iterator<Item = String>) -> Vec<String> {
    let names: BTreeSet<String> = names.collect();
    names.into_iter().collect()
}

/// A version of a definition by name; the problem is at `place`, where the object is.
pub(crate) fn version_named(
    crd: &Crd<'_>,
    name: &str,
    place: &Place,
) -> Result<CrdVersion, Box<Problem>> {
    let definition = crd.definition;
    definition.version(name).ok_or_else(|| {
        if crd.is_built_in() {
            let versions = crd.built_in.versions(definition.group(), definition.kind());
            let message = format!("kind `{}` has no version `{name}`", definition.kind());
            let help = format!("the versions in {}: {}", crd.place, list(&versions));
            return Problem::unusable(place.clone(), message).help(help);
        }
        let versions: Vec<_> =
            definition.versions().map(|version| version.name().to_owned()).collect();
        let message = format!("the CRD for kind `{}` has no version `{name}`", definition.kind());
        let help = format!("the versions in `{}`: {}", crd.place, list(&versions));
        Problem::unusable(place.clone(), message).help(help)
    })
}

/// The versions that were used so far, as `apiVersion` and kind.
#[derive(Debug, Default)]
pub(crate) struct Used(BTreeSet<(String, String)>);

impl Used {
    /// Returns notes about a version when it is used for the first time.
    pub(crate) fn notes(
        &mut self,
        crd: &Crd<'_>,
        version: &CrdVersion,
        is_request: bool,
    ) -> Vec<String> {
        let mut notes = Vec::new();
        let (api_version, kind) = (version.api_version(), crd.definition.kind().to_owned());
        if !self.0.insert((api_version, kind)) {
            return notes;
        }
        for ignored in &crd.ignored {
            notes.push(format!(
                "{ignored}: another CRD for kind `{}` is in `{}`; that one is used",
                crd.definition.kind(),
                crd.place
            ));
        }
        if !version.is_served() && is_request {
            notes.push(format!("{}: version `{}` is not served", crd.place, version.name()));
        }
        if !crd.definition.is_established() && is_request {
            let place = crd.place;
            notes.push(format!("{place}: the CRD is not established, so nothing is served"));
        }
        if crd.definition.is_terminating() && is_request {
            notes.push(format!("{}: the CRD is being deleted", crd.place));
        }
        let errors = version.structural_errors();
        notes.extend(errors.iter().map(|error| format!("{}: {error}", crd.place)));
        notes
    }
}

/// Names in backticks, separated by commas, the first ones only if there are many.
pub(crate) fn list<T: AsRef<str>>(names: &[T]) -> String {
    let shown = names.iter().take(LISTED);
    let mut text = shown.map(|name| format!("`{}`", name.as_ref())).collect::<Vec<_>>().join(", ");
    if let Some(more @ 1..) = names.len().checked_sub(LISTED) {
        text.push_str(&format!(" and {more} more"));
    }
    text
}
