//! `billhook.toml`: the settings of a project.

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use billhook::{ErrorType, KubernetesVersion};
use billhook_findings::{Finding, Severity, Source, closest};
use serde::Deserialize;
use serde::de::{Deserializer, Error as _};

use crate::advice::POLICY_ADVICE;
use crate::explain::Book;
use crate::findings::OWN_RULES;
use crate::input::read_file;
use crate::options::is_stdin;
use crate::problem::{Place, Problem};
use crate::watch;

const NAME: &str = "billhook.toml";

/// The settings, and where they were found.
#[derive(Debug, Default)]
pub(crate) struct Config {
    /// The file; paths in it are relative to its directory.
    path: PathBuf,
    file: File,
}

/// The file as it is written.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    /// The version of the server to follow.
    #[serde(default, deserialize_with = "version")]
    kubernetes: Option<KubernetesVersion>,
    /// Definitions: files and directories.
    #[serde(default)]
    crds: Vec<PathBuf>,
    /// Files that are not looked for in directories.
    #[serde(default)]
    exclude: Vec<Pattern>,
    /// Levels of rules.
    #[serde(default)]
    rules: BTreeMap<RuleId, Level>,
    /// Levels of rules for some files.
    #[serde(default)]
    files: Vec<FileRules>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct FileRules {
    pattern: Pattern,
    rules: BTreeMap<RuleId, Level>,
}

/// The number of a rule that findings may have.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "String")]
struct RuleId(String);

impl TryFrom<String> for RuleId {
    type Error = String;

    fn try_from(id: String) -> Result<Self, String> {
        match is_rule(&id) {
            true => Ok(RuleId(id)),
            false => Err(unknown_rule(&id)),
        }
    }
}

/// Whether findings may have a rule: one of the book, a reason of a server, or our own.
pub(super) fn is_rule(id: &str) -> bool {
    static NUMBERED: OnceLock<BTreeSet<String>> = OnceLock::new();
    let numbers = || Book::read().rules().map(|rule| rule.id.to_owned()).collect();
    named_rules().any(|known| known == id) || NUMBERED.get_or_init(numbers).contains(id)
}

/// The rules that have names, not numbers.
fn named_rules() -> impl Iterator<Item = &'static str> {
    let reasons = ErrorType::ALL.iter().map(|error| error.reason());
    reasons.chain(OWN_RULES).chain([POLICY_ADVICE, super::UNUSED])
}

/// Says that a rule is unknown, and which one may have been meant.
pub(super) fn unknown_rule(id: &str) -> String {
    match closest(id, named_rules()) {
        Some(meant) => format!("unknown rule `{id}`: did you mean `{meant}`?"),
        None => format!("unknown rule `{id}`; `billhook explain --list` lists them"),
    }
}

/// How much the findings of a rule matter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Level {
    Off,
    Note,
    Warning,
    Error,
}

/// A pattern of files: `*` is a part of a name, `**` any directories.
#[derive(Debug, Deserialize)]
#[serde(try_from = "String")]
struct Pattern(glob::Pattern);

impl Pattern {
    fn fits(&self, path: &Path) -> bool {
        let options = glob::MatchOptions { require_literal_separator: true, ..Default::default() };
        self.0.matches_path_with(path, options)
    }
}

impl TryFrom<String> for Pattern {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        glob::Pattern::new(&text)
            .map(Pattern)
            .map_err(|error| format!("not a pattern: {}", error.msg))
    }
}

fn version<'de, D: Deserializer<'de>>(from: D) -> Result<Option<KubernetesVersion>, D::Error> {
    let text = String::deserialize(from)?;
    text.parse().map(Some).map_err(D::Error::custom)
}

