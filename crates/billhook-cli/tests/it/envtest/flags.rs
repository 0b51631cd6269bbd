//! Flags that are refused, with the texts of kube-apiserver (ET-17, ET-60, ET-61).

use super::harness::{default_flags, run};
use crate::support::Scratch;

/// Starts the server with flags after those of a harness, which must not start it.
fn refusal(flags: &[&str]) -> String {
    let directory = std::env::temp_dir();
    let defaults = default_flags(&directory, 1);
    let defaults = defaults.iter().map(String::as_str);
    let arguments: Vec<&str> = defaults.chain(flags.iter().copied()).collect();
    let output = run("kube-apiserver", &arguments);
    assert_eq!(output.status.code(), Some(1), "{flags:?}");
    String::from_utf8(output.stderr).unwrap()
}

/// The text of the one line that a refusal is.
fn why(flags: &[&str]) -> String {
    let shown = refusal(flags);
    let (head, why) = shown.split_once("] \"command failed\" err=").unwrap_or_else(|| {
        panic!("{flags:?}: {shown}");
    });
    assert!(head.starts_with('E') && head.ends_with(" run.go:72"), "{head}");
    assert_eq!(shown.lines().count(), 1, "{shown}");
    serde_json::from_str(why.trim_end()).unwrap()
}

/// ET-60 (measured).
#[test]
fn unknown_flags_are_refused() {
    assert_eq!(refusal(&["--x"]), "Error: unknown flag: --x\n");
    assert_eq!(refusal(&["--x=1", "--secure-port=0"]), "Error: unknown flag: --x\n");
}

/// ET-61 (measured, but the last four).
#[test]
fn unusable_values_are_refused() {
    for (flags, expected) in [
        (
            &["--secure-port=0"][..],
            "--secure-port 0 must be between 1 and 65535, inclusive. It cannot be turned off with 0",
        ),
        (&["--authorization-mode=Foo"], "authorization-mode \"Foo\" is not a valid mode"),
        (
            &["--authorization-mode=RBAC"],
            "authorization-mode [\"RBAC\" \"RBAC\"] has mode specified more than once",
        ),
        (
            &["--authorization-mode=ABAC"],
            "authorization-mode ABAC's authorization policy file not passed",
        ),
        (&["--enable-admission-plugins=Foo"], "enable-admission-plugins plugin \"Foo\" is unknown"),
        (
            &["--enable-admission-plugins=ServiceAccount"],
            "[ServiceAccount] in enable-admission-plugins and disable-admission-plugins overlapped",
        ),
        (&["--feature-gates=Foo"], "missing bool value for Foo"),
        (
            &["--feature-gates=CRDValidationRatcheting=false"],
            "cannot set feature gate CRDValidationRatcheting to false, feature is locked to true",
        ),
        (
            &["--emulated-version=1.34", "--feature-gates=CRDObservedGenerationTracking=true"],
            "unrecognized feature gate: CRDObservedGenerationTracking",
        ),
        (
            &["--billhook-strict", "--feature-gates=AllBeta=true,ListFromCacheSnapshot=false"],
            "--feature-gates=ListFromCacheSnapshot=false is accepted and has no effect: it stays on",
        ),
        (
            &["--audit-log-format=legacy"],
            "--audit-log-format=legacy is not supported: events are lines of JSON",
        ),
        (
            &["--billhook-strict", "--audit-log-path=-"],
            "--audit-log-path has no effect without --audit-policy-file",
        ),
        (
            &["--audit-log-path=-", "--audit-policy-file=/nowhere/policy.yaml"],
            "failed to read audit policy /nowhere/policy.yaml: No such file or directory (os error 2)",
        ),
        (
            &["--feature-gates=APIResponseCompression=x"],
            "invalid value of APIResponseCompression=x, err: strconv.ParseBool: parsing \"x\": \
             invalid syntax",
        ),
        (&["--runtime-config=foo.io/v1=true"], "unknown api groups foo.io/v1"),
        (
            &["--runtime-config=api/all=false"],
            "[--runtime-config=api/all=false conflicts with --enable-priority-and-fairness=true, \
             invalid runtime-config with only api/all=false]",
        ),
        (
            &["--service-cluster-ip-range=10.0.0.0/24,10.1.0.0/24"],
            "--service-cluster-ip-range[0] and --service-cluster-ip-range[1] must be of different \
             IP family",
        ),
        (
            &["--service-cluster-ip-range=x"],
            "--service-cluster-ip-range must contain at least one valid cidr",
        ),
        (
            &["--oidc-issuer-url=https://a"],
            "--oidc-issuer-url is not supported: tokens of other issuers are not checked",
        ),
        (
            &["--billhook-controllers=none"],
            "no controller is named \"none\": there are all, gc, namespaces, nodes, preemption, \
             workloads, and those of kube-controller-manager",
        ),
        (
            &["--admission-control-config-file=/none"],
            "failed to read plugin config: /none: No such file or directory (os error 2)",
        ),
        (
            &["--client-ca-file=/none"],
            "unable to load client CA file /none: No such file or directory (os error 2)",
        ),
    ] {
        assert_eq!(why_last(flags), expected, "{flags:?}");
    }
}

