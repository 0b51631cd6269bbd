//! The options of `billhook match`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::allow::{Allow, allow};
use crate::args::{Report, conflict, read_stdin_once};

pub(crate) const MATCH_HELP: &str = "\
A webhook is `undecided` where only its match conditions could tell and they ask what the user is
allowed to do, which --allow says, or need the object in another version, which only a server has.
A namespace that is not given is taken to have the label with its name only.

Exit status:
  0  decided, whether or not any webhook is called
  1  matching itself makes a server refuse a request
  2  unusable input: bad arguments, a missing file, not YAML or JSON, an unknown kind";

#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("what").required(true).args(["request", "objects"]))]
pub(crate) struct Match {
    /// Webhook configurations and Namespaces: a file, a directory or `-` for standard input; may be
    /// repeated
    #[arg(long, value_name = "FILE", required = true)]
    pub(crate) webhooks: Vec<PathBuf>,
    /// CRDs, for objects that are not built-in ones, and for their other versions; may be repeated
    #[arg(long, value_name = "FILE")]
    pub(crate) crd: Vec<PathBuf>,
    /// Labels of a namespace as `NAME:key=value,…`, or files with Namespace objects; may be
    /// repeated
    #[arg(long, value_name = "NAME:LABELS|FILE")]
    pub(crate) namespace_labels: Vec<String>,
    /// AdmissionReviews that were captured: a file, a directory or `-`; may be repeated
    #[arg(long, value_name = "REVIEW", conflicts_with_all = ["operation", "old", "subresource",
        "user", "group", "dry_run"])]
    pub(crate) request: Vec<PathBuf>,
    /// What the request does with the objects [default: create, with --old update]
    #[arg(long, value_enum, value_name = "OPERATION")]
    operation: Option<Operation>,
    /// The objects as the server has them, found by kind and name: a file, a directory or `-`
    #[arg(long, value_name = "FILE")]
    pub(crate) old: Vec<PathBuf>,
    /// The subresource of the objects that the request is for, e.g. `status`
    #[arg(long, value_name = "NAME")]
    pub(crate) subresource: Option<String>,
    /// Namespace of the request, for objects that name none
    #[arg(short, long, value_name = "NAMESPACE", default_value = "default")]
    pub(crate) namespace: String,
    /// Name of the user who makes the request; only match conditions look at it
    #[arg(long, value_name = "NAME", default_value = "kubernetes-admin")]
    pub(crate) user: String,
    /// A group of the user, for match conditions; may be repeated
    #[arg(long, value_name = "GROUP", default_value = "system:authenticated")]
    pub(crate) group: Vec<String>,
    /// The request is a dry run, for match conditions
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// What users are allowed to do, for match conditions that ask; everything else is denied. May
    /// be repeated [default: webhooks with such conditions are undecided]
    #[arg(long, value_name = "VERB[:RESOURCE[.GROUP]]", value_parser = allow)]
    pub(crate) allow: Vec<Allow>,
    /// Show all that is tried for the webhooks of this name
    #[arg(long, value_name = "WEBHOOK")]
    pub(crate) explain: Option<String>,
    /// How decisions are printed: as text, or as one JSON document with all that is tried
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = Report::Text)]
    pub(crate) report: Report,
    /// Objects: files, directories or `-` for standard input
    #[arg(value_name = "OBJECT")]
    pub(crate) objects: Vec<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Operation {
    /// Create them
    Create,
    /// Change them; without --old they are taken to be unchanged
    Update,
    /// Delete them
    Delete,
    /// Connect to a subresource of them, such as `exec`
    Connect,
}

impl Match {
    pub(super) fn operation(&self) -> Operation {
        let default = if self.old.is_empty() { Operation::Create } else { Operation::Update };
        self.operation.unwrap_or(default)
    }

    /// What no single option can rule out.
    pub(crate) fn check(&self) -> Result<(), clap::Error> {
        let paths = [&self.webhooks, &self.crd, &self.request, &self.old, &self.objects];
        read_stdin_once("match", paths.into_iter().flatten())?;
        if !self.old.is_empty() && self.operation() != Operation::Update {
            return Err(conflict("match", "`--old` is for `--operation update`"));
        }
        if self.operation() == Operation::Connect && self.subresource.is_none() {
            return Err(conflict("match", "`--operation connect` needs a `--subresource`"));
        }
        Ok(())
    }
}
