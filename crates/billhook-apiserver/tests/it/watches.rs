//! Watches (18): where they begin, what they tell, and that they tell the truth under load.

use std::collections::BTreeMap;

use billhook_apiserver::{Body, Server};
use futures_util::FutureExt as _;
use http::Method;
use http_body_util::BodyExt as _;
use proptest::prelude::*;
use serde_json::{Value, json};
use tower_service::Service as _;

use crate::support::{call, definition, server, text};

const FOOS: &str = "/apis/example.com/v1/namespaces/default/foos";
const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

async fn send(server: &Server, method: Method, path: &str, body: &Value) -> Value {
    let type_ = match method {
        Method::PATCH => "application/merge-patch+json",
        _ => "application/json",
    };
    let body = if body.is_null() { String::new() } else { body.to_string() };
    let answer = call(server, method, path, &[("content-type", type_)], &body).await;
    assert!(answer.code < 300, "{path}: {}", answer.text);
    answer.json()
}

async fn create(server: &Server, name: &str, metadata: Value) -> Value {
    let mut object = json!({"apiVersion": "example.com/v1", "kind": "Foo", "metadata": metadata,
        "spec": {"a": 1}});
    object["metadata"]["name"] = name.into();
    send(server, Method::POST, FOOS, &object).await
}

async fn patch(server: &Server, name: &str, change: Value) -> Value {
    send(server, Method::PATCH, &format!("{FOOS}/{name}"), &change).await
}

async fn delete(server: &Server, name: &str) -> Value {
    send(server, Method::DELETE, &format!("{FOOS}/{name}"), &Value::Null).await
}

fn revision(object: &Value) -> String {
    text(object, "/metadata/resourceVersion")
}

/// A watch that is read by hand.
struct Watch(Body);

impl Watch {
    async fn open(server: &Server, path: &str) -> Self {
        let request = http::Request::get(path).body(String::new()).unwrap();
        let response = server.clone().call(request).await.unwrap();
        assert_eq!(response.status(), 200, "{path}");
        assert_eq!(response.headers()["content-type"], "application/json");
        Watch(response.into_body())
    }

    /// The events that are there already. An event is there when the write is answered (WA-60).
    fn events(&mut self) -> Vec<Value> {
        let lines = std::iter::from_fn(|| self.0.frame().now_or_never()?);
        let lines = lines.map(|frame| frame.unwrap().into_data().unwrap());
        lines.map(|line| serde_json::from_slice(&line).unwrap()).collect()
    }

    /// The next event as it is sent.
    fn line(&mut self) -> bytes::Bytes {
        let frame = self.0.frame().now_or_never().flatten().expect("an event");
        frame.unwrap().into_data().unwrap()
    }

    /// [`Watch::events`] in short.
    fn shown(&mut self) -> Vec<String> {
        self.events().iter().map(short).collect()
    }

    fn has_ended(&mut self) -> bool {
        matches!(self.0.frame().now_or_never(), Some(None))
    }
}

fn short(event: &Value) -> String {
    let object = &event["object"];
    let is_end =
        object.pointer("/metadata/annotations/k8s.io~1initial-events-end") == Some(&json!("true"));
    let end = if is_end { " end" } else { "" };
    format!("{} {}@{}{end}", text(event, "/type"), text(object, "/metadata/name"), revision(object))
}

