//! `kubectl`: not ours, except for the one question that a harness asks until the server answers it
//! (ET-02, ET-70).

use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use billhook_apimachinery::Status;
use billhook_validation::parse_go_duration;
use billhook_webhook_client::{Kubeconfig, get};
use serde_json::{Value, json};

use super::{log, runtime};

const WHERE: &str = "billhook takes the place of kube-apiserver and etcd, not of kubectl; put a \
    kubectl in place of this file: https://kubernetes.io/docs/tasks/tools/";
const NAMESPACE: &str = "/api/v1/namespaces/default";
const TABLE: &str = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";
/// How long the server may take that is asked without a time.
const TIME: Duration = Duration::from_secs(30);

/// The flags that say which server is asked, and by whom.
#[derive(Default)]
struct Connection<'a> {
    server: &'a str,
    authority: &'a str,
    certificate: &'a str,
    key: &'a str,
    time: &'a str,
}

/// Answers the question about the namespace `default`, and says where to get what answers others.
pub(super) fn run(arguments: &[String]) -> ExitCode {
    if arguments.first().is_some_and(|first| first == "--help" || first == "help") {
        log::line(WHERE);
        return ExitCode::SUCCESS;
    }
    let Some(connection) = question(arguments) else {
        log::line(&format!("error: {WHERE}"));
        return ExitCode::FAILURE;
    };
    let runtime = runtime().map_err(|error| error.to_string());
    match runtime.and_then(|runtime| runtime.block_on(ask(&connection))) {
        Ok(table) => {
            // Whoever asked has seen enough.
            let _ = std::io::Write::write_all(&mut std::io::stdout(), table.as_bytes());
            ExitCode::SUCCESS
        }
        Err(why) => {
            log::line(&why);
            ExitCode::FAILURE
        }
    }
}

/// Returns the connection of `get ns default` over HTTPS; none if anything else is asked.
fn question(arguments: &[String]) -> Option<Connection<'_>> {
    let mut connection = Connection::default();
    let mut words = Vec::new();
    let mut rest = arguments.iter().map(String::as_str);
    while let Some(argument) = rest.next() {
        let Some(flag) = argument.strip_prefix("--") else {
            words.push(argument);
            continue;
        };
        let (name, value) = flag.split_once('=').or_else(|| Some((flag, rest.next()?)))?;
        *match name {
            "server" => &mut connection.server,
            "certificate-authority" => &mut connection.authority,
            "client-certificate" => &mut connection.certificate,
            "client-key" => &mut connection.key,
            "request-timeout" => &mut connection.time,
            _ => return None,
        } = value;
    }
    let is_asked =
        matches!(words.as_slice(), ["get", "ns" | "namespace" | "namespaces", "default"]);
    (is_asked && connection.server.starts_with("https://")).then_some(connection)
}

async fn ask(connection: &Connection<'_>) -> Result<String, String> {
    let authority = match connection.authority {
        "" => Vec::new(),
        file => std::fs::read(file).map_err(|error| {
            format!("error: unable to read certificate-authority {file}: {error}")
        })?,
    };
    let files = [("client-certificate", connection.certificate), ("client-key", connection.key)];
    let files = files.into_iter().filter(|(_, file)| !file.is_empty());
    let user: BTreeMap<_, _> = files.collect();
    let users = json!({"users": [{"name": "*", "user": user}]}).to_string();
    let users = Kubeconfig::from_slice(users.as_bytes(), Path::new(""));
    let users = users.map_err(|error| format!("error: {error}"))?;
    let time = parse_go_duration(connection.time).and_then(|time| u64::try_from(time).ok());
    let time = time.filter(|time| *time > 0).map_or(TIME, Duration::from_nanos);
    let url = connection.server.trim_end_matches('/').to_owned() + NAMESPACE;
    let (code, body) = get(&url, TABLE, &authority, &users, time)
        .await
        .map_err(|error| format!("Unable to connect to the server: {error}"))?;
    let answer: Value = serde_json::from_slice(&body).unwrap_or_default();
    match code {
        200 => Ok(table(&answer)),
        _ => {
            let status = Status::of_failure(&answer);
            let (reason, message) = status.map(|it| (it.reason, it.message)).unwrap_or_default();
            Err(format!("Error from server ({reason}): {message}"))
        }
    }
}

/// Prints the columns of a table that are shown by default.
fn table(answer: &Value) -> String {
    let items = |of: &Value, name: &str| {
        of.get(name).and_then(Value::as_array).cloned().unwrap_or_default()
    };
    let columns = items(answer, "columnDefinitions");
    let columns = columns.iter().enumerate().filter(|(_, column)| column["priority"] == 0);
    let (shown, names): (Vec<usize>, Vec<String>) = columns
        .map(|(at, column)| (at, column["name"].as_str().unwrap_or_default().to_uppercase()))
        .unzip();
    let mut lines = vec![names];
    lines.extend(items(answer, "rows").iter().map(|row| {
        let cells = items(row, "cells");
        let cells = shown.iter().filter_map(|at| cells.get(*at));
        cells.map(|cell| cell.as_str().map_or_else(|| cell.to_string(), str::to_owned)).collect()
    }));
    let width = |at: usize| lines.iter().filter_map(|line| line.get(at)).map(String::len).max();
    let padded = |line: &Vec<String>| {
        let cells = line.iter().enumerate();
        let cells = cells.map(|(at, cell)| format!("{cell:0$}", width(at).unwrap_or_default() + 3));
        cells.collect::<String>().trim_end().to_owned() + "\n"
    };
    lines.iter().map(padded).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// ET-70.
    #[test]
    fn one_question_is_understood() {
        let ask = |line: &str| {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            question(&words).map(|it| format!("{} {} {}", it.server, it.authority, it.time))
        };
        let known =
            "--server=https://a --certificate-authority b --request-timeout=5s get ns default";
        assert_eq!(ask(known).as_deref(), Some("https://a b 5s"));
        for other in [
            "get ns default",
            "--server=https://a get ns",
            "--server=https://a get ns default -o yaml",
            "--server=http://a get ns default",
            "--server=https://a --context=b get ns default",
            "get ns default --server",
        ] {
            assert_eq!(ask(other), None, "{other}");
        }
    }
}
