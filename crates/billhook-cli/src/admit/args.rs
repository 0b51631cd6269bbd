//! The options of `billhook admit`.

use std::path::PathBuf;

use clap::{ArgGroup, Args, ValueEnum};

use crate::allow::{Allow, allow};
use crate::options::{CrdPaths, FindingsFormat, Format, Report, Validation};
use crate::policy::Known;
use crate::resolving::{Resolve, resolve};
use crate::server::Server;

pub(crate) const HELP: &str = "\
With --old, an object to delete or to apply need not be among the stored ones; an object to create
must not be.

Exit status:
  0  the request is admitted
  1  a webhook, a policy or the validation refuses it, or --check-idempotence found something
  2  unusable input: bad arguments, a missing file, not YAML or JSON, no CRD for an object

Examples:
  billhook admit --crd crds/ --policies policies.yaml backup.yaml
  billhook admit --crd crds/ --webhooks hooks.yaml --resolve hook.backups=localhost:8443 backup.yaml
  billhook admit --crd crds/ --old live.yaml --apply --field-manager gitops backup.yaml";

#[derive(Debug, Args)]
#[command(group = ArgGroup::new("stored").args(["old", "patch"]))]
pub(crate) struct Admit {
    #[command(flatten)]
    pub(crate) crd: CrdPaths,
    /// Webhook configurations and Namespaces: a file, a directory or `-`; may be repeated
    #[arg(long, value_name = "FILE")]
    pub(crate) webhooks: Vec<PathBuf>,
    /// Admission policies, their bindings, their parameters and Namespaces: a file, a directory or
    /// `-`; may be repeated. CRDs among them count too
    #[arg(long, value_name = "FILE")]
    pub(crate) policies: Vec<PathBuf>,
    /// Labels of a namespace as `NAME:key=value,…`, or a file or directory with Namespaces; may be
    /// repeated
    #[arg(long, value_name = "NAME:LABELS|FILE")]
    pub(crate) namespace_labels: Vec<String>,
    /// Address to dial for a Service; may be repeated [default: DNS]
    #[arg(long, value_name = "SERVICE.NAMESPACE=HOST:PORT", value_parser = resolve)]
    pub(crate) resolve: Vec<Resolve>,
    /// AdmissionConfiguration that names the credentials for webhooks
    #[arg(long, value_name = "FILE")]
    pub(crate) admission_config: Option<PathBuf>,
    /// Operation on the objects [default: create, or update with --old]
    #[arg(long, value_enum, value_name = "OPERATION")]
    pub(crate) operation: Option<Operation>,
    /// Stored objects, found by kind, namespace and name: a file, a directory or `-`; may be
    /// repeated
    #[arg(long, value_name = "FILE")]
    pub(crate) old: Vec<PathBuf>,
    /// Apply a patch to the objects, which are then the stored ones: a JSON patch if it is a list, a
    /// merge patch otherwise
    #[arg(long, value_name = "FILE", conflicts_with = "operation")]
    pub(crate) patch: Option<PathBuf>,
    /// Apply the objects to those of --old, as `kubectl apply --server-side` does; create those that
    /// are not among them
    #[arg(long, conflicts_with_all = ["operation", "patch"])]
    pub(crate) apply: bool,
    /// Take over fields that other managers own
    #[arg(long, requires = "apply")]
    pub(crate) force: bool,
    /// Version of the CRD to patch the objects in [default: the object's own]
    #[arg(long, value_name = "VERSION", requires = "patch")]
    pub(crate) version: Option<String>,
    /// Subresource to update
    #[arg(long, value_enum, value_name = "NAME", requires = "stored")]
    pub(crate) subresource: Option<Subresource>,
    #[command(flatten)]
    pub(crate) server: Server,
    /// Make a dry-run request
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Handling of unknown and duplicate fields [default: warn]
    #[arg(long, value_enum, value_name = "MODE")]
    pub(crate) field_validation: Option<Validation>,
    /// Permission granted to the user, for `authorizer` in match conditions and policies, with `*` for
    /// all verbs; all others are denied. May be repeated [default: such expressions fail]
    #[arg(long, value_name = "VERB[:RESOURCE[.GROUP]]", value_parser = allow)]
    pub(crate) allow: Vec<Allow>,
    /// Request timeout in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 34,
        value_parser = clap::value_parser!(u64).range(..=24 * 60 * 60))]
    pub(crate) timeout: u64,
    /// Namespace of the request, for objects without one
    #[arg(short, long, value_name = "NAMESPACE", default_value = "default")]
    pub(crate) namespace: String,
    /// Name of the user who makes the request
    #[arg(long, value_name = "NAME", default_value = "kubernetes-admin")]
    pub(crate) user: String,
    /// Group of the user; may be repeated
    #[arg(long, value_name = "NAME", default_value = "system:authenticated")]
    pub(crate) group: Vec<String>,
    /// Name of the field manager, which match conditions and webhooks see too [default: none, or
    /// kubectl with --apply]
    #[arg(long, value_name = "NAME")]
    field_manager: Option<String>,
    /// Keep `metadata.managedFields` in the objects that are printed
    #[arg(long)]
    pub(crate) show_managed_fields: bool,
    /// Run each mutating webhook and policy again on its own output, and report the changes
    #[arg(long)]
    pub(crate) check_idempotence: bool,
    /// Output format of objects
    #[arg(short, long, value_enum, value_name = "FORMAT", default_value_t = Format::Yaml)]
    pub(crate) output: Format,
    /// Format of the report: text on standard error, or one JSON document on standard output that
    /// holds the objects too
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = Report::Text, conflicts_with = "format")]
    pub(crate) report: Report,
    #[command(flatten)]
    pub(crate) findings: FindingsFormat,
    #[command(flatten)]
    pub(crate) known: Known,
    /// Print no steps, only warnings and errors
    #[arg(short, long)]
    pub(crate) quiet: bool,
    /// Objects: files, directories or `-` for standard input
    #[arg(value_name = "OBJECT", required = true)]
    pub(crate) objects: Vec<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Operation {
    /// Create the objects
    Create,
    /// Update stored objects; fields that the server sets may be left out, as with `kubectl apply`
    Update,
    /// Replace stored objects; the resourceVersion must be that of the stored object, as with
    /// `kubectl replace`
    Replace,
    /// Delete the objects
    Delete,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Subresource {
    /// Update only `status`
    Status,
    /// Update only the replicas, with objects of kind `Scale`, each for the stored object of its name
    Scale,
}

impl Admit {
    pub(crate) fn operation(&self) -> Operation {
        let has_stored = self.apply || self.patch.is_some() || !self.old.is_empty();
        let implied = if has_stored { Operation::Update } else { Operation::Create };
        self.operation.unwrap_or(implied)
    }

    pub(crate) fn field_manager(&self) -> &str {
        let default = if self.apply { "kubectl" } else { "" };
        self.field_manager.as_deref().unwrap_or(default)
    }

    /// All paths that standard input may stand for.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &PathBuf> {
        let files = self.crd.paths.iter().chain(&self.webhooks).chain(&self.policies);
        files.chain(&self.old).chain(&self.patch).chain(&self.objects)
    }
}
