//! Plays conversations with the API server in this process: requests and watches, step by step.
//!
//! Time stands still except for waiting, so that what comes late is waited for at once.

mod client;
mod cluster;
mod compare;
mod objects;
mod placeholders;
mod reduce;
mod scenario;

use std::collections::BTreeMap;
use std::time::Duration;

use billhook_admission::now;
use billhook_apimachinery::UserInfo;
use billhook_apimachinery::print::plain_json;
use billhook_apiserver::{AuthorizationMode, Server};
use billhook_control_plane::ControlPlane;
use billhook_decode::read_json_to_depth;
use serde_json::{Value, json};

use self::client::{Answer, Stream, send};
use self::compare::Comparison;
use self::placeholders::Bindings;
pub use self::scenario::Conversation;
use self::scenario::{Action, Poll, Recorded, Request, Response, Step};
use super::pointer::text;
use super::scenario::DEPTH;
use super::verdict::Verdict;
use crate::fuzz::same;

/// The recordings that a conversation is one of: in each, the same names come again.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Recordings {
    Definitions,
    Kinds,
    ControlPlane,
}

/// Conversations that differ, and why.
const EXPLAINED: [(Recordings, &str, &str); 9] = [
    (Recordings::Definitions, "a-discovery-001", OF_DEFINITIONS_ALONE),
    (Recordings::Definitions, "a-discovery-004", OF_DEFINITIONS_ALONE),
    (Recordings::Definitions, "a-errors-005", OF_DEFINITIONS_ALONE),
    (Recordings::Definitions, "a-openapi-007", OF_DEFINITIONS_ALONE),
    (Recordings::Kinds, "a-controllerrevision-002", BLANKS),
    (Recordings::Kinds, "a-controllerrevision-008", BLANKS),
    (
        Recordings::Kinds,
        "a-pv-015",
        "errors about a patched object show an empty list in it as none",
    ),
    (
        Recordings::Kinds,
        "a-pvc-002",
        "an unchanged claim with a source is written again by the recorded server",
    ),
    (
        Recordings::ControlPlane,
        "a-namespace-005",
        "a wait for a condition that the recorded server never wrote either",
    ),
];
/// The recorded server compares the data as text, with the blanks of the recorded client; this player
/// sends none.
const BLANKS: &str = "the data differs in its blanks";
/// Its list of groups has no definitions in it, its paths and what it says of unknown ones are its
/// own (DT-02, DT-41, RE-06).
const OF_DEFINITIONS_ALONE: &str = "the recorded server is one of definitions alone";

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
/// How long a stream may take for a line.
const LATE: Duration = Duration::from_secs(5);
/// How long a stream must be silent after its lines.
const SILENCE: Duration = Duration::from_millis(150);
/// How long a server may take to end a stream.
const END: Duration = Duration::from_secs(10);
/// How often a server is asked for what it does in the background, and how long that may take.
const PAUSE: Duration = Duration::from_millis(50);
const PATIENCE: usize = 1800;
/// How long controllers may take to come to rest.
const MAX_SETTLE: Duration = Duration::from_secs(90);

impl Conversation {
    /// Reads a line.
    pub fn parse(line: &str) -> Result<Self, String> {
        serde_json::from_str(line).map_err(|error| error.to_string())
    }

    /// Whether it is about the built-in kinds of a server without the controllers of a cluster.
    pub(super) fn is_of_kinds(&self) -> bool {
        self.crds.is_none() && !self.has_controllers
    }

    /// The paths of its requests.
    pub(super) fn paths(&self) -> impl Iterator<Item = &str> {
        self.requests().map(|request| request.path.as_str())
    }

    /// Whether tables are among its answers.
    pub(super) fn has_tables(&self) -> bool {
        let accepts = self.requests().filter_map(|request| request.headers.get("Accept"));
        accepts.flatten().any(|accept| accept.contains("as=Table"))
    }

    fn requests(&self) -> impl Iterator<Item = &Request> {
        self.steps.iter().filter_map(|step| match &step.action {
            Action::Request(request) => Some(request),
            _ => None,
        })
    }

    /// Plays it on a server of its own.
    pub fn play(&self) -> Result<Verdict, String> {
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = runtime.enable_all().start_paused(true).build();
        runtime.map_err(|error| error.to_string())?.block_on(self.run())
    }

    async fn run(&self) -> Result<Verdict, String> {
        let verdict = self.run_steps().await?;
        let is_listed = EXPLAINED
            .iter()
            .any(|(recordings, id, _)| *id == self.id && *recordings == self.recordings());
        Ok(match verdict {
            Verdict::Failed { .. } if is_listed => Verdict::Explained,
            Verdict::Passed if is_listed => {
                Verdict::Failed { differences: vec!["it need not be listed any more".to_owned()] }
            }
            verdict => verdict,
        })
    }