/// WA-10 to WA-14, and the old form (WA-02): a at 8, b at 9, then a is changed at 10.
#[tokio::test]
async fn watches_begin_where_they_are_asked_to() {
    const STATE: [&str; 2] = ["ADDED a@8", "ADDED b@9"];
    const CHANGE: &str = "MODIFIED a@10";
    let not_older = "resourceVersionMatch=NotOlderThan&sendInitialEvents";
    let old = "/apis/example.com/v1/watch/namespaces/default/foos";
    for (path, expected) in [
        (format!("{FOOS}?watch=1"), vec![STATE[0], STATE[1], CHANGE]),
        (format!("{FOOS}?watch=&resourceVersion=0"), vec![STATE[0], STATE[1], CHANGE]),
        (format!("{FOOS}?watch=1&resourceVersion=8"), vec![STATE[1], CHANGE]),
        (format!("{FOOS}?watch=1&resourceVersion=9"), vec![CHANGE]),
        (format!("{FOOS}?watch=1&resourceVersion=10"), vec![]),
        (format!("{FOOS}?watch=1&resourceVersion=99"), vec![]),
        (format!("{FOOS}?watch=1&{not_older}=1"), vec![STATE[0], STATE[1], CHANGE]),
        (
            format!("{FOOS}?watch=1&{not_older}=1&resourceVersion=0"),
            vec![STATE[0], STATE[1], CHANGE],
        ),
        (
            format!("{FOOS}?watch=1&{not_older}=1&resourceVersion=8"),
            vec![STATE[0], STATE[1], CHANGE],
        ),
        (
            format!("{FOOS}?watch=1&{not_older}=1&resourceVersion=1"),
            vec![STATE[0], STATE[1], CHANGE],
        ),
        (format!("{FOOS}?watch=1&{not_older}=false"), vec![CHANGE]),
        (format!("{FOOS}?watch=1&{not_older}=false&resourceVersion=0"), vec![CHANGE]),
        (format!("{FOOS}?watch=1&{not_older}=false&resourceVersion=8"), vec![STATE[1], CHANGE]),
        (format!("{FOOS}?watch=1&limit=1"), vec![STATE[0], STATE[1], CHANGE]),
        (format!("{FOOS}?watch=1&continue=x&resourceVersion=9"), vec![CHANGE]),
        (format!("{FOOS}?watch=1&fieldSelector=metadata.name=b"), vec![STATE[1]]),
        (format!("{FOOS}?watch=1&labelSelector=x"), vec![STATE[1]]),
        (
            format!("{FOOS}?watch=1&allowWatchBookmarks=1&fieldSelector=metadata.name=none"),
            vec!["BOOKMARK @9 end"],
        ),
        (
            format!("{FOOS}?watch=1&allowWatchBookmarks=1"),
            vec![STATE[0], STATE[1], "BOOKMARK @9 end", CHANGE],
        ),
        (format!("{FOOS}?watch=1&allowWatchBookmarks=1&resourceVersion=9"), vec![CHANGE]),
        (format!("{FOOS}?watch=1&allowWatchBookmarks=1&{not_older}=0"), vec![CHANGE]),
        (format!("{old}?allowWatchBookmarks=1"), vec![STATE[0], STATE[1], CHANGE]),
        (format!("{old}?watch=false&resourceVersion=9"), vec![CHANGE]),
        (
            format!("{old}?watch=1&allowWatchBookmarks=1"),
            vec![STATE[0], STATE[1], "BOOKMARK @9 end", CHANGE],
        ),
        (format!("{old}/a"), vec![STATE[0], CHANGE]),
        (format!("{old}/none"), vec![]),
    ] {
        let server = server();
        create(&server, "a", json!({})).await;
        create(&server, "b", json!({"labels": {"x": "1"}})).await;
        let mut watch = Watch::open(&server, &path).await;
        patch(&server, "a", json!({"spec": {"a": 2}})).await;
        assert_eq!(watch.shown(), expected, "{path}");
    }
}

/// WA-11, WA-31: a state of the future is not waited for.
#[tokio::test]
async fn a_state_of_the_future_is_an_error() {
    let server = server();
    let query = "watch=1&sendInitialEvents=1&resourceVersionMatch=NotOlderThan&resourceVersion=99";
    let mut watch = Watch::open(&server, &format!("{FOOS}?{query}")).await;
    let events = watch.events();
    assert_eq!(
        events,
        [json!({"type": "ERROR", "object": {"kind": "Status", "apiVersion": "v1", "metadata": {},
            "status": "Failure", "message": "Timeout: Too large resource version: 99, current: 7",
            "reason": "Timeout", "details": {"causes": [{"reason": "ResourceVersionTooLarge",
                "message": "Too large resource version"}], "retryAfterSeconds": 1}, "code": 504}})],
    );
    assert!(watch.has_ended());
}