/// ET-61: the levels of PodSecurity are configured.
#[test]
fn levels_of_security_are_configured() {
    let directory = Scratch::new("envtest-plugins", &[]);
    let configure = |defaults: &str| {
        let text = format!(
            "
apiVersion: apiserver.config.k8s.io/v1
kind: AdmissionConfiguration
plugins:
- name: PodSecurity
  configuration:
    apiVersion: pod-security.admission.config.k8s.io/v1
    kind: PodSecurityConfiguration
    defaults: {defaults}
- name: ResourceQuota
"
        );
        directory.write("plugins.yaml", &text);
        let file = directory.path().join("plugins.yaml");
        let flag = format!("--admission-control-config-file={}", file.display());
        why_last(&["--billhook-strict", &flag])
    };
    let others = "--admission-control-config-file is accepted and has no effect on ResourceQuota: the \
                  plugin has its defaults";
    assert_eq!(configure("{enforce: baseline}"), others);
    let wrong = "[failed to read plugin config: PodSecurity: defaults.enforce: Invalid value: \"none\": \
                 must be one of privileged, baseline, restricted, ";
    assert!(configure("{enforce: none}").starts_with(wrong), "{}", configure("{enforce: none}"));
}

/// Errors in files name the file, and the line where there is one.
#[test]
fn files_that_are_wrong() {
    let directory = Scratch::new("envtest-files", &[]);
    let file = directory.path().join("file");
    let shown = file.display();
    let control = "line 2, column 4: yaml: control characters are not allowed";
    for (flag, text, expected) in [
        (
            "admission-control-config-file",
            &b"a: b\nc: \0"[..],
            format!("failed to read plugin config: {shown}: {control}"),
        ),
        (
            "admission-control-config-file",
            b"apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\nx: 1",
            format!(
                "failed to read plugin config: strict decoding error: unknown field \"x\" ({shown})"
            ),
        ),
        (
            "audit-log-path=- --audit-policy-file",
            b"a: b\nc: \0",
            format!("failed to read audit policy {shown}: {control}"),
        ),
    ] {
        std::fs::write(&file, text).unwrap();
        let flags = format!("--{flag}={shown}");
        let flags: Vec<&str> = flags.split(' ').collect();
        assert_eq!(why_last(&flags), expected);
    }
}

/// Idle flags are reported, or refused.
#[test]
fn strict_servers_refuse_what_has_no_effect() {
    let idle = "--tracing-config-file is accepted and has no effect: nothing is traced";
    let why = why_last(&["--billhook-strict", "--tracing-config-file=t"]);
    assert!(why.contains(idle), "{why}");
    let shown = refusal(&["--tracing-config-file=t", "--client-ca-file=/none"]);
    assert!(shown.lines().any(|line| line == format!("billhook: {idle}")), "{shown}");
}

/// ET-77: who asks for no limit has none.
#[test]
fn requests_without_limits_are_no_warning() {
    let kwok = [
        "--billhook-strict",
        "--max-requests-inflight=0",
        "--max-mutating-requests-inflight=0",
        "--enable-priority-and-fairness=false",
        "--client-ca-file=/none",
    ];
    assert!(why(&kwok).starts_with("unable to load client CA file"));
    let limited = why(&["--billhook-strict", "--max-requests-inflight=1"]);
    assert!(limited.contains("requests are not limited in this way"), "{limited}");
}

/// The text of a refusal after warnings of what has no effect.
fn why_last(flags: &[&str]) -> String {
    let shown = refusal(flags);
    let last = shown.lines().last().unwrap();
    let (_, why) = last.split_once("] \"command failed\" err=").unwrap();
    serde_json::from_str(why).unwrap()
}

/// ET-61 (measured).
#[test]
fn required_flags_are_missed_together() {
    let output = run("kube-apiserver", &["--etcd-servers="]);
    let shown = String::from_utf8(output.stderr).unwrap();
    let expected = "[--etcd-servers must be specified, service-account-issuer is a required flag, \
        either `--service-account-key-file` or `--service-account-signing-endpoint` must be set, \
        --service-account-signing-key-file and --service-account-issuer are required flags]";
    assert!(shown.trim_end().ends_with(&format!("err=\"{expected}\"")), "{shown}");
    assert_eq!(why(&["--secure-port=70000"]).split(' ').nth(1), Some("70000"));
}
