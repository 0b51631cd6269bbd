//! Reads of servers over one etcd: which state they show, and from when on it is forgotten.

use std::time::Duration;

use billhook_apiserver::etcd::Etcd;
use billhook_apiserver::storage::{
    Advance, Backend, BackendError, Collection, Commit, CommitError, Loaded, PastObjects, Range,
    Revision,
};
use billhook_apiserver::{BoxFuture, Server};
use billhook_testing::etcd::Etcd as Process;
use http::Method;
use serde_json::{Value, json};

use super::etcd::connect;
use crate::support::{Answer, call, text};

const MAPS: &str = "/api/v1/namespaces/default/configmaps";
const EVENTS: &str = "/api/v1/namespaces/default/events";
const TOO_OLD: &str = "The resourceVersion for the provided list is too old.";

/// A backend whose changes come late, so that a server that does not wait for them shows an old state.
#[derive(Debug)]
struct Late(Etcd);

impl Backend for Late {
    fn load(&self) -> BoxFuture<'_, Result<Loaded, BackendError>> {
        self.0.load()
    }

    fn commit(&self, commit: Commit) -> BoxFuture<'_, Result<Revision, CommitError>> {
        self.0.commit(commit)
    }

    fn changes(&self, after: Revision) -> BoxFuture<'_, Result<Advance, BackendError>> {
        Box::pin(async move {
            let changes = self.0.changes(after).await;
            tokio::time::sleep(Duration::from_millis(150)).await;
            changes
        })
    }

    fn current_revision(&self) -> BoxFuture<'_, Result<Option<Revision>, BackendError>> {
        self.0.current_revision()
    }

    fn compacted(&self) -> Revision {
        self.0.compacted()
    }

    fn list_at<'b>(
        &'b self,
        collection: &'b Collection,
        range: Range<'b>,
        at: Revision,
    ) -> BoxFuture<'b, Result<PastObjects, BackendError>> {
        self.0.list_at(collection, range, at)
    }
}

async fn server(etcd: &Process) -> Server {
    Server::builder().bootstrap().backend(connect(etcd).await).build().await.unwrap()
}

/// A server that sees what others write a moment later.
async fn late_server(etcd: &Process) -> Server {
    let backend = Late(connect(etcd).await);
    Server::builder().bootstrap().backend(backend).build().await.unwrap()
}

async fn get(server: &Server, path: &str) -> Answer {
    call(server, Method::GET, path, &[], "").await
}

async fn post(server: &Server, path: &str, object: &Value) -> Answer {
    let answer = call(server, Method::POST, path, &[], &object.to_string()).await;
    assert_eq!(answer.code, 201, "{}", answer.text);
    answer
}

fn map(name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"k": "v"}})
}

fn event(name: &str) -> Value {
    of_namespace(name, "default")
}

fn of_namespace(name: &str, namespace: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Event", "metadata": {"name": name}, "type": "Normal",
        "involvedObject": {"kind": "Pod", "namespace": namespace, "name": "p"}, "reason": "R",
        "message": "m"})
}

fn revision(answer: &Answer) -> Revision {
    text(&answer.json(), "/metadata/resourceVersion").parse().unwrap()
}

fn names(answer: &Answer) -> Vec<String> {
    let list = answer.json();
    let items = list["items"].as_array().unwrap_or_else(|| panic!("{}", answer.text));
    items.iter().map(|item| text(item, "/metadata/name").to_owned()).collect()
}

async fn exactly(server: &Server, path: &str, at: Revision) -> Answer {
    get(server, &format!("{path}?resourceVersionMatch=Exact&resourceVersion={at}")).await
}