/// WA-22 to WA-27: what a change is to those who select objects.
#[tokio::test]
async fn changes_are_what_a_selector_makes_of_them() {
    let server = server();
    let [mut all, mut labeled, mut red] = [
        Watch::open(&server, &format!("{FOOS}?watch=1")).await,
        Watch::open(&server, &format!("{FOOS}?watch=1&labelSelector=x%3D1")).await,
        Watch::open(&server, &format!("{FOOS}?watch=1&fieldSelector=spec.color%3Dred")).await,
    ];
    create(&server, "b", json!({"labels": {"x": "1"}, "finalizers": ["example.com/f"]})).await;
    patch(&server, "b", json!({"metadata": {"labels": null}, "spec": {"a": 3}})).await;
    patch(&server, "b", json!({"metadata": {"labels": {"x": "1"}}, "spec": {"color": "red"}}))
        .await;
    // Neither of these changes anything (WA-26).
    patch(&server, "b", json!({"spec": {"color": "red"}})).await;
    send(&server, Method::PATCH, &format!("{FOOS}/b?dryRun=All"), &json!({"spec": {"a": 4}})).await;
    delete(&server, "b").await;
    delete(&server, "b").await;
    let gone =
        patch(&server, "b", json!({"metadata": {"finalizers": null}, "spec": {"a": 5}})).await;
    assert_eq!(gone.pointer("/spec/a"), Some(&json!(5)));
    let events = all.events();
    let shown: Vec<_> = events.iter().map(short).collect();
    assert_eq!(
        shown,
        ["ADDED b@8", "MODIFIED b@9", "MODIFIED b@10", "MODIFIED b@11", "DELETED b@12"],
    );
    // The last stored content (WA-24).
    let last = &events[4]["object"];
    assert_eq!(last["metadata"]["finalizers"], json!(["example.com/f"]));
    assert_eq!((&last["spec"]["a"], &last["metadata"]["generation"]), (&json!(3), &json!(4)));
    let left = labeled.events();
    let shown: Vec<_> = left.iter().map(short).collect();
    assert_eq!(shown, ["ADDED b@8", "DELETED b@9", "ADDED b@10", "MODIFIED b@11", "DELETED b@12"],);
    // The object as it was when it was selected.
    assert_eq!(left[1]["object"]["metadata"]["labels"], json!({"x": "1"}));
    assert_eq!(left[1]["object"]["spec"], json!({"a": 1}));
    assert_eq!(red.shown(), ["ADDED b@10", "MODIFIED b@11", "DELETED b@12"]);

    for name in ["c", "d"] {
        create(&server, name, json!({"labels": {"x": "1"}})).await;
    }
    send(&server, Method::DELETE, &format!("{FOOS}?labelSelector=x"), &Value::Null).await;
    assert_eq!(labeled.shown(), ["ADDED c@13", "ADDED d@14", "DELETED c@15", "DELETED d@16"]);
}

/// WA-40 to WA-43: what ends the watches of all versions, and what does not.
#[tokio::test]
async fn another_definition_ends_watches() {
    let columns = json!([{"name": "A", "type": "integer", "jsonPath": ".spec.a"}]);
    let mut with_columns = definition()["spec"]["versions"].clone();
    with_columns[0]["additionalPrinterColumns"] = columns;
    for (change, ends) in [
        (json!({"metadata": {"labels": {"x": "1"}, "annotations": {"x": "1"}}}), false),
        (json!({"spec": {"versions": with_columns}}), true),
        (json!({"spec": {"names": {"shortNames": ["f"]}}}), true),
    ] {
        let server = server();
        let before = create(&server, "a", json!({})).await;
        let path =
            format!("{FOOS}?watch=1&allowWatchBookmarks=1&resourceVersion={}", revision(&before));
        let mut watch = Watch::open(&server, &path).await;
        assert_eq!(watch.shown(), [""; 0]);
        let changed =
            send(&server, Method::PATCH, &format!("{DEFINITIONS}/foos.example.com"), &change).await;
        assert_eq!(watch.has_ended(), ends, "{change}");
        if !ends {
            continue;
        }
        // The history begins anew (WA-42).
        let events = Watch::open(&server, &path).await.events();
        let message = text(&events[0], "/object/message");
        assert!(message.starts_with("too old resource version: 8 ("), "{message}");
        let path = format!("{FOOS}?watch=1&resourceVersion={}", server_revision(&server).await);
        assert_eq!(Watch::open(&server, &path).await.shown(), [""; 0]);
        assert_eq!(Watch::open(&server, &format!("{FOOS}?watch=1")).await.shown(), ["ADDED a@8"]);
        assert!(!revision(&changed).is_empty());
    }
}

