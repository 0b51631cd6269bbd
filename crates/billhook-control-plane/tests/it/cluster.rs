//! Quotas, roles, autoscalers, tokens, events and requests for certificates (CP-03, CP-82, CP-90 to
//! CP-92).

use std::time::Duration;

use billhook_apiserver::{AuthorizationMode, Server};
use billhook_control_plane::ControlPlane;
use billhook_control_plane::controllers::Selection;
use serde_json::{Value, json};

use crate::support::{column, create, request, run, run_with};

async fn get(plane: &ControlPlane, path: &str) -> Value {
    request(plane, "GET", path, "").await
}

/// CP-92: amounts are summed, pods that have ended do not count, and what is not limited is left out.
#[test]
fn a_quota_knows_what_is_used() {
    run(async |plane| {
        let pods = ["a", "b"].map(|name| {
            format!(
                "
apiVersion: v1
kind: Pod
metadata: {{name: {name}, namespace: default}}
spec:
  restartPolicy: Never
  containers: [{{name: c, image: i, resources: {{requests: {{cpu: 300m, memory: 64Mi}}}}}}]
---"
            )
        });
        create(plane, &pods.concat()).await;
        let quota = "
apiVersion: v1
kind: ResourceQuota
metadata: {name: q, namespace: default}
spec: {hard: {pods: 5, requests.cpu: 2, memory: 1Gi, count/pods: 9, services.nodeports: 1}}
";
        create(plane, quota).await;
        let path = "/api/v1/namespaces/default/resourcequotas/q";
        let used = get(plane, path).await["status"]["used"].clone();
        assert_eq!(
            used,
            json!({
                "count/pods": "2", "memory": "128Mi", "pods": "2", "requests.cpu": "600m",
                "services.nodeports": "0",
            })
        );
        let ended = r#"{"status": {"phase": "Succeeded"}}"#;
        request(plane, "PATCH", "/api/v1/namespaces/default/pods/a/status", ended).await;
        plane.settled().await.unwrap();
        let used = get(plane, path).await["status"]["used"].clone();
        assert_eq!([&used["pods"], &used["count/pods"], &used["memory"]], ["1", "2", "64Mi"]);
    });
}

/// CP-90: rules come by the names of roles, each once, and go with them.
#[test]
fn a_role_has_the_rules_of_others() {
    let role = |name: &str, verb: &str| {
        format!(
            "
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {{name: {name}, labels: {{to: all}}}}
rules: [{{apiGroups: [''], resources: [pods], verbs: [{verb}]}}]
---"
        )
    };
    let path = "/apis/rbac.authorization.k8s.io/v1/clusterroles";
    run(async |plane| {
        let all = "
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: all}
aggregationRule: {clusterRoleSelectors: [{matchLabels: {to: all}}]}
";
        create(plane, all).await;
        create(plane, &[role("c", "get"), role("b", "list"), role("d", "list")].concat()).await;
        let verbs = async || {
            let role = get(plane, &format!("{path}/all")).await;
            let rules = role["rules"].as_array().cloned().unwrap_or_default();
            rules
                .iter()
                .map(|rule| rule["verbs"][0].as_str().unwrap().to_owned())
                .collect::<Vec<_>>()
        };
        assert_eq!(verbs().await, ["list", "get"]);
        for name in ["b", "c"] {
            request(plane, "DELETE", &format!("{path}/{name}"), "").await;
        }
        plane.settled().await.unwrap();
        assert_eq!(verbs().await, ["list"]);
        request(plane, "DELETE", &format!("{path}/d"), "").await;
        plane.settled().await.unwrap();
        assert_eq!(verbs().await, [""; 0]);
    });
}