/// ES-31, ES-33: what is older than the memory of a server is listed from etcd, page by page, too.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn the_past_is_listed_after_a_new_start() {
    let Some(etcd) = Process::start() else { return };
    let before = server(&etcd).await;
    let mut last = 0;
    for name in ["a", "b", "c", "d"] {
        last = revision(&post(&before, MAPS, &map(name)).await);
    }
    let first_page = get(&before, &format!("{MAPS}?limit=1")).await.json();
    let token = text(&first_page, "/metadata/continue").to_owned();
    for name in ["a", "c"] {
        let path = format!("{MAPS}/{name}");
        assert_eq!(call(&before, Method::DELETE, &path, &[], "").await.code, 200);
    }
    drop(before);
    let after = server(&etcd).await;
    let listed = exactly(&after, MAPS, last).await;
    assert_eq!((revision(&listed), names(&listed).len()), (last, 4), "{}", listed.text);
    let everywhere = names(&exactly(&after, "/api/v1/configmaps", last).await);
    assert_eq!(everywhere[..4], ["a", "b", "c", "d"]);
    assert_eq!(names(&exactly(&after, MAPS, last - 1).await), ["a", "b", "c"]);
    let page = get(&after, &format!("{MAPS}?limit=2&continue={token}")).await;
    assert_eq!((revision(&page), names(&page)), (last, vec!["b".to_owned(), "c".to_owned()]));
    assert_eq!(page.json()["metadata"]["remainingItemCount"], 1);
    let token = text(&page.json(), "/metadata/continue").to_owned();
    let page = get(&after, &format!("{MAPS}?limit=2&continue={token}")).await;
    assert_eq!((revision(&page), names(&page)), (last, vec!["d".to_owned()]));
    assert_eq!(page.json()["metadata"].get("continue"), None);
    let selected = format!("{MAPS}?limit=1&resourceVersion={last}&fieldSelector=metadata.name%3Dc");
    assert_eq!(names(&get(&after, &selected).await), ["c"]);
    // Nothing is remembered of a watch (ES-34).
    let watch = format!("{MAPS}?watch=1&resourceVersion={last}&timeoutSeconds=1");
    let ended = get(&after, &watch).await.text;
    let start = revision(&get(&after, MAPS).await);
    assert!(ended.contains("\"code\":410"), "{ended}");
    assert!(ended.contains(&format!("too old resource version: {last} (")), "{ended}");
    assert!(start > last);
}

/// ES-50: what one of the servers has compacted is not listed by any, though it may remember it; watches go
/// on.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn compacted_states_are_not_listed() {
    let Some(etcd) = Process::start() else { return };
    let server = server(&etcd).await;
    let old = revision(&post(&server, MAPS, &map("a")).await);
    let token = {
        post(&server, MAPS, &map("b")).await;
        let page = get(&server, &format!("{MAPS}?limit=1")).await.json();
        text(&page, "/metadata/continue").to_owned()
    };
    let new = revision(&post(&server, MAPS, &map("c")).await);
    assert_eq!(exactly(&server, MAPS, old).await.code, 200);
    // A compaction that no server has agreed upon is not known.
    etcd.ctl(&["compact", &old.to_string()]);
    assert_eq!(exactly(&server, MAPS, old - 1).await.code, 200);
    etcd.ctl(&["put", "compact_rev_key", &new.to_string()]);
    etcd.ctl(&["compact", &new.to_string()]);
    let mut listed = exactly(&server, MAPS, old).await;
    for _ in 0..1000 {
        if listed.code != 200 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
        listed = exactly(&server, MAPS, old).await;
    }
    assert_eq!((listed.code, listed.message()), (410, TOO_OLD.to_owned()));
    assert_eq!(text(&listed.json(), "/reason"), "Expired");
    assert_eq!(listed.json()["metadata"], json!({}));
    let page = get(&server, &format!("{MAPS}?limit=1&continue={token}")).await;
    assert_eq!(page.code, 410);
    let again = text(&page.json(), "/metadata/continue").to_owned();
    let page = get(&server, &format!("{MAPS}?limit=5&continue={again}")).await;
    assert_eq!(names(&page)[..1], ["b"]);
    assert_eq!(exactly(&server, MAPS, new).await.code, 200);
    let watch = format!("{MAPS}?watch=1&resourceVersion={old}&timeoutSeconds=1");
    let seen = get(&server, &watch).await.text;
    assert_eq!(seen.matches("ADDED").count(), 2, "{seen}");
    // A server that starts later knows it, too.
    let later = self::server(&etcd).await;
    let listed = exactly(&later, MAPS, old).await;
    assert_eq!((listed.code, listed.message()), (410, TOO_OLD.to_owned()));
}

