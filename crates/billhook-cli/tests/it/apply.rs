//! `billhook apply` and `billhook owners`.

use crate::support::{Scratch, cases, run, snapshot};

cases! {
    help_apply: "apply --help";
    help_owners: "owners --help";
    apply_conflict: "apply --crd fixtures/crds --live fixtures/apply/backup-live.yaml --manager gitops fixtures/apply/backup.yaml";
    apply_conflicts_with_several: "apply --crd fixtures/crds --live fixtures/apply/backup-live.yaml --manager other fixtures/apply/backup.yaml";
    apply_live_object: "apply --crd fixtures/crds --manager other fixtures/apply/backup-live.yaml";
    apply_what_is_there: "apply --crd fixtures/crds --live fixtures/apply/backup-live.yaml --manager other -"
        < [&format!("{HEAD}spec: {{suspend: true}}")];
    apply_unknown_field: "apply --crd fixtures/crds --manager other -" < [&format!("{HEAD}spec: {{typo: 1}}")];
    apply_nothing_left: "apply --crd fixtures/crds --live fixtures/apply/backup-live.yaml --manager gitops -"
        < [&format!("{HEAD}spec: {{target: {{}}}}")];
    apply_repeated_keys: "apply --field-validation strict --crd fixtures/crds --manager other -"
        < [&format!("{HEAD}spec: {{schedule: a, schedule: b}}")];
    owners_tree: "owners fixtures/apply/backup-live.yaml";
    owners_path: "owners fixtures/apply/backup-live.yaml .spec.target";
    owners_path_without_dot: "owners fixtures/apply/backup-live.yaml spec.target";
    owners_without_managed_fields: "owners fixtures/apply/backup.yaml";
    owners_path_of_nothing: "owners fixtures/apply/backup-live.yaml .spec.tar";
    owners_of_a_position: "owners fixtures/apply/service-live.yaml .spec.ports[0]";
    apply_without_name: "apply --crd fixtures/crds --manager other -"
        < ["apiVersion: data.example.com/v1\nkind: Backup\nmetadata: {generateName: a-}\n"];
    owners_report: "owners --report json fixtures/apply/backup-live.yaml .spec.schedule";
    owners_unreadable: "owners -" < [&format!("{HEAD}  managedFields: [{{operation: Patch}}]")];
}

const HEAD: &str = "apiVersion: data.example.com/v1\nkind: Backup\nmetadata:\n  \
                    name: orders-nightly\n  namespace: shop\n";

/// A server leaves out the namespace of what has none; the object is found again all the same.
#[test]
fn cluster_scoped_object_with_a_namespace() {
    const DEFINITION: &str = "apiVersion: apiextensions.k8s.io/v1\n\
        kind: CustomResourceDefinition\nmetadata: {name: foos.example.com}\n\
        spec: {group: example.com, scope: Cluster, names: {plural: foos, kind: Foo},\n  \
        versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: \
        {type: object}}}]}\n";
    const OBJECT: &str =
        "apiVersion: example.com/v1\nkind: Foo\nmetadata: {name: a, namespace: b}\n";
    let files = [("crd.yaml", DEFINITION), ("foo.yaml", OBJECT)];
    let scratch = Scratch::new("cluster-scoped", &files);
    let printed = |shown: String| {
        let (_, rest) = shown.split_once("-- standard output\n").unwrap();
        rest.split_once("\n-- standard error").unwrap().0.to_owned()
    };
    let apply = "apply --manager m --crd DIR/crd.yaml DIR/foo.yaml";
    let first = printed(scratch.run(apply));
    scratch.write("live.yaml", &first);
    assert_eq!(printed(scratch.run(&format!("{apply} --live DIR/live.yaml"))), first);
    let shown = scratch.run("diff --manager m --crd DIR/crd.yaml DIR/foo.yaml DIR/live.yaml");
    assert!(shown.contains("exit status: 0"), "{shown}");
}