    fn recordings(&self) -> Recordings {
        match &self.crds {
            _ if self.has_controllers => Recordings::ControlPlane,
            Some(_) => Recordings::Definitions,
            None => Recordings::Kinds,
        }
    }

    async fn run_steps(&self) -> Result<Verdict, String> {
        // Whether a second passes between two writes does not change the order of their entries.
        let now = now();
        let control_plane = match self.has_controllers {
            true => Some(cluster::build().await),
            false => None,
        };
        let mut player = Player {
            server: match self.crds {
                _ if let Some(control_plane) = &control_plane => control_plane.server().clone(),
                None => {
                    let builder = Server::builder().bootstrap().without_controllers();
                    let builder = builder.authorization_mode(AuthorizationMode::Rbac);
                    builder.user(recorded_user()).clock(move || now).build()
                }
                Some(_) => Server::builder().any_namespace().clock(move || now).build(),
            },
            control_plane,
            id: &self.id,
            groups: &self.groups,
            bindings: Bindings::default(),
            streams: BTreeMap::new(),
        };
        for definition in self.crds.iter().flatten() {
            player.install(definition).await?;
        }
        if self.has_controllers {
            player.install(&widgets()).await?;
        }
        for namespace in &self.namespaces {
            player.make_namespace(namespace).await?;
        }
        player.pass(Duration::ZERO).await?;
        for (index, step) in self.steps.iter().enumerate() {
            let differences = player.step(step).await?;
            if !differences.is_empty() {
                let at = format!("step {index}: {}", describe(&step.action));
                return Ok(Verdict::Failed { differences: [vec![at], differences].concat() });
            }
        }
        Ok(Verdict::Passed)
    }
}

/// The user of recordings of built-in kinds, whom a client certificate named.
fn recorded_user() -> UserInfo {
    let admin = UserInfo::named("admin");
    let mut user = admin.group("system:masters").group("system:authenticated");
    let credential = "X509SHA256=0".to_owned();
    user.extra.insert("authentication.kubernetes.io/credential-id".to_owned(), vec![credential]);
    user
}

/// The definition that recordings of the control plane share.
fn widgets() -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.cp.example.com"},
        "spec": {
            "group": "cp.example.com", "scope": "Namespaced",
            "names": {"plural": "widgets", "kind": "Widget"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {
                "openAPIV3Schema":
                    {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}}],
        },
    })
}

fn describe(action: &Action) -> String {
    match action {
        Action::Request(request) => {
            format!("{} {}", request.method.as_deref().unwrap_or("GET"), request.path)
        }
        Action::Watch(request) => format!("watch {}", request.path),
        Action::Events { id, .. } => format!("events of {id}"),
        Action::EndOfWatch { id, .. } => format!("end of {id}"),
        Action::Establish { crd, .. } => format!("establish {crd}"),
        Action::Poll(poll) => format!("poll {}", poll.request.path),
        Action::Until { path, field, .. } => format!("until {field} of {path}"),
        Action::Objects(_) => "objects".to_owned(),
        Action::Settle { .. } => "settle".to_owned(),
        Action::Sleep(_) => "sleep".to_owned(),
    }
}

struct Player<'s> {
    server: Server,
    /// The controllers and nodes, if there are any.
    control_plane: Option<ControlPlane>,
    id: &'s str,
    groups: &'s [String],
    bindings: Bindings,
    streams: BTreeMap<String, Stream>,
}

