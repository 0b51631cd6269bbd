//! The arguments of `billhook test`.

use std::path::PathBuf;

use clap::Args;

use crate::options::{CRD_FORMS, FindingsFormat, read_stdin_once};
use crate::server::Server;
use crate::watch::Watch;

pub(crate) const HELP: &str = "\
A suite has objects to create and to update, and what a server is expected to make of them. It is
written in the format that docs/suites.md describes, or in that of OpenShift's API repository. The
CRDs are those that the suite names, those of --crd, or those that are found as in that repository,
in the directory `zz_generated.crd-manifests` beside `tests`.

Exit status:
  0  all cases pass
  1  a case fails
  2  unusable input: bad arguments, a missing file, not a suite, a case that cannot be run, no CRD
     for a suite

Examples:
  billhook test suites/backups.yaml
  billhook test --format junit --coverage-lcov lcov.info suites/backups.yaml
  billhook test --crd crds/backups.data.example.com.yaml --generate > new-suite.yaml";

#[derive(Debug, Args)]
pub(crate) struct Test {
    #[arg(long, value_name = "FILE", help = format!("{CRD_FORMS}. They are for suites that name none"))]
    pub(crate) crd: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) server: Server,
    /// Run only the cases whose names contain a text
    #[arg(long, value_name = "TEXT")]
    pub(crate) filter: Option<String>,
    #[command(flatten)]
    pub(crate) findings: FindingsFormat,
    /// Write into the suites what their cases expect as it is now; all else in them stays as it is.
    /// Cases with tables are not updated
    #[arg(long)]
    pub(crate) update: bool,
    /// Print no summary
    #[arg(short, long)]
    pub(crate) quiet: bool,
    #[command(flatten)]
    pub(crate) watch: Watch,
    /// Print how long each case took
    #[arg(long, conflicts_with = "format")]
    pub(crate) durations: bool,
    /// Print which fields, rules, defaults and values of enums, and which expressions of policies
    /// and branches of these the cases exercise
    #[arg(long, conflicts_with = "format")]
    pub(crate) coverage: bool,
    /// Write the coverage as JSON
    #[arg(long, value_name = "FILE")]
    pub(crate) coverage_json: Option<PathBuf>,
    /// Write the coverage of the lines of the CRDs and policies as a tracefile of lcov, which editors show
    #[arg(long, value_name = "FILE")]
    pub(crate) coverage_lcov: Option<PathBuf>,
    /// Print a suite for the CRD of --crd: the smallest valid object, and a failing case for each
    /// constraint for which one is found
    #[arg(long, requires = "crd", conflicts_with_all = ["suites", "filter", "format", "watch", "update", "durations", "coverage", "coverage_json", "coverage_lcov"])]
    pub(crate) generate: bool,
    /// Suites: files, or directories that are searched for them and for examples of CRDs in `valid`
    /// and `invalid`
    #[arg(value_name = "SUITE", required_unless_present = "generate")]
    pub(crate) suites: Vec<PathBuf>,
}

impl Test {
    /// Checks combinations of options that clap cannot rule out.
    pub(crate) fn check(&self) -> Result<(), &'static str> {
        if self.findings.is_status() {
            return Err("`--format status` is for single objects, not for cases");
        }
        self.watch.check(self.crd.iter())?;
        read_stdin_once(self.crd.iter())
    }
}
