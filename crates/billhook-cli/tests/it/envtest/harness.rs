//! Acts as `envtest` of controller-runtime does: starts the programs with its flags, and stops them.

use std::net::{SocketAddr, TcpListener};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::OnceLock;
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::certificates::Certificates;
use super::client::Client;
use crate::support::Scratch;

/// How long a process may take to stop (ET-21).
const STOP_TIME: Duration = Duration::from_secs(20);

/// The directory with the programs, which the command has put there (ET-03, ET-51).
pub(crate) fn assets() -> &'static Path {
    static ASSETS: OnceLock<PathBuf> = OnceLock::new();
    ASSETS.get_or_init(|| {
        let base = Path::new(env!("CARGO_TARGET_TMPDIR")).join("envtest-assets");
        let output = Command::new(env!("CARGO_BIN_EXE_billhook"))
            .args(["envtest", "install", "--bin-dir"])
            .arg(&base)
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        PathBuf::from(String::from_utf8(output.stdout).unwrap().trim_end())
    })
}

/// Runs a program until it ends.
pub(crate) fn run(program: &str, arguments: &[&str]) -> Output {
    Command::new(assets().join(program)).args(arguments).stdin(Stdio::null()).output().unwrap()
}

/// A port that was free a moment ago (ET-23).
pub(crate) fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// A process in a group of its own.
pub(crate) struct Process(Child);

impl Process {
    pub(crate) fn start(program: &str, arguments: &[String]) -> Self {
        // Nothing here may go through a proxy (ET-43).
        let proxy = ("HTTPS_PROXY", "http://127.0.0.1:1");
        Self::of(Command::new(assets().join(program)).args(arguments).env(proxy.0, proxy.1))
    }

    pub(crate) fn of(command: &mut Command) -> Self {
        let streams = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        Process(streams.process_group(0).spawn().unwrap())
    }

    pub(crate) fn id(&self) -> u32 {
        self.0.id()
    }

    /// Whether it still runs.
    pub(crate) fn runs(&mut self) -> bool {
        self.0.try_wait().unwrap().is_none()
    }

    pub(crate) fn signal(&self) {
        let group = format!("-{}", self.0.id());
        assert!(Command::new("kill").args(["-TERM", "--", &group]).status().unwrap().success());
    }

    /// Stops it as a harness does (ET-21).
    pub(crate) fn stop(&mut self) -> ExitStatus {
        self.signal();
        let begin = Instant::now();
        loop {
            if let Some(status) = self.0.try_wait().unwrap() {
                return status;
            }
            assert!(begin.elapsed() < STOP_TIME, "timeout waiting for process to stop");
            sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A started environment.
pub(crate) struct Environment {
    pub(crate) etcd: Process,
    pub(crate) server: Process,
    pub(crate) address: SocketAddr,
    pub(crate) certificates: Certificates,
    /// Who says nothing about itself.
    pub(crate) anonymous: Client,
    /// The user `admin` in the group `system:masters` (ET-10).
    pub(crate) admin: Client,
    pub(crate) directory: Scratch,
    arguments: Vec<String>,
}

impl Environment {
    pub(crate) async fn start(test: &str) -> Self {
        Self::with_flags(test, &[]).await
    }

    /// Starts with further flags, each as `--name=value`.
    pub(crate) async fn with_flags(test: &str, flags: &[&str]) -> Self {
        let directory = Scratch::new(&format!("envtest-{test}"), &[]);
        let etcd = start_etcd(directory.path()).await;
        let certificates = Certificates::write(directory.path());
        let help = run("kube-apiserver", &["--help"]);
        assert!(help.status.success(), "ET-14");
        let port = free_port();
        let mut arguments = default_flags(directory.path(), port);
        for flag in flags {
            let name = flag.split('=').next().unwrap_or_default();
            arguments.retain(|known| known.split('=').next() != Some(name));
            arguments.push((*flag).to_owned());
        }
        let server = Process::start("kube-apiserver", &arguments);
        let address = SocketAddr::from(([127, 0, 0, 1], port));
        let anonymous = Client::anonymous(address, &certificates.serving.pem());
        assert_eq!(anonymous.poll("/healthz").await.text, "ok");
        let admin = anonymous.with_pair(&certificates.clients.user("admin", "system:masters"));
        Environment { etcd, server, address, certificates, anonymous, admin, directory, arguments }
    }

    /// Ends the server, and starts it again with the same flags (ET-24).
    pub(crate) async fn restart_server(&mut self) {
        assert!(self.server.stop().success());
        self.server = Process::start("kube-apiserver", &self.arguments);
        assert_eq!(self.anonymous.poll("/healthz").await.text, "ok");
    }

    /// Stops the server, then etcd (ET-21).
    pub(crate) fn stop(mut self) {
        assert!(self.server.stop().success());
        assert!(self.etcd.stop().success());
    }
}

/// The first step of ET-10.
async fn start_etcd(directory: &Path) -> Process {
    let help = run("etcd", &["--help"]);
    let lines = String::from_utf8([help.stdout, help.stderr].concat()).unwrap();
    assert!(!lines.lines().any(|line| line.trim_start().starts_with("--unsafe-no-fsync")), "ET-13");
    let (port, peer) = (free_port(), free_port());
    let etcd = Process::start(
        "etcd",
        &[
            format!("--advertise-client-urls=http://127.0.0.1:{port}"),
            format!("--data-dir={}", directory.join("etcd").display()),
            format!("--listen-client-urls=http://127.0.0.1:{port}"),
            format!("--listen-peer-urls=http://127.0.0.1:{peer}"),
        ],
    );
    for _ in 0..200 {
        if get_plain(port, "/health").is_some_and(|(code, _)| code == 200) {
            return etcd;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("timeout waiting for process etcd to start");
}

/// ET-15.
pub(crate) fn default_flags(directory: &Path, port: u16) -> Vec<String> {
    let directory = directory.display();
    vec![
        "--allow-privileged=true".to_owned(),
        "--authorization-mode=RBAC".to_owned(),
        "--bind-address=127.0.0.1".to_owned(),
        format!("--cert-dir={directory}"),
        format!("--client-ca-file={directory}/client-cert-auth-ca.crt"),
        "--disable-admission-plugins=ServiceAccount".to_owned(),
        "--etcd-servers=http://127.0.0.1:1".to_owned(),
        format!("--secure-port={port}"),
        format!("--service-account-issuer=https://127.0.0.1:{port}/"),
        format!("--service-account-key-file={directory}/sa-signer.crt"),
        format!("--service-account-signing-key-file={directory}/sa-signer.key"),
        "--service-cluster-ip-range=10.0.0.0/24".to_owned(),
    ]
}

/// Asks a server without TLS; the status and the body.
pub(crate) fn get_plain(port: u16, path: &str) -> Option<(u16, String)> {
    use std::io::{Read as _, Write as _};
    let mut stream = std::net::TcpStream::connect(("127.0.0.1", port)).ok()?;
    let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    let (head, body) = answer.split_once("\r\n\r\n")?;
    Some((head.split(' ').nth(1)?.parse().ok()?, body.to_owned()))
}
