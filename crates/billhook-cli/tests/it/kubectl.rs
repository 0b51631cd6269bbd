//! kubectl against `billhook serve`. Without kubectl nothing is tested here, and the test says so.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::serve::Running;

const DEFINITION: &str = r"
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: foos.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: foos, kind: Foo, shortNames: [fo]}
  versions:
  - name: v1
    served: true
    storage: true
    subresources:
      status: {}
      scale: {specReplicasPath: .spec.replicas, statusReplicasPath: .status.replicas}
    additionalPrinterColumns:
    - {name: Color, type: string, jsonPath: .spec.color}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              color: {type: string, description: The color of it.}
              replicas: {type: integer}
          status: {type: object, x-kubernetes-preserve-unknown-fields: true}
";
const OBJECT: &str = r"
apiVersion: example.com/v1
kind: Foo
metadata: {name: a}
spec: {color: blue, replicas: 1}
";

const POLICY: &str = r"
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: few}
spec:
  matchConstraints:
    resourceRules:
    - {operations: [CREATE, UPDATE], apiGroups: [example.com], apiVersions: [v1], resources: [foos]}
  validations:
  - {expression: object.spec.replicas < 9, message: too many}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: everywhere}
spec: {policyName: few, validationActions: [Deny]}
";

const WEBHOOKS: &str = r"
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: w}
webhooks:
- &webhook
  name: a.example.com
  admissionReviewVersions: [v1]
  sideEffects: None
  clientConfig: {url: 'https://example.com'}
";

const EVENT: &str = r"
apiVersion: events.k8s.io/v1
kind: Event
metadata: {name: b}
eventTime: '2026-11-22T11:00:00.000000Z'
regarding: {apiVersion: example.com/v1, kind: Foo, name: a, namespace: default}
type: Normal
reason: Tried
action: Try
note: it was tried
reportingController: c
reportingInstance: h
";

const LIST: &str = r"
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: ConfigMap, metadata: {name: one}}
- {apiVersion: v1, kind: ConfigMap, metadata: {name: two}}
";

struct Kubectl {
    directory: PathBuf,
}

impl Kubectl {
    fn run(&self, arguments: &[&str]) -> Output {
        Command::new("kubectl")
            .args(arguments)
            .current_dir(&self.directory)
            .env("HOME", &self.directory)
            .env("KUBECONFIG", self.directory.join("kubeconfig"))
            .env("KUBE_EDITOR", "sed -i s/red/green/")
            .env_remove("KUBECTL_EXTERNAL_DIFF")
            .output()
            .unwrap()
    }

    /// Runs it with arguments, one after the other, of which each has an exit status and a part of what is
    /// printed.
    fn check(&self, steps: &[(&str, i32, &str)]) {
        for (arguments, code, expected) in steps {
            let output = self.run(&arguments.split(' ').collect::<Vec<_>>());
            let printed = [output.stdout, output.stderr].concat();
            let printed = String::from_utf8_lossy(&printed);
            // How wide a column is depends on its other rows.
            let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(words(&printed).contains(&words(expected)), "kubectl {arguments}: {printed}");
            assert_eq!(output.status.code(), Some(*code), "kubectl {arguments}: {printed}");
        }
    }
}

/// Returns a new directory for a test; `None` without kubectl, which it says.
fn directory(test: &str) -> Option<PathBuf> {
    if Command::new("kubectl").args(["version", "--client"]).output().is_err() {
        let _ = writeln!(std::io::stderr(), "NOT TESTED: kubectl was not found on this machine");
        return None;
    }
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
    let _ = std::fs::remove_dir_all(&directory);
    std::fs::create_dir_all(&directory).unwrap();
    Some(directory)
}

