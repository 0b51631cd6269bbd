//! A patch is only its operations.

use billhook_admission::JsonPatch;
use billhook_testing::small_values as values;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::laws::hooks::specs;

/// Operations that often find something.
fn operation() -> impl Strategy<Value = Value> {
    let part = "[a-d]|list|[0-2]|-|-1|~0|~1";
    let path = prop_oneof![
        8 => prop::collection::vec(part, 1..4).prop_map(|parts| format!("/{}", parts.join("/"))),
        1 => Just(String::new()),
        1 => "[a-d]",
    ];
    let op = "add|add|add|remove|replace|move|copy|test";
    (op, path.clone(), path, values()).prop_map(|(op, path, from, value)| {
        let mut operation = json!({"op": op, "path": path});
        match op.as_str() {
            "move" | "copy" => operation["from"] = from.into(),
            "remove" => {}
            _ => operation["value"] = value,
        }
        operation
    })
}

proptest! {
    /// A patch does what its operations do one by one, up to the first that fails (DI-30).
    #[test]
    fn a_patch_is_its_operations(
        document in specs(),
        operations in prop::collection::vec(operation(), 0..6),
    ) {
        let apply = |document: &Value, operations: &[Value]| {
            let text = Value::from(operations).to_string();
            let patch = JsonPatch::from_slice(text.as_bytes()).unwrap();
            assert_eq!(patch.operations().len(), operations.len());
            let patched = patch.apply(document).map_err(|error| error.to_string())?;
            Ok::<_, String>(patched.into_inner())
        };
        let whole = apply(&document, &operations);
        let one_by_one = operations.iter().try_fold(document.clone(), |document, operation| {
            apply(&document, std::slice::from_ref(operation))
        });
        prop_assert_eq!(whole, one_by_one);
    }
}
