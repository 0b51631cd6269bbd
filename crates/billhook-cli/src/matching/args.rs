//! The options of `billhook match`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::allow::{Allow, allow};
use crate::options::{CrdPaths, FindingsFormat, Report, read_stdin_once};
use crate::policy::Known;
use crate::server::Server;

pub(crate) const HELP: &str = "\
A webhook is `undecided` if the decision is up to match conditions that ask for permissions of the
user, which --allow grants, or that need the object in another version, which a conversion webhook
would have to make. A policy is so too if its match conditions ask for permissions.
A namespace that is not given is taken to have only the label with its name.
Objects are not validated, and those of built-in kinds alone are decoded: `billhook admit` does all
that a write does.

Exit status:
  0  decided, whether or not any webhook is called
  1  matching itself makes a server refuse a request
  2  unusable input: bad arguments, a missing file, not YAML or JSON, an unknown kind

Examples:
  billhook match --webhooks hooks.yaml --policies policies.yaml --crd crds/ backup.yaml
  billhook match --webhooks hooks.yaml --crd crds/ --group developers --report json backup.yaml
  billhook match --webhooks hooks.yaml --explain prefix.backups.example.com --request review.json";

#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("what").required(true).args(["request", "objects"]))]
#[command(group = clap::ArgGroup::new("by").required(true).multiple(true).args(["webhooks", "policies"]))]
pub(crate) struct Match {
    /// Webhook configurations and Namespaces: a file, a directory or `-` for standard input; may be
    /// repeated
    #[arg(long, value_name = "FILE")]
    pub(crate) webhooks: Vec<PathBuf>,
    /// Admission policies, their bindings, their parameters and Namespaces: a file, a directory or
    /// `-`; may be repeated. CRDs among them count too
    #[arg(long, value_name = "FILE")]
    pub(crate) policies: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) crd: CrdPaths,
    /// Labels of a namespace as `NAME:key=value,…`, or a file or directory with Namespaces; may be
    /// repeated
    #[arg(long, value_name = "NAME:LABELS|FILE")]
    pub(crate) namespace_labels: Vec<String>,
    /// Captured AdmissionReviews: a file, a directory or `-`; may be repeated
    #[arg(long, value_name = "REVIEW", conflicts_with_all = ["operation", "old", "subresource",
        "user", "group", "dry_run"])]
    pub(crate) request: Vec<PathBuf>,
    /// Operation on the objects [default: create, or update with --old]
    #[arg(long, value_enum, value_name = "OPERATION")]
    operation: Option<Operation>,
    /// Stored objects, found by kind, namespace and name: a file, a directory or `-`; may be
    /// repeated
    #[arg(long, value_name = "FILE")]
    pub(crate) old: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) server: Server,
    /// Subresource of the request, such as `status`
    #[arg(long, value_name = "NAME")]
    pub(crate) subresource: Option<String>,
    /// Namespace of the request, for objects without one
    #[arg(short, long, value_name = "NAMESPACE", default_value = "default")]
    pub(crate) namespace: String,
    /// Name of the user who makes the request; only match conditions look at it
    #[arg(long, value_name = "NAME", default_value = "kubernetes-admin")]
    pub(crate) user: String,
    /// Group of the user, for match conditions; may be repeated
    #[arg(long, value_name = "NAME", default_value = "system:authenticated")]
    pub(crate) group: Vec<String>,
    /// Make the request a dry run, for match conditions
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Permission granted to the user, for `authorizer` in match conditions, with `*` for all verbs; all
    /// others are denied. May be repeated [default: webhooks with such conditions are undecided]
    #[arg(long, value_name = "VERB[:RESOURCE[.GROUP]]", value_parser = allow)]
    pub(crate) allow: Vec<Allow>,
    /// Show every step for the webhook or the policy with this name, and nothing of the others
    #[arg(long, value_name = "NAME", conflicts_with = "format")]
    pub(crate) explain: Option<String>,
    /// Format of the report: text, or one JSON document with every step
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = Report::Text, conflicts_with = "format")]
    pub(crate) report: Report,
    #[command(flatten)]
    pub(crate) findings: FindingsFormat,
    #[command(flatten)]
    pub(crate) known: Known,
    /// Objects: files, directories or `-` for standard input
    #[arg(value_name = "OBJECT")]
    pub(crate) objects: Vec<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Operation {
    /// Create the objects
    Create,
    /// Update the objects; without --old they are taken to be unchanged
    Update,
    /// Delete the objects
    Delete,
    /// Connect to a subresource of the objects, such as `exec`
    Connect,
}

impl Match {
    pub(super) fn operation(&self) -> Operation {
        let default = if self.old.is_empty() { Operation::Create } else { Operation::Update };
        self.operation.unwrap_or(default)
    }

    /// All paths that standard input may stand for.
    pub(super) fn paths(&self) -> impl Iterator<Item = &PathBuf> {
        let paths = [&self.webhooks, &self.policies, &self.crd.paths, &self.request, &self.old];
        paths.into_iter().flatten().chain(&self.objects)
    }

    /// Checks combinations of options that clap cannot rule out.
    pub(crate) fn check(&self) -> Result<(), &'static str> {
        read_stdin_once(self.paths())?;
        if !self.old.is_empty() && self.operation() != Operation::Update {
            return Err("`--old` is for `--operation update`");
        }
        if self.operation() == Operation::Connect && self.subresource.is_none() {
            return Err("`--operation connect` needs a `--subresource`");
        }
        Ok(())
    }
}