/// DT-91.
#[test]
fn kubectl_works() {
    let Some(directory) = directory("kubectl") else { return };
    for (name, text) in [
        ("crd.yaml", DEFINITION),
        ("foo.yaml", OBJECT),
        ("policy.yaml", POLICY),
        ("fewer.yaml", WEBHOOKS),
        ("events.yaml", EVENT),
        ("kubeconfig", ""),
    ] {
        std::fs::write(directory.join(name), text).unwrap();
    }
    let webhooks = format!("{WEBHOOKS}- {{<<: *webhook, name: b.example.com}}\n");
    std::fs::write(directory.join("webhooks.yaml"), webhooks).unwrap();
    std::fs::write(directory.join("changed.yaml"), OBJECT.replace("blue", "red")).unwrap();
    std::fs::write(directory.join("many.yaml"), OBJECT.replace("replicas: 1", "replicas: 9"))
        .unwrap();
    std::fs::write(directory.join("wrong.yaml"), OBJECT.replace("color", "colour")).unwrap();
    let configuration = directory.join("kubeconfig");
    let _server = Running::start(&[
        "--collect-garbage",
        "--write-kubeconfig",
        configuration.to_str().unwrap(),
    ]);
    let kubectl = Kubectl { directory };
    kubectl.check(&[
        (
            "apply -f crd.yaml",
            0,
            "customresourcedefinition.apiextensions.k8s.io/foos.example.com created",
        ),
        ("wait --for=condition=Established crd/foos.example.com --timeout=20s", 0, "condition met"),
        ("get crds", 0, "foos.example.com"),
        ("api-resources", 0, "foos fo example.com/v1 true Foo"),
        ("get foos", 0, "No resources found"),
        ("create -f foo.yaml --dry-run=server -o name", 0, "foo.example.com/a"),
        ("apply -f foo.yaml", 0, "foo.example.com/a created"),
        ("apply -f foo.yaml", 0, "foo.example.com/a unchanged"),
        ("apply -f wrong.yaml", 1, "unknown field \"spec.colour\""),
        ("get fo", 0, "a      blue"),
        ("get foo a -o jsonpath={.spec.replicas}", 0, "1"),
        ("describe foo a", 0, "Color:     blue"),
        ("explain foo.spec.color", 0, "The color of it."),
        ("diff -f changed.yaml", 1, "+  color: red"),
        ("apply -f changed.yaml", 0, "foo.example.com/a configured"),
        ("apply --server-side -f changed.yaml", 0, "foo.example.com/a serverside-applied"),
        ("apply -f policy.yaml", 0, "validatingadmissionpolicy.admissionregistration.k8s.io/few"),
        ("get validatingadmissionpolicies", 0, "few 1 <unset>"),
        ("get validatingadmissionpolicybindings", 0, "everywhere few <unset>"),
        (
            "apply -f many.yaml",
            1,
            "The foos \"a\" is invalid: : ValidatingAdmissionPolicy 'few' with binding \
             'everywhere' denied request: too many",
        ),
        ("delete -f policy.yaml", 0, "\"few\" deleted"),
        ("label foo a x=y", 0, "foo.example.com/a labeled"),
        ("get foos -l x=y --field-selector metadata.name=a -o name", 0, "foo.example.com/a"),
        ("scale foo a --replicas=3", 0, "foo.example.com/a scaled"),
        ("wait --for=jsonpath={.spec.replicas}=3 foo/a --timeout=20s", 0, "condition met"),
        (
            "patch foo a --subresource=status --type=merge -p {\"status\":{\"replicas\":3}}",
            0,
            "patched",
        ),
        ("get foos --watch --request-timeout=1s", 0, "a      red"),
        (
            "patch foo a --type=json -p [{\"op\":\"replace\",\"path\":\"/spec/replicas\",\"value\":4}]",
            0,
            "patched",
        ),
        (
            "patch foo a -p {\"spec\":{\"replicas\":5}}",
            1,
            "application/strategic-merge-patch+json is not supported by example.com/v1, Kind=Foo",
        ),
        ("edit foo a", 0, "foo.example.com/a edited"),
        ("get foo a -o custom-columns=C:.spec.color", 0, "C green"),
        ("get foos --field-selector spec.shape=1", 1, "field label not supported: spec.shape"),
        ("annotate foo a x=y", 0, "annotated"),
        ("annotate foo a x=z --overwrite", 0, "annotated"),
        ("scale foo a --current-replicas=4 --replicas=2", 0, "scaled"),
        ("get foo a --subresource=scale", 0, "NAME DESIRED AVAILABLE AGE a 2 3"),
        ("replace -f foo.yaml", 0, "foo.example.com/a replaced"),
        ("replace --force -f foo.yaml", 0, "foo.example.com/a replaced"),
        (
            "apply --prune --all --prune-allowlist=example.com/v1/Foo -f foo.yaml",
            0,
            "foo.example.com/a configured",
        ),
        ("wait --for=delete foo/none --timeout=5s", 0, ""),
        ("explain foo --recursive", 0, "replicas <integer>"),
        ("api-versions", 0, "example.com/v1"),
        ("delete foo a --cascade=foreground --timeout=20s", 0, "foo.example.com \"a\" deleted"),
        ("get foo a", 1, "Error from server (NotFound): foos.example.com \"a\" not found"),
        ("delete crd foos.example.com", 0, "\"foos.example.com\" deleted"),
        ("create namespace team", 0, "namespace/team created"),
        ("create configmap settings -n team --from-literal=a=b", 0, "configmap/settings created"),
        ("get cm settings -n team", 0, "NAME DATA AGE settings 1"),
        ("create secret generic s --from-literal=a=b", 0, "secret/s created"),
        ("describe secret s", 0, "a: 1 bytes"),
        ("create serviceaccount bot", 0, "serviceaccount/bot created"),
        ("get --raw /readyz?verbose", 0, "readyz check passed"),
        ("apply -f events.yaml", 0, "event.events.k8s.io/b created"),
        ("get events", 0, "LAST SEEN TYPE REASON OBJECT MESSAGE"),
        ("get events -o wide", 0, "Normal Tried foo/a c, h it was tried"),
        ("events --for foo/a", 0, "Normal Tried Foo/a it was tried"),
        ("get events.events.k8s.io b -o jsonpath={.note}", 0, "it was tried"),
        ("apply -f webhooks.yaml", 0, "created"),
        ("apply -f fewer.yaml", 0, "configured"),
        (
            "get validatingwebhookconfiguration w -o jsonpath={.webhooks[*].name}",
            0,
            "a.example.com",
        ),
        ("auth can-i create foos.example.com", 0, "yes"),
        ("auth whoami --as=carol --as-group=staff", 0, "carol"),
        ("auth can-i --list", 0, "*.*"),
        ("version", 0, "Server Version: v1.36"),
    ]);
}

