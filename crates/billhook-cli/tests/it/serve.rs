//! `billhook serve`: an address, a token, a configuration, an end.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::support::Scratch;

pub(crate) const DEFINITION: &str = r"
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: foos.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: foos, kind: Foo}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}
---
apiVersion: example.com/v1
kind: Foo
metadata: {name: a}
";

/// A running server. It ends with the test.
pub(crate) struct Running {
    process: Child,
    url: String,
}

impl Running {
    pub(crate) fn start(arguments: &[&str]) -> Self {
        Running::of(&mut billhook(arguments))
    }

    /// Starts the command that runs it.
    pub(crate) fn of(command: &mut Command) -> Self {
        let mut process = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let url = line.strip_prefix("ready: ").and_then(|rest| rest.split(' ').next());
        let url = url.unwrap_or_else(|| panic!("not ready: {line:?}")).to_owned();
        Running { process, url }
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    pub(crate) fn id(&self) -> u32 {
        self.process.id()
    }

    /// Sends a signal to the process, such as `TERM`.
    pub(crate) fn signal(&self, name: &str) {
        let id = self.id().to_string();
        assert!(Command::new("kill").args([&format!("-{name}"), &id]).status().unwrap().success());
    }

    /// Waits for the end of the process.
    pub(crate) fn wait(&mut self) {
        assert!(self.process.wait().unwrap().success());
    }

    /// Connects to the server, which must serve plain HTTP.
    pub(crate) fn connect(&self) -> TcpStream {
        TcpStream::connect(self.url.strip_prefix("http://").unwrap()).unwrap()
    }

    fn get(&self, path: &str, header: &str) -> (u16, String) {
        self.send("GET", path, header, "")
    }

    /// Sends a request, and returns the code and the body.
    pub(crate) fn send(&self, method: &str, path: &str, header: &str, body: &str) -> (u16, String) {
        let mut stream = self.connect();
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: {}\r\n\
             {header}\r\n{body}",
            body.len()
        );
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        (head.split(' ').nth(1).unwrap().parse().unwrap(), body.to_owned())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn billhook(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_billhook"));
    command.arg("serve").args(arguments);
    command
}

/// A directory of its own with a file in it.
pub(crate) fn file(test: &str, name: &str, text: &str) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("serve-{test}"));
    std::fs::create_dir_all(&directory).unwrap();
    let file = directory.join(name);
    std::fs::write(&file, text).unwrap();
    file
}

#[test]
fn requests_need_the_token() {
    let crd = file("token", "all.yaml", DEFINITION);
    let token = file("token", "token", "secret\n");
    let server = Running::start(&[
        "--http",
        "--load",
        crd.to_str().unwrap(),
        "--token-file",
        token.to_str().unwrap(),
    ]);
    let path = "/apis/example.com/v1/namespaces/default/foos/a";
    for header in ["", "Authorization: Bearer other!\r\n", "Authorization: Basic secret\r\n"] {
        let (code, body) = server.get(path, header);
        assert_eq!(code, 401, "{header}");
        assert!(body.contains("\"reason\":\"Unauthorized\""), "{body}");
    }
    let (code, body) = server.get(path, "Authorization: Bearer secret\r\n");
    assert_eq!(code, 200);
    assert!(body.contains("\"name\":\"a\""), "{body}");
}

