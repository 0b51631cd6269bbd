//! The table of the built-in kinds: one a row, with what recordings of a real server say of its parts.

use billhook_kinds::Kind;
use serde_json::Value;

use super::Measured;

/// The columns after the name.
const PARTS: [&str; 5] = ["types", "defaults", "validation", "behavior", "tables"];

/// The kinds that are stored, in the order of their groups, but the kind of definitions.
pub(super) fn rows(measured: &Measured) -> String {
    let stored = Kind::all().iter().filter(|kind| kind.is_stored());
    let stored = stored.filter(|kind| kind.kind != "CustomResourceDefinition");
    let rows: Vec<String> = stored.map(|kind| row(kind, measured)).collect();
    rows.join("\n")
}

fn row(kind: &Kind, measured: &Measured) -> String {
    let name = format!("{} {}", kind.api_version(), kind.kind);
    let parts = measured.get(&name);
    let cell = |part: &str| match parts.and_then(|parts| parts.get(part)) {
        Some(counts) => counted(counts),
        None => "not compared".to_owned(),
    };
    let cells: Vec<String> = PARTS.iter().map(|part| cell(part)).collect();
    format!("| {} | `{}` | {} |", kind.kind, kind.api_version(), cells.join(" | "))
}

/// How many recordings agree.
fn counted(counts: &Value) -> String {
    let of = |name: &str| counts.get(name).and_then(Value::as_u64).unwrap_or_default();
    match (of("passed"), of("all")) {
        (passed, all) if passed == all => format!("exact, {all}"),
        (passed, all) => format!("partly, {passed} of {all}"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_part_is_exact_if_all_recordings_agree() {
        let parts = json!({"tables": {"passed": 2, "all": 2}, "types": {"passed": 1, "all": 2}});
        let measured = Measured::from([("v1 Pod".to_owned(), parts)]);
        let pod = Kind::named("v1", "Pod").unwrap();
        let expected = "| Pod | `v1` | partly, 1 of 2 | not compared | not compared | not compared | \
                        exact, 2 |";
        assert_eq!(row(pod, &measured), expected);
        let none = Kind::named("v1", "PersistentVolume").unwrap();
        assert!(row(none, &measured).ends_with("| not compared |"));
    }
}
