//! A suite with all that it needs: its definitions and webhooks, and a run for each case against
//! each of them.

use std::path::Path;
use std::sync::Arc;

use billhook::{FieldPath, KubernetesVersion};
use billhook_findings::{Finding, Place, Source};
use billhook_policy::EvaluatedExpression;
use serde_json::Value;

use crate::admission_files::{Policies, is_of, webhooks};
use crate::answers::{Answers, MakeCaller};
use crate::built_in::kind_of;
use crate::cluster::{Cluster, Observed};
use crate::conversions::Conversions;
use crate::examples;
use crate::exercise::Exercise;
use crate::failure::Failure;
use crate::files::{self, FileError, FoundDefinition, ReadFile, beside};
use crate::object_case::{ObjectCase, Row};
use crate::openshift;
use crate::plan_error::PlanError;
use crate::runner::Runner;
use crate::runner_error::RunnerError;
use crate::suite::{Case, Suite};

/// The definitions and the version for suites that name none.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PlanOptions {
    /// The definitions; without them, those are taken that lie beside a suite as in OpenShift's API
    /// repository.
    pub definitions: Option<Vec<FoundDefinition>>,
    /// The Kubernetes version.
    pub kubernetes: KubernetesVersion,
    /// How files are read.
    pub read: ReadFile,
    /// The caller of webhooks that a suite wants to be called; without it they cannot be reached.
    pub caller: Option<MakeCaller>,
}

impl Default for PlanOptions {
    fn default() -> Self {
        let read: ReadFile = |path| std::fs::read(path);
        let kubernetes = KubernetesVersion::default();
        PlanOptions { definitions: None, kubernetes, read, caller: None }
    }
}

impl PlanOptions {
    /// The options with definitions.
    #[must_use]
    pub fn definitions(mut self, definitions: Vec<FoundDefinition>) -> Self {
        self.definitions = Some(definitions);
        self
    }

    /// The options with another Kubernetes version.
    #[must_use]
    pub fn kubernetes(mut self, kubernetes: KubernetesVersion) -> Self {
        self.kubernetes = kubernetes;
        self
    }

    /// The options with another way to read files.
    #[must_use]
    pub fn read(mut self, read: ReadFile) -> Self {
        self.read = read;
        self
    }

    /// The options with a caller of webhooks.
    #[must_use]
    pub fn caller(mut self, caller: MakeCaller) -> Self {
        self.caller = Some(caller);
        self
    }
}

/// A suite, ready to be run.
#[derive(Clone, Debug)]
pub struct Plan {
    runs: Vec<Run>,
    remarks: Vec<Finding>,
}

/// A case against a definition, or against all that a cluster holds.
#[derive(Clone, Debug)]
pub struct Run {
    document: Arc<Document>,
    target: Target,
    pub(crate) id: CaseId,
}

#[derive(Debug)]
struct Document {
    suite: Suite,
    place: Place,
    /// The places of the objects of cases that are files of their own.
    examples: Vec<Place>,
}

#[derive(Clone, Debug)]
enum Target {
    Definition {
        runner: Arc<Runner>,
        found: Arc<FoundDefinition>,
        file: Arc<str>,
    },
    Cluster {
        cluster: Arc<Cluster>,
        found: Arc<[FoundDefinition]>,
        policies: Arc<[FoundDefinition]>,
        label: Arc<str>,
    },
}

/// The position of a case in its suite.
#[derive(Clone, Copy, Debug)]
pub(crate) enum CaseId {
    Create(usize),
    Update(usize),
    Object(usize),
    /// A case and the position among the rows of its table.
    Row(usize, usize),
}

impl Plan {
    /// The rule of the remarks.
    pub const RULE: &str = "suite";

    /// Reads a suite, and the files that it needs. A directory is one with examples: manifests in
    /// `valid` and `invalid`, beside definitions if the options have none. A comment `# error: TEXT`
    /// in an invalid manifest is a part of its error.
    ///
    /// # Errors
    ///
    /// If one of them cannot be read, or if a server would not accept a definition.
    pub fn load(path: &Path, options: &PlanOptions) -> Result<Self, PlanError> {
        if path.is_dir() {
            return Self::load_examples(path, options);
        }
        let source = files::read(path, options.read).map_err(|error| PlanError::of_file(&error))?;
        let (suite, unknown) = Suite::read_with_unknown(source.bytes())
            .map_err(|error| PlanError { place: error.place(), ..PlanError::new(path, error) })?;
        let mut versions = suite.versions().unwrap_or_default();
        if versions.is_empty() {
            versions.push(options.kubernetes);
        }
        let groups = definitions(path, &suite, options)?;
        let place = place(source);
        let mut remarks: Vec<Finding> =
            unknown.into_iter().map(|mistake| mistake.warning(Self::RULE, &place)).collect();
        remarks.sort_by_key(|remark| remark.span);
        let document = Arc::new(Document { place, suite, examples: Vec::new() });
        let mut loader = Loader { path, options, document, runs: Vec::new() };
        for kubernetes in &versions {
            let shown = (versions.len() > 1).then_some(*kubernetes);
            for group in &groups {
                loader.listed(group, *kubernetes, shown)?;
                loader.objects(group, *kubernetes, shown)?;
            }
        }
        Ok(Plan { runs: loader.runs, remarks })
    }

