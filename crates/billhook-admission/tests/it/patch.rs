//! JSON patches (DI-26 to DI-30): the server library's semantics and texts.

use billhook_admission::JsonPatch;
use billhook_apimachinery::value::{DeepValue, deep_eq};
use billhook_testing::{on_small_stack, small_values as values};
use proptest::prelude::*;
use serde_json::{Value, json};

fn apply(document: &Value, operations: &Value) -> Result<Value, String> {
    let patch = JsonPatch::from_slice(operations.to_string().as_bytes());
    let patched = patch.and_then(|patch| patch.apply(document));
    patched.map(DeepValue::into_inner).map_err(|error| error.to_string())
}

/// A line a case: what it shows, the document, the operations, and the result or `ERR` and text.
#[test]
fn operations_do_what_the_server_library_does() {
    let table = r#"
negative index in replace | [1,2,3] | [{"op":"replace","path":"/-1","value":9}] | [1,2,9]
negative index in remove | [1,2,3] | [{"op":"remove","path":"/-1"}] | [1,2]
negative index in add: behind the last | [1,2,3] | [{"op":"add","path":"/-1","value":9}] | [1,2,3,9]
negative index in add: before the first | [1,2] | [{"op":"add","path":"/-3","value":9}] | [9,1,2]
negative index out of range in add | [1] | [{"op":"add","path":"/-3","value":9}] | ERR error in add for path: '/-3': Unable to access invalid index: -3: invalid index referenced
negative index out of range in replace | [1] | [{"op":"replace","path":"/-2","value":9}] | ERR replace operation does not apply: doc is missing key: /-2: missing value
negative index on the way | [[1]] | [{"op":"add","path":"/-1/0","value":9}] | [[9,1]]
append | [1] | [{"op":"add","path":"/-","value":2}] | [1,2]
remove a missing key | {"a":1} | [{"op":"remove","path":"/b"}] | ERR error in remove for path: '/b': Unable to remove nonexistent key: b: missing value
remove a missing index | [1] | [{"op":"remove","path":"/1"}] | ERR error in remove for path: '/1': Unable to access invalid index: 1: invalid index referenced
missing parent in add | {} | [{"op":"add","path":"/b/c","value":1}] | ERR add operation does not apply: doc is missing path: "/b/c": missing value
null parent in add | {"b":null} | [{"op":"add","path":"/b/c","value":1}] | ERR add operation does not apply: doc is missing path: "/b/c": missing value
scalar parent in add | {"b":"x"} | [{"op":"add","path":"/b/c","value":1}] | ERR add operation does not apply: doc is missing path: "/b/c": missing value
missing parent in remove | {} | [{"op":"remove","path":"/b/c"}] | ERR remove operation does not apply: doc is missing path: "/b/c": missing value
add at the length | [1] | [{"op":"add","path":"/1","value":2}] | [1,2]
add beyond the length | [1] | [{"op":"add","path":"/5","value":2}] | ERR error in add for path: '/5': Unable to access invalid index: 5: invalid index referenced
add inserts | [1,2] | [{"op":"add","path":"/1","value":9}] | [1,9,2]
add replaces a member | {"a":1} | [{"op":"add","path":"/a","value":2}] | {"a":2}
test of a missing member against null | {} | [{"op":"test","path":"/a","value":null}] | {}
test of null against null | {"a":null} | [{"op":"test","path":"/a","value":null}] | {"a":null}
test of a missing member against a value | {} | [{"op":"test","path":"/a","value":1}] | ERR testing value /a failed: test failed
test compares numbers by their text | {"a":1} | [{"op":"test","path":"/a","value":1.0}] | ERR testing value /a failed: test failed
test finds what the patch itself wrote | {} | [{"op":"add","path":"/a","value":1.0},{"op":"test","path":"/a","value":1.0}] | {"a":1.0}
test ignores the order of members | {"a":{"x":1,"y":2}} | [{"op":"test","path":"/a","value":{"y":2,"x":1}}] | {"a":{"x":1,"y":2}}
test of the whole document | {"a":1} | [{"op":"test","path":"","value":{"a":1}}] | {"a":1}
test below a missing member | {} | [{"op":"test","path":"/a/b","value":null}] | ERR test operation does not apply: is missing path: /a/b: missing value
test of a missing index | {"a":[]} | [{"op":"test","path":"/a/0","value":null}] | ERR error in test for path: '/a/0': Unable to access invalid index: 0: invalid index referenced
test without a value | {"a":1} | [{"op":"test","path":"/a"}] | ERR testing value /a failed: test failed
replace of a missing member | {} | [{"op":"replace","path":"/a","value":1}] | {"a":1}
replace below a missing member | {} | [{"op":"replace","path":"/a/b","value":1}] | ERR replace operation does not apply: doc is missing path: /a/b: missing value
replace of a missing index | [1] | [{"op":"replace","path":"/1","value":1}] | ERR replace operation does not apply: doc is missing key: /1: missing value
replace of the document | {"a":1} | [{"op":"replace","path":"","value":{"b":1}}] | {"b":1}
replace of the document by a scalar | {"a":1} | [{"op":"replace","path":"","value":1}] | ERR replace operation value must be object or array: %!w(<nil>)
add of the document | {"a":1} | [{"op":"add","path":"","value":{"b":1}}] | ERR add operation does not apply: doc is missing path: "": missing value
leading zeros in an index | [1,2] | [{"op":"remove","path":"/01"}] | [1]
an index that is no number | [1] | [{"op":"remove","path":"/x"}] | ERR error in remove for path: '/x': strconv.Atoi: parsing "x": invalid syntax
the end is no item | [1] | [{"op":"remove","path":"/-"}] | ERR error in remove for path: '/-': strconv.Atoi: parsing "-": invalid syntax
add without a value | {"a":1} | [{"op":"add","path":"/b"}] | {"a":1,"b":null}
a path without a slash | {"b":1} | [{"op":"add","path":"b","value":1}] | ERR add operation does not apply: doc is missing path: "b": missing value
no path | {} | [{"op":"add","value":1}] | ERR add operation failed to decode path: missing value
no from | {} | [{"op":"move","path":"/a"}] | ERR move operation failed to decode from: missing value
an unknown operation | {} | [{"op":"frob","path":"/a"}] | ERR Unexpected kind: frob
operations are in small letters | {} | [{"op":"ADD","path":"/a","value":1}] | ERR Unexpected kind: ADD
no operation | {} | [{"path":"/a","value":1}] | ERR Unexpected kind: unknown
null for an operation | {} | [null] | ERR Unexpected kind: unknown
move into a child | {"a":{"b":1}} | [{"op":"move","from":"/a","path":"/a/b"}] | ERR move operation does not apply: doc is missing destination path: /a/b: missing value
move | {"a":1} | [{"op":"move","from":"/a","path":"/b"}] | {"b":1}
move in a list | [1,2,3] | [{"op":"move","from":"/0","path":"/-"}] | [2,3,1]
move of a missing member | {} | [{"op":"move","from":"/a","path":"/b"}] | ERR error in move for path: 'a': Unable to remove nonexistent key: a: missing value
move from below a missing member | {} | [{"op":"move","from":"/a/c","path":"/b"}] | ERR move operation does not apply: doc is missing from path: /a/c: missing value
copy | {"a":[1]} | [{"op":"copy","from":"/a","path":"/b"}] | {"a":[1],"b":[1]}
copy from below a missing member | {} | [{"op":"copy","from":"/a/b","path":"/b"}] | ERR copy operation does not apply: doc is missing from path: /a/b: missing value
copy of a missing index | {"a":[]} | [{"op":"copy","from":"/a/0","path":"/b"}] | ERR error in copy for from: '/a/0': Unable to access invalid index: 0: invalid index referenced
copy to below a missing member | {"a":1} | [{"op":"copy","from":"/a","path":"/b/c"}] | ERR copy operation does not apply: doc is missing destination path: /b/c: missing value
a member nobody knows | {"a":1} | [{"op":"add","path":"/b","value":1,"x":2}] | {"a":1,"b":1}
an escaped tilde before a digit | {"~1":1} | [{"op":"remove","path":"/~01"}] | {}
an escaped slash | {"a/b":1} | [{"op":"remove","path":"/a~1b"}] | {}
a tilde that escapes nothing | {"~2~":1} | [{"op":"remove","path":"/~2~"}] | {}
remove of null | {"a":null} | [{"op":"remove","path":"/a"}] | {}
an empty key | {"":{"":1}} | [{"op":"remove","path":"//"}] | {"":{}}
all or nothing | {} | [{"op":"add","path":"/a","value":1},{"op":"remove","path":"/b"}] | ERR error in remove for path: '/b': Unable to remove nonexistent key: b: missing value
whole floats are read as written | {"a":2.0} | [] | {"a":2}
no operations | {"a":1} | null | {"a":1}
an object for a patch | {} | {} | ERR json: cannot unmarshal object into Go value of type jsonpatch.Patch
a number for an operation | {} | [1] | ERR json: cannot unmarshal number into Go value of type jsonpatch.Operation
"#;
    for line in table.trim().lines() {
        let [name, document, operations, expected] =
            line.split(" | ").collect::<Vec<_>>().try_into().unwrap();
        let document: Value = serde_json::from_str(document).unwrap();
        let patch = JsonPatch::from_slice(operations.as_bytes());
        let found = match patch.and_then(|patch| patch.apply(&document)) {
            Ok(found) => billhook::to_json(&found),
            Err(error) => format!("ERR {error}"),
        };
        let expected = match serde_json::from_str::<Value>(expected) {
            Ok(value) => billhook::to_json(&value),
            Err(_) => expected.to_owned(),
        };
        assert_eq!(found, expected, "{name}");
    }
}