async fn server_revision(server: &Server) -> String {
    revision(&send(server, Method::GET, FOOS, &Value::Null).await)
}

/// WA-41: the objects go first, and then the watches end.
#[tokio::test]
async fn a_definition_goes_with_its_objects() {
    let server = server();
    create(&server, "a", json!({})).await;
    let mut watch = Watch::open(&server, &format!("{FOOS}?watch=1")).await;
    send(&server, Method::DELETE, &format!("{DEFINITIONS}/foos.example.com"), &Value::Null).await;
    let shown = watch.shown();
    assert_eq!(shown[0], "ADDED a@8");
    assert!(shown[1].starts_with("DELETED a@") && shown.len() == 2, "{shown:?}");
    assert!(watch.has_ended());
    assert_eq!(call(&server, Method::GET, &format!("{FOOS}?watch=1"), &[], "").await.code, 404);
}

/// WA-07: the time of a watch is its own, and it ends without an event.
#[tokio::test(start_paused = true)]
async fn watches_last_as_long_as_they_are_asked_to() {
    let server = server();
    for (query, seconds) in [
        ("timeoutSeconds=90&timeout=1s", 90),
        ("timeoutSeconds=0", 1800),
        ("timeoutSeconds=-1", 1800),
        ("timeout=5s", 1800),
    ] {
        let began = tokio::time::Instant::now();
        let path = format!("{FOOS}?watch=1&resourceVersion=7&{query}");
        let answer = call(&server, Method::GET, &path, &[], "").await;
        assert_eq!((answer.code, answer.text.as_str()), (200, ""));
        assert_eq!(began.elapsed().as_secs(), seconds, "{query}");
    }
}

/// WA-33: a client that does not read costs no memory; when what it has not read is forgotten, its
/// watch ends, and it begins again from the last event.
#[tokio::test]
async fn a_slow_client_begins_again() {
    let server = server();
    let mut slow = Watch::open(&server, &format!("{FOOS}?watch=1")).await;
    create(&server, "a", json!({})).await;
    create(&server, "b", json!({})).await;
    assert_eq!(short(&serde_json::from_slice(&slow.line()).unwrap()), "ADDED a@8");
    server.compact().await.unwrap();
    assert!(slow.has_ended());
    let path = format!("{FOOS}?watch=1&resourceVersion=8");
    let again = Watch::open(&server, &path).await.events();
    assert_eq!(text(&again[0], "/object/message"), "too old resource version: 8 (9)");
}

/// WA-12, WA-33: a watch that is not read holds a part of its state only. What it reads later is the
/// state at its beginning, unless that is forgotten.
#[tokio::test]
async fn a_large_state_is_read_in_parts() {
    let server = server();
    let names: Vec<String> = (100..350).map(|number| format!("n{number}")).collect();
    for name in &names {
        create(&server, name, json!({})).await;
    }
    let path = format!("{FOOS}?watch=1&allowWatchBookmarks=1");
    let mut watch = Watch::open(&server, &path).await;
    let mut slow = Watch::open(&server, &path).await;
    slow.line();
    create(&server, "n1000", json!({})).await;
    delete(&server, "n349").await;
    let shown = watch.shown();
    let expected = names.iter().zip(8..).map(|(name, at)| format!("ADDED {name}@{at}"));
    let later = ["BOOKMARK @257 end", "ADDED n1000@258", "DELETED n349@259"].map(str::to_owned);
    assert_eq!(shown, expected.chain(later).collect::<Vec<_>>());
    server.compact().await.unwrap();
    assert!(slow.events().len() < names.len());
    assert!(slow.has_ended());
}

