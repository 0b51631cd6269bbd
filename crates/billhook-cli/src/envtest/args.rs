//! The options of `billhook envtest`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use crate::program::Release;

pub(crate) const HELP: &str = "\
The directory has kube-apiserver, etcd and kubectl, as setup-envtest lays them out; all three are
this program. kube-apiserver follows the Kubernetes version that the directory is named after.

Exit status:
  0  all is well
  2  nothing is installed, or it cannot be installed

Examples:
  billhook envtest install --bin-dir bin
  eval \"$(billhook envtest env --bin-dir bin)\" && ls $KUBEBUILDER_ASSETS
  billhook envtest install --archive envtest.tar.gz";

#[derive(Debug, Args)]
pub(crate) struct Envtest {
    #[command(subcommand)]
    pub(super) action: Action,
}

#[derive(Debug, Subcommand)]
pub(super) enum Action {
    /// Put this program into the place of kube-apiserver, etcd and kubectl
    Install(Install),
    /// Print the directory, without a newline
    Path(Directory),
    /// Print a line for a shell that lets envtest find the directory
    Env(Directory),
}

/// Where the programs are.
#[derive(Debug, Args)]
pub(super) struct Directory {
    /// Version to name the directory after
    #[arg(long, value_name = "VERSION", default_value_t = Release::default())]
    pub(super) version: Release,
    /// Directory with the directories of all versions [default: that of setup-envtest]
    #[arg(long, value_name = "DIR")]
    pub(super) bin_dir: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(super) struct Install {
    #[command(flatten)]
    pub(super) directory: Directory,
    /// Write an archive for `setup-envtest sideload` instead
    #[arg(long, value_name = "FILE")]
    pub(super) archive: Option<PathBuf>,
    /// Print the directory, or a line for a shell that sets it, in the end
    #[arg(long, value_enum, default_value = "path")]
    pub(super) print: Print,
}

/// The part of an installation that is printed.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum Print {
    /// Its directory
    Path,
    /// A line for a shell
    Env,
}
