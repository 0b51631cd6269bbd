//! The arguments of `billhook test`.

use std::path::PathBuf;

use clap::Args;

use crate::options::FindingsFormat;
use crate::server::Server;

pub(crate) const EXIT_STATUS: &str = "\
Suites are those of OpenShift's API repository: objects to create and to update, and what a server
is expected to make of them. Without --crd the definitions are found as in that repository, in the
directory `zz_generated.crd-manifests` beside `tests`.

Exit status:
  0  all cases pass
  1  a case fails
  2  unusable input: bad arguments, a missing file, not a suite, no CRD for a suite";

#[derive(Debug, Args)]
pub(crate) struct Test {
    /// CRDs: a file, a directory or `-` for standard input; may be repeated
    #[arg(long, value_name = "FILE")]
    pub(crate) crd: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) server: Server,
    /// Run only the cases whose name contains a text
    #[arg(long, value_name = "TEXT")]
    pub(crate) filter: Option<String>,
    #[command(flatten)]
    pub(crate) findings: FindingsFormat,
    /// Suites: files, or directories in the layout of OpenShift's API repository
    #[arg(value_name = "SUITE", required = true)]
    pub(crate) suites: Vec<PathBuf>,
}