    fn load_examples(path: &Path, options: &PlanOptions) -> Result<Self, PlanError> {
        let failed = |error: FileError| PlanError::of_file(&error);
        files::entries(path).map_err(failed)?;
        let (mut suite, mut examples) = (Suite::default(), Vec::new());
        for (case, place) in examples::cases(path, options.read).map_err(failed)? {
            suite.cases.push(case);
            examples.push(place);
        }
        let Some(place) = examples.first().cloned() else {
            return Err(PlanError::new(path, "no manifests in `valid` or `invalid` here"));
        };
        let definitions = match &options.definitions {
            Some(given) => given.clone(),
            None => examples::definitions(path, options.read).map_err(failed)?,
        };
        let document = Arc::new(Document { suite, place, examples });
        let mut loader = Loader { path, options, document, runs: Vec::new() };
        loader.objects(&definitions, options.kubernetes, None)?;
        Ok(Plan { runs: loader.runs, remarks: Vec::new() })
    }

    /// Returns warnings of fields that the format does not have, which are ignored.
    pub fn remarks(&self) -> &[Finding] {
        &self.remarks
    }

    /// Returns the runs, in the order of the suite.
    pub fn runs(&self) -> &[Run] {
        &self.runs
    }

    /// Takes the runs out.
    pub fn into_runs(self) -> Vec<Run> {
        self.runs
    }
}

/// The document of a suite.
fn place(source: Arc<Source>) -> Place {
    let read = billhook::read_manifests(source.bytes()).unwrap_or_default();
    let index = read.first().map_or(0, billhook::Manifest::index);
    Place::document(source, index)
}

/// The definitions of a suite, in groups that are installed together.
fn definitions(
    path: &Path,
    suite: &Suite,
    options: &PlanOptions,
) -> Result<Vec<Vec<FoundDefinition>>, PlanError> {
    if !suite.crds.is_empty() {
        let mut found = Vec::new();
        for path in suite.crds.iter().map(|crd| beside(path, crd)) {
            let read = files::definitions_below(&path, options.read);
            let help = "the paths of `crds` are seen from the suite";
            let read = read.map_err(|error| PlanError::of_file(&error).help(help))?;
            if read.is_empty() {
                return Err(PlanError::new(&path, "no CRD here"));
            }
            found.extend(read);
        }
        return Ok(vec![found]);
    }
    let help = "name the CRDs with `--crd` or with `crds` in the suite";
    if let Some(given) = &options.definitions {
        let is_there = |name: &str| given.iter().any(|known| known.name() == Some(name));
        return match suite.crd_name.as_str() {
            name if name.is_empty() || is_there(name) => Ok(vec![given.clone()]),
            name => Err(PlanError::new(path, format!("no CRD named `{name}`"))),
        };
    }
    let is_built_in = |case: &ObjectCase| kind_of(&case.object).is_some();
    if suite.crd_name.is_empty() && !suite.cases.is_empty() && suite.cases.iter().all(is_built_in) {
        return Ok(vec![Vec::new()]);
    }
    if suite.crd_name.is_empty() {
        return Err(PlanError::new(path, "the suite names no CRDs").help(help));
    }
    let found = openshift::definitions(path, suite, options.read)
        .map_err(|error| PlanError::new(path, error).help(help))?;
    Ok(found.into_iter().map(|definition| vec![definition]).collect())
}

struct Loader<'l> {
    path: &'l Path,
    options: &'l PlanOptions,
    document: Arc<Document>,
    runs: Vec<Run>,
}

