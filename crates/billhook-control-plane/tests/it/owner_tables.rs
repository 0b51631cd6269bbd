//! The fate of a dependent: every combination of owners, their states and finalizers (CP-11 to CP-16).

use std::collections::BTreeMap;

use billhook_apiserver::Server;
use billhook_control_plane::ControlPlane;
use serde_json::{Value, json};

use crate::support::{request, run_with, text};

const MAPS: &str = "/api/v1/namespaces/default/configmaps";
const WIDGETS: &str = "/apis/example.com/v1/namespaces/default/widgets";
const OF_TEST: &str = "example.com/f";
const WAITS: &str = "foregroundDeletion";
const NEVER: &str = "00000000-0000-4000-8000-000000000000";

const DEFINITION: &str = r"
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: widgets, kind: Widget}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}
";

/// The state of an owner that a dependent names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Owner {
    Solid,
    /// It is deleted in the background, and held by a finalizer.
    Held,
    /// It is deleted in the foreground, and waits for another dependent.
    Waiting,
    Absent,
    /// There is another one of the name.
    Replaced,
}

/// A dependent that gets owners.
#[derive(Clone, Copy, Debug)]
struct Case {
    owners: [Option<Owner>; 2],
    finalizer: Option<&'static str>,
    /// Whether it has a dependent itself.
    has_dependent: bool,
}

/// The fate of a dependent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Stays,
    /// It is deleted, in the foreground or as its finalizer says.
    Goes {
        waits: bool,
    },
}

impl Case {
    fn all() -> Vec<Case> {
        use Owner::{Absent, Held, Replaced, Solid, Waiting};
        let owners = [None, Some(Solid), Some(Held), Some(Waiting), Some(Absent), Some(Replaced)];
        let mut cases = Vec::new();
        for first in owners {
            for second in owners {
                for finalizer in [None, Some(OF_TEST), Some("orphan"), Some(WAITS)] {
                    for has_dependent in [false, true] {
                        cases.push(Case { owners: [first, second], finalizer, has_dependent });
                    }
                }
            }
        }
        cases
    }

    fn owners(&self) -> impl Iterator<Item = Owner> {
        self.owners.into_iter().flatten()
    }

    /// CP-11: the table.
    fn fate(&self) -> Fate {
        let is_solid = |owner: Owner| matches!(owner, Owner::Solid | Owner::Held);
        if self.owners().next().is_none() || self.owners().any(is_solid) {
            return Fate::Stays;
        }
        let is_waited_for = self.owners().any(|owner| owner == Owner::Waiting);
        Fate::Goes { waits: (is_waited_for && self.has_dependent) || self.finalizer == Some(WAITS) }
    }

    /// Returns the numbers of the owners that it has in the end.
    fn owners_left(&self) -> Vec<usize> {
        let is_left = |owner: Owner| match self.fate() {
            Fate::Stays => matches!(owner, Owner::Solid | Owner::Held),
            Fate::Goes { .. } => true,
        };
        let numbered = self.owners.iter().enumerate();
        numbered.filter(|(_, owner)| owner.is_some_and(is_left)).map(|(number, _)| number).collect()
    }

    /// Whether its dependent is there in the end, and names it.
    fn dependent(&self) -> Option<bool> {
        match self.fate() {
            Fate::Stays => Some(true),
            Fate::Goes { waits: true } => None,
            // CP-13: it lets go of its dependent.
            Fate::Goes { waits: false } if self.finalizer == Some("orphan") => Some(false),
            Fate::Goes { waits: false } if self.finalizer == Some(OF_TEST) => Some(true),
            Fate::Goes { waits: false } => None,
        }
    }
}

async fn create(plane: &ControlPlane, path: &str, metadata: &Value) -> String {
    let (api_version, kind) = match path {
        WIDGETS => ("example.com/v1", "Widget"),
        _ => ("v1", "ConfigMap"),
    };
    let object = json!({"apiVersion": api_version, "kind": kind, "metadata": metadata});
    let created = request(plane, "POST", path, &object.to_string()).await;
    let uid = text(&created, "/metadata/uid");
    assert!(!uid.is_empty(), "{created}");
    uid.to_owned()
}

fn reference(name: &str, uid: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "name": name, "uid": uid})
}

/// Brings an owner into its state, and returns its UID.
async fn owner(plane: &ControlPlane, name: &str, owner: Owner) -> String {
    let finalizers = if owner == Owner::Held { json!([OF_TEST]) } else { json!([]) };
    if owner == Owner::Absent {
        return NEVER.to_owned();
    }
    let uid = create(plane, MAPS, &json!({"name": name, "finalizers": finalizers})).await;
    let policy = match owner {
        Owner::Replaced => return NEVER.to_owned(),
        Owner::Held => "Background",
        Owner::Waiting => {
            let mut blocking = reference(name, &uid);
            blocking["blockOwnerDeletion"] = true.into();
            let metadata = json!({"name": format!("{name}-held"), "finalizers": [OF_TEST],
                "ownerReferences": [blocking]});
            create(plane, MAPS, &metadata).await;
            "Foreground"
        }
        _ => return uid,
    };
    let options = json!({"propagationPolicy": policy}).to_string();
    request(plane, "DELETE", &format!("{MAPS}/{name}"), &options).await;
    uid
}