/// ES-24: what is only tried is decided by what others have written.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn dry_runs_see_what_others_have_written() {
    let Some(etcd) = Process::start() else { return };
    let (here, there) = (server(&etcd).await, late_server(&etcd).await);
    let created = post(&here, MAPS, &map("a")).await;
    let tried = format!("{MAPS}?dryRun=All");
    let again = call(&there, Method::POST, &tried, &[], &map("a").to_string()).await;
    assert_eq!(again.code, 409, "{}", again.text);
    let path = format!("{MAPS}/a");
    let mut changed = created.json();
    changed["data"]["k"] = "w".into();
    assert_eq!(call(&here, Method::PUT, &path, &[], &changed.to_string()).await.code, 200);
    let put = format!("{path}?dryRun=All");
    let stale = call(&there, Method::PUT, &put, &[], &created.text).await;
    assert_eq!(stale.code, 409, "{}", stale.text);
    let preconditions = json!({"dryRun": ["All"], "preconditions":
        {"resourceVersion": revision(&created).to_string()}});
    let newest = revision(&get(&here, &path).await);
    assert_ne!(newest, revision(&created));
    let delete = call(&there, Method::DELETE, &path, &[], &preconditions.to_string()).await;
    assert_eq!(delete.code, 409, "{}", delete.text);
    assert_eq!(get(&here, &path).await.code, 200);
}

/// ES-21: that nothing would change is not decided by an old state.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn an_update_without_a_change_sees_what_others_have_written() {
    let Some(etcd) = Process::start() else { return };
    let (here, there) = (server(&etcd).await, late_server(&etcd).await);
    post(&here, MAPS, &map("a")).await;
    get(&there, MAPS).await;
    let path = format!("{MAPS}/a");
    let type_ = [("content-type", "application/merge-patch+json")];
    let patch = async |server: &Server, value: &str| {
        let patch = json!({"data": {"k": value}, "metadata": {"managedFields": [{}]}}).to_string();
        call(server, Method::PATCH, &path, &type_, &patch).await
    };
    patch(&there, "v").await;
    assert_eq!(patch(&here, "w").await.code, 200);
    // The late server still has the value that this asks for.
    let patched = patch(&there, "v").await.json();
    assert_eq!(patched["data"]["k"], "v");
    assert_eq!(get(&here, &path).await.json()["data"]["k"], "v");
    let before = revision(&get(&here, &path).await);
    assert_eq!(revision(&patch(&there, "v").await), before);
}

/// ES-22: a deletion is of the newest state, and what is returned has its revision.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn deletions_see_what_others_have_written() {
    let Some(etcd) = Process::start() else { return };
    let (here, there) = (server(&etcd).await, late_server(&etcd).await);
    post(&here, MAPS, &map("a")).await;
    let path = format!("{MAPS}/a");
    let finalizer = json!({"metadata": {"finalizers": ["example.com/f"]}}).to_string();
    let type_ = [("content-type", "application/merge-patch+json")];
    get(&there, MAPS).await;
    assert_eq!(call(&here, Method::PATCH, &path, &type_, &finalizer).await.code, 200);
    let deleted = call(&there, Method::DELETE, &path, &[], "").await;
    assert_eq!(deleted.code, 200);
    assert_ne!(deleted.json()["metadata"].get("deletionTimestamp"), None, "{}", deleted.text);
    let unfinished = get(&here, &path).await;
    assert_eq!(revision(&unfinished), revision(&deleted));

    let begin = revision(&get(&here, MAPS).await);
    let pods = "/api/v1/namespaces/default/pods";
    let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"},
        "spec": {"containers": [{"name": "c", "image": "i"}]}});
    let account =
        json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default"}});
    call(
        &here,
        Method::POST,
        "/api/v1/namespaces/default/serviceaccounts",
        &[],
        &account.to_string(),
    )
    .await;
    post(&here, pods, &pod).await;
    let now = json!({"gracePeriodSeconds": 0}).to_string();
    let deleted = call(&there, Method::DELETE, &format!("{pods}/p"), &[], &now).await;
    let events =
        get(&here, &format!("{pods}?watch=1&resourceVersion={begin}&timeoutSeconds=1")).await;
    let last: Value = serde_json::from_str(events.text.lines().last().unwrap()).unwrap();
    assert_eq!(last["type"], "DELETED");
    assert_eq!(
        last["object"]["metadata"]["resourceVersion"],
        deleted.json()["metadata"]["resourceVersion"]
    );
}