/// Measured results of the server's library, a case a line: its name, the document, the operations.
const SEEN: &str = r#"
negative index replace | [1,2,3] | [{"op":"replace","path":"/-1","value":9}]
negative index remove | [1,2,3] | [{"op":"remove","path":"/-1"}]
negative add | [1,2,3] | [{"op":"add","path":"/-1","value":9}]
remove missing key | {"a":1} | [{"op":"remove","path":"/b"}]
add missing parent | {"a":1} | [{"op":"add","path":"/b/c","value":1}]
add idx==len | [1] | [{"op":"add","path":"/1","value":2}]
add idx>len | [1] | [{"op":"add","path":"/5","value":2}]
test missing null | {} | [{"op":"test","path":"/a","value":null}]
test 1 vs 1.0 | {"a":1} | [{"op":"test","path":"/a","value":1.0}]
replace missing | {} | [{"op":"replace","path":"/a","value":1}]
replace root | {"a":1} | [{"op":"replace","path":"","value":{"b":1}}]
add root | {"a":1} | [{"op":"add","path":"","value":{"b":1}}]
leading zero idx | [1,2] | [{"op":"remove","path":"/01"}]
no value | {"a":1} | [{"op":"add","path":"/b"}]
path no slash | {"a":1} | [{"op":"add","path":"b","value":1}]
unknown op | {"a":1} | [{"op":"frob","path":"/a"}]
move into child | {"a":{"b":1}} | [{"op":"move","from":"/a","path":"/a/b"}]
copy | {"a":[1]} | [{"op":"copy","from":"/a","path":"/b"}]
extra member | {"a":1} | [{"op":"add","path":"/b","value":1,"x":2}]
~01 | {"~1":1} | [{"op":"remove","path":"/~01"}]
remove null val | {"a":null} | [{"op":"remove","path":"/a"}]
op case | {"a":1} | [{"op":"ADD","path":"/b","value":1}]
"#;