/// CP-118: what kubectl waits for comes about, and nodes are emptied.
#[test]
fn kubectl_sees_a_cluster() {
    let Some(directory) = directory("kubectl-cluster") else { return };
    let configuration = directory.join("kubeconfig");
    let _server = Running::start(&[
        "--controllers",
        "all",
        "--write-kubeconfig",
        configuration.to_str().unwrap(),
    ]);
    for (name, text) in [("foo.yaml", OBJECT), ("list.yaml", LIST)] {
        std::fs::write(directory.join(name), text).unwrap();
    }
    let refused = "Cannot evict pod as it would violate the pod's disruption budget.";
    Kubectl { directory }.check(&[
        ("get nodes", 0, "node-0 Ready <none>"),
        ("get nodes", 0, "v1.36."),
        ("apply -f foo.yaml", 1, "no matches for kind \"Foo\" in version \"example.com/v1\""),
        ("create -f list.yaml", 0, "configmap/one created configmap/two created"),
        (
            "explain pod.spec.containers.livenessProbe.httpGet",
            0,
            "port <IntOrString> -required- <no description> scheme <string> enum: HTTP, HTTPS",
        ),
        ("explain service.spec.ports --output plaintext-openapiv2", 0, "port <integer> -required-"),
        ("run tool --image tool", 0, "pod/tool created"),
        ("wait --for=condition=Ready pod/tool --timeout=60s", 0, "condition met"),
        ("describe pod tool", 0, "Service Account: default"),
        (
            "logs tool --previous",
            1,
            "previous terminated container \"tool\" in pod \"tool\" not found",
        ),
        ("debug tool --image look --container look --profile general", 0, ""),
        (
            "wait --for=jsonpath={.status.ephemeralContainerStatuses[0].state.running} pod/tool \
             --timeout=60s",
            0,
            "condition met",
        ),
        ("delete pod tool --timeout=60s", 0, "deleted"),
        ("create deployment web --image web --replicas 3", 0, "deployment.apps/web created"),
        ("rollout status deployment web --timeout=60s", 0, "successfully rolled out"),
        ("scale deployment web --replicas 4", 0, "scaled"),
        (
            "wait --for=jsonpath={.status.readyReplicas}=4 deploy/web --timeout=60s",
            0,
            "condition met",
        ),
        ("set image deployment web web=web:2", 0, "image updated"),
        ("rollout status deployment web --timeout=60s", 0, "successfully rolled out"),
        ("rollout undo deployment web", 0, "rolled back"),
        ("rollout status deployment web --timeout=60s", 0, "successfully rolled out"),
        ("rollout restart deployment web", 0, "restarted"),
        ("rollout status deployment web --timeout=60s", 0, "successfully rolled out"),
        ("rollout history deployment web", 0, "2 <none> 3 <none> 4 <none>"),
        ("wait --for=condition=Available deployment/web --timeout=60s", 0, "condition met"),
        ("create pdb web --selector app=web --min-available 4", 0, "created"),
        (
            "wait --for=jsonpath={.status.currentHealthy}=4 pdb/web --timeout=60s",
            0,
            "condition met",
        ),
        ("cordon node-0", 0, "node/node-0 cordoned"),
        ("get nodes", 0, "node-0 Ready,SchedulingDisabled"),
        ("drain node-0 --timeout=2s", 1, refused),
        ("delete pdb web", 0, "deleted"),
        ("drain node-0 --timeout=60s", 0, "node/node-0 drained"),
        ("get pods", 0, "0/1 Pending"),
        ("describe pods", 0, "0/1 nodes are available: 1 node(s) were unschedulable."),
        ("uncordon node-0", 0, "node/node-0 uncordoned"),
        ("rollout status deployment web --timeout=60s", 0, "successfully rolled out"),
        ("top nodes", 1, "error: Metrics API not available"),
        ("top pods", 1, "error: Metrics API not available"),
        ("create job once --image once", 0, "job.batch/once created"),
        ("wait --for=condition=complete job/once --timeout=60s", 0, "condition met"),
        ("delete deployment web --cascade=foreground --timeout=60s", 0, "deleted"),
        ("get pods -l app=web", 0, "No resources found"),
        ("create namespace shop", 0, "created"),
        ("create deployment a --image a -n shop", 0, "created"),
        ("delete namespace shop --timeout=60s", 0, "deleted"),
        ("get namespace shop", 1, "namespaces \"shop\" not found"),
    ]);
}