/// An event is printed once, whatever the watches that see it select.
#[tokio::test]
async fn watches_share_what_they_send() {
    let server = server();
    let mut watches = Vec::new();
    for query in ["", "&labelSelector=x", "&fieldSelector=spec.color!%3Dred"] {
        watches.push(Watch::open(&server, &format!("{FOOS}?watch=1{query}")).await);
    }
    let fork = server.fork();
    let mut elsewhere = Watch::open(&fork, &format!("{FOOS}?watch=1")).await;
    create(&server, "a", json!({"labels": {"x": "1"}})).await;
    create(&fork, "b", json!({"labels": {"x": "1"}})).await;
    let lines: Vec<_> = watches.iter_mut().map(Watch::line).collect();
    for line in &lines {
        assert_eq!((line.as_ptr(), line.len()), (lines[0].as_ptr(), lines[0].len()));
    }
    // The same revision of another server is another change.
    assert_eq!(short(&serde_json::from_slice(&elsewhere.line()).unwrap()), "ADDED b@8");
    assert_eq!(short(&serde_json::from_slice(&lines[0]).unwrap()), "ADDED a@8");
}

/// The server's own kinds are the same in every server, what happens to their objects is not.
#[tokio::test]
async fn watches_of_own_kinds_are_those_of_one_server() {
    const MAPS: &str = "/api/v1/namespaces/default/configmaps";
    let server = server();
    let servers = [("a", server.fork()), ("b", server)];
    let mut watches = Vec::new();
    for (_, server) in &servers {
        watches.push(Watch::open(server, &format!("{MAPS}?watch=1")).await);
    }
    let mut also = Watch::open(&servers[0].1, &format!("{MAPS}?watch=1")).await;
    for (name, server) in &servers {
        let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}});
        send(server, Method::POST, MAPS, &map).await;
    }
    let lines: Vec<_> = watches.iter_mut().map(Watch::line).collect();
    for ((name, _), line) in servers.iter().zip(&lines) {
        let event: Value = serde_json::from_slice(line).unwrap();
        assert_eq!(text(&event, "/object/metadata/name"), *name);
    }
    assert_eq!(also.line().as_ptr(), lines[0].as_ptr(), "it is printed once");
}

#[derive(Clone, Debug)]
enum Operation {
    Create { name: usize, label: u8, color: u8 },
    Change { name: usize, label: u8, color: u8 },
    Delete { name: usize },
}

fn operations() -> impl Strategy<Value = Vec<Operation>> {
    let change = (0..6_usize, 0..3_u8, 0..3_u8);
    let operation = prop_oneof![
        2 => change.clone().prop_map(|(name, label, color)| Operation::Create { name, label, color }),
        4 => change.prop_map(|(name, label, color)| Operation::Change { name, label, color }),
        1 => (0..6_usize).prop_map(|name| Operation::Delete { name }),
    ];
    proptest::collection::vec(operation, 1..12)
}

/// Makes changes; others may be faster, so that any may fail.
async fn write(server: Server, operations: Vec<Operation>) {
    for operation in operations {
        let content = |label: u8, color: u8| {
            let color = ["", "red", "blue"][usize::from(color)];
            json!({"metadata": {"labels": {"x": label.to_string()}}, "spec": {"color": color}})
        };
        let (method, name, body) = match operation {
            Operation::Create { name, label, color } => {
                let mut object = content(label, color);
                object["metadata"]["name"] = format!("n{name}").into();
                object["apiVersion"] = "example.com/v1".into();
                object["kind"] = "Foo".into();
                (Method::POST, String::new(), object.to_string())
            }
            Operation::Change { name, label, color } => {
                (Method::PATCH, format!("/n{name}"), content(label, color).to_string())
            }
            Operation::Delete { name } => (Method::DELETE, format!("/n{name}"), String::new()),
        };
        let type_ = match method {
            Method::PATCH => "application/merge-patch+json",
            _ => "application/json",
        };
        let path = format!("{FOOS}{name}");
        let code = call(&server, method, &path, &[("content-type", type_)], &body).await.code;
        assert!(matches!(code, 200 | 201 | 404 | 409), "{path}: {code}");
        tokio::task::yield_now().await;
    }
}