impl Config {
    /// Reads a file, or the one in the directory of the first input or above; without one, nothing
    /// is set.
    pub(crate) fn load(file: Option<&Path>, inputs: &[PathBuf]) -> Result<Self, Box<Problem>> {
        let found = file.map(Path::to_owned).or_else(|| find(inputs.first()?));
        let Some(path) = found else { return Ok(Config::default()) };
        let problem = |error: io::Error| Problem::io(Place::path(&path), &error);
        if file.is_none() && !fs::metadata(&path).map_err(problem)?.is_file() {
            return Err(Problem::unusable(Place::path(&path), "not a regular file"));
        }
        let text = read_file(&path).map_err(problem)?;
        let source = Arc::new(Source::of_file(&path, text));
        let file = toml::from_str(source.text()).map_err(|error| unreadable(&source, &error))?;
        Ok(Config { path, file })
    }

    /// The file that they are in.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    fn directory(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new(""))
    }

    pub(crate) fn kubernetes(&self) -> Option<KubernetesVersion> {
        self.file.kubernetes
    }

    /// The files and directories with definitions.
    pub(crate) fn crds(&self) -> Vec<PathBuf> {
        self.file.crds.iter().map(|path| self.directory().join(path)).collect()
    }

    /// The levels of rules in a file; the last one that is set counts.
    pub(super) fn levels(&self, source: &Source) -> BTreeMap<&str, Level> {
        let mut levels = BTreeMap::new();
        levels.extend(self.file.rules.iter().map(|(rule, level)| (rule.0.as_str(), *level)));
        if !self.file.files.is_empty()
            && let Some(path) = self.relative(source.path().unwrap_or(Path::new(source.name())))
        {
            let files = self.file.files.iter().filter(|rules| rules.pattern.fits(&path));
            let rules = files.flat_map(|rules| &rules.rules);
            levels.extend(rules.map(|(rule, level)| (rule.0.as_str(), *level)));
        }
        levels
    }

    /// Whether a file that is found in a directory is left out.
    pub(crate) fn excludes(&self, file: &Path) -> bool {
        let patterns = &self.file.exclude;
        !patterns.is_empty()
            && self.relative(file).is_some_and(|path| patterns.iter().any(|it| it.fits(&path)))
    }

    /// A file from the directory of the settings.
    fn relative(&self, file: &Path) -> Option<PathBuf> {
        let directory = match self.directory() {
            here if here.as_os_str().is_empty() => env::current_dir(),
            directory => directory.canonicalize(),
        };
        let file = file.canonicalize().ok()?;
        file.strip_prefix(directory.and_then(|it| it.canonicalize()).ok()?).map(Path::to_owned).ok()
    }
}

impl Level {
    /// Returns the finding with the level; `None` if it is off.
    pub(super) fn apply(self, mut finding: Finding) -> Option<Finding> {
        finding.severity = match self {
            Level::Off => return None,
            Level::Note => Severity::Note,
            Level::Warning => Severity::Warning,
            Level::Error => Severity::Error,
        };
        Some(finding)
    }
}

/// The file of settings in the directory of an input or above.
fn find(input: &Path) -> Option<PathBuf> {
    let input = if is_stdin(input) { Path::new("") } else { input };
    let is_below = input.is_relative() && !input.components().any(|part| part.as_os_str() == "..");
    let mut directories: Vec<PathBuf> = Vec::new();
    if is_below {
        // Those below the current one have short names.
        directories.extend(input.ancestors().map(Path::to_owned));
        directories.extend(env::current_dir().ok()?.ancestors().skip(1).map(Path::to_owned));
    } else {
        directories.extend(input.canonicalize().ok()?.ancestors().map(Path::to_owned));
    }
    let mut paths = directories.into_iter().map(|directory| directory.join(NAME));
    paths.find(|path| {
        watch::note_file(path);
        // What is there is to be read, even if it cannot be.
        fs::symlink_metadata(path).is_ok()
    })
}

fn unreadable(source: &Arc<Source>, error: &toml::de::Error) -> Box<Problem> {
    let mut place = Place::file(source.name());
    if let Some(span) = error.span() {
        let start = source.position(span.start);
        place.text = Some((start.line, start.column));
    }
    let message = error.message().replace('\n', ", ");
    let problem = Problem::unusable(place, message);
    match error.message().ends_with("expected a string") {
        true => problem.help("write it in quotes"),
        false => problem,
    }
}