/// ES-23: a collection is deleted as a list at that time finds it, one object after the other.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn collections_are_deleted_as_others_have_left_them() {
    let Some(etcd) = Process::start() else { return };
    let (here, there) = (server(&etcd).await, late_server(&etcd).await);
    let begin = revision(&get(&there, MAPS).await);
    for name in ["a", "b", "c"] {
        post(&here, MAPS, &map(name)).await;
    }
    let deleted = call(&there, Method::DELETE, MAPS, &[], "").await;
    assert_eq!(names(&deleted), ["a", "b", "c"]);
    assert_eq!(names(&get(&here, MAPS).await), [""; 0]);
    let events =
        get(&here, &format!("{MAPS}?watch=1&resourceVersion={begin}&timeoutSeconds=1")).await;
    let events: Vec<Value> =
        events.text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let revisions: Vec<Revision> = events
        .iter()
        .map(|event| text(event, "/object/metadata/resourceVersion").parse().unwrap())
        .collect();
    assert!(revisions.is_sorted_by(|one, next| one < next), "{revisions:?}");
    assert_eq!(events.iter().filter(|event| event["type"] == "DELETED").count(), 3);
}

/// ES-33, ES-65: a client goes on at another server with the revisions and pages of the first one.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn clients_go_on_at_another_server() {
    let Some(etcd) = Process::start() else { return };
    let (here, there) = (server(&etcd).await, late_server(&etcd).await);
    for name in ["a", "b", "c"] {
        post(&here, MAPS, &map(name)).await;
    }
    let page = get(&here, &format!("{MAPS}?limit=1")).await;
    let token = text(&page.json(), "/metadata/continue").to_owned();
    let next = get(&there, &format!("{MAPS}?limit=1&continue={token}")).await;
    assert_eq!((revision(&next), names(&next)), (revision(&page), vec!["b".to_owned()]));

    let newest = revision(&post(&here, MAPS, &map("d")).await);
    let watch = "watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&timeoutSeconds=1";
    let events = get(&there, &format!("{MAPS}?{watch}&resourceVersion={newest}")).await.text;
    assert_eq!(events.matches("ADDED").count(), 4, "{events}");
    let newest = revision(&post(&here, MAPS, &map("e")).await);
    let found = get(&there, &format!("{MAPS}/e?resourceVersion={newest}")).await;
    assert_eq!(found.code, 200);
    // What no server has written yet may come: it is waited for.
    let (next, writer) = (newest + 1, here.clone());
    let write = tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(300)).await;
        post(&writer, MAPS, &map("f")).await
    });
    let list = get(&there, &format!("{MAPS}?resourceVersion={next}")).await;
    assert_eq!((list.code, names(&list).len()), (200, 6), "{}", list.text);
    write.await.unwrap();
    let begin = std::time::Instant::now();
    let list = get(&there, &format!("{MAPS}?resourceVersion={}", next + 1000)).await;
    assert_eq!(list.code, 504);
    assert!(begin.elapsed() >= Duration::from_secs(3), "{:?}", begin.elapsed());
    let message = format!("Timeout: Too large resource version: {}, current: {next}", next + 1000);
    assert_eq!(list.message(), message);
}

