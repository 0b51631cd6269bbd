//! Credentials from a program (CL-30): it is run when a client is made, and again when they have
//! expired.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use billhook_apimachinery::value::DeepValue;
use billhook_decode::read_json;
use serde_json::{Value, json};
use tokio::io::AsyncReadExt as _;
use tokio::process::Command;
use tokio::time::timeout;

/// The longest a program may run.
const MAX_TIME: Duration = Duration::from_secs(30);
/// The longest answer of a program.
const MAX_OUTPUT: u64 = 1024 * 1024;

/// A program that prints credentials, as the kubeconfig describes it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Program {
    api_version: String,
    command: PathBuf,
    args: Vec<String>,
    env: BTreeMap<String, String>,
}

/// The credentials that a program printed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Given {
    pub(super) token: Option<String>,
    pub(super) certificate: Option<String>,
    pub(super) key: Option<String>,
    /// When it can no longer be used, in UTC; never if there is nothing.
    pub(super) expires: Option<String>,
}

impl Program {
    /// Reads the `exec` of a user. A command with a slash is relative to the kubeconfig, any other
    /// is looked up as usual.
    pub(super) fn of_value(value: &Value, directory: &Path) -> Result<Self, String> {
        let text = |value: &Value, name: &str| match value.get(name) {
            None | Some(Value::Null) => Ok(String::new()),
            Some(Value::String(text)) => Ok(text.clone()),
            Some(_) => Err(format!("exec.{name} is not a string")),
        };
        let command = text(value, "command")?;
        let api_version = text(value, "apiVersion")?;
        if command.is_empty() || api_version.is_empty() {
            return Err("exec needs a command and an apiVersion".to_owned());
        }
        let list = |name: &str| {
            value.get(name).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
        };
        let pair = |entry: &Value| Ok((text(entry, "name")?, text(entry, "value")?));
        let is_path = command.contains('/');
        Ok(Program {
            api_version,
            command: if is_path { directory.join(command) } else { PathBuf::from(command) },
            args: list("args").iter().filter_map(Value::as_str).map(str::to_owned).collect(),
            env: list("env").iter().map(pair).collect::<Result<_, String>>()?,
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
        self.credentials(&document.into_value()).map_err(|why| failed(&why))
    }

    fn credentials(&self, answer: &DeepValue) -> Result<Given, String> {
        let text = |value: &Value, name: &str| {
            let text = value.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
            text.map(str::to_owned)
        };
        if text(answer, "apiVersion").as_ref() != Some(&self.api_version) {
            return Err(format!("answered for another apiVersion than {}", self.api_version));
        }
        let status = answer.get("status").unwrap_or(&Value::Null);
        let given = Given {
            token: text(status, "token"),
            certificate: text(status, "clientCertificateData"),
            key: text(status, "clientKeyData"),
            expires: text(status, "expirationTimestamp"),
        };
        match (&given.token, &given.certificate, &given.key) {
            (None, None, None) => Err("gave neither a token nor a certificate".to_owned()),
            (_, Some(_), None) | (_, None, Some(_)) => {
                Err("gave a certificate without a key, or a key without a certificate".to_owned())
            }
            _ => Ok(given),
        }
    }
}