/// The record of the library's results gives none of the inputs; ours are made after the names.
/// It runs where the record lies beside the project; the same cases are in the table above.
#[test]
fn the_library_was_seen_to_do_the_same() {
    let shared = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared");
    let path = format!("{shared}/facts/jsonpatch-go-evanphx-v4.txt");
    let Ok(record) = std::fs::read_to_string(&path) else {
        println!("no {path}: the comparison with it is left out");
        return;
    };
    let mut seen = SEEN.trim().lines();
    for line in record.lines().filter(|line| !line.trim().is_empty()) {
        let (name, expected) = line.split_once(": ").unwrap();
        let [own_name, document, operations] =
            seen.next().unwrap().split(" | ").collect::<Vec<_>>().try_into().unwrap();
        assert_eq!(own_name, name);
        let document: Value = serde_json::from_str(document).unwrap();
        let patch = JsonPatch::from_slice(operations.as_bytes()).unwrap();
        let found = match patch.apply(&document) {
            Ok(found) => format!("ok {}", billhook::to_json(&found)),
            Err(error) => format!("ERR {error}"),
        };
        assert_eq!(found, expected, "{name}");
    }
    assert_eq!(seen.next(), None);
}

/// A number that is JSON but no number of an object: the patch can be read, what it makes cannot.
#[test]
fn numbers_out_of_range_spoil_the_result() {
    let patch = |value: &str| {
        let text = format!(r#"[{{"op":"add","path":"/a","value":{value}}}]"#);
        JsonPatch::from_slice(text.as_bytes()).unwrap()
    };
    assert_eq!(patch("1e308").apply(&json!({})), Ok(DeepValue::from(json!({"a": 1e308}))));
    let error = patch("[-1e309]").apply(&json!({})).unwrap_err().to_string();
    assert_eq!(error, "json: cannot unmarshal number -1e309 into Go value of type float64");
}

#[test]
fn text_that_is_no_json_is_no_patch() {
    for text in ["", "[", "[{]", "nonsense"] {
        assert!(JsonPatch::from_slice(text.as_bytes()).is_err(), "{text}");
    }
}

/// A patch may double what it copied; all copies together may create three MiB.
#[test]
fn copies_are_limited() {
    let mut operations = vec![json!({"op": "add", "path": "/a", "value": ["x".repeat(1000)]})];
    for _ in 0..64 {
        operations.push(json!({"op": "copy", "from": "/a", "path": "/a/-"}));
    }
    let error = apply(&json!({}), &operations.into()).unwrap_err();
    assert!(error.ends_with("more than 3145728"), "{error}");

    let text = "x".repeat(1024 * 1024 - 2);
    let document = json!({"a": text});
    let copy = |to: &str| json!({"op": "copy", "from": "/a", "path": to});
    assert!(apply(&document, &json!([copy("/b"), copy("/c"), copy("/d")])).is_ok());
    assert!(apply(&document, &json!([copy("/b"), copy("/c"), copy("/d"), copy("/e")])).is_err());
}

/// Lists move a bounded number of items, wherever they are changed; at their end none is moved.
#[test]
fn moved_items_are_limited() {
    let list = |length: usize| json!({"a": vec![0; length]});
    let many = |operation: &str, count: usize| {
        let text = format!("[{}]", vec![operation; count].join(","));
        JsonPatch::from_slice(text.as_bytes()).unwrap()
    };
    let add = |index: &str| format!(r#"{{"op":"add","path":"/a/{index}","value":1}}"#);
    let length = 100_000;
    for (operation, is_fine) in [
        (add("0"), false),
        (add("-"), true),
        (add("-1"), true),
        (r#"{"op":"remove","path":"/a/0"}"#.to_owned(), false),
        (r#"{"op":"remove","path":"/a/-1"}"#.to_owned(), true),
        (r#"{"op":"move","from":"/a/0","path":"/a/-"}"#.to_owned(), false),
        (r#"{"op":"move","from":"/a/-1","path":"/a/0"}"#.to_owned(), false),
        (r#"{"op":"replace","path":"/a/0","value":1}"#.to_owned(), true),
    ] {
        let result = many(&operation, 5_000).apply(&list(length));
        match result {
            Ok(_) => assert!(is_fine, "{operation}"),
            Err(error) => {
                assert!(!is_fine, "{operation}");
                let text = "the patch moves more than 268435456 items of lists";
                assert!(error.to_string().ends_with(text), "{error}");
            }
        }
        assert!(many(&operation, 500).apply(&list(length)).is_ok(), "{operation}");
    }
}

#[test]
fn deep_values_fit_a_small_stack() {
    on_small_stack(|| {
        let nested = |levels: usize| format!("{}1{}", "[".repeat(levels), "]".repeat(levels));
        let patch = |levels: usize| {
            let text = format!(r#"[{{"op":"add","path":"/a","value":{}}}]"#, nested(levels));
            JsonPatch::from_slice(text.as_bytes()).unwrap()
        };
        let deep = patch(9_990).apply(&json!({})).unwrap();
        let result = patch(1).apply(&deep).unwrap();
        assert!(deep_eq(&result, &json!({"a": [1]})));

        let inside = format!(r#"[{{"op":"copy","from":"/a","path":"/a{}"}}]"#, "/0".repeat(9_989));
        let error = JsonPatch::from_slice(inside.as_bytes()).unwrap().apply(&deep).unwrap_err();
        assert_eq!(error.to_string(), "exceeded max depth");

        // Even if what became too deep is taken away again.
        let below = format!("/a{}", "/0".repeat(9_989));
        let twice = json!([
            {"op": "copy", "from": "/a", "path": below},
            {"op": "copy", "from": "/a", "path": "/b"},
            {"op": "remove", "path": "/a"},
            {"op": "remove", "path": "/b"},
        ]);
        let error = apply(&deep, &twice).unwrap_err();
        assert_eq!(error, "exceeded max depth");
    });
}

proptest! {
    /// Setting any member and taking it away again leaves the document as it was.
    #[test]
    fn add_and_remove_cancel(document in values(), value in values()) {
        let document = json!({"d": document});
        let there_and_back = json!([
            {"op": "add", "path": "/new", "value": value},
            {"op": "test", "path": "/new", "value": value},
            {"op": "move", "from": "/new", "path": "/newer"},
            {"op": "remove", "path": "/newer"},
        ]);
        prop_assert_eq!(apply(&document, &there_and_back), Ok(document));
    }

    /// No operation panics, and none changes the document it was given.
    #[test]
    fn any_operation_gets_an_answer(
        document in values(),
        op in "add|remove|replace|move|copy|test|x",
        path in "(/[a-c0-2~-]{0,2}){0,3}",
        from in "(/[a-c0-2~-]{0,2}){0,3}",
        value in values(),
    ) {
        let before = document.clone();
        let operation = json!([{"op": op, "path": path, "from": from, "value": value}]);
        let _ = apply(&document, &operation);
        prop_assert_eq!(before, document);
    }
}
