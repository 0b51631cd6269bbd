//! The options of `billhook diff`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::options::{CrdPaths, Report};
use crate::server::Server;

pub(crate) const HELP: &str = "\
Both sides are decoded, pruned and defaulted as a server does it; elements of lists with keys are
matched by their keys. Lines with `-` (live) and `+` (wanted) are real differences, all others have
a cause in parentheses. Of the data of Secrets only the keys are shown.

A field that only the live object has is a real difference if a manager that applies the manifests
owns it alone. If others own it, too, it is theirs; if no manager does, a server or its admission set
it. Of live objects without managed fields, all of it is a real difference.

In the JSON report an object that is not live has no `differences`; with --kubectl, one that would be
deleted has none either, and `deleted` is true.

`kubectl diff` uses the command with --kubectl. Of its arguments kubectl takes only letters, digits,
`-` and `=`:
  KUBECTL_EXTERNAL_DIFF=\"billhook diff --kubectl --crd=crds\" kubectl diff -f backup.yaml

Exit status:
  0  there are no real differences
  1  there are real differences, or an object is not live, or would be deleted
  2  unusable input: bad arguments, a missing file, not YAML or JSON, no CRD for an object

Examples:
  billhook diff --crd crds/ backup.yaml live.yaml
  billhook diff --crd crds/ --manager gitops --quiet backup.yaml live.yaml
  billhook diff --crd crds/ --ignore-for argocd backup.yaml live.yaml";

#[derive(Debug, Args)]
pub(crate) struct Diff {
    #[command(flatten)]
    pub(crate) crd: CrdPaths,
    #[command(flatten)]
    pub(crate) server: Server,
    /// Name of a field manager that applies the manifests; may be repeated [default: all that start
    /// with `kubectl`]
    #[arg(long, visible_alias = "field-manager", value_name = "NAME")]
    pub(crate) manager: Vec<String>,
    /// Print the settings that make a tool ignore the differences that are not real
    #[arg(long, value_enum, value_name = "TOOL")]
    pub(crate) ignore_for: Option<Tool>,
    /// Compare the two directories that kubectl passes: first the live objects, then what they
    /// would become. Secrets, and kinds without a CRD, are compared as they are
    #[arg(long)]
    pub(crate) kubectl: bool,
    /// Print only real differences
    #[arg(short, long)]
    pub(crate) quiet: bool,
    /// Namespace of objects without one
    #[arg(short, long, value_name = "NAMESPACE", default_value = "default")]
    pub(crate) namespace: String,
    /// Format of the report: text, or one JSON document
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = Report::Text, conflicts_with = "ignore_for")]
    pub(crate) report: Report,
    /// Manifests: a file, a directory or `-` for standard input
    #[arg(value_name = "DESIRED")]
    first: PathBuf,
    /// Live objects (`kubectl get -o yaml --show-managed-fields`), found by kind, namespace and
    /// name: a file, a directory or `-` for standard input
    #[arg(value_name = "LIVE")]
    second: PathBuf,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Tool {
    /// `ignoreDifferences` of an Application
    Argocd,
    /// `driftDetection` of a HelmRelease
    Flux,
    /// `computed_fields` of a kubernetes_manifest
    Terraform,
}

impl Diff {
    /// The paths of the manifests and of the live objects.
    pub(crate) fn sides(&self) -> (&PathBuf, &PathBuf) {
        match self.kubectl {
            true => (&self.second, &self.first),
            false => (&self.first, &self.second),
        }
    }

    /// Whether a manager is one who applies the manifests.
    pub(crate) fn is_own(&self, manager: &str) -> bool {
        match self.manager.as_slice() {
            [] => manager.starts_with("kubectl"),
            own => own.iter().any(|own| own == manager),
        }
    }

    /// All paths that standard input may stand for.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &PathBuf> {
        self.crd.paths.iter().chain([&self.first, &self.second])
    }
}
