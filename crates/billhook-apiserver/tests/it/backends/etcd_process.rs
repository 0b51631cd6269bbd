//! An etcd of a test, if the machine has one.

use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use billhook_apiserver::etcd::{Etcd, EtcdOptions};

/// A process of etcd, which ends with the test, and its data.
pub(super) struct Process {
    folder: PathBuf,
    client_port: u16,
    peer_port: u16,
    child: Child,
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

impl Process {
    /// Starts an etcd. `None` if none is installed, which is said.
    pub(super) fn start() -> Option<Self> {
        if Command::new("etcd").arg("--version").output().is_err() {
            let message = "etcd is not installed: `apt-get install etcd-server`";
            eprintln!("\n*** NOTHING WAS TESTED: {message}\n");
            return None;
        }
        let folder = std::env::temp_dir().join(format!("billhook-etcd-{}", uuid::Uuid::new_v4()));
        std::fs::create_dir(&folder).unwrap();
        let (client_port, peer_port) = (free_port(), free_port());
        let child = spawn(&folder, client_port, peer_port);
        Some(Process { folder, client_port, peer_port, child })
    }

    pub(super) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.client_port)
    }

    pub(super) fn options(&self) -> EtcdOptions {
        EtcdOptions::new([self.url()])
    }

    /// Connects to it, when it has started.
    pub(super) async fn open(&self) -> Etcd {
        Etcd::open(self.options()).await.unwrap()
    }

    /// Ends it at once.
    pub(super) fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Starts it again with its data.
    pub(super) fn start_again(&mut self) {
        self.child = spawn(&self.folder, self.client_port, self.peer_port);
    }

    /// Sends it a signal, such as `STOP`.
    pub(super) fn signal(&self, name: &str) {
        let id = self.child.id().to_string();
        let sent = Command::new("kill").args([&format!("-{name}"), &id]).status().unwrap();
        assert!(sent.success());
    }

    /// Runs `etcdctl`, and returns what it prints.
    pub(super) fn ctl(&self, arguments: &[&str]) -> Vec<u8> {
        let output = Command::new("etcdctl")
            .env("ETCDCTL_API", "3")
            .args(["--endpoints", &self.url()])
            .args(arguments)
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        output.stdout
    }
}

fn spawn(folder: &std::path::Path, client_port: u16, peer_port: u16) -> Child {
    let client = format!("http://127.0.0.1:{client_port}");
    let peer = format!("http://127.0.0.1:{peer_port}");
    let child = Command::new("etcd")
        .args(["--name", "default", "--data-dir"])
        .arg(folder)
        .args(["--listen-client-urls", &client, "--advertise-client-urls", &client])
        .args(["--listen-peer-urls", &peer, "--initial-advertise-peer-urls", &peer])
        .args(["--initial-cluster", &format!("default={peer}")])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    child.unwrap()
}
