//! The options of `billhook apply`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::options::{CrdPaths, Format, Validation};
use crate::server::Server;

pub(crate) const HELP: &str = "\
No webhook is called, no plugin of a server runs, so that a Service gets no address, and no cluster is
asked: the live objects are those of --live, and objects that are not among them are created. kubectl
does more: it gives the fields of its client-side applies to the manager, and removes those that the
configuration lacks.

Exit status:
  0  the objects are applied
  1  an apply conflicts, or its result is not valid
  2  unusable input: bad arguments, a missing file, not YAML or JSON, no CRD for an object

Examples:
  billhook apply --crd crds/ --live live.yaml backup.yaml
  billhook apply --crd crds/ --live live.yaml --manager gitops --force backup.yaml";

#[derive(Debug, Args)]
pub(crate) struct Apply {
    #[command(flatten)]
    pub(crate) crd: CrdPaths,
    #[command(flatten)]
    pub(crate) server: Server,
    /// Live objects with their managed fields (`kubectl get -o yaml --show-managed-fields`), found
    /// by kind, namespace and name: a file, a directory or `-`; may be repeated
    #[arg(long, value_name = "FILE")]
    pub(crate) live: Vec<PathBuf>,
    /// Name of the field manager that applies
    #[arg(long, visible_alias = "field-manager", value_name = "NAME", default_value = "kubectl")]
    pub(crate) manager: String,
    /// Take over fields that other managers own
    #[arg(long)]
    pub(crate) force: bool,
    /// Subresource to apply to
    #[arg(long, value_enum, value_name = "NAME", requires = "live")]
    pub(crate) subresource: Option<Subresource>,
    /// Handling of duplicate fields [default: warn]
    #[arg(long, value_enum, value_name = "MODE")]
    pub(crate) field_validation: Option<Validation>,
    /// Namespace of the request, for objects without one
    #[arg(short, long, value_name = "NAMESPACE", default_value = "default")]
    pub(crate) namespace: String,
    /// Output format of objects
    #[arg(short, long, value_enum, value_name = "FORMAT", default_value_t = Format::Yaml)]
    pub(crate) output: Format,
    /// Objects to apply: files, directories or `-` for standard input
    #[arg(value_name = "OBJECT", required = true)]
    pub(crate) objects: Vec<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Subresource {
    /// Apply only `status`
    Status,
}

impl Apply {
    /// All paths that standard input may stand for.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &PathBuf> {
        self.crd.paths.iter().chain(&self.live).chain(&self.objects)
    }
}
