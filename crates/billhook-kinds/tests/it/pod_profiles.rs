//! Annotations that gave containers their profiles of AppArmor and seccomp (BK-106, BK-107).

use serde_json::{Value, json};

use crate::pods::{created, errors, errors_of, with, write};

#[test]
fn annotations_of_profiles_agree_with_members() {
    // BK-106
    let app_armor = "container.apparmor.security.beta.kubernetes.io/";
    let profile = |kind: &str, file: Value| {
        let mut profile = json!({"type": kind});
        if !file.is_null() {
            profile["localhostProfile"] = file;
        }
        json!({"securityContext": {"appArmorProfile": profile, "seccompProfile": profile}})
    };
    let runtime = profile("RuntimeDefault", Value::Null);
    let local = profile("Localhost", json!("a"));
    let at = "spec.containers[0].securityContext";
    for (container, key, value, wanted) in [
        (&json!({}), format!("{app_armor}c"), "unconfined", String::new()),
        (
            &json!({}),
            format!("{app_armor}d"),
            "unconfined",
            format!("metadata.annotations[{app_armor}d]: Invalid value: \"d\": container not found"),
        ),
        (&runtime, format!("{app_armor}c"), "runtime/default", String::new()),
        (
            &runtime,
            format!("{app_armor}c"),
            "localhost/a",
            format!(
                "{at}.appArmorProfile.type: Forbidden: apparmor type in annotation and field must match"
            ),
        ),
        (
            &local,
            format!("{app_armor}c"),
            "localhost/b",
            format!(
                "{at}.appArmorProfile.localhostProfile: Forbidden: apparmor profile in annotation and field must match"
            ),
        ),
        (
            &local,
            "container.seccomp.security.alpha.kubernetes.io/c".to_owned(),
            "unconfined",
            format!(
                "{at}.seccompProfile.type: Forbidden: seccomp type in annotation and field must match"
            ),
        ),
        (
            &json!({}),
            "seccomp.security.alpha.kubernetes.io/pod".to_owned(),
            "none",
            "metadata.annotations[seccomp.security.alpha.kubernetes.io/pod]: Invalid value: \"none\": must be a valid seccomp profile".to_owned(),
        ),
    ] {
        let mut body = with(container);
        body["metadata"]["annotations"] = json!({key.as_str(): value});
        assert_eq!(errors_of(&body).join("; "), wanted, "{key} {value}");
    }
}

#[test]
fn annotations_of_app_armor_stay() {
    // BK-107
    let key = "container.apparmor.security.beta.kubernetes.io/c";
    let mut bare = created(&with(&json!({})));
    let mut profiled = bare.clone();
    profiled["metadata"]["annotations"] = json!({key: "unconfined"});
    let mut other = bare.clone();
    other["metadata"]["annotations"] = json!({key: "runtime/default"});
    bare["metadata"]["annotations"] = json!({"a": "b"});
    let at = format!("metadata.annotations[{key}]: Forbidden: may not");
    for (pod, old, wanted) in [
        (&profiled, &profiled, String::new()),
        (&profiled, &bare, format!("{at} add AppArmor annotations")),
        (&bare, &profiled, format!("{at} remove or update AppArmor annotations")),
        (&other, &profiled, format!("{at} remove or update AppArmor annotations")),
    ] {
        let (_, found) = write("Pod", pod, Some(old), "");
        assert_eq!(errors(&found).join("; "), wanted);
    }
}