impl Player<'_> {
    async fn install(&self, definition: &Value) -> Result<(), String> {
        let request = Request::post(DEFINITIONS, definition);
        let answer = send(&self.server, &request, &self.bindings).await?;
        if answer.code == 201 {
            return Ok(());
        }
        let (code, body) = (answer.code, String::from_utf8_lossy(&answer.body));
        Err(format!("{}: a definition is refused: {code} {body}", self.id))
    }

    async fn make_namespace(&self, namespace: &Value) -> Result<(), String> {
        let named = |name: &str| json!({"metadata": {"name": name}});
        let object = namespace.as_str().map_or_else(|| namespace.clone(), named);
        let request = Request::post("/api/v1/namespaces", &object);
        let answer = send(&self.server, &request, &self.bindings).await?;
        match answer.code.as_u16() {
            201 | 409 => Ok(()),
            code => Err(format!("{}: no namespace: {code}", self.id)),
        }
    }

    /// Reads an object until a member of it has a value; one without a name is the status code.
    async fn until(&self, path: &str, field: &str, value: &Value) -> Result<Vec<String>, String> {
        let mut last = String::new();
        for _ in 0..PATIENCE {
            let answer = send(&self.server, &Request::get(path), &self.bindings).await?;
            let body: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
            let found = match field {
                "" => Some(answer.code.as_u16().into()),
                _ => Some(member(&body, field)),
            };
            if found.as_ref() == Some(value) {
                return Ok(Vec::new());
            }
            last = body.to_string();
            self.pass(PAUSE).await?;
        }
        Ok(vec![format!("{path}: {field} is never {value}, but {last}")])
    }

    /// Lets time pass.
    async fn pass(&self, duration: Duration) -> Result<(), String> {
        match &self.control_plane {
            Some(plane) => plane.advance(duration).await.map_err(|error| error.to_string()),
            None => {
                tokio::time::sleep(duration).await;
                Ok(())
            }
        }
    }

    /// Waits until nothing has changed for a time.
    async fn settle(&self, quiet: Duration) -> Result<Vec<String>, String> {
        let Some(plane) = &self.control_plane else { return Ok(Vec::new()) };
        let settled = plane.quiet_for(quiet, MAX_SETTLE).await;
        settled.map_err(|error| error.to_string())?;
        Ok(Vec::new())
    }

    async fn step(&mut self, step: &Step) -> Result<Vec<String>, String> {
        match &step.action {
            Action::Request(request) => {
                let answer = send(&self.server, request, &self.bindings).await?;
                Ok(self.compare(step, &answer))
            }
            Action::Watch(request) => {
                let (answer, stream) = Stream::begin(&self.server, request, &self.bindings).await?;
                self.streams.insert(request.id.clone(), stream);
                Ok(self.compare(step, &answer))
            }
            Action::Events { id, lines } => self.events(id, lines).await,
            Action::EndOfWatch { id, by } => self.end(id, by).await,
            Action::Establish { crd, ready } => self.establish(crd, ready).await,
            Action::Poll(poll) => self.poll(poll).await,
            Action::Until { path, field, value } => self.until(path, field, value).await,
            Action::Objects(_) => self.objects(step).await,
            Action::Settle { quiet } => self.settle(Duration::from_secs_f64(*quiet)).await,
            Action::Sleep(seconds) => {
                self.pass(Duration::from_secs_f64(*seconds)).await?;
                Ok(Vec::new())
            }
        }
    }

    /// Compares the objects of paths; what is not there counts as no objects.
    async fn objects(&mut self, step: &Step) -> Result<Vec<String>, String> {
        let Some(Response::Objects(recorded)) = &step.response else {
            return Err(format!("{}: no objects were recorded", self.id));
        };
        let mut found = Vec::new();
        for recorded in recorded {
            let request = Request::get(&recorded.path);
            let answer = send(&self.server, &request, &self.bindings).await?;
            let objects = match answer.code.as_u16() {
                200 => read_json_to_depth(&answer.body, DEPTH)
                    .map_err(|error| error.to_string())?
                    .into_value()
                    .into_inner(),
                _ => Value::Null,
            };
            found.push((recorded.path.as_str(), objects));
        }
        let mut differences = Vec::new();
        for (recorded, found) in recorded.iter().zip(objects::normalize(found)) {
            if !same(&recorded.items, &found) {
                let (recorded_items, found) = (plain_json(&recorded.items), plain_json(&found));
                let path = &recorded.path;
                differences
                    .push(format!("{path}\n  expected {recorded_items}\n  actual   {found}"));
            }
        }
        Ok(differences)
    }

    fn comparison(&mut self) -> Comparison<'_> {
        Comparison {
            bindings: &mut self.bindings,
            groups: self.groups,
            is_unordered: false,
            differences: Vec::new(),
        }
    }

    fn compare(&mut self, step: &Step, answer: &Answer) -> Vec<String> {
        let Some(Response::Answer(recorded)) = &step.response else { return Vec::new() };
        let mut comparison = self.comparison();
        comparison.is_unordered = step.is_unordered;
        if recorded.status != answer.code.as_u16() {
            let body = String::from_utf8_lossy(&answer.body);
            comparison.differ("status", &recorded.status.into(), &answer.code.as_u16().into());
            comparison.differ(
                "body",
                recorded.body.as_ref().unwrap_or(&Value::Null),
                &body.as_ref().into(),
            );
            return comparison.differences;
        }
        compare_headers(&mut comparison, recorded, answer);
        if let Some(body) = &recorded.body {
            match read_json_to_depth(&answer.body, DEPTH) {
                Ok(document) => {
                    let actual = document.into_value().into_inner();
                    comparison.document(body, actual, "");
                }
                Err(error) => comparison.differ("body", body, &error.to_string().into()),
            }
        }
        if !recorded.bind.is_empty() {
            let body: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
            for (member, placeholder) in &recorded.bind {
                let found = text(&body, &format!("/{}", member.replace('.', "/")));
                comparison.text(placeholder, found, member);
            }
        }
        if let Some(text) = &recorded.body_text {
            comparison.text(text, &String::from_utf8_lossy(&answer.body), "bodyText");
        }
        comparison.differences
    }

    async fn events(&mut self, id: &str, lines: &[Value]) -> Result<Vec<String>, String> {
        for (index, recorded) in lines.iter().enumerate() {
            let Some(line) = self.stream(id)?.line(LATE).await? else {
                return Ok(vec![format!("line {index} is missing: {recorded}")]);
            };
            let mut comparison = self.comparison();
            comparison.document(
                recorded.get("object").unwrap_or(&Value::Null),
                line.get("object").cloned().unwrap_or_default(),
                &format!("/lines/{index}/object"),
            );
            let kinds = [recorded, &line].map(|line| line.get("type").cloned().unwrap_or_default());
            if kinds[0] != kinds[1] {
                comparison.differ(&format!("/lines/{index}/type"), &kinds[0], &kinds[1]);
            }
            if !comparison.differences.is_empty() {
                return Ok(comparison.differences);
            }
        }
        let more = self.stream(id)?.line(SILENCE).await?;
        Ok(more.map(|line| format!("a line too many: {line}")).into_iter().collect())
    }

    async fn end(&mut self, id: &str, by: &str) -> Result<Vec<String>, String> {
        if by == "client" {
            self.streams.remove(id);
            return Ok(Vec::new());
        }
        let stream = self.stream(id)?;
        if let Some(line) = stream.line(END).await? {
            return Ok(vec![format!("a line too many: {line}")]);
        }
        let is_open = !stream.is_over();
        Ok(is_open.then(|| "the server does not end the stream".to_owned()).into_iter().collect())
    }

    fn stream(&mut self, id: &str) -> Result<&mut Stream, String> {
        self.streams.get_mut(id).ok_or_else(|| format!("there is no stream {id}"))
    }

    async fn establish(&self, name: &str, ready: &[String]) -> Result<Vec<String>, String> {
        let definition = Poll::new(&format!("{DEFINITIONS}/{name}"), r#""type":"Established","#);
        let ready = ready.iter().map(|path| Poll::new(path, ""));
        for poll in std::iter::once(definition).chain(ready) {
            let differences = self.poll(&poll).await?;
            if !differences.is_empty() {
                return Ok(differences);
            }
        }
        Ok(Vec::new())
    }

    async fn poll(&self, poll: &Poll) -> Result<Vec<String>, String> {
        let mut last = String::new();
        for _ in 0..PATIENCE {
            let answer = send(&self.server, &poll.request, &self.bindings).await?;
            let body = String::from_utf8_lossy(&answer.body);
            if answer.code == poll.status && body.contains(&poll.contains) {
                return Ok(Vec::new());
            }
            last = format!("{} {body}", answer.code);
            tokio::time::sleep(PAUSE).await;
        }
        let Poll { request, status, contains } = poll;
        Ok(vec![format!("{}: never {status} with {contains}, but {last}", request.path)])
    }
}

