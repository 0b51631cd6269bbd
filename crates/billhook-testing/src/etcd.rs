//! An etcd of a test, if the machine has one.

use std::io::Write as _;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

/// A process of etcd, which ends with the test, and its data.
#[derive(Debug)]
pub struct Etcd {
    folder: PathBuf,
    member: Member,
    is_secured: bool,
    child: Child,
}

/// A member of a cluster, as it is started.
#[derive(Clone, Debug)]
struct Member {
    name: String,
    client_port: u16,
    peer_port: u16,
    /// The names and the peer URLs of all members.
    cluster: String,
}

impl Drop for Etcd {
    fn drop(&mut self) {
        self.kill();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// Returns a port that is free now.
fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// The files of an etcd that is secured.
const AUTHORITY: &str = "authority.pem";
const CERTIFICATE: &str = "certificate.pem";
const KEY: &str = "key.pem";

/// The number of the last etcd of the process.
static NUMBER: AtomicU32 = AtomicU32::new(0);

impl Etcd {
    /// Starts an etcd. `None` if none is installed, which standard error says.
    pub fn start() -> Option<Self> {
        Etcd::start_in(|_| false)
    }

    /// Starts an etcd that serves TLS by a certificate and its key, and demands certificates of an
    /// authority from its clients, all in PEM.
    pub fn start_secured(authority: &str, certificate: &str, key: &str) -> Option<Self> {
        Etcd::start_in(|folder| {
            for (name, text) in [(AUTHORITY, authority), (CERTIFICATE, certificate), (KEY, key)] {
                std::fs::write(folder.join(name), text).unwrap();
            }
            true
        })
    }

    /// Starts the members of one cluster.
    pub fn start_cluster(count: usize) -> Option<Vec<Self>> {
        let ports: Vec<_> = (0..count).map(|_| (free_port(), free_port())).collect();
        let named =
            |(number, (_, peer)): (usize, &(u16, u16))| format!("m{number}={}", url(*peer, false));
        let cluster = ports.iter().enumerate().map(named).collect::<Vec<_>>().join(",");
        let members = ports.into_iter().enumerate().map(|(number, (client_port, peer_port))| {
            let (name, cluster) = (format!("m{number}"), cluster.clone());
            Etcd::start_member(Member { name, client_port, peer_port, cluster }, |_| false)
        });
        members.collect()
    }

    /// Starts an etcd after something is done with its folder, which tells whether it is secured.
    fn start_in(prepare: impl FnOnce(&Path) -> bool) -> Option<Self> {
        let (client_port, peer_port) = (free_port(), free_port());
        let (name, cluster) = ("default".to_owned(), format!("default={}", url(peer_port, false)));
        Etcd::start_member(Member { name, client_port, peer_port, cluster }, prepare)
    }

    fn start_member(member: Member, prepare: impl FnOnce(&Path) -> bool) -> Option<Self> {
        if Command::new("etcd").arg("--version").output().is_err() {
            let message = "\n*** NOTHING WAS TESTED: etcd is not installed, which Debian has as \
                etcd-server and etcd-client\n";
            std::io::stderr().write_all(message.as_bytes()).unwrap();
            return None;
        }
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("billhook-etcd-{}-{number}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir(&folder).unwrap();
        let is_secured = prepare(&folder);
        let child = spawn(&folder, &member, is_secured);
        Some(Etcd { folder, member, is_secured, child })
    }

    /// Returns the URL for clients.
    pub fn url(&self) -> String {
        url(self.member.client_port, self.is_secured)
    }

    /// Ends it at once.
    pub fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Starts it again with its data.
    pub fn start_again(&mut self) {
        self.child = spawn(&self.folder, &self.member, self.is_secured);
    }

    /// Sends it a signal, such as `STOP`.
    pub fn signal(&self, name: &str) {
        let id = self.child.id().to_string();
        let sent = Command::new("kill").args([&format!("-{name}"), &id]).status().unwrap();
        assert!(sent.success());
    }

    /// Runs `etcdctl`, and returns the bytes that it prints.
    pub fn ctl(&self, arguments: &[&str]) -> Vec<u8> {
        self.ctl_with(arguments, "")
    }

    /// [`Etcd::ctl`] with a text as standard input.
    pub fn ctl_with(&self, arguments: &[&str], input: &str) -> Vec<u8> {
        let mut child = Command::new("etcdctl")
            .env("ETCDCTL_API", "3")
            .args(["--endpoints", &self.url()])
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        output.stdout
    }
}

fn url(port: u16, is_secured: bool) -> String {
    format!("{}://127.0.0.1:{port}", if is_secured { "https" } else { "http" })
}

fn spawn(folder: &Path, member: &Member, is_secured: bool) -> Child {
    let client = url(member.client_port, is_secured);
    let peer = url(member.peer_port, false);
    let mut command = Command::new("etcd");
    command
        .args(["--name", &member.name, "--data-dir"])
        .arg(folder.join("data"))
        .args(["--listen-client-urls", &client, "--advertise-client-urls", &client])
        .args(["--listen-peer-urls", &peer, "--initial-advertise-peer-urls", &peer])
        .args(["--initial-cluster", &member.cluster]);
    if is_secured {
        let files =
            [("--trusted-ca-file", AUTHORITY), ("--cert-file", CERTIFICATE), ("--key-file", KEY)];
        for (flag, name) in files {
            command.arg(flag).arg(folder.join(name));
        }
        command.arg("--client-cert-auth");
    }
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}
