//! Laws of finding the members of a node by name.

use std::collections::BTreeSet;

use billhook_schema::{CompileOptions, CompiledSchema, JsonSchemaProps};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

/// Names alike except for a byte, around the lengths at which they are compared in another way.
fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        "[ab\u{0}]{0,20}",
        "[ab]é?[ab]{0,3}",
        (0_usize..20, any::<prop::sample::Index>()).prop_map(|(length, at)| {
            let mut name = vec![b'n'; length];
            if length > 0 {
                name[at.index(length)] = b'm';
            }
            String::from_utf8(name).unwrap()
        }),
    ]
}

proptest! {
    /// A member is found wherever the search begins, and nothing else is.
    #[test]
    fn where_the_search_begins_changes_nothing(
        names in prop::collection::btree_set(name(), 0..30),
        others in prop::collection::vec(name(), 0..10),
        next in 0_usize..40,
    ) {
        let properties: Map<String, Value> =
            names.iter().map(|name| (name.clone(), json!({"type": "string"}))).collect();
        let schema = json!({"type": "object", "properties": properties});
        let schema = JsonSchemaProps::from_value(&schema).unwrap();
        let mut options = CompileOptions::default();
        options.resource_root = false;
        let compiled = CompiledSchema::of_part(&schema, options);
        let members = compiled.root().members();
        let table = compiled.root().member_table(|member| member.name().to_owned());
        prop_assert!(table.iter().eq(&names));
        for name in others.iter().chain(&names).collect::<BTreeSet<_>>() {
            let found = members.find(name, next);
            prop_assert_eq!(found.map(|found| found.name()), names.get(name).map(String::as_str));
            let expected = compiled.root().property(name);
            prop_assert_eq!(
                found.map(|found| found.position()),
                expected.map(|expected| expected.position())
            );
            let in_table = match table.at(next, name) {
                Some(found) => (Some(found), next + 1),
                None => table.search(|| compiled.root(), name, next),
            };
            let after = expected.map_or(next, |expected| expected.position() + 1);
            prop_assert_eq!(in_table, (names.get(name), after));
        }
    }
}
