//! The options of `billhook serve`.

use std::net::SocketAddr;
use std::path::PathBuf;

use billhook_apiserver::AuthorizationMode;
use billhook_control_plane::{Clock, Timestamp};
use clap::{Args, ValueEnum};

use crate::allow::{Allow, allow};
use crate::etcd::EtcdArgs;
use crate::resolving::{Resolve, resolve};
use crate::server::Server;

pub(crate) const HELP: &str = "\
The server keeps everything in memory, with --data in a file, or with --etcd-servers in etcd. It
prints one line with its address when it is ready, and ends with SIGTERM or Ctrl-C.

Exit status:
  0  ended by a signal
  1  an object of --load is refused
  2  unusable input: bad arguments, a missing file, no CRD for an object; cannot listen; a damaged
     file of --data; no etcd answers

Examples:
  billhook serve --crd crds/ --http --listen 127.0.0.1:8001 --data objects.data
  billhook serve --crd crds/ --load manifests/ --any-namespace --write-kubeconfig kubeconfig &
  kubectl --kubeconfig kubeconfig get backups --all-namespaces";

/// When the work on CRDs is done that a request gives rise to.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Settle {
    AtOnce,
    DeleteLater,
    LikeAServer,
}

/// How it is decided whether a user may make a request.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Mode {
    #[value(name = "AlwaysAllow")]
    AlwaysAllow,
    #[value(name = "AlwaysDeny")]
    AlwaysDeny,
    #[value(name = "RBAC")]
    Rbac,
}

impl From<Mode> for AuthorizationMode {
    fn from(mode: Mode) -> Self {
        match mode {
            Mode::AlwaysAllow => AuthorizationMode::AlwaysAllow,
            Mode::AlwaysDeny => AuthorizationMode::AlwaysDeny,
            Mode::Rbac => AuthorizationMode::Rbac,
        }
    }
}

/// Reads a time in UTC.
fn time(text: &str) -> Result<Timestamp, String> {
    Timestamp::parse(text).ok_or_else(|| "not a time such as 2026-01-01T00:00:00Z".to_owned())
}

