//! The committed part of the recorded conversations.

use std::path::Path;

use xtask::replay::{Scenario, Verdict};

fn lines() -> Vec<String> {
    let file = "../fixtures/replay/admission.jsonl";
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).unwrap();
    text.lines().map(str::to_owned).collect()
}

#[test]
fn committed_scenarios_pass() {
    let mut passed = 0;
    for line in lines() {
        let scenario = Scenario::parse(&line).unwrap();
        match scenario.play().unwrap() {
            Verdict::Passed | Verdict::Explained => passed += 1,
            Verdict::Waiting(why) => panic!("{}: waits for {why}", scenario.id),
            Verdict::Failed { differences } => {
                panic!("{} ({}): {}", scenario.id, scenario.note, differences.join("\n"));
            }
        }
    }
    assert!(passed >= 30, "only {passed} scenarios were played");
}

/// Everything that clients and webhooks see is compared: status, body, warnings, annotations and calls.
#[test]
fn scenarios_can_fail() {
    let line = lines().swap_remove(0);
    for (recorded, other) in [
        (r#""status":201"#, r#""status":200"#),
        (r#""generation":1"#, r#""generation":2"#),
        (r#""warnings":[]"#, r#""warnings":["w"]"#),
        (r#"\"mutated\":false"#, r#"\"mutated\":true"#),
        (r#""query":"timeout=10s""#, r#""query":"timeout=9s""#),
        (r#""dryRun":false"#, r#""dryRun":true"#),
    ] {
        assert!(line.contains(recorded), "{recorded}");
        let scenario = Scenario::parse(&line.replace(recorded, other)).unwrap();
        assert!(matches!(scenario.play().unwrap(), Verdict::Failed { .. }), "{recorded}");
    }
}
