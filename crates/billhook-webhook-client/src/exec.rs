//! Credentials from a program (CL-30): it is run when a client is made, and again when they have
//! expired.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use billhook_apimachinery::record;
use billhook_apimachinery::record::TypedRecord;
use billhook_decode::read_json;
use serde_json::{Value, json};
use tokio::io::AsyncReadExt as _;
use tokio::process::Command;
use tokio::time::timeout;

/// The longest a program may run.
const MAX_TIME: Duration = Duration::from_secs(30);
/// The longest answer of a program.
const MAX_OUTPUT: u64 = 1024 * 1024;

record! {
    /// The `exec` of a user.
    #[derive(Clone, Debug, Default)]
    pub(super) struct ExecConfig = "ExecConfig" {
        command: String = "command",
        args: Vec<String> = "args",
        env: Vec<Variable> = "env",
        api_version: String = "apiVersion" as "APIVersion",
    }

    /// A variable of the environment.
    #[derive(Clone, Debug, Default)]
    struct Variable = "ExecEnvVar" {
        name: String = "name",
        value: String = "value",
    }

    /// The answer of a program.
    #[derive(Debug, Default)]
    struct ExecCredential = "ExecCredential" {
        api_version: String = "apiVersion" as "APIVersion",
        status: Given = "status",
    }

    /// The credentials that a program printed; what it did not give is empty.
    #[derive(Debug, Default)]
    pub(super) struct Given = "ExecCredentialStatus" {
        /// When it can no longer be used, in UTC; never if there is nothing.
        pub(super) expires: String = "expirationTimestamp",
        pub(super) token: String = "token",
        pub(super) certificate: String = "clientCertificateData",
        pub(super) key: String = "clientKeyData",
    }
}

/// A program that prints credentials.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Program {
    api_version: String,
    command: PathBuf,
    args: Vec<String>,
    env: BTreeMap<String, String>,
}

impl Program {
    /// Takes the `exec` of a user. A command with a slash is relative to the kubeconfig, any other
    /// is looked up as usual.
    pub(super) fn new(exec: ExecConfig, directory: &Path) -> Result<Self, String> {
        let ExecConfig { command, args, env, api_version } = exec;
        if command.is_empty() || api_version.is_empty() {
            return Err("exec needs a command and an apiVersion".to_owned());
        }
        let is_path = command.contains('/');
        Ok(Program {
            api_version,
            command: if is_path { directory.join(command) } else { PathBuf::from(command) },
            args,
            env: env.into_iter().map(|variable| (variable.name, variable.value)).collect(),
        })
    }

    /// Runs the program.
    pub(super) async fn run(&self) -> Result<Given, String> {
        let failed = |why: &str| {
            format!("getting credentials: the program {} {why}", self.command.display())
        };
        let info = json!({
            "apiVersion": self.api_version,
            "kind": "ExecCredential",
            "spec": {"interactive": false},
        });
        let mut child = Command::new(&self.command)
            .args(&self.args)
            .envs(&self.env)
            .env("KUBERNETES_EXEC_INFO", info.to_string())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .map_err(|error| failed(&format!("cannot be run: {error}")))?;
        let mut output = Vec::new();
        let pipe = child.stdout.take();
        let work = async {
            if let Some(pipe) = pipe {
                pipe.take(MAX_OUTPUT + 1).read_to_end(&mut output).await?;
            }
            child.wait().await
        };
        let status = timeout(MAX_TIME, work)
            .await
            .map_err(|_| failed("takes too long"))?
            .map_err(|error| failed(&format!("cannot be heard: {error}")))?;
        if !status.success() {
            return Err(failed(&format!("failed: {status}")));
        }
        if output.len() as u64 > MAX_OUTPUT {
            return Err(failed("says too much"));
        }
        let document =
            read_json(&output).map_err(|error| failed(&format!("wrote no JSON: {error}")))?;
        self.credentials(document.value()).map_err(|why| failed(&why))
    }

    fn credentials(&self, answer: &Value) -> Result<Given, String> {
        let (ExecCredential { api_version, status }, _) =
            ExecCredential::read(answer).map_err(|error| format!("wrote: {error}"))?;
        if api_version != self.api_version {
            return Err(format!("answered for another apiVersion than {}", self.api_version));
        }
        match (status.token.is_empty(), status.certificate.is_empty(), status.key.is_empty()) {
            (true, true, true) => Err("gave neither a token nor a certificate".to_owned()),
            (_, true, false) | (_, false, true) => {
                Err("gave a certificate without a key, or a key without a certificate".to_owned())
            }
            _ => Ok(status),
        }
    }
}
