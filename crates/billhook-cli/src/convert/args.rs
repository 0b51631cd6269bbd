//! The options of `billhook convert`.

use std::path::PathBuf;

use clap::Args;

use crate::options::{CrdPaths, Format};
use crate::resolving::{Resolve, resolve};
use crate::server::Server;

pub(crate) const HELP: &str = "\
Objects are read as if they were stored, and printed as a server returns them in the other version:
fields that its schema does not specify are removed, and its defaults are not set.

With the conversion strategy None only the apiVersion changes. With Webhook, the conversion webhook
of the CRD is called for each object of another version.

With --round-trip nothing is printed but what objects lose on the way to another version and back.
Made objects have no empty texts, zeros or `false`, which many webhooks leave out.

Exit status:
  0  all objects are converted; with --round-trip they come back as they were
  1  an object cannot be converted, or something is lost
  2  unusable input: bad arguments, a missing file, not YAML or JSON, no CRD for an object

Examples:
  billhook convert --crd crds/ --to v1 stack-v1beta1.yaml
  billhook convert --crd crds/ --to v1beta1 --output json stack.yaml
  billhook convert --crd crds/ --round-trip";

/// Reads a URL of HTTPS, by which alone webhooks are called.
fn https(text: &str) -> Result<String, String> {
    match text.starts_with("https://") {
        true => Ok(text.to_owned()),
        false => Err("expected a URL such as https://localhost:8443/convert".to_owned()),
    }
}

#[derive(Debug, Args)]
pub(crate) struct Convert {
    #[command(flatten)]
    pub(crate) crd: CrdPaths,
    /// Version to convert to
    #[arg(long, value_name = "VERSION", required_unless_present = "round_trip")]
    pub(crate) to: Option<String>,
    /// Convert objects from each version to every other one and back, and print what is lost: the
    /// given objects, or else some that have all fields of the schemas
    #[arg(long, conflicts_with_all = ["to", "output"])]
    pub(crate) round_trip: bool,
    /// URL of the conversion webhook, instead of the address in the CRD
    #[arg(long, value_name = "URL", value_parser = https)]
    pub(crate) url: Option<String>,
    /// CA certificates by which to trust the conversion webhook, instead of those in the CRD
    #[arg(long, value_name = "FILE")]
    pub(crate) ca_bundle: Option<PathBuf>,
    /// Address to dial for a Service; may be repeated [default: DNS]
    #[arg(long, value_name = "SERVICE.NAMESPACE=HOST:PORT", value_parser = resolve)]
    pub(crate) resolve: Vec<Resolve>,
    #[command(flatten)]
    pub(crate) server: Server,
    /// Output format of objects
    #[arg(short, long, value_enum, value_name = "FORMAT", default_value_t = Format::Yaml)]
    pub(crate) output: Format,
    /// Objects: files, directories or `-` for standard input
    #[arg(value_name = "OBJECT", required_unless_present = "round_trip")]
    pub(crate) objects: Vec<PathBuf>,
}

impl Convert {
    /// All paths that standard input may stand for.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &PathBuf> {
        self.crd.paths.iter().chain(&self.objects)
    }
}
