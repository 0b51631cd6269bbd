//! `billhook admit` against the example's webhooks.

use std::path::PathBuf;

use tokio::runtime::Runtime;

use crate::server::Server;
use crate::support::{Scratch, cases, report_snapshots, root, run, run_with, snapshot};

cases! {
    help_admit: "admit --help";
    admit_without_webhooks: "admit --quiet --operation delete --crd fixtures/crds -" < [OBJECT];
    admit_update_of_nothing: "admit --operation update --crd fixtures/crds fixtures/objects/backup-clean.json";
    admit_resolve_nonsense: "admit --resolve nonsense --crd fixtures/crds fixtures/objects/backup-clean.json";
    admit_config_missing: "admit --admission-config nope.yaml --crd fixtures/crds fixtures/objects/backup-clean.json";
    admit_stdin_twice: "admit --crd fixtures/crds --webhooks - -";
    admit_subresource_of_new: "admit --subresource status --operation create --old fixtures/objects --crd fixtures/crds fixtures/objects/backup-clean.json";
    admit_not_served: "admit --quiet --crd - fixtures/objects/backup-clean.json" < [&definition("False", "served: false")];
    admit_terminating: "admit --quiet --crd - fixtures/objects/backup-clean.json" < [&definition("True", "served: true")];
    admit_patch: "admit --quiet --crd fixtures/crds --patch - fixtures/objects/backup-clean.json"
        < ["metadata: {labels: {team: null}}\nspec: {maxSize: 1Gi, typo: 1}"];
    admit_json_patch: "admit --quiet --crd fixtures/crds --patch - fixtures/objects/backup-clean.json"
        < ["- {op: remove, path: /metadata/labels}\n- {op: test, path: /spec/suspend, value: true}"];
    admit_patch_strict: "admit --quiet --field-validation strict --crd fixtures/crds --patch - fixtures/objects/backup-clean.json"
        < [r#"{"metadata": null, "spec": {"target": null, "target": 1}}"#];
    admit_patch_of_scale: "admit --quiet --subresource scale --crd fixtures/crds --patch - fixtures/objects/stack-clean.json"
        < ["spec: {replicas: 7}"];
    admit_patches: "admit --crd fixtures/crds --patch - fixtures/objects/backup-clean.json" < ["{}\n---\n{}"];
    admit_patch_and_old: "admit --crd fixtures/crds --patch a.yaml --old b.yaml fixtures/objects/backup-clean.json";
    admit_patch_and_delete: "admit --crd fixtures/crds --patch a.yaml --operation delete fixtures/objects/backup-clean.json";
    admit_apply_conflict: "admit --quiet --apply --field-manager gitops --old fixtures/apply/backup-live.yaml --crd fixtures/crds fixtures/apply/backup.yaml";
    admit_apply_forced: "admit --quiet --apply --force --field-manager gitops --old fixtures/apply/backup-live.yaml --crd fixtures/crds fixtures/apply/backup.yaml";
    admit_apply_to_scale: "admit --quiet --apply --subresource scale --old fixtures/objects/stack-clean.json --crd fixtures/crds -" < [SCALE];
    admit_dry_run_with_side_effects: "admit --quiet --dry-run --format human --crd fixtures/crds --webhooks - fixtures/apply/backup.yaml"
        < [&UNREACHABLE.replace("sideEffects: None", "sideEffects: Some")];
    admit_failures_ignored_concise: "admit --format concise --crd fixtures/crds --webhooks - fixtures/apply/backup.yaml"
        < [UNREACHABLE];
    admit_apply_and_patch: "admit --apply --crd fixtures/crds --patch a.yaml fixtures/objects/backup-clean.json";
    admit_force_alone: "admit --force --crd fixtures/crds fixtures/objects/backup-clean.json";
    admit_nothing: "admit --crd fixtures/crds -" < ["---\n"];
    admit_exists: "admit --quiet --operation create --old fixtures/objects --crd fixtures/crds fixtures/objects/backup.yaml";
    admit_replace_without_revision: "admit --quiet --operation replace --old fixtures/objects --crd fixtures/crds -" < [OBJECT];
    admit_replace_outdated: "admit --quiet --operation replace --old fixtures/objects --crd fixtures/crds -"
        < [&OBJECT.replace("namespace: shop", "namespace: shop, resourceVersion: '7'")];
    admit_scale: "admit --quiet --subresource scale --old fixtures/objects/stack-clean.json --crd fixtures/crds -" < [SCALE];
    admit_scale_refused: "admit --quiet --subresource scale --old fixtures/objects/stack-clean.json --crd fixtures/crds -"
        < [&SCALE.replace("4", "many")];
    admit_scale_of_nothing: "admit --subresource scale --old fixtures/objects/backup-clean.json --crd fixtures/crds -" < [SCALE];
    admit_scale_elsewhere: "admit --crd fixtures/crds -" < [SCALE];
    admit_policies_unusable: "admit --crd fixtures/crds --policies - fixtures/objects/backup-clean.json"
        < ["apiVersion: admissionregistration.k8s.io/v1\nkind: MutatingAdmissionPolicy\nspec: 3"];
    admit_policies_missing: "admit --crd fixtures/crds --policies fixtures/objects fixtures/objects/backup-clean.json";
    admit_unusable_webhooks_ndjson: "admit --format ndjson --crd fixtures/crds --webhooks - fixtures/objects/backup-clean.json"
        < ["{apiVersion: admissionregistration.k8s.io/v1, kind: MutatingWebhookConfiguration, webhooks: 3}"];
    admit_unknown_kind_concise: "admit --format concise --crd fixtures/crds fixtures/manifests/mistakes/widget.yaml fixtures/manifests/mistakes/widget.yaml fixtures/objects/nope.yaml";
    admit_two_forms: "admit --format json --report json --crd fixtures/crds fixtures/objects";
    admit_unusable_webhooks: "admit --crd fixtures/crds --webhooks - fixtures/objects/backup-clean.json"
        < ["{apiVersion: admissionregistration.k8s.io/v1, kind: MutatingWebhookConfiguration, webhooks: 3}"];
}

#[test]
fn a_patch_in_another_version() {
    let arguments = "admit --quiet --version v1beta1 --crd fixtures/crds --patch - \
        fixtures/objects/stack-clean.json";
    let shown = run(arguments, "metadata: {labels: {patched: 'yes'}}");
    assert!(shown.contains("\napiVersion: platform.example.com/v1beta1\n"), "{shown}");
    assert!(shown.contains("    patched: \"yes\"\n"), "{shown}");
    let shown = run(&arguments.replace("v1beta1", "v7"), "{}");
    assert!(shown.contains("exit status: 2") && shown.contains("v7"), "{shown}");
    let shown = run(&arguments.replace(" --patch -", ""), "");
    assert!(shown.contains("exit status: 2") && shown.contains("--patch <FILE>"), "{shown}");
}

/// The manager of the request gets an entry with what it changed (SA-51).
#[test]
fn the_manager_of_fields() {
    let arguments = "admit --quiet --field-manager me --show-managed-fields --crd fixtures/crds \
        --patch - fixtures/apply/backup-live.yaml";
    let shown = run(arguments, "metadata: {labels: {patched: 'yes'}}");
    let entries: Vec<_> = shown.split("- apiVersion: data.example.com/v1\n").collect();
    let entry = entries.iter().find(|entry| entry.contains("manager: me\n"));
    assert!(entry.is_some_and(|entry| entry.contains("f:patched: {}")), "{shown}");
    let shown = run(&arguments.replace("me ", "\u{7f} "), "{}");
    assert!(shown.contains("exit status: 1") && shown.contains("fieldManager"), "{shown}");
}

/// An apply creates what is not stored, and `kubectl` is its manager.
#[test]
fn an_apply_of_a_new_object() {
    let arguments = "admit --quiet --apply --show-managed-fields --crd fixtures/crds -";
    let shown = run(arguments, OBJECT);
    assert!(shown.contains("    manager: kubectl\n    operation: Apply\n"), "{shown}");
    assert!(shown.contains("exit status: 0") && shown.contains("  generation: 1\n"), "{shown}");
}

/// Runs a request of the quota example; times are left out.
fn under_quota(arguments: &str, object: &str) -> String {
    let fixture =
        "--crd fixtures/policies/databases.yaml --policies fixtures/policies/quota/policy.yaml";
    let shown = run(&format!("admit {fixture} {arguments} -"), object);
    shown.lines().map(stable).collect::<Vec<_>>().join("\n")
}

/// Parameters are found by namespace, and each validation of a policy is reported (PO-31).
#[test]
fn policies() {
    let database = "apiVersion: example.com/v1\nkind: Database\nmetadata: {name: a}\n\
        spec: {replicas: 4, storage: 1Gi}\n";
    let (few, more) = (database.replace("4", "3"), database);
    snapshot!("admit_policy_allows", &under_quota("-n shop", &few));
    snapshot!("admit_policy_denies", &under_quota("-n shop", more));
    snapshot!("admit_policy_denies_ndjson", &under_quota("-n shop --format ndjson", more));
    snapshot!("admit_policy_denies_status", &under_quota("-n shop --format status", more));
    snapshot!("admit_policy_denies_json", &under_quota("-n shop --report json", more));
    snapshot!("admit_policy_without_parameters", &under_quota("-n lab", &few));
}

/// Variables of a mutating policy, warnings, namespaces and users, all in one (PO-46, PO-63).
#[test]
fn mutating_policies() {
    let arguments = "admit --field-validation ignore --crd fixtures/crds --policies - fixtures/objects/backup.yaml";
    let shown = |options: &str| {
        let shown = run(&format!("{arguments} {options}"), POLICIES);
        shown.lines().map(stable).collect::<Vec<_>>().join("\n")
    };
    snapshot!("admit_mutating_policy", &shown("--allow approve:backups.data.example.com"));
    snapshot!("admit_mutating_policy_not_allowed", &shown("--quiet --allow get"));
    let appending = POLICIES.replace("{\"owner\": variables.team}", TWICE);
    for (name, report) in [("human", "--quiet"), ("json", "--report json")] {
        let shown = run(&format!("{arguments} --check-idempotence {report}"), &appending);
        let shown = shown.lines().map(stable).collect::<Vec<_>>().join("\n");
        snapshot!(format!("admit_policy_not_idempotent_{name}"), &shown);
    }
}

/// The annotations that policies write into the audit log (PO-60, PO-61).
#[test]
fn audit_annotations() {
    let policy =
        std::fs::read_to_string(root().join("fixtures/policies/no-latest-tag/policy.yaml"));
    let policy = policy.unwrap().replace("[Deny]", "[Warn, Audit]").replace(":latest", ":1");
    let shown =
        run("admit --policies - --namespace-labels shop:a=b fixtures/match/pod.yaml", &policy);
    snapshot!("admit_audit_annotations", shown.lines().map(stable).collect::<Vec<_>>().join("\n"));
}

/// The example's webhooks, and the files that name them.
pub(crate) struct Webhooks {
    runtime: Runtime,
    server: Server,
    directory: PathBuf,
}

impl Webhooks {
    pub(crate) fn start(name: &str) -> Self {
        let runtime = Runtime::new().unwrap();
        let names = ["localhost", "hook.shop.svc"];
        let start = Server::start("127.0.0.1:0", &names, |received| {
            Box::pin(crate::behavior::answer(received))
        });
        let server = runtime.block_on(start).unwrap();
        let directory =
            std::env::temp_dir().join(format!("billhook-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&directory).unwrap();
        Webhooks { runtime, server, directory }
    }

    /// Writes the configurations of the webhooks, of which `trouble` is wanted.
    pub(crate) fn file(&self, trouble: &str) -> String {
        let _guard = self.runtime.enter();
        let documents: Vec<String> = crate::configuration::of(&self.server)
            .unwrap()
            .iter()
            .map(|document| {
                billhook::to_yaml(document).replace("/mutate", &format!("/mutate{trouble}"))
            })
            .collect();
        let file = self.directory.join("webhooks.yaml");
        std::fs::write(&file, documents.join("---\n")).unwrap();
        file.to_str().unwrap().to_owned()
    }

    pub(crate) fn port(&self) -> String {
        self.server.address().port().to_string()
    }

    /// Runs the command with the webhooks; what differs from run to run is replaced.
    fn admit(&self, trouble: &str, args: &str, stdin: &str) -> String {
        let file = self.file(trouble);
        let args = format!("admit --crd fixtures/crds --webhooks {file} {args}");
        let shown = run_with(&args, stdin.as_bytes(), &[]);
        let port = self.port();
        let shown =
            shown.replace(&port, "PORT").replace(&*self.directory.to_string_lossy(), "TEMP");
        shown.lines().map(stable).collect::<Vec<_>>().join("\n")
    }
}

impl Drop for Webhooks {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.directory);
    }
}

/// A line without times and random names.
fn stable(line: &str) -> String {
    let mut line = line.to_owned();
    if let Some((step, time)) = line.rsplit_once("  ")
        && (time.ends_with(" ms") || time.ends_with(" s"))
    {
        line = format!("{step}  TIME");
    }
    if let Some((field, _)) = line.split_once("\"microseconds\": ") {
        line = format!("{field}\"microseconds\": TIME,");
    }
    if let Some((field, value)) = line.split_once("\"after\": \"") {
        let value = value.trim_end_matches(['"', ',']);
        if value.len() == 20 && value.ends_with('Z') {
            line = format!("{field}\"after\": \"TIME\",");
        } else if value.len() == 36 && value.matches('-').count() == 4 {
            line = format!("{field}\"after\": \"UID\",");
        }
    }
    for (start, end, shown) in [
        ("uid: \"", '"', "UID"),
        ("uid\": \"", '"', "UID"),
        ("response.uid=\"", '"', "UID"),
        ("  uid: ", '\n', "UID"),
        ("creationTimestamp: \"", '"', "TIME"),
        ("creationTimestamp\": \"", '"', "TIME"),
        ("  creationTimestamp: ", '\n', "TIME"),
        ("deletionTimestamp\": \"", '"', "TIME"),
        ("  deletionTimestamp: ", '\n', "TIME"),
    ] {
        if let Some((before, after)) = line.split_once(start) {
            let rest = after.find(end).and_then(|end| after.get(end..)).unwrap_or_default();
            line = format!("{before}{start}{shown}{rest}");
        }
    }
    line
}

macro_rules! with_webhooks {
    ($($name:ident: $trouble:literal $args:literal $(< $stdin:expr)?;)*) => {
        $(#[test]
        fn $name() {
            let webhooks = Webhooks::start(stringify!($name));
            let stdin = String::new() $(+ &$stdin)?;
            snapshot!(stringify!($name), webhooks.admit($trouble, $args, &stdin));
        })*
    };
}

with_webhooks! {
    admit_create: "" "fixtures/objects/backup.yaml";
    admit_create_json: "" "--quiet -o json fixtures/objects/backup.yaml";
    admit_dry_run: "" "--dry-run fixtures/objects/backup-clean.json";
    admit_update: "" "--old fixtures/objects/backup-clean.json -" < changed();
    admit_update_of_status: "" "--subresource status --old fixtures/objects/backup-clean.json -" < changed();
    admit_delete: "" "--operation delete fixtures/objects/backup-clean.json";
    admit_delete_dry_run: "" "--operation delete --dry-run --quiet --report json fixtures/objects/backup-clean.json";
    admit_patched: "" "--patch - fixtures/objects/backup-clean.json" < "metadata: {labels: {team: null}}\nspec: {maxSize: 1Gi, typo: 1}";
    admit_update_of_scale: "" "--subresource scale --old fixtures/objects/stack-clean.json -" < SCALE;
    admit_denied: "" "-" < denied();
    admit_invalid: "" "-" < changed().replace("keepLast: 3", "keepLast: -3");
    admit_strict: "" "--field-validation strict fixtures/objects/backup.yaml";
    admit_strict_human: "" "--field-validation strict --format human fixtures/objects/backup.yaml";
    admit_invalid_human: "" "--format human -" < changed().replace("keepLast: 3", "keepLast: -3");
    admit_denied_human: "" "--format human -" < denied();
    admit_denied_status: "" "--format status -" < denied();
    admit_closed_concise: ":close" "--format concise fixtures/objects/backup-clean.json";
    admit_idempotence_human: "" "--check-idempotence --format human fixtures/objects/backup.yaml";
    admit_several_junit: "" "--format junit -" < format!("{OBJECT}---{}---{OBJECT}", denied());
    admit_timeout: ":never" "--quiet --timeout 1 fixtures/objects/backup-clean.json";
    admit_uid: ":uid" "--quiet fixtures/objects/backup-clean.json";
    admit_redirect: ":redirect" "--quiet fixtures/objects/backup-clean.json";
    admit_closed: ":close" "fixtures/objects/backup-clean.json";
    admit_idempotence: "" "--check-idempotence --quiet -o json fixtures/objects/backup.yaml";
    admit_several: "" "--quiet -" < format!("{OBJECT}---{}---{OBJECT}", denied());
}

#[test]
fn admit_report() {
    let documents = format!("{}---{OBJECT}---\nkind: Backup\n", denied());
    let shown = Webhooks::start("admit_report").admit("", "--report json -", &documents);
    report_snapshots!("admit_report", 4, shown);
}

const OBJECT: &str = "
apiVersion: data.example.com/v1
kind: Backup
metadata: {name: orders-nightly, namespace: shop}
spec: {schedule: '15 4 * * 0', target: {url: 'https://bucket.example.com/x'}, retention: {keepLast: 3}}
status: {lastRunTime: '2026-03-01T02:30:00Z'}
";

/// A definition with a status, as a server gives it out.
fn definition(terminating: &str, served: &str) -> String {
    format!(
        "
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {{name: backups.data.example.com}}
spec:
  group: data.example.com
  scope: Namespaced
  names: {{plural: backups, kind: Backup}}
  versions:
  - name: v1
    {served}
    storage: true
    schema: {{openAPIV3Schema: {{type: object, x-kubernetes-preserve-unknown-fields: true}}}}
status:
  conditions:
  - {{type: Established, status: 'True'}}
  - {{type: Terminating, status: '{terminating}'}}
"
    )
}

/// Two webhooks that fail alike, and one whose match condition fails.
const UNREACHABLE: &str = "
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: backups}
webhooks:
- &webhook
  name: quota.backups.example.com
  clientConfig: {url: 'https://127.0.0.1:1/'}
  rules: [{operations: [CREATE], apiGroups: [data.example.com], apiVersions: [v1], resources: [backups]}]
  failurePolicy: Ignore
  sideEffects: None
  admissionReviewVersions: [v1]