impl Loader<'_> {
    /// The cases in OpenShift's format.
    fn listed(
        &mut self,
        definitions: &[FoundDefinition],
        kubernetes: KubernetesVersion,
        shown: Option<KubernetesVersion>,
    ) -> Result<(), PlanError> {
        let suite = &self.document.suite;
        let creates = (0..suite.tests.on_create.len()).map(CaseId::Create);
        let ids: Vec<_> =
            creates.chain((0..suite.tests.on_update.len()).map(CaseId::Update)).collect();
        if ids.is_empty() {
            return Ok(());
        }
        for found in definitions.iter().filter(|found| found.name() == Some(&suite.crd_name)) {
            let file = found.file();
            let runner = Runner::new(&found.value, &suite.version, kubernetes)
                .map_err(|error| PlanError::new(self.path, format!("{file}: {error}")))?;
            let file = match shown {
                Some(version) => format!("{file}, {version}").into(),
                None => Arc::from(file),
            };
            let target = Target::Definition {
                runner: Arc::new(runner),
                found: Arc::new(found.clone()),
                file,
            };
            let run = |id: &CaseId| (self.document.clone(), target.clone(), *id);
            let runs = ids.iter().map(run);
            self.runs.extend(runs.map(|(document, target, id)| Run { document, target, id }));
        }
        Ok(())
    }

    /// The cases in our own format.
    fn objects(
        &mut self,
        definitions: &[FoundDefinition],
        kubernetes: KubernetesVersion,
        shown: Option<KubernetesVersion>,
    ) -> Result<(), PlanError> {
        let suite = &self.document.suite;
        if suite.cases.is_empty() {
            return Ok(());
        }
        let webhooks = webhooks(self.path, suite, kubernetes, self.options.read)?;
        let conversions = Conversions::new(suite, definitions)
            .map_err(|error| PlanError::new(self.path, error))?;
        let answers = Answers::new(suite, conversions, self.options.caller)
            .map_err(|error| PlanError::new(self.path, error))?;
        let mut policies = Policies::read(self.path, suite, self.options.read)?;
        let found = std::mem::take(&mut policies.found).into();
        let mut needed: Vec<FoundDefinition> = Vec::new();
        let is_needed = |value: &Value| is_needed(suite, value) || policies.need(value);
        for found in definitions.iter().filter(|found| is_needed(&found.value)) {
            if !needed.iter().any(|known| found.name() == known.name()) {
                needed.push(found.clone());
            }
        }
        let values: Vec<&Value> = needed.iter().map(|found| &*found.value).collect();
        let cluster = Cluster::new(&values, &webhooks, answers, policies, suite, kubernetes)
            .map_err(|error: RunnerError| PlanError::new(self.path, error))?;
        let label = shown.map(|version| version.to_string()).unwrap_or_default().into();
        let target = Target::Cluster {
            cluster: Arc::new(cluster),
            found: needed.into(),
            policies: found,
            label,
        };
        for (index, case) in suite.cases.iter().enumerate() {
            let rows = case.table.as_ref().map(|table| table.rows().count());
            let ids = match rows {
                Some(rows) => (0..rows).map(|row| CaseId::Row(index, row)).collect(),
                None => vec![CaseId::Object(index)],
            };
            let (document, target) = (&self.document, &target);
            let run = |id| Run { document: document.clone(), target: target.clone(), id };
            self.runs.extend(ids.into_iter().map(run));
        }
        Ok(())
    }
}

/// Whether a case has an object of a definition.
fn is_needed(suite: &Suite, definition: &Value) -> bool {
    suite.cases.iter().any(|case| is_of(&case.object, definition))
}

impl Run {
    /// Returns the name of the case.
    pub fn case_name(&self) -> &str {
        self.case().map_or("", Case::name)
    }

    /// Returns the name of the run: the list and the name of the case, its value in a table, and
    /// what it is run against.
    pub fn name(&self) -> String {
        let Some(case) = self.case() else { return String::new() };
        if self.is_example() {
            return case.name().to_owned();
        }
        let mut name = format!("{}: {}", case.list(), case.name());
        if let Case::Object { row: Some(row), .. } = case {
            let value = billhook_apimachinery::excerpt(row.value);
            name.push_str(&format!(", {} = {value}", row.field));
        }
        match &self.target {
            Target::Definition { file, .. } => name.push_str(&format!(" ({file})")),
            Target::Cluster { label, .. } if label.is_empty() => {}
            Target::Cluster { label, .. } => name.push_str(&format!(" ({label})")),
        }
        name
    }

    /// Returns the file of the suite.
    pub fn file(&self) -> &str {
        self.source().name()
    }

    /// Returns the text that the case is written in.
    pub fn source(&self) -> &Arc<Source> {
        &self.place().source
    }