/// ES-33: events are never read from memory.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn events_come_from_storage() {
    let Some(etcd) = Process::start() else { return };
    let (here, there) = (server(&etcd).await, late_server(&etcd).await);
    for name in ["a", "b", "c"] {
        post(&here, EVENTS, &event(name)).await;
        let found = get(&there, &format!("{EVENTS}/{name}?resourceVersion=0")).await;
        assert_eq!(found.code, 200);
    }
    post(&here, EVENTS, &event("d")).await;
    assert_eq!(names(&get(&there, &format!("{EVENTS}?resourceVersion=0")).await).len(), 4);
    let events = "/apis/events.k8s.io/v1/namespaces/default/events";
    let page = get(&there, &format!("{events}?resourceVersion=0&limit=1")).await;
    assert_eq!(names(&page), ["a"]);
    let token = text(&page.json(), "/metadata/continue").to_owned();
    let page = get(&there, &format!("{events}?resourceVersion=0&limit=1&continue={token}")).await;
    assert_eq!(names(&page), ["b"]);
    // What is listed from memory is listed at once.
    for name in ["a", "b"] {
        post(&here, MAPS, &map(name)).await;
    }
    get(&there, MAPS).await;
    assert_eq!(names(&get(&there, &format!("{MAPS}?resourceVersion=0&limit=1")).await).len(), 2);
}

/// ES-33, ES-43: a watch of events begins where etcd remembers, though the server has started later.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn watches_of_events_reach_back() {
    let Some(etcd) = Process::start() else { return };
    let before = server(&etcd).await;
    let begin = revision(&post(&before, EVENTS, &event("a")).await);
    post(&before, MAPS, &map("m")).await;
    post(&before, EVENTS, &event("b")).await;
    post(&before, &EVENTS.replace("default", "kube-system"), &of_namespace("c", "kube-system"))
        .await;
    let patch = json!({"count": 2}).to_string();
    let type_ = [("content-type", "application/merge-patch+json")];
    call(&before, Method::PATCH, &format!("{EVENTS}/a"), &type_, &patch).await;
    call(&before, Method::DELETE, &format!("{EVENTS}/b"), &[], "").await;
    drop(before);
    let after = server(&etcd).await;
    let seen = async |path: &str| {
        let path = format!("{path}?watch=1&resourceVersion={begin}&timeoutSeconds=1");
        let watched = tokio::spawn({
            let after = after.clone();
            async move { get(&after, &path).await.text }
        });
        tokio::time::sleep(Duration::from_millis(300)).await;
        call(&after, Method::PATCH, &format!("{EVENTS}/a"), &type_, &patch.replace('2', "3")).await;
        let lines: Vec<Value> = watched
            .await
            .unwrap()
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        let shown =
            |it: &Value| format!("{} {}", text(it, "/type"), text(it, "/object/metadata/name"));
        lines.iter().map(shown).collect::<Vec<_>>().join(", ")
    };
    let own = "ADDED b, MODIFIED a, DELETED b, MODIFIED a";
    assert_eq!(seen(EVENTS).await, own);
    let all = seen("/apis/events.k8s.io/v1/events").await;
    assert_eq!(all, "ADDED b, ADDED c, MODIFIED a, DELETED b, MODIFIED a");
    etcd.ctl(&["compact", &(begin + 3).to_string()]);
    let ended =
        get(&server(&etcd).await, &format!("{EVENTS}?watch=1&resourceVersion={begin}")).await;
    let failure = ended.json();
    assert_eq!((&failure["type"], &failure["object"]["code"]), (&json!("ERROR"), &json!(410)));
    let message = "The resourceVersion for the provided watch is too old.";
    assert_eq!(text(&failure, "/object/message"), message);
}