/// CP-82: without a target, and below the minimum.
#[test]
fn an_autoscaler_keeps_bounds() {
    let autoscaler = "
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: h, namespace: default}
spec: {minReplicas: 3, maxReplicas: 5, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}}
";
    let deployment = "
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: default}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: c, image: i}]}
";
    let path = "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers/h";
    run(async |plane| {
        create(plane, autoscaler).await;
        let status = get(plane, path).await["status"].clone();
        assert_eq!(status["conditions"][0]["reason"], "FailedGetScale");
        assert_eq!(
            status["conditions"][0]["message"],
            "the HPA controller was unable to get the target's current scale: deployments.apps \
             \"web\" not found"
        );
        create(plane, deployment).await;
        plane.advance(Duration::from_secs(16)).await.unwrap();
        let web = get(plane, "/apis/apps/v1/namespaces/default/deployments/web").await;
        assert_eq!(web["spec"]["replicas"], 3);
        let messages = column(plane, "/api/v1/namespaces/default/events", "/message").await;
        let told = "New size: 3; reason: Current number of Replicas below Spec.MinReplicas";
        assert!(messages.contains(&told.to_owned()), "{messages:?}");
    });
}

/// A secret for tokens gets one that the server knows.
#[test]
fn a_secret_is_filled_with_a_token() {
    run(async |plane| {
        let secret = "
apiVersion: v1
kind: Secret
metadata: {name: t, namespace: default, annotations: {kubernetes.io/service-account.name: default}}
type: kubernetes.io/service-account-token
";
        create(plane, secret).await;
        let path = "/api/v1/namespaces/default/secrets/t";
        let secret = get(plane, path).await;
        let token = secret["data"]["token"].as_str().unwrap();
        let token = billhook_apimachinery::base64::decode(token).unwrap();
        let review = json!({
            "apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview",
            "spec": {"token": String::from_utf8(token).unwrap()},
        });
        let path = "/apis/authentication.k8s.io/v1/tokenreviews";
        let review = request(plane, "POST", path, &review.to_string()).await;
        let user = &review["status"]["user"]["username"];
        assert_eq!(user, "system:serviceaccount:default:default");
    });
}

/// CP-03: events go an hour after they were written last, each at its own time.
#[test]
fn old_events_go() {
    run(async |plane| {
        let pod = |name| {
            format!(
                "apiVersion: v1\nkind: Pod\nmetadata: {{name: {name}, namespace: default}}\nspec: {{containers: [{{name: c, image: i}}]}}"
            )
        };
        let about = async || {
            let mut names = column(plane, "/api/v1/events", "/involvedObject/name").await;
            names.dedup();
            names
        };
        let pass = async |seconds| plane.advance(Duration::from_secs(seconds)).await.unwrap();
        create(plane, &pod("p")).await;
        pass(1800).await;
        create(plane, &pod("q")).await;
        pass(1799).await;
        assert_eq!(about().await, ["p", "q"]);
        pass(2).await;
        assert_eq!(about().await, ["q"]);
        pass(1800).await;
        assert!(about().await.is_empty());
    });
}

/// ET-61: they may go earlier.
#[test]
fn events_have_the_time_that_is_chosen() {
    let selection = Selection::default().event_ttl(Duration::from_secs(60));
    run_with(
        |builder| builder.controllers(selection.controllers()),
        async |plane| {
            let pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: default}\nspec: {containers: [{name: c, image: i}]}";
            create(plane, pod).await;
            let pass = async |seconds| plane.advance(Duration::from_secs(seconds)).await.unwrap();
            pass(59).await;
            let names = column(plane, "/api/v1/events", "/involvedObject/name").await;
            assert!(!names.is_empty());
            pass(60).await;
            let names = column(plane, "/api/v1/events", "/involvedObject/name").await;
            assert!(names.is_empty(), "{names:?}");
        },
    );
}

