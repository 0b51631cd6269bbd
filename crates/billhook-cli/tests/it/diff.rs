//! `billhook diff`, `billhook normalize` and `billhook neat`.

use crate::support::{Scratch, cases, run, snapshot};

cases! {
    help_diff: "diff --help";
    help_normalize: "normalize --help";
    help_neat: "neat --help";
    diff_of_own: "diff --crd fixtures/crds fixtures/apply/backup.yaml fixtures/apply/backup-live.yaml";
    diff_of_gitops: "diff --crd fixtures/crds --manager gitops fixtures/apply/backup.yaml fixtures/apply/backup-live.yaml";
    diff_quiet: "diff --quiet --crd fixtures/crds --manager gitops fixtures/apply/backup.yaml fixtures/apply/backup-live.yaml";
    diff_report: "diff --report json --crd fixtures/crds --manager gitops fixtures/apply/backup.yaml -"
        < [&format!("{HEAD}spec: {{schedule: 0 4 * * *, suspend: false, target: {{url: s3://backups/orders}}}}")];
    diff_of_defaults: "diff --crd fixtures/crds - fixtures/apply/backup-live.yaml"
        < [&format!("{HEAD}  labels: {{team: shop}}\nspec: {{schedule: 0 3 * * *, suspend: true, maxSize: 10Gi, typo: 1, target: {{url: s3://backups/orders, secretName: null}}}}")];
    diff_not_live: "diff --crd fixtures/crds - fixtures/apply/backup-live.yaml"
        < [&HEAD.replace("orders-nightly", "other")];
    diff_unfit: "diff --crd fixtures/crds - fixtures/apply/backup-live.yaml"
        < [&format!("{HEAD}spec: {{schedule: [1]}}")];
    diff_kubectl: "diff --kubectl --crd=fixtures/crds fixtures/apply/kubectl/live fixtures/apply/kubectl/merged";
    diff_as_kubectl_calls_it: "fixtures/apply/kubectl/live fixtures/apply/kubectl/merged diff --kubectl --crd=fixtures/crds";
    diff_of_secret: "diff - fixtures/apply/secret-live.yaml"
        < ["apiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: shop}\nstringData: {password: new}\n"];
    diff_of_secret_report: "diff --report json - fixtures/apply/secret-live.yaml"
        < ["apiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: shop}\nstringData: {password: new}\n"];
    diff_of_service: "diff --manager gitops fixtures/apply/service.yaml fixtures/apply/service-live.yaml";
    diff_without_crd: "diff --crd fixtures/crds fixtures/apply/kubectl/live/v1.ConfigMap.shop.x fixtures/apply/kubectl/live/v1.ConfigMap.shop.x";
    ignore_for_argocd: "diff --ignore-for argocd --manager gitops --crd fixtures/crds - fixtures/apply/backup-live.yaml"
        < [&format!("{HEAD}spec: {{schedule: 0 3 * * *, labels: {{a/b: null}}, target: {{url: x, typo: 1}}}}")];
    ignore_for_flux: "diff --ignore-for flux --manager gitops --crd fixtures/crds fixtures/apply/backup.yaml fixtures/apply/backup-live.yaml";
    ignore_for_flux_in_lists: "diff --ignore-for flux --manager gitops fixtures/apply/service.yaml fixtures/apply/service-live.yaml";
    ignore_for_terraform: "diff --ignore-for terraform --manager gitops --crd fixtures/crds - fixtures/apply/backup-live.yaml"
        < [&format!("{HEAD}spec: {{schedule: 0 3 * * *, labels: {{a/b: null}}, target: {{url: x, typo: 1}}}}")];
    normalize_live: "normalize --crd fixtures/crds fixtures/apply/backup-live.yaml";
    normalize_refused: "normalize --crd fixtures/crds -" < ["apiVersion: data.example.com/v1\nkind: Backup\nmetadata: {name: 1}\n"];
    neat_live: "neat --crd fixtures/crds fixtures/apply/backup-live.yaml";
    neat_json: "neat -o json --crd fixtures/crds -"
        < [&format!("{HEAD}spec: {{schedule: 0 3 * * *, suspend: false, retention: {{keepLast: 7, maxAge: 720h}}, typo: 1}}")];
}

const HEAD: &str = "apiVersion: data.example.com/v1\nkind: Backup\nmetadata:\n  \
                    name: orders-nightly\n  namespace: shop\n";

/// The annotation of client-side apply is not a difference of an object from itself.
#[test]
fn diff_of_an_object_with_itself() {
    const LAST: &str = "kubectl.kubernetes.io/last-applied-configuration";
    let text =
        format!("{HEAD}  annotations: {{{LAST}: \"{{}}\"}}\nspec: {{schedule: 1 2 3 4 5}}\n");
    let scratch = Scratch::new("self", &[("a.yaml", &text)]);
    let shown = scratch.run("diff --crd fixtures/crds DIR/a.yaml DIR/a.yaml");
    assert!(shown.contains("exit status: 0") && !shown.contains("last-applied"), "{shown}");
}

/// `kubectl diff --prune` passes the objects that would go as files of the live ones alone, and masks the data
/// of Secrets.
#[test]
fn directories_of_kubectl() {
    let secret = |password: &str| {
        format!(
            "apiVersion: v1\nkind: Secret\nmetadata: {{name: s, namespace: a}}\n\
             data: {{password: '*** ({password})'}}\n"
        )
    };
    let (before, after) = (secret("before"), secret("after"));
    let gone = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, namespace: a}\n";
    let files = [("live/s", &*before), ("live/x", gone), ("merged/s", &after)];
    let scratch = Scratch::new("directories-of-kubectl", &files);
    let shown = scratch.run("DIR/live DIR/merged diff --kubectl");
    assert!(shown.contains("x ConfigMap a/x: would be deleted"), "{shown}");
    assert!(shown.contains("s Secret a/s: 1 real difference"), "{shown}");
    assert!(shown.contains("+ .data.password: \"*** (after)\""), "{shown}");
    assert!(shown.contains("exit status: 1"), "{shown}");
    let report = scratch.run("DIR/live DIR/merged diff --kubectl --report json");
    assert!(report.contains("\"deleted\": true"), "{report}");
}