const SELECTORS: [&str; 6] = [
    "",
    "labelSelector=x%3D1",
    "labelSelector=x+notin+(0,1)",
    "fieldSelector=spec.color%3Dred",
    "fieldSelector=spec.color!%3Dred&labelSelector=x",
    "fieldSelector=metadata.name%3Dn1",
];

async fn list(server: &Server, selector: &str) -> (BTreeMap<String, Value>, String) {
    let list = send(server, Method::GET, &format!("{FOOS}?{selector}"), &Value::Null).await;
    let items = list["items"].as_array().unwrap().iter();
    (items.map(|item| (text(item, "/metadata/name"), item.clone())).collect(), revision(&list))
}

/// A list, and the watch that goes on from it.
struct Follower {
    selector: &'static str,
    state: BTreeMap<String, Value>,
    seen: u64,
    watch: Watch,
}

impl Follower {
    async fn begin(server: &Server, selector: &'static str) -> Self {
        let (state, revision) = list(server, selector).await;
        let path = format!("{FOOS}?watch=1&resourceVersion={revision}&{selector}");
        let watch = Watch::open(server, &path).await;
        Follower { selector, state, seen: revision.parse().unwrap(), watch }
    }

    fn follow(&mut self) {
        for event in self.watch.events() {
            let object = event["object"].clone();
            let at: u64 = revision(&object).parse().unwrap();
            assert!(at > self.seen, "{} after {}", at, self.seen);
            self.seen = at;
            let name = text(&object, "/metadata/name");
            let is_known = match event["type"].as_str().unwrap() {
                "DELETED" => self.state.remove(&name).is_some(),
                "MODIFIED" => self.state.insert(name, object).is_some(),
                _ => self.state.insert(name, object).is_none(),
            };
            assert!(is_known, "{}: {event}", self.selector);
        }
    }
}

async fn followers(server: &Server) -> Vec<Follower> {
    let mut all = Vec::new();
    for selector in SELECTORS {
        all.push(Follower::begin(server, selector).await);
    }
    all
}

