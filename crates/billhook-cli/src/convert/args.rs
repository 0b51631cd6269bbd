//! The options of `billhook convert`.

use std::path::PathBuf;

use clap::Args;

use crate::options::Format;
use crate::resolving::{Resolve, resolve};
use crate::server::Server;

pub(crate) const EXIT_STATUS: &str = "\
Objects are read as stored ones and returned as a server returns them in the other version: what its
schema does not know is gone, and its defaults are not set.

With the conversion strategy None only the apiVersion changes; otherwise the conversion webhook of
the CRD is called for each object of another version.

Exit status:
  0  all objects are converted
  1  an object cannot be converted
  2  unusable input: bad arguments, a missing file, not YAML or JSON, no CRD for an object";

#[derive(Debug, Args)]
pub(crate) struct Convert {
    /// CRDs: a file, a directory, a chart of Helm, a kustomization or `-` for standard input; may be
    /// repeated. Those among the objects count too, and those that billhook.toml names
    #[arg(long, value_name = "FILE")]
    pub(crate) crd: Vec<PathBuf>,
    /// Version to convert to
    #[arg(long, value_name = "VERSION")]
    pub(crate) to: String,
    /// URL of the conversion webhook, in the place of the address in the CRD
    #[arg(long, value_name = "URL")]
    pub(crate) url: Option<String>,
    /// Certificates that the conversion webhook is trusted by, in the place of those in the CRD
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
    #[arg(value_name = "OBJECT", required = true)]
    pub(crate) objects: Vec<PathBuf>,
}

impl Convert {
    /// All paths that standard input may stand for.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &PathBuf> {
        self.crd.iter().chain(&self.objects)
    }
}
