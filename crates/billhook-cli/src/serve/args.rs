//! The options of `billhook serve`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;

use crate::allow::{Allow, allow};

pub(crate) const EXIT_STATUS: &str = "\
The server keeps everything in memory. It ends with SIGTERM or Ctrl-C. When it is ready it prints one
line with its address:
  billhook serve --crd crds/ --write-kubeconfig /tmp/kubeconfig &
  kubectl --kubeconfig /tmp/kubeconfig get foos

Exit status:
  0  ended by a signal
  1  an object of --load is refused
  2  unusable input: bad arguments, a missing file, no definition for an object; cannot listen";

#[derive(Debug, Args)]
pub(crate) struct Serve {
    /// CRDs to serve: a file, a directory or `-` for standard input; may be repeated
    #[arg(long, value_name = "FILE")]
    pub(crate) crd: Vec<PathBuf>,
    /// Objects to create before requests are answered, CRDs among them: a file, a directory or `-`;
    /// may be repeated
    #[arg(long, value_name = "FILE")]
    pub(crate) load: Vec<PathBuf>,
    /// Address to listen on; port 0 is any free one. Other addresses than those of this machine need
    /// a token
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:0")]
    pub(crate) listen: SocketAddr,
    /// Serve plain HTTP in place of HTTPS with a new certificate
    #[arg(long)]
    pub(crate) http: bool,
    /// File with the bearer token that requests must have
    #[arg(long, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,
    /// Write a configuration for kubectl and other clients to this file, with a new token unless
    /// there is --token-file
    #[arg(long, value_name = "FILE")]
    pub(crate) write_kubeconfig: Option<PathBuf>,
    /// Name of the user who makes the requests, unless they impersonate another one
    #[arg(long, value_name = "NAME", default_value = "system:admin")]
    pub(crate) user: String,
    /// Group of the user; may be repeated
    #[arg(long, value_name = "NAME", default_value = "system:masters")]
    pub(crate) group: Vec<String>,
    /// Permission of all users, for access reviews and expressions that ask; by default everything is
    /// allowed. Requests are never refused for a lack of it; may be repeated
    #[arg(long, value_name = "VERB[:RESOURCE[.GROUP]]", value_parser = allow)]
    pub(crate) allow: Vec<Allow>,
    /// Let requests use namespaces that do not exist
    #[arg(long)]
    pub(crate) any_namespace: bool,
    /// How many connections are served at the same time; each watch takes one
    #[arg(long, value_name = "N", default_value_t = 4096)]
    pub(crate) max_connections: usize,
}