impl Poll {
    fn new(path: &str, contains: &str) -> Self {
        Poll { request: Request::get(path), status: 200, contains: contains.to_owned() }
    }
}

fn compare_headers(comparison: &mut Comparison<'_>, recorded: &Recorded, answer: &Answer) {
    for (name, value) in &recorded.headers {
        if name != "warning" {
            let found = answer.headers.get(name).map(header_text);
            let found = found.unwrap_or_default();
            comparison.text(value.as_str().unwrap_or_default(), &found, name);
        }
    }
    let mut expected: Vec<&str> = match recorded.headers.get("warning") {
        Some(Value::Array(warnings)) => warnings.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    let found: Vec<String> = answer.headers.get_all("warning").iter().map(header_text).collect();
    let mut found: Vec<&str> = found.iter().map(String::as_str).collect();
    if comparison.is_unordered {
        expected.sort_unstable();
        found.sort_unstable();
    }
    if expected != found {
        comparison.differ("warning", &expected.into(), &found.into());
    }
}

/// A header as the recorder read it: each byte is a character.
fn header_text(value: &http::HeaderValue) -> String {
    value.as_bytes().iter().map(|byte| char::from(*byte)).collect()
}

/// Returns the member at a path with dots; null if it is absent. In a list of conditions, a type
/// stands for the status of the condition if that is `True`.
fn member(body: &Value, field: &str) -> Value {
    let mut found = body;
    for part in field.split('.') {
        let is_true = |it: &&Value| it["type"] == part && it["status"] == "True";
        let next = match found {
            Value::Array(list) => match part.parse::<usize>() {
                Ok(index) => list.get(index),
                Err(_) => list.iter().find(is_true).map(|condition| &condition["status"]),
            },
            object => object.get(part),
        };
        found = next.unwrap_or(&Value::Null);
    }
    found.clone()
}
