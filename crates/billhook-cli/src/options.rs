//! Options that several subcommands share.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use billhook::FieldValidation;
use billhook_findings::Format as FindingFormat;
use clap::ValueEnum;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use crate::parallel::all_cores;

/// The forms that `--crd` takes, in help texts.
pub(crate) const CRD_FORMS: &str = "CRDs: a file, a directory, a Helm chart, a kustomization or `-` \
    for standard input; may be repeated";

/// The CRDs of a run.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct CrdPaths {
    #[arg(id = "crd", long = "crd", value_name = "FILE", help = format!("{CRD_FORMS}. Those among \
        the objects count too, and those that billhook.toml names"))]
    pub(crate) paths: Vec<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Validation {
    /// Refuse the object
    Strict,
    /// Drop them with a warning
    Warn,
    /// Drop them silently
    Ignore,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// YAML documents
    Yaml,
    /// Indented JSON, one object after another
    Json,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Report {
    /// Text
    Text,
    /// One document for the whole run
    Json,
}

/// The formats of findings: their names and what they are.
const FORMATS: [(FindingFormat, &str, &str); 10] = [
    (FindingFormat::Human, "human", "Excerpts of the files"),
    (FindingFormat::Concise, "concise", "A line each"),
    (FindingFormat::Json, "json", "One JSON document"),
    (FindingFormat::Ndjson, "ndjson", "A JSON document a line"),
    (FindingFormat::Sarif, "sarif", "SARIF 2.1.0"),
    (FindingFormat::Github, "github", "Annotations of GitHub Actions"),
    (FindingFormat::Gitlab, "gitlab", "GitLab's code quality report"),
    (FindingFormat::Junit, "junit", "JUnit's XML"),
    (FindingFormat::Tap, "tap", "Test Anything Protocol"),
    (FindingFormat::Azure, "azure", "Issues of Azure Pipelines"),
];

/// A format of findings, or one that only some commands have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Chosen<O> {
    Findings(FindingFormat),
    Own(O),
}

/// Returns the parser of a format, given those that only the command has, which may take the place
/// of one with the same name.
pub(crate) fn format_parser<O: Copy + Send + Sync + 'static>(
    own: &'static [(O, &str, &str)],
) -> impl TypedValueParser<Value = Chosen<O>> {
    let has_own = |name: &str| own.iter().any(|(_, known, _)| *known == name);
    let common = FORMATS.into_iter().filter(|(_, name, _)| !has_own(name));
    let common = common.map(|(format, name, about)| (Chosen::Findings(format), name, about));
    let own = own.iter().map(|(format, name, about)| (Chosen::Own(*format), *name, *about));
    let all: Vec<(Chosen<O>, &str, &str)> = common.chain(own).collect();
    let values = all.iter().map(|(_, name, about)| PossibleValue::new(*name).help(*about));
    PossibleValuesParser::new(values.collect::<Vec<_>>()).try_map(move |given| {
        let found = all.iter().find(|(_, name, _)| *name == given);
        found.map(|(format, ..)| *format).ok_or("unknown format")
    })
}

/// The server's own answers, in place of findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Answers;

/// The format of the server's answers.
const ANSWERS: &[(Answers, &str, &str)] = &[(
    Answers,
    "status",
    "The server's answer to each object that it refuses: a Status object, as JSON",
)];

/// The form of findings.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub(crate) struct FindingsFormat {
    /// Print only findings, in a format for people or programs [default: a report with findings for
    /// people, or github for check, test and validate in GitHub Actions]
    #[arg(long, value_parser = format_parser(ANSWERS), value_name = "FORMAT")]
    format: Option<Chosen<Answers>>,
}

impl FindingsFormat {
    /// Whether answers of the server are to be printed in place of findings.
    pub(crate) fn is_status(self) -> bool {
        self.format == Some(Chosen::Own(Answers))
    }

    /// The format that was asked for, if it is one of findings.
    pub(crate) fn given(self) -> Option<FindingFormat> {
        match self.format? {
            Chosen::Findings(format) => Some(format),
            Chosen::Own(Answers) => None,
        }
    }

    /// The format that was asked for, or that of the CI system around, except beside a report.
    pub(crate) fn or_ci(self, report: Report) -> Self {
        let is_github = std::env::var_os("GITHUB_ACTIONS").is_some_and(|value| value == "true");
        let default = Chosen::Findings(FindingFormat::Github);
        let default = (is_github && report == Report::Text).then_some(default);
        FindingsFormat { format: self.format.or(default) }
    }
}

/// The threads of a run.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub(crate) struct Jobs {
    /// Number of threads, at most 256 [default: one for each core; with `decode --ndjson` 1]
    #[arg(long, value_name = "N")]
    jobs: Option<NonZeroUsize>,
}

impl Jobs {
    /// The number that was asked for.
    pub(crate) fn given(self) -> Option<NonZeroUsize> {
        self.jobs
    }

    /// The number that was asked for, or that of the cores.
    pub(crate) fn threads(self) -> usize {
        self.jobs.map_or_else(all_cores, NonZeroUsize::get)
    }
}

pub(crate) fn field_validation(chosen: Option<Validation>) -> FieldValidation {
    match chosen {
        Some(Validation::Strict) => FieldValidation::Strict,
        Some(Validation::Warn) | None => FieldValidation::Warn,
        Some(Validation::Ignore) => FieldValidation::Ignore,
    }
}

/// Refuses paths of which several are standard input.
pub(crate) fn read_stdin_once<'p>(
    mut paths: impl Iterator<Item = &'p PathBuf>,
) -> Result<(), &'static str> {
    paths.by_ref().find(|path| is_stdin(path));
    match paths.any(|path| is_stdin(path)) {
        true => Err("standard input (`-`) can be read only once"),
        false => Ok(()),
    }
}

/// Whether a path stands for standard input.
pub(crate) fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Whether a file in a directory is a manifest, by its name.
pub(crate) fn is_manifest(path: &Path) -> bool {
    let extension = path.extension().unwrap_or_default();
    ["yaml", "yml", "json"].iter().any(|known| extension == *known)
}