- {<<: *webhook, name: target.backups.example.com}
- {<<: *webhook, name: tier.backups.example.com, matchConditions: [{name: gold, expression: object.spec.tier == 'gold'}]}
";

const SCALE: &str = "
apiVersion: autoscaling/v1
kind: Scale
metadata: {name: web-shop, namespace: shop}
spec: {replicas: 4}
";

fn changed() -> String {
    OBJECT.to_owned()
}

fn denied() -> String {
    OBJECT.replace("namespace: shop", "namespace: shop, labels: {example.com/denied: tuesday}")
}

/// Labels that differ each time (DI-47).
const TWICE: &str = r#"{"owner": has(object.metadata.labels) && "owner" in object.metadata.labels ?
        object.metadata.labels["owner"] + "x" : "orders"}"#;

const POLICIES: &str = r#"
apiVersion: v1
kind: Namespace
metadata: {name: billing, labels: {team: orders}}
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {name: owners}
spec:
  matchConstraints:
    namespaceSelector: {matchLabels: {team: orders}}
    resourceRules:
    - {operations: [CREATE], apiGroups: [data.example.com], apiVersions: [v1], resources: [backups]}
  variables:
  - {name: team, expression: 'namespaceObject.metadata.labels["team"]'}
  reinvocationPolicy: Never
  mutations:
  - patchType: ApplyConfiguration
    applyConfiguration:
      expression: 'Object{metadata: Object.metadata{labels: {"owner": variables.team}}}'
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata: {name: owners}
spec: {policyName: owners}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: approval}
spec:
  matchConstraints:
    resourceRules:
    - {operations: [CREATE], apiGroups: [data.example.com], apiVersions: [v1], resources: [backups]}
  validations:
  - expression: object.metadata.labels["owner"] == "orders"
  - expression: authorizer.requestResource.check("approve").allowed()
    message: the user may not approve backups
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: approval}
spec: {policyName: approval, validationActions: [Deny]}
"#;

#[test]
fn timeout_that_no_clock_has() {
    let shown = run(
        "admit --timeout 18446744073709551615 --crd fixtures/crds fixtures/objects/backup.yaml",
        "",
    );
    assert!(shown.contains("exit status: 2"), "{shown}");
    assert!(shown.contains("18446744073709551615 is not in 0..=86400"), "{shown}");
}

/// An object is in the same namespace, whether it is stored or sent.
#[test]
fn old_object_without_namespace() {
    const BACKUP: &str = "apiVersion: data.example.com/v1\nkind: Backup\nmetadata: {name: a}\n\
                          spec: {schedule: 1 2 3 4 5, target: {url: \"https://x.example.com\"}}\n";
    let scratch = Scratch::new("old-namespace", &[("a.yaml", BACKUP)]);
    let shown = scratch.run("admit --crd fixtures/crds --old DIR/a.yaml DIR/a.yaml");
    assert!(shown.contains("exit status: 0"), "{shown}");
}
