//! Text in the layout of the server's answers.

use proptest::prelude::*;
use serde_json::json;

/// Rule RE-14 and the YAML answers a-table-008, a-watch-027, a-crd-040 and a-get-008.
#[test]
fn answers_have_the_layout_of_the_server() {
    let message = "only the following media types are accepted: application/json;stream=watch, \
        application/vnd.kubernetes.protobuf;stream=watch";
    let value = json!({
        "message": message,
        "metadata": {}, "n": 3, "a": "\u{e9} \"q\" <b>",
        "v:\"x.io/f\"": {}, "continue": "", "name": "y", "status": "True",
        "rows": [{"cells": ["25y", 5.97, false]}],
        "time": "2026-01-02T03:04:05Z", ".": {},
    });
    let expected = ".: {}\na: \u{e9} \"q\" <b>\ncontinue: \"\"\n\
        message: 'only the following media types are accepted: application/json;stream=watch,\n\
        \x20 application/vnd.kubernetes.protobuf;stream=watch'\n\
        metadata: {}\n\"n\": 3\nname: \"y\"\nrows:\n- cells:\n  - 25y\n  - 5.97\n  - false\n\
        status: \"True\"\ntime: \"2026-01-02T03:04:05Z\"\nv:\"x.io/f\": {}\n";
    assert_eq!(billhook_yaml::write_document(&value), expected);
}

proptest! {
    #[test]
    fn what_is_written_is_read_again(
        text in "([ -~]|[\n\t:#'\" é\u{2028}\u{1f600}]){0,40}",
        long in "[a-z '\"#:\\\\]{60,200}",
    ) {
        let value = json!({"a": [text.clone(), {"b": long.clone()}], text: [[long]]});
        let written = billhook_yaml::write_document(&value);
        let read = billhook_yaml::read_document(written.as_bytes()).expect(&written);
        prop_assert_eq!(read.value(), &value, "{}", written);
    }
}