    /// Returns the line where the case begins, with its table if it is a row of one.
    pub fn line(&self) -> Option<usize> {
        let path = match self.id {
            CaseId::Row(index, _) => FieldPath::default().name("cases").index(index),
            _ => self.path(),
        };
        let source = self.source();
        let span = self.place().find(&path)?.mark(source.text());
        Some(source.position(span.start).line)
    }

    /// The document of the case.
    pub(crate) fn place(&self) -> &Place {
        let example = match self.id {
            CaseId::Object(index) => self.document.examples.get(index),
            _ => None,
        };
        example.unwrap_or(&self.document.place)
    }

    /// Runs the case.
    ///
    /// # Errors
    ///
    /// How the case fails.
    pub fn run(&self) -> Result<(), Failure> {
        match (&self.target, self.case()) {
            (Target::Definition { runner, .. }, Some(Case::Create(case))) => runner.create(case),
            (Target::Definition { runner, .. }, Some(Case::Update(case))) => runner.update(case),
            (Target::Cluster { cluster, .. }, Some(Case::Object { case, row })) => {
                cluster.run(&self.document.suite, case, row)
            }
            _ => Err(Failure::Unusable("the case is not there".to_owned())),
        }
    }

    /// The objects that the case sends.
    pub(crate) fn exercises(&self) -> Vec<Exercise<'_>> {
        match (&self.target, self.case()) {
            (Target::Definition { runner, found, .. }, Some(case)) => {
                let sent = match case {
                    Case::Create(case) => runner.created(case),
                    Case::Update(case) => runner.updated(case),
                    Case::Object { .. } => Vec::new(),
                };
                let exercise = |sent| {
                    let version = runner.version()?;
                    Some(Exercise { definition: found, version, sent })
                };
                sent.into_iter().filter_map(exercise).collect()
            }
            (Target::Cluster { cluster, found, .. }, Some(Case::Object { case, row })) => {
                let exercise = || {
                    let (version, sent) = cluster.sent(case, row)?;
                    let name = version.definition().name();
                    let definition = found.iter().find(|found| found.name() == Some(name))?;
                    Some(Exercise { definition, version, sent })
                };
                exercise().into_iter().collect()
            }
            _ => Vec::new(),
        }
    }

    /// The policies and bindings that the case meets.
    pub(crate) fn policies(&self) -> &[FoundDefinition] {
        match &self.target {
            Target::Cluster { policies, .. } => policies,
            Target::Definition { .. } => &[],
        }
    }

    /// The expressions of policies that the case evaluates.
    pub(crate) fn expressions(&self) -> Vec<EvaluatedExpression> {
        match (&self.target, self.case()) {
            (Target::Cluster { cluster, .. }, Some(Case::Object { case, row })) => {
                cluster.expressions(&self.document.suite, case, row)
            }
            _ => Vec::new(),
        }
    }

    /// Whether the case is a file of its own.
    pub(crate) fn is_example(&self) -> bool {
        !self.document.examples.is_empty()
    }

    /// The path of the case in its suite.
    pub(crate) fn path(&self) -> FieldPath {
        let top = FieldPath::default();
        match self.id {
            CaseId::Object(_) if self.is_example() => top,
            CaseId::Create(index) => top.name("tests").name("onCreate").index(index),
            CaseId::Update(index) => top.name("tests").name("onUpdate").index(index),
            CaseId::Object(index) => top.name("cases").index(index),
            CaseId::Row(index, _) => {
                let path = top.name("cases").index(index);
                let Some(Case::Object { row: Some(row), .. }) = self.case() else { return path };
                let list = if row.is_valid { "valid" } else { "invalid" };
                path.name("table").name(list).index(row.index)
            }
        }
    }

    /// All that comes of the request of a case in our own format.
    pub(crate) fn observe(&self) -> Option<Observed> {
        let (Target::Cluster { cluster, .. }, Some(Case::Object { case, row })) =
            (&self.target, self.case())
        else {
            return None;
        };
        cluster.observe(&self.document.suite, case, row).ok()
    }

    pub(crate) fn case(&self) -> Option<Case<'_>> {
        let suite = &self.document.suite;
        match self.id {
            CaseId::Create(index) => suite.tests.on_create.get(index).map(Case::Create),
            CaseId::Update(index) => suite.tests.on_update.get(index).map(Case::Update),
            CaseId::Object(index) => {
                suite.cases.get(index).map(|case| Case::Object { case, row: None })
            }
            CaseId::Row(index, row) => {
                let case = suite.cases.get(index)?;
                let row: Option<Row<'_>> = case.table.as_ref()?.rows().nth(row);
                Some(Case::Object { case, row })
            }
        }
    }
}
