//! Options that several subcommands share.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use billhook::FieldValidation;
use billhook_findings::Format as FindingFormat;
use clap::ValueEnum;

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

/// The form of findings.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub(crate) struct FindingsFormat {
    /// Print only findings, in a format for people or programs [default: a report with findings for
    /// people, or github for check, test and validate in GitHub Actions]
    #[arg(long, value_enum, value_name = "FORMAT")]
    format: Option<Findings>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Findings {
    /// Excerpts of the files
    Human,
    /// A line each
    Concise,
    /// One JSON document
    Json,
    /// A JSON document a line
    Ndjson,
    /// SARIF 2.1.0
    Sarif,
    /// Annotations of GitHub Actions
    Github,
    /// GitLab's code quality report
    Gitlab,
    /// JUnit's XML
    Junit,
    /// Test Anything Protocol
    Tap,
    /// Issues of Azure Pipelines
    Azure,
    /// The server's answer to each object that it refuses: a Status object, as JSON
    Status,
}

impl FindingsFormat {
    /// Whether answers of the server are to be printed in place of findings.
    pub(crate) fn is_status(self) -> bool {
        self.format == Some(Findings::Status)
    }

    /// The format that was asked for, if it is one of findings.
    pub(crate) fn given(self) -> Option<FindingFormat> {
        Some(match self.format? {
            Findings::Human => FindingFormat::Human,
            Findings::Concise => FindingFormat::Concise,
            Findings::Json => FindingFormat::Json,
            Findings::Ndjson => FindingFormat::Ndjson,
            Findings::Sarif => FindingFormat::Sarif,
            Findings::Github => FindingFormat::Github,
            Findings::Gitlab => FindingFormat::Gitlab,
            Findings::Junit => FindingFormat::Junit,
            Findings::Tap => FindingFormat::Tap,
            Findings::Azure => FindingFormat::Azure,
            Findings::Status => return None,
        })
    }

    /// The format that was asked for, or that of the CI system around, except beside a report.
    pub(crate) fn or_ci(self, report: Report) -> Self {
        let is_github = std::env::var_os("GITHUB_ACTIONS").is_some_and(|value| value == "true");
        let default = (is_github && report == Report::Text).then_some(Findings::Github);
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