/// A list at a revision and a watch from it are the state at any later time, for every selector,
/// while several write; and a fork is another world.
async fn lists_and_watches_agree(early: Vec<Operation>, late: [Vec<Operation>; 4]) {
    let server = server();
    write(server.clone(), early).await;
    let fork = server.fork();
    let mut all = followers(&server).await;
    let mut of_fork = followers(&fork).await;
    let [one, two, three, elsewhere] = late;
    let writers = [(&server, one), (&server, two), (&server, three), (&fork, elsewhere)];
    let mut tasks: Vec<_> =
        writers.map(|(server, operations)| tokio::spawn(write(server.clone(), operations))).into();
    while let Some(task) = tasks.pop() {
        all.iter_mut().chain(&mut of_fork).for_each(Follower::follow);
        // Others begin in the middle.
        all.push(Follower::begin(&server, SELECTORS[tasks.len()]).await);
        task.await.unwrap();
    }
    for (server, followers) in [(&server, &mut all), (&fork, &mut of_fork)] {
        for follower in followers {
            follower.follow();
            let (state, _) = list(server, follower.selector).await;
            assert_eq!(follower.state, state, "{}", follower.selector);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn a_list_and_a_watch_are_the_state(
        early in operations(),
        late in [operations(), operations(), operations(), operations()],
    ) {
        let mut runtime = tokio::runtime::Builder::new_multi_thread();
        let runtime = runtime.worker_threads(3).enable_all().build().unwrap();
        runtime.block_on(lists_and_watches_agree(early, late));
    }
}

/// WA-01, WA-08, WA-20, WA-21: a watch of a name; one object is not watched.
#[tokio::test]
async fn a_name_is_watched_among_others() {
    let server = server();
    create(&server, "a", json!({})).await;
    create(&server, "b", json!({})).await;
    let mut named =
        Watch::open(&server, &format!("{FOOS}?watch=true&fieldSelector=metadata.name=b")).await;
    assert_eq!(named.shown(), ["ADDED b@9"]);
    patch(&server, "a", json!({"spec": {"a": 2}})).await;
    patch(&server, "b", json!({"spec": {"a": 2}})).await;
    let line = String::from_utf8(named.line().to_vec()).unwrap();
    assert!(line.starts_with("{\"type\":\"MODIFIED\",\"object\":{\"apiVersion\""), "{line}");
    assert!(line.ends_with("}\n") && line.matches('\n').count() == 1, "{line}");
    let object = call(&server, Method::GET, &format!("{FOOS}/b?watch=1"), &[], "").await.json();
    assert_eq!((object["kind"].as_str(), object.get("type")), (Some("Foo"), None));
}

/// WA-15, WA-21: history that is gone is an error in the stream, which ends then.
#[tokio::test]
async fn history_that_is_gone_is_an_error() {
    let server = server();
    let first = revision(&create(&server, "a", json!({})).await);
    patch(&server, "a", json!({"spec": {"a": 2}})).await;
    server.compact().await.unwrap();
    let path = format!("{FOOS}?watch=1&resourceVersion={first}");
    let mut watch = Watch::open(&server, &path).await;
    let events = watch.events();
    assert_eq!(events.len(), 1);
    assert_eq!(
        (events[0]["type"].as_str(), &events[0]["object"]["code"]),
        (Some("ERROR"), &json!(410))
    );
    assert_eq!(events[0]["object"]["reason"], "Expired");
    assert!(watch.has_ended());
}

/// WA-44: a watch tells of objects in its own version.
#[tokio::test]
async fn objects_are_watched_in_any_version() {
    let mut definition = definition();
    let mut second = definition["spec"]["versions"][0].clone();
    second["name"] = "v2".into();
    second["storage"] = false.into();
    definition["spec"]["versions"].as_array_mut().unwrap().push(second);
    let server = Server::builder().definition(&definition).unwrap().build();
    create(&server, "a", json!({})).await;
    let mut watch = Watch::open(&server, &format!("{}?watch=1", FOOS.replace("v1", "v2"))).await;
    patch(&server, "a", json!({"spec": {"a": 2}})).await;
    for event in watch.events() {
        assert_eq!(event["object"]["apiVersion"], "example.com/v2");
        assert_eq!(event["object"]["metadata"]["name"], "a");
    }
    let mut first = Watch::open(&server, &format!("{FOOS}?watch=1")).await;
    assert_eq!(first.events()[0]["object"]["apiVersion"], "example.com/v1");
}

/// WA-61: definitions are watched like other objects, in their own order.
#[tokio::test(start_paused = true)]
async fn definitions_are_watched() {
    let server = server();
    let mut watch = Watch::open(&server, &format!("{DEFINITIONS}?watch=1")).await;
    let line = String::from_utf8(watch.line().to_vec()).unwrap();
    let start = "{\"type\":\"ADDED\",\"object\":{\"kind\":\"CustomResourceDefinition\",";
    assert!(line.starts_with(start), "{line}");
    let labels = json!({"metadata": {"labels": {"l": "x"}}});
    let one = format!("{DEFINITIONS}/foos.example.com");
    let mut of_foos = Watch::open(&server, &format!("{FOOS}?watch=1")).await;
    send(&server, Method::PATCH, &one, &labels).await;
    assert_eq!(watch.events().len(), 1);
    assert!(of_foos.events().is_empty() && !of_foos.has_ended());
    for (selector, code) in
        [("metadata.name=foos.example.com", 200), ("metadata.namespace=", 200), ("x=1", 400)]
    {
        let path = format!("{DEFINITIONS}?watch=1&timeoutSeconds=1&fieldSelector={selector}");
        let answer = call(&server, Method::GET, &path, &[], "").await;
        assert_eq!(answer.code, code, "{selector}");
        if code == 400 {
            assert_eq!(
                answer.message(),
                "\"x\" is not a known field selector: only \"metadata.name\", \
                 \"metadata.namespace\""
            );
        }
    }
}