/// BK-253: pods and their clients come with tokens of service accounts.
#[test]
fn tokens_of_service_accounts_are_those_of_their_users() {
    let token = file("account", "token", "secret");
    let server = Running::start(&["--http", "--token-file", token.to_str().unwrap()]);
    let accounts = "/api/v1/namespaces/default/serviceaccounts";
    let post = |path: &str, body: &str| {
        let header = "Authorization: Bearer secret\r\nContent-Type: application/json\r\n";
        let (code, answer) = server.send("POST", path, header, body);
        assert_eq!(code, 201, "{answer}");
        serde_json::from_str::<serde_json::Value>(&answer).unwrap()
    };
    post(accounts, r#"{"metadata": {"name": "robot"}}"#);
    let made = post(&format!("{accounts}/robot/token"), r#"{"spec": {}}"#);
    let made = made["status"]["token"].as_str().unwrap();
    let review = r#"{"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}"#;
    let header = format!("Authorization: Bearer {made}\r\nContent-Type: application/json\r\n");
    let path = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
    let (code, answer) = server.send("POST", path, &header, review);
    assert_eq!(code, 201, "{answer}");
    assert!(answer.contains("system:serviceaccount:default:robot"), "{answer}");
}

#[test]
fn clients_find_the_server_by_a_configuration() {
    let crd = file("configuration", "all.yaml", DEFINITION);
    let configuration = file("configuration", "kubeconfig", "");
    let (crd, written) = (crd.to_str().unwrap(), configuration.to_str().unwrap());
    let server = Running::start(&["--crd", crd, "--write-kubeconfig", written]);
    let text = std::fs::read_to_string(&configuration).unwrap();
    assert!(server.url.starts_with("https://127.0.0.1:"), "{}", server.url);
    assert!(text.contains(&format!("server: {}", server.url)), "{text}");
    assert!(text.contains("certificate-authority-data: ") && text.contains("token: "), "{text}");
}

/// kubectl keeps a token to itself over plain HTTP.
#[test]
fn a_configuration_for_plain_http_needs_no_token() {
    let configuration = file("plain", "kubeconfig", "");
    let written = configuration.to_str().unwrap();
    let server = Running::start(&["--http", "--write-kubeconfig", written]);
    let text = std::fs::read_to_string(&configuration).unwrap();
    assert!(text.contains(&format!("server: {}", server.url)), "{text}");
    assert!(!text.contains("token"), "{text}");
    assert_eq!(server.get("/api/v1/namespaces", "").0, 200);
}

#[cfg(unix)]
#[test]
fn the_version_is_an_option_or_that_of_the_project() {
    let config = file("version", "billhook.toml", "kubernetes = \"1.34\"");
    let config = config.to_str().unwrap();
    for (arguments, minor) in [
        (vec!["--kubernetes", "1.33"], "33"),
        (vec!["--config", config], "34"),
        (vec!["--config", config, "--kubernetes", "1.35"], "35"),
        (vec![], "36"),
    ] {
        let arguments: Vec<&str> = ["--http"].into_iter().chain(arguments).collect();
        let (code, version) = Running::start(&arguments).get("/version", "");
        assert_eq!(code, 200);
        assert!(version.contains(&format!("\"minor\": \"{minor}\"")), "{version}");
    }
}

#[test]
fn a_signal_ends_it_though_a_watch_is_open() {
    let crd = file("signal", "all.yaml", DEFINITION);
    let mut server = Running::start(&["--http", "--crd", crd.to_str().unwrap()]);
    let mut watch = server.connect();
    let request = "GET /apis/example.com/v1/foos?watch=1 HTTP/1.1\r\nHost: localhost\r\n\r\n";
    watch.write_all(request.as_bytes()).unwrap();
    let mut first = [0; 8];
    watch.read_exact(&mut first).unwrap();
    assert_eq!(&first, b"HTTP/1.1");
    server.signal("TERM");
    assert!(server.process.wait().unwrap().success());
}

#[test]
fn namespaces_exist_before_their_objects() {
    let (definition, object) = DEFINITION.split_once("---").unwrap();
    let definition = file("namespaces", "definition.yaml", definition);
    let object = object.replace("name: a", "name: a, namespace: shop");
    let alone = file("namespaces", "alone.yaml", &object);
    let namespace = "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n";
    let both = file("namespaces", "both.yaml", &format!("{object}---\n{namespace}"));
    let [definition, alone, both] = [&definition, &alone, &both].map(|file| file.to_str().unwrap());
    let output = billhook(&["--crd", definition, "--load", alone]).output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(text.contains("namespaces \"shop\" not found"), "{text}");
    let path = "/apis/example.com/v1/namespaces/shop/foos/a";
    for more in [&["--load", both][..], &["--any-namespace", "--load", alone]] {
        let server = Running::start(&[&["--http", "--crd", definition], more].concat());
        assert_eq!(server.get(path, "").0, 200, "{more:?}");
    }
}

#[test]
fn what_is_refused() {
    let crd = file("refused", "all.yaml", DEFINITION);
    let (definition, object) = DEFINITION.split_once("---").unwrap();
    let definition = file("refused", "definition.yaml", definition);
    let twice = file("refused", "twice.yaml", &format!("{object}---{object}"));
    let [crd, definition, twice] = [&crd, &definition, &twice].map(|file| file.to_str().unwrap());
    let cases: [(&[&str], i32, &str); 3] = [
        (
            &["--listen", "0.0.0.0:0", "--crd", crd],
            2,
            "other machines can reach this address, and every request may do everything",
        ),
        (&["--load", twice], 2, "nothing is served for kind `Foo` of `example.com/v1`"),
        (&["--crd", definition, "--load", twice], 1, "foos.example.com \"a\" already exists"),
    ];
    for (arguments, code, message) in cases {
        let output = billhook(arguments).output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {text}");
        assert!(text.contains(message), "{text}");
    }
}

/// Refusals at the start are found on their lines.
#[test]
fn refusals_have_places() {
    let (definition, object) = DEFINITION.split_once("---").unwrap();
    let wrong_type = definition.replace("plural: foos", "plural: 7");
    let wrong_value = definition.replace("scope: Namespaced", "scope: Namespacd");
    let webhook = "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingWebhookConfiguration\n\
                   metadata: {name: a}\nwebhooks:\n- name: hook.example.com\n  sideEffects: Non\n";
    let policy = "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\n\
                  metadata: {name: a}\nspec:\n  validations: {expression: a}\n";
    let cases = [
        ("--crd", wrong_type.as_str(), 2, "plural of type string", "plural: 7"),
        ("--load", wrong_type.as_str(), 1, "plural of type string", "plural: 7"),
        ("--crd", wrong_value.as_str(), 2, "did you mean `Namespaced`?", "scope: Namespacd"),
        ("--load", wrong_value.as_str(), 1, "FieldValueNotSupported", "scope: Namespacd"),
        ("--load", webhook, 1, "webhooks[0].sideEffects: Unsupported value", "sideEffects: Non"),
        ("--load", policy, 1, "write a list", "validations: {"),
        ("--load", object, 2, "give its CRD with --crd or --load", "kind: Foo"),
    ];
    for (option, text, code, message, marked) in cases {
        assert!(text.contains(marked), "{text}");
        let line = text.lines().position(|line| line.contains(marked)).unwrap() + 1;
        let path = file("places", "document.yaml", text);
        let output = billhook(&[option, path.to_str().unwrap()]).output().unwrap();
        let found = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{found}");
        assert!(found.contains(&format!("document.yaml:{line}:")), "{found}");
        assert!(found.contains(message), "{found}");
    }
}

/// The file with the token is a new one, which only its owner can read; what a link names stays.
#[cfg(unix)]
#[test]
fn configuration_in_place_of_a_file() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("kubeconfig-there");
    std::fs::create_dir_all(&folder).unwrap();
    let [file, victim, link] = ["open", "victim", "link"].map(|name| folder.join(name));
    let _ = std::fs::remove_file(&link);
    std::fs::write(&victim, "precious").unwrap();
    symlink(&victim, &link).unwrap();
    std::fs::write(&file, "old").unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o666)).unwrap();
    let mut held = std::fs::File::open(&file).unwrap();
    let running = Running::start(&["--write-kubeconfig", file.to_str().unwrap()]);
    drop(running);
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(std::fs::read_to_string(&file).unwrap().contains("token: "));
    let mut text = String::new();
    held.read_to_string(&mut text).unwrap();
    assert_eq!(text, "old");
    let output = billhook(&["--write-kubeconfig", link.to_str().unwrap()]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("a link, which is not followed"));
    assert_eq!(std::fs::read_to_string(&victim).unwrap(), "precious");
}

/// CP-110, CP-115: a mistake in a file of `--simulate` has its line and column.
#[test]
fn mistakes_in_simulations_have_places() {
    let stage = "apiVersion: kwok.x-k8s.io/v1alpha1
kind: Stage
metadata: {name: ready}
spec:
  resourceRef: {apiGroup: v1, kind: Pod}
  next:
    snapshot: true
";
    let rules = "---
rules:
- {pods: a, exit: 1}
- {pods: b, exit: often}
";
    let scratch = Scratch::new("simulate", &[("stage.yaml", stage), ("rules.yaml", rules)]);
    for (file, expected) in [
        ("stage.yaml", "DIR/stage.yaml:7:5: spec.next.snapshot is not understood"),
        ("rules.yaml", "DIR/rules.yaml:4:3: rules[1]: exit is an exit code"),
    ] {
        let shown = scratch.run(&format!("serve --controllers all --simulate DIR/{file}"));
        assert!(shown.contains(expected), "{shown}");
    }
}
