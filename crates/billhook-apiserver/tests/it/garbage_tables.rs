//! The garbage collector: every combination of a policy, owners and finalizers (CP-11 to CP-13).

use billhook_apiserver::Server;
use http::Method;
use serde_json::{Value, json};

use crate::support::{call, text};

const MAPS: &str = "/api/v1/namespaces/default/configmaps";
const OF_TEST: &str = "example.com/f";
const WAITS: &str = "foregroundDeletion";

/// An owner that is deleted, its dependent, and a dependent of that one, which blocks nothing.
#[derive(Clone, Copy, Debug)]
struct Case {
    policy: &'static str,
    /// Whether the owner has a finalizer that is not the collector's.
    is_held: bool,
    /// Whether the dependent has another owner, which stays.
    has_other: bool,
    blocks: bool,
    /// The finalizer of the dependent.
    finalizer: Option<&'static str>,
}

/// The state of an object: `None` if it is gone.
#[derive(Debug, PartialEq, Eq)]
struct State {
    is_deleted: bool,
    finalizers: Vec<String>,
    owners: Vec<String>,
}

impl State {
    fn with(is_deleted: bool, finalizers: &[&str], owners: &[&str]) -> Option<Self> {
        let list = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        Some(State { is_deleted, finalizers: list(finalizers), owners: list(owners) })
    }
}

impl Case {
    fn all() -> Vec<Case> {
        let mut cases = Vec::new();
        for policy in ["Background", "Foreground", "Orphan"] {
            for finalizer in [None, Some(OF_TEST), Some("orphan"), Some(WAITS)] {
                for bits in 0..8 {
                    let [is_held, has_other, blocks] = [1, 2, 4].map(|bit| bits & bit != 0);
                    cases.push(Case { policy, is_held, has_other, blocks, finalizer });
                }
            }
        }
        cases
    }

    /// Whether the collector deletes the dependent. An owner that is only being deleted still counts.
    fn takes_dependent(self) -> bool {
        let is_owner_going = self.policy == "Foreground" || !self.is_held;
        self.policy != "Orphan" && is_owner_going && !self.has_other
    }

    fn owner(self) -> Option<State> {
        let is_blocked = self.policy == "Foreground" && self.blocks && self.dependent_remains();
        let held = self.is_held.then_some(OF_TEST);
        let finalizers: Vec<&str> = held.into_iter().chain(is_blocked.then_some(WAITS)).collect();
        if finalizers.is_empty() { None } else { State::with(true, &finalizers, &[]) }
    }

    /// Whether the dependent is deleted, and stays because of its finalizer.
    fn dependent_remains(self) -> bool {
        self.takes_dependent() && self.finalizer == Some(OF_TEST)
    }

    fn dependent(self) -> Option<State> {
        let own: Vec<&str> = self.finalizer.into_iter().collect();
        if self.takes_dependent() {
            let remains = self.dependent_remains();
            return remains.then(|| State::with(true, &own, &["owner"])).flatten();
        }
        let has_owner = self.policy == "Background" && self.is_held;
        let owners = [has_owner.then_some("owner"), self.has_other.then_some("other")];
        State::with(false, &own, &owners.into_iter().flatten().collect::<Vec<_>>())
    }

    fn grandchild(self) -> Option<State> {
        let is_let_go = self.policy == "Background" && self.finalizer == Some("orphan");
        let waits = self.policy == "Foreground";
        match self.takes_dependent() {
            false => State::with(false, &[], &["dependent"]),
            true if is_let_go => State::with(false, &[], &[]),
            true if self.dependent_remains() && !waits => State::with(false, &[], &["dependent"]),
            true => None,
        }
    }
}

async fn create(server: &Server, name: &str, owners: &[Value], finalizer: Option<&str>) -> Value {
    let finalizers: Vec<&str> = finalizer.into_iter().collect();
    let metadata = json!({"name": name, "ownerReferences": owners, "finalizers": finalizers});
    let object = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata});
    let created = call(server, Method::POST, MAPS, &[], &object.to_string()).await;
    assert_eq!(created.code, 201, "{}", created.text);
    let uid = text(&created.json(), "/metadata/uid");
    json!({"apiVersion": "v1", "kind": "ConfigMap", "name": name, "uid": uid})
}

async fn state(server: &Server, name: &str) -> Option<State> {
    let answer = call(server, Method::GET, &format!("{MAPS}/{name}"), &[], "").await;
    let metadata = (answer.code == 200).then(|| answer.json()["metadata"].take())?;
    let list = |name: &str| metadata[name].as_array().cloned().unwrap_or_default();
    let finalizers = list("finalizers").iter().map(|it| it.as_str().unwrap().to_owned()).collect();
    let owners = list("ownerReferences").iter().map(|it| text(it, "/name").to_owned()).collect();
    Some(State { is_deleted: metadata["deletionTimestamp"].is_string(), finalizers, owners })
}

#[tokio::test]
async fn every_combination_of_policies_owners_and_finalizers() {
    for case in Case::all() {
        let server = Server::builder().collect_garbage().build();
        let mut owner = create(&server, "owner", &[], case.is_held.then_some(OF_TEST)).await;
        if case.blocks {
            owner["blockOwnerDeletion"] = true.into();
        }
        let mut owners = vec![owner];
        if case.has_other {
            owners.push(create(&server, "other", &[], None).await);
        }
        let dependent = create(&server, "dependent", &owners, case.finalizer).await;
        create(&server, "grandchild", &[dependent], None).await;
        let options = json!({"propagationPolicy": case.policy}).to_string();
        call(&server, Method::DELETE, &format!("{MAPS}/owner"), &[], &options).await;
        assert_eq!(state(&server, "owner").await, case.owner(), "the owner: {case:?}");
        assert_eq!(state(&server, "dependent").await, case.dependent(), "the dependent: {case:?}");
        assert_eq!(state(&server, "grandchild").await, case.grandchild(), "the last: {case:?}");
    }
}