/// CP-11, CP-12, CP-15: a dependent gets owners in all states, with and without dependents and finalizers.
#[test]
fn every_combination_of_the_states_of_owners() {
    for path in [MAPS, WIDGETS] {
        run_with(
            |builder| {
                let server = Server::builder().bootstrap().collect_garbage();
                builder.server(server).nodes([])
            },
            async |plane| {
                plane.server().load_text(DEFINITION).await.unwrap();
                for (number, case) in Case::all().iter().enumerate() {
                    case.check(plane, path, number).await;
                }
            },
        );
    }
}

impl Case {
    async fn check(&self, plane: &ControlPlane, path: &str, number: usize) {
        let name = format!("d{number}");
        let finalizers: Vec<_> = self.finalizer.into_iter().collect();
        let uid = create(plane, path, &json!({"name": name, "finalizers": finalizers})).await;
        let below = format!("{MAPS}/{name}-below");
        if self.has_dependent {
            let mut to = reference(&name, &uid);
            if path == WIDGETS {
                (to["apiVersion"], to["kind"]) = ("example.com/v1".into(), "Widget".into());
            }
            let metadata = json!({"name": format!("{name}-below"), "ownerReferences": [to]});
            create(plane, MAPS, &metadata).await;
        }
        let (mut references, mut names) = (Vec::new(), BTreeMap::new());
        for (index, state) in self.owners.iter().enumerate() {
            let Some(state) = state else { continue };
            let of = format!("o{number}-{index}");
            let mut to = reference(&of, &owner(plane, &of, *state).await);
            if *state == Owner::Absent && index == 1 {
                // No two owners have the same UID.
                to["uid"] = NEVER.replace('8', "9").into();
            }
            if *state == Owner::Replaced {
                to["uid"] = NEVER.replace('8', if index == 0 { "a" } else { "b" }).into();
            }
            names.insert(of, index);
            references.push(to);
        }
        let patch = json!({"metadata": {"ownerReferences": references}}).to_string();
        request(plane, "PATCH", &format!("{path}/{name}"), &patch).await;
        plane.settled().await.unwrap();

        let found = request(plane, "GET", &format!("{path}/{name}"), "").await;
        let remains = self.fate() == Fate::Stays || self.finalizer == Some(OF_TEST);
        assert_eq!(found["code"] != 404, remains, "{self:?}: {found}");
        if remains {
            let is_deleted = found["metadata"]["deletionTimestamp"].is_string();
            assert_eq!(is_deleted, self.fate() != Fate::Stays, "{self:?}: {found}");
            let owners = found["metadata"]["ownerReferences"].as_array().into_iter().flatten();
            let owners: Vec<_> = owners.map(|it| names[text(it, "/name")]).collect();
            assert_eq!(owners, self.owners_left(), "{self:?}: {found}");
            assert_eq!(
                found["metadata"]["finalizers"].as_array().map_or(0, Vec::len),
                finalizers.len()
            );
        }
        if self.has_dependent {
            let found = request(plane, "GET", &below, "").await;
            let owners = &found["metadata"]["ownerReferences"];
            let left =
                (found["code"] != 404).then(|| owners.as_array().is_some_and(|it| !it.is_empty()));
            assert_eq!(left, self.dependent(), "the last, {self:?}: {found}");
        }
    }
}

/// CP-16: what a reference names decides, and where the dependent is.
#[test]
fn every_combination_of_scopes_and_coordinates() {
    run_with(
        |builder| builder.server(Server::builder().bootstrap().collect_garbage()),
        async |plane| {
            let roles = "/apis/rbac.authorization.k8s.io/v1/clusterroles";
            let other = "/api/v1/namespaces/kube-system/configmaps";
            let own = create(plane, MAPS, &json!({"name": "own"})).await;
            let foreign = create(plane, other, &json!({"name": "foreign"})).await;
            let node = request(plane, "GET", "/api/v1/nodes/node-0", "").await;
            let node = text(&node, "/metadata/uid");
            // The version, kind, name and UID of the owner, and whether a dependent in the namespace and
            // one of the cluster stay.
            let cases: [(&str, &str, &str, &str, [bool; 2]); 13] = [
                ("v1", "ConfigMap", "own", &own, [true, true]),
                ("v1", "ConfigMap", "own", NEVER, [false, true]),
                ("v1", "ConfigMap", "none", NEVER, [false, true]),
                ("v1", "ConfigMap", "foreign", &foreign, [false, true]),
                ("v1", "Secret", "own", &own, [false, true]),
                ("v2", "ConfigMap", "own", &own, [true, true]),
                ("apps/v1", "ConfigMap", "own", &own, [true, true]),
                ("example.com/v1", "Unknown", "own", &own, [true, true]),
                ("v1", "Node", "node-0", node, [true, true]),
                ("v1", "Node", "node-0", NEVER, [false, false]),
                ("v1", "Node", "none", node, [false, false]),
                ("v1", "Namespace", "node-0", node, [false, false]),
                ("example.com/v1", "Node", "node-0", node, [true, true]),
            ];
            for (number, (version, kind, name, uid, stays)) in cases.into_iter().enumerate() {
                let owner = json!({"apiVersion": version, "kind": kind, "name": name, "uid": uid});
                let metadata = json!({"name": format!("d{number}"), "ownerReferences": [owner]});
                create(plane, MAPS, &metadata).await;
                let role = json!({"metadata": metadata, "rules": []}).to_string();
                request(plane, "POST", roles, &role).await;
                plane.settled().await.unwrap();
                for (path, stays) in [MAPS, roles].into_iter().zip(stays) {
                    let found = request(plane, "GET", &format!("{path}/d{number}"), "").await;
                    assert_eq!(found["code"] != 404, stays, "{owner} of {path}");
                }
            }
        },
    );
}