#[derive(Debug, Args)]
pub(crate) struct Serve {
    #[command(flatten)]
    pub(crate) server: Server,
    /// CRDs to serve: a file, a directory or `-` for standard input; may be repeated. They take the
    /// place of those that --data or etcd has
    #[arg(long, value_name = "FILE")]
    pub(crate) crd: Vec<PathBuf>,
    /// Objects to create before requests are answered, CRDs among them: a file, a directory or `-`;
    /// may be repeated
    #[arg(long, value_name = "FILE", conflicts_with = "etcd_servers")]
    pub(crate) load: Vec<PathBuf>,
    /// File to keep all objects in, which is created if it is not there: a write that was answered is
    /// on the disk, and a server that is started again goes on with it; --load is for a new file only
    #[arg(long, value_name = "FILE", conflicts_with = "etcd_servers")]
    pub(crate) data: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) etcd: EtcdArgs,
    /// Address to listen on; port 0 is any free one. An address that other machines reach needs a
    /// token
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:0")]
    pub(crate) listen: SocketAddr,
    /// Serve plain HTTP instead of HTTPS with a new certificate
    #[arg(long)]
    pub(crate) http: bool,
    /// Name or address that requests may use for the server, and web pages may come from, besides
    /// those of this machine and --listen; may be repeated. Without a token, requests for other hosts
    /// are refused, as web pages could make them
    #[arg(long, value_name = "HOST")]
    pub(crate) allow_host: Vec<String>,
    /// File with the bearer token that requests have to carry; tokens of service accounts are those
    /// of their users
    #[arg(long, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,
    /// Write a kubeconfig for kubectl and other clients to this file, with a new token unless
    /// --token-file has one; for plain HTTP on this machine without, as kubectl would not send it
    #[arg(long, value_name = "FILE")]
    pub(crate) write_kubeconfig: Option<PathBuf>,
    /// Name of the user who makes the requests, unless they impersonate another user
    #[arg(long, value_name = "NAME", default_value = "system:admin")]
    pub(crate) user: String,
    /// Group of the user, who is in `system:authenticated`, too; may be repeated
    #[arg(long, value_name = "NAME", default_value = "system:masters")]
    pub(crate) group: Vec<String>,
    /// Permission granted to all users, for access reviews and `authorizer` in expressions, with `*` for
    /// all verbs; all others are denied, but no request is refused for that. May be repeated [default:
    /// all permissions]
    #[arg(long, value_name = "VERB[:RESOURCE[.GROUP]]", value_parser = allow)]
    pub(crate) allow: Vec<Allow>,
    /// How to decide whether a user may make a request: `AlwaysAllow`, `AlwaysDeny`, or `RBAC` by the
    /// roles that are bound to the user. Users in the group `system:masters` may do everything
    #[arg(long, value_name = "MODE", default_value = "AlwaysAllow", hide_possible_values = true)]
    pub(crate) authorization_mode: Mode,
    /// Write a line for each request to this file: its time, client, user, verb, object and code
    #[arg(long, value_name = "FILE")]
    pub(crate) log: Option<PathBuf>,
    /// Write an audit log to this file: a line of JSON for each stage of a request, an Event of
    /// audit.k8s.io/v1
    #[arg(long, value_name = "FILE")]
    pub(crate) audit_log: Option<PathBuf>,
    /// Policy of the audit log, a Policy of audit.k8s.io/v1: which requests are written down, and how
    /// much of them [default: all, without their bodies]
    #[arg(long, value_name = "FILE", requires = "audit_log")]
    pub(crate) audit_policy: Option<PathBuf>,
    /// Write the least roles that the requests of the run needed, and their bindings, to this file at
    /// the end: for each user a ClusterRole, and a Role in each namespace
    #[arg(long, value_name = "FILE")]
    pub(crate) record_rbac: Option<PathBuf>,
    /// Address to dial for a Service that a webhook configuration or a CRD names; may be repeated
    /// [default: DNS]
    #[arg(long, value_name = "SERVICE.NAMESPACE=HOST:PORT", value_parser = resolve)]
    pub(crate) resolve: Vec<Resolve>,
    /// Let requests use namespaces that do not exist
    #[arg(long)]
    pub(crate) any_namespace: bool,
    /// Delete the objects whose owners are gone, as the garbage collector of a cluster does
    #[arg(long)]
    pub(crate) collect_garbage: bool,
    /// Controllers to run: `all`, `gc`, `namespaces`, `nodes` (a scheduler, and a node on which pods are
    /// simulated), `workloads`, or names that kube-controller-manager has for them; with a minus before
    /// it not that one; `preemption`, which `all` lacks. A list with commas; may be repeated
    #[arg(long, value_name = "NAMES", value_delimiter = ',', allow_hyphen_values = true)]
    pub(crate) controllers: Vec<String>,
    /// Rules for what happens to pods on simulated nodes, as in `docs/control-plane.md`: a file, a
    /// directory or `-`; may be repeated
    #[arg(long, value_name = "FILE")]
    pub(crate) simulate: Vec<PathBuf>,
    /// Answer requests below `/billhook/`, by which tests in any language wait for controllers and read
    /// the log of requests, as in `docs/control-plane.md`
    #[arg(long)]
    pub(crate) test_api: bool,
    /// Let time stand still until a request to `/billhook/clock/advance` lets it pass; implies
    /// --test-api. It begins at a time of your choice [default: 2026-01-01T00:00:00Z]
    #[arg(
        long,
        value_name = "TIME",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "2026-01-01T00:00:00Z",
        value_parser = time
    )]
    pub(crate) virtual_time: Option<Timestamp>,
    /// Serve a page at `/billhook/ui/` that shows objects, events and requests; implies --test-api
    #[arg(long)]
    pub(crate) ui: bool,
    /// Open the page of --ui, which is implied, in the browser
    #[arg(long)]
    pub(crate) open: bool,
    /// When CRDs settle after a request: `at-once`, before its answer; `delete-later`, with deleted
    /// CRDs and their objects going 0.1 seconds after it, so that clients see it in a watch;
    /// `like-a-server`, with the delays of a cluster after each change of a CRD
    #[arg(long, value_name = "WHEN", default_value = "delete-later", hide_possible_values = true)]
    pub(crate) settle: Settle,
    /// Most connections to serve at the same time; each watch takes one
    #[arg(long, value_name = "N", default_value_t = 4096)]
    pub(crate) max_connections: usize,
}

impl Serve {
    /// Whether the page is served.
    pub(crate) fn has_page(&self) -> bool {
        self.ui || self.open
    }

    /// Whether the paths below `/billhook/` are served.
    pub(crate) fn has_test_api(&self) -> bool {
        self.test_api || self.virtual_time.is_some() || self.has_page()
    }

    /// Returns the clock of the server and its controllers.
    pub(crate) fn clock(&self) -> Clock {
        self.virtual_time.map_or_else(Clock::real, Clock::at)
    }
}