/// CP-01: where roles decide, those of a cluster allow all that controllers do.
#[test]
fn controllers_have_roles() {
    const OBJECTS: &str = "
apiVersion: v1
kind: Namespace
metadata: {name: shop}
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: fast}
provisioner: x.io/p
volumeBindingMode: WaitForFirstConsumer
allowVolumeExpansion: true
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: c, namespace: shop}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 5Gi}}, storageClassName: fast}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers: [{name: c, image: i}]
      volumes: [{name: v, persistentVolumeClaim: {claimName: c}}]
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec: {selector: {app: web}, ports: [{port: 80}]}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web, namespace: shop}
spec: {selector: {matchLabels: {app: web}}, maxUnavailable: 1}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web, namespace: shop}
spec: {minReplicas: 3, maxReplicas: 5, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}}
---
apiVersion: v1
kind: Secret
metadata: {name: t, namespace: shop, annotations: {kubernetes.io/service-account.name: default}}
type: kubernetes.io/service-account-token
---
apiVersion: v1
kind: Node
metadata: {name: silent}
spec: {unschedulable: true}
";
    let server = || {
        let server = Server::builder().bootstrap().collect_garbage();
        server.authorization_mode(AuthorizationMode::Rbac)
    };
    run_with(
        |builder| builder.server(server()),
        async |plane| {
            create(plane, OBJECTS).await;
            plane.advance(Duration::from_secs(61)).await.unwrap();
            let at = async |path: &str, pointer: &str| {
                get(plane, path).await.pointer(pointer).cloned().unwrap_or_default()
            };
            let shop = |group: &str, rest: &str| format!("{group}/namespaces/shop/{rest}");
            let claim = shop("/api/v1", "persistentvolumeclaims/c");
            assert_eq!(at(&claim, "/status/phase").await, "Bound");
            let budget = shop("/apis/policy/v1", "poddisruptionbudgets/web");
            assert_eq!(at(&budget, "/status/expectedPods").await, 3);
            let endpoints = shop("/api/v1", "endpoints/web");
            assert!(at(&endpoints, "/subsets/0/addresses/2/ip").await.is_string());
            let slices = shop("/apis/discovery.k8s.io/v1", "endpointslices");
            assert!(at(&slices, "/items/0/endpoints/2").await.is_object());
            assert!(at(&shop("/api/v1", "secrets/t"), "/data/token").await.is_string());
            assert_eq!(at("/api/v1/nodes/silent", "/spec/taints/2/effect").await, "NoExecute");
            request(plane, "DELETE", "/api/v1/namespaces/shop", "").await;
            plane.advance(Duration::from_secs(60)).await.unwrap();
            assert_eq!(at("/api/v1/namespaces/shop", "/kind").await, "Status");
            assert_eq!(at("/api/v1/persistentvolumes", "/items").await, json!([]));
        },
    );
}

/// CP-06: no controller, and no node, writes what is there already.
#[test]
fn nothing_is_written_twice() {
    const OBJECTS: &str = "
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: default}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      initContainers: [{name: first, image: i}]
      containers: [{name: c, image: i, ports: [{containerPort: 80}]}]
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db, namespace: default}
spec:
  replicas: 2
  serviceName: db
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec: {containers: [{name: c, image: i}]}
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent, namespace: default}
spec:
  selector: {matchLabels: {app: agent}}
  template:
    metadata: {labels: {app: agent}}
    spec: {containers: [{name: c, image: i}]}
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: default}
spec: {selector: {app: web}, ports: [{port: 80}]}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web, namespace: default}
spec: {selector: {matchLabels: {app: web}}, maxUnavailable: 1}
---
apiVersion: batch/v1
kind: CronJob
metadata: {name: tick, namespace: default}
spec:
  schedule: '* * * * *'
  jobTemplate:
    spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: alone}
aggregationRule: {clusterRoleSelectors: [{matchLabels: {to: alone}}]}
rules: [{apiGroups: [''], resources: [pods], verbs: [get]}]
---
apiVersion: v1
kind: Namespace
metadata: {name: full}
---
apiVersion: v1
kind: ResourceQuota
metadata: {name: none, namespace: full}
spec: {hard: {count/replicasets.apps: '0'}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: full}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: c, image: i}]}
";
    let server = || Server::builder().bootstrap().collect_garbage().log_requests();
    run_with(
        |builder| builder.server(server()),
        async |plane| {
            create(plane, OBJECTS).await;
            plane.advance(Duration::from_secs(600)).await.unwrap();
            request(plane, "DELETE", "/apis/apps/v1/namespaces/default/deployments/web", "").await;
            plane.advance(Duration::from_secs(60)).await.unwrap();
            let requests = plane.server().requests();
            assert!(!requests.writes().is_empty());
            assert_eq!(requests.needless().to_string(), "");
        },
    );
}
