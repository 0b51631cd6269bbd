//! The committed part of the recorded conversations.

use std::path::Path;

use xtask::replay::{Conversation, Scenario, Verdict};

fn lines(file: &str) -> Vec<String> {
    let file = format!("../fixtures/replay/{file}");
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).unwrap();
    text.lines().map(str::to_owned).collect()
}

#[test]
fn committed_scenarios_pass() {
    all_pass("admission.jsonl", 30);
}

/// Admission policies (PO-01 to PO-87).
#[test]
fn committed_policies_pass() {
    all_pass("policies.jsonl", 50);
}

/// Conversations with the API server, a few of each area (RE, WA, LC, DT).
#[test]
fn committed_conversations_pass() {
    conversations_pass("http.jsonl");
}

/// Conversations about built-in kinds, one of each and some about what they do together (BK).
#[test]
fn committed_conversations_about_kinds_pass() {
    conversations_pass("kinds.jsonl");
}

fn conversations_pass(file: &str) {
    let lines = lines(file);
    assert!(lines.len() >= 50, "only {} conversations are there", lines.len());
    for line in lines {
        let conversation = Conversation::parse(&line).unwrap();
        if let Verdict::Failed { differences } = conversation.play().unwrap() {
            let Conversation { id, about, .. } = conversation;
            panic!("{id} ({about}): {}", differences.join("\n"));
        }
    }
}

/// Codes, headers, bodies and the lines of watches are compared.
#[test]
fn conversations_can_fail() {
    let lines = lines("http.jsonl");
    for (recorded, other) in [
        (r#""status":201"#, r#""status":200"#),
        (r#""generation":1"#, r#""generation":2"#),
        (r#""content-type":"application/json""#, r#""content-type":"text/html""#),
        (r#""type":"ADDED""#, r#""type":"MODIFIED""#),
        (r#""warning":["299 -"#, r#""warning":["298 -"#),
    ] {
        let is_fit = |line: &&String| line.replace("\": ", "\":").contains(recorded);
        let line = lines.iter().find(is_fit).unwrap_or_else(|| panic!("{recorded}"));
        let line = line.replace("\": ", "\":").replace(recorded, other);
        let conversation = Conversation::parse(&line).unwrap();
        assert!(matches!(conversation.play().unwrap(), Verdict::Failed { .. }), "{recorded}");
    }
}

fn all_pass(file: &str, least: usize) {
    let mut passed = 0;
    for line in lines(file) {
        let scenario = Scenario::parse(&line).unwrap();
        match scenario.play().unwrap() {
            Verdict::Passed | Verdict::Explained => passed += 1,
            Verdict::Waiting(why) => panic!("{}: waits for {why}", scenario.id),
            Verdict::Failed { differences } => {
                panic!("{} ({}): {}", scenario.id, scenario.note, differences.join("\n"));
            }
        }
    }
    assert!(passed >= least, "only {passed} scenarios were played");
}

/// Everything that clients and webhooks see is compared: status, body, warnings, annotations and calls.
#[test]
fn scenarios_can_fail() {
    let line = lines("admission.jsonl").swap_remove(0);
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
