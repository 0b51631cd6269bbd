//! The server's readings of YAML text: the measured facts and the shared vectors.

use billhook_apimachinery::value::deep_eq;
use billhook_yaml::{Document, YamlError, read_document, read_documents, strict_error_text};
use serde_json::{Value, json};

fn read(text: &str) -> Result<Document, YamlError> {
    read_document(text.as_bytes())
}

fn check(text: &str, expected: &Value) {
    let document = read(text).unwrap_or_else(|error| panic!("{text:?}: {error}"));
    assert!(deep_eq(document.value(), expected), "{text:?}: {}", document.value());
}

fn refused(text: &str) -> String {
    match read(text) {
        Ok(document) => panic!("{text:?} was read as {}", document.value()),
        Err(error) => error.to_string(),
    }
}

fn strict(text: &str) -> String {
    let text = strict_error_text(read(text).unwrap().duplicates()).unwrap_or_default();
    text.strip_prefix("yaml: unmarshal errors:\n").unwrap_or(&text).to_owned()
}

/// Facts of the measured matrix that are not vectors as well.
#[test]
fn facts() {
    for (text, value) in [
        ("a: 0x1F\nb: 0b11\nc: 0o777", json!({"a": 31, "b": 3, "c": 511})),
        ("x: &x {p: 1}\ny: {<<: *x, q: 2}", json!({"x": {"p": 1}, "true": {"p": 1, "q": 2}})),
        ("1: a\n1.5: c\ntrue: d", json!({"1": "a", "1.5": "c", "true": "d"})),
        ("\u{feff}a: 1", json!({"a": 1})),
        ("a: !!str 1\nb: !!int \"3\"", json!({"a": "1", "b": 3})),
        ("", json!(null)),
        ("# nothing", json!(null)),
        ("---\n...\n", json!(null)),
        ("a: =", json!({"a": "="})),
        ("a: \"\\0\"", json!({"a": "\0"})),
        ("a:\n- b\n- c", json!({"a": ["b", "c"]})),
        ("a: 18446744073709551615", json!({"a": 18446744073709551615f64})),
    ] {
        check(text, &value);
    }
}

/// Fact `dup`, `nonstr keys`, `nbsp dup`; vectors yaml-127 and yaml-128 (RP-20).
#[test]
fn repeated_keys_are_listed() {
    for (text, lines) in [
        ("a: 1\na: 2", "  line 2: key \"a\" already set in map"),
        ("1: a\n1.5: c\ntrue: d\non: e", "  line 4: key true already set in map"),
        ("a: {b: 1, b: 2}", "  line 1: key \"b\" already set in map"),
        ("a:\na: \nb: 1", "  line 2: key \"a\" already set in map"),
        ("a: 1\na: |\n\n  x", "  line 2: key \"a\" already set in map"),
        ("a: 1\na: # |\n  # |\n  >\n  x", "  line 4: key \"a\" already set in map"),
        ("a: 1\na:\n  b: 1", "  line 3: key \"a\" already set in map"),
        ("a: 1\na: &x\n  b: 1", "  line 2: key \"a\" already set in map"),
        ("a: 1\na: !x\n  b: 1", "  line 2: key \"a\" already set in map"),
        ("a: 1\na:\n- b", "  line 3: key \"a\" already set in map"),
        (
            "a: &x\n  b: 1\n  b: 2\nc: *x\nc: 1",
            "  line 3: key \"b\" already set in map\n  line 3: key \"b\" already set in map\n  \
             line 5: key \"c\" already set in map",
        ),
        ("{1: a, \"1\": b, 1.0: c}", ""),
        ("{1: a, 0x1: b}", "  line 1: key 1 already set in map"),
        ("{0.0: a, -0.0: b}", "  line 1: key -0 already set in map"),
        ("{.nan: a, .nan: b}", ""),
        (
            "{a: 1, 1: b, a: c, 1: d}",
            "  line 1: key \"a\" already set in map\n  line 1: key 1 already set in map",
        ),
        (
            "a: {~: 1, ~: 2}\na: 1",
            "  line 1: key <nil> already set in map\n  line 2: key \"a\" already set in map",
        ),
    ] {
        assert_eq!(strict(text), lines, "{text:?}");
    }
}

#[test]
fn repeated_keys_have_paths() {
    let text = "s:\n- t: 1\n- t:\n    - {a.b: 1, a.b: 2, a.b: 3}\n- <<: {u: {v: 1, v: 2}}\n  u: 1\n\
                s: 1\n1: 1\n1: 2";
    let document = read(text).unwrap();
    let found: Vec<_> = document
        .duplicates()
        .iter()
        .map(|duplicate| {
            (duplicate.path().to_json_pointer(), duplicate.line(), duplicate.key().to_owned())
        })
        .collect();
    let expected = [
        ("/s/1/t/0/a.b", 4, "\"a.b\""),
        ("/s/1/t/0/a.b", 4, "\"a.b\""),
        ("/s/2/u/v", 5, "\"v\""),
        ("/s/2/u", 6, "\"u\""),
        ("/s", 7, "\"s\""),
        ("/1", 9, "1"),
    ];
    let expected = expected.map(|(path, line, key)| (path.to_owned(), line, key.to_owned()));
    assert_eq!(found, expected);
}

/// Vectors yaml-126 to yaml-130, yamldoc-merge-list.
#[test]
fn merges() {
    for (text, value) in [
        ("<<: {a: 1}\nb: 2", json!({"a": 1, "b": 2})),
        ("{<<: {a: 1}, a: 2}", json!({"a": 2})),
        ("{a: 2, <<: {a: 1}}", json!({"a": 1})),
        ("{<<: [{a: 1, b: 1}, {a: 2, c: 2}]}", json!({"a": 1, "b": 1, "c": 2})),
        ("{<<: []}", json!({})),
        (
            "{<<: [{<<: [{a: 1}, {a: 2, b: 2}], c: 3}], d: 4}",
            json!({"a": 1, "b": 2, "c": 3, "d": 4}),
        ),
        ("{<<: [{<<: {a: [1, {<<: {b: 1}}]}}]}", json!({"a": [1, {"b": 1}]})),
        (
            "[&x {<<: [&y {a: 1}, *y, {b: [*y]}]}, *x, {<<: *x, c: *y}]",
            json!([
                {"a": 1, "b": [{"a": 1}]},
                {"a": 1, "b": [{"a": 1}]},
                {"a": 1, "b": [{"a": 1}], "c": {"a": 1}}
            ]),
        ),
        ("{\"<<\": 1, a: <<}", json!({"<<": 1, "a": "<<"})),
        ("{!!str <<: 1}", json!({"<<": 1})),
        ("{! <<: {a: 1}}", json!({"a": 1})),
    ] {
        check(text, &value);
    }
    for text in [
        "{<<: 1}",
        "{<<: }",
        "{<<: [1]}",
        "{<<: [[{a: 1}]]}",
        "{<<: [[{a: 1}], {b: 1}]}",
        "[&x [{a: 1}], {<<: *x}]",
        "[&x 1, {<<: *x}]",
    ] {
        let expected = "yaml: map merge requires map or sequence of maps as the value";
        assert_eq!(refused(text), expected, "{text}");
    }
}

/// Vectors yaml-123 to yaml-125, yamldoc-laughs; fact `bomb`.
#[test]
fn aliases() {
    check("[&a 1, *a, &a 2, *a]", &json!([1, 1, 2, 2]));
    check("[&a [&b {c: *b2}]]".replace("*b2", "d").as_str(), &json!([[{"c": "d"}]]));
    check("{a: &a b, *a : c}", &json!({"a": "b", "b": "c"}));
    check("a: &a\nb: *a", &json!({"a": null, "b": null}));
    assert_eq!(refused("a: *b"), "yaml: unknown anchor 'b' referenced");
    assert!(read_documents(b"a: &a 1\n---\nb: *a")[1].is_err());
}

#[test]
fn an_anchor_is_not_in_itself() {
    for text in ["&a [*a]", "&a {b: [1, *a]}", "&a {<<: [{b: *a}]}", "{<<: [&a {b: *a}]}"] {
        assert_eq!(refused(text), "yaml: anchor 'a' value contains itself", "{text}");
    }
}

#[test]
fn aliases_are_limited() {
    let mut text = "a0: &a0 [x,x,x,x,x,x,x,x,x]\n".to_owned();
    for level in 1..9 {
        let aliases = format!("*a{},", level - 1).repeat(9);
        text.push_str(&format!("a{level}: &a{level} [{aliases}]\n"));
    }
    assert_eq!(refused(&text), "yaml: document contains excessive aliasing");
    // The share is what counts: so many aliases are fine.
    let text = format!("a: &a [x, y, z]\nb: [{}]", "*a, x, x, x, x, x, ".repeat(3000));
    assert_eq!(read(&text).unwrap().value()["b"].as_array().unwrap().len(), 18_000);
    // Few nodes, many bytes.
    let text = format!("a: &a {}\nb: [{}]", "x".repeat(1 << 20), "*a, ".repeat(100));
    assert_eq!(refused(&text), "yaml: document contains excessive aliasing");
}

/// Vectors yaml-103 to yaml-106; facts `null key`, `inf`. What JSON cannot hold does not count
/// where it is replaced.
#[test]
fn what_json_cannot_hold() {
    for text in [
        "a: .inf",
        "[.nan]",
        "{~: 1}",
        "{: 1}",
        "{[a]: 1}",
        "? {a: b}\n: c",
        "a: {b: [{~: 1}]}",
        "{18446744073709551615: 1}",
        "{a: {<<: {b: .inf}}}",
        "[&a [b], {*a : 1}]",
        "? - a\n: b",
    ] {
        refused(text);
    }
    check("{a: .inf, a: 1}", &json!({"a": 1}));
    check("{a: {~: [.nan]}, a: 1}", &json!({"a": 1}));
    check("{a: {b: .inf}, a: {b: 1}}", &json!({"a": {"b": 1}}));
    assert_eq!(refused("{a: 1, a: .inf}"), "json: unsupported value: +Inf");
    let error = read("a: 1\nb:\n  c: .nan").unwrap_err();
    assert_eq!((error.line(), error.column()), (3, 6));
}

/// Facts `tab`, vectors yaml-134, yaml-135, yamldoc-tabs.
#[test]
fn tabs() {
    for (text, value) in [
        ("a:\tb", json!({"a": "b"})),
        ("a: b\t\nc: d\t# e\n", json!({"a": "b", "c": "d"})),
        ("{\n\t\"a\": [\n\t\t1,\n\t\t{\n\t\"b\": c}\n\t]\n}\n", json!({"a": [1, {"b": "c"}]})),
        ("a: |\n  b\tc\n  \td\n", json!({"a": "b\tc\n\td\n"})),
        ("# a\tb\n# \t\na: 1 #\tb", json!({"a": 1})),
        ("a: \"b\n  \tc\"", json!({"a": "b c"})),
        ("a: b\n  \tc", json!({"a": "b c"})),
        ("a: b\n  \t\nc: d", json!({"a": "b", "c": "d"})),
        ("a: &b\tc\nd: !e\tf", json!({"a": "c", "d": "f"})),
        ("--- \ta", json!("a")),
        ("---\ta", json!("a")),
        ("- &a-b\tc", json!(["c"])),
    ] {
        check(text, &value);
    }
    for text in [
        "a:\n\tb: 1",
        "\ta: 1",
        "\t",
        "a:\n  b: 1\n\tc: 2",
        "-\ta",
        "- \ta",
        "?\ta",
        "a:\n-\tb",
        "a: \"b\"\n\t\nc: d",
        "a: b\n\t\nc: d",
        "a: b # c\n \t\nd: e",
        "a: {}\n\t# c\nd: 1",
        "a: |\n\tb",
        "a: b\n\t\n  c",
        "- &a\n\tb",
        "- - a\n?\tb",
        "a:\n \t- b",
    ] {
        refused(text);
    }
}

/// Vectors yaml-146 and yaml-147: escapes are single characters.
#[test]
fn escapes() {
    check(r#""\u00e9\U0001F600\\ud83d\x41""#, &json!("é😀\\ud83dA"));
    for text in [r#""\ud83d\ude00""#, r#""\\\ud83d""#, r#""\udc00""#, r#""\U0000d83d""#, r#""\q""#]
    {
        refused(text);
    }
    let error = read("a:\n  b: \"c\n   \\ud83d\\ude00\"").unwrap_err();
    assert_eq!((error.line(), error.column()), (3, 4));
}

/// RP-10: an error is where the escape is, not where the scalar starts.
#[test]
fn unknown_escapes() {
    check("a: \"\\\\/ b\\\n  c\"", &json!({"a": "\\/ bc"}));
    check("a: '\\/\\q'", &json!({"a": "\\/\\q"}));
    for (text, place) in [
        ("a: 1\nb: \"\\/\"", (2, 5)),
        ("a: 1\nb: \"\\q\"", (2, 5)),
        ("a: 1\nb: \"c\n  d\\/\n  \\q\"", (3, 4)),
        ("a: 1\nb: \"c\n  d\\q\n  \\/\"", (3, 4)),
        ("a: 1\nb: \"c\n\n  é\\\\\\q\"", (4, 6)),
    ] {
        let error = read(text).unwrap_err();
        assert_eq!((error.line(), error.column()), place, "{text:?}");
        let line = place.0;
        assert_eq!(error.to_string(), format!("yaml: line {line}: found unknown escape character"));
    }
}

/// Vectors yaml-111 to yaml-116.
#[test]
fn block_scalars() {
    for (text, value) in [
        ("a: |\n  b\n  c\n", json!({"a": "b\nc\n"})),
        ("a: |\n  b", json!({"a": "b"})),
        ("a: >\n  b\n  c", json!({"a": "b c"})),
        ("a: |+\n  b", json!({"a": "b"})),
        ("a: |-\n  b", json!({"a": "b"})),
        ("a: |+\n ", json!({"a": ""})),
        ("a: |+\n\n ", json!({"a": "\n"})),
        ("a: |+\n  b\n  ", json!({"a": "b\n"})),
        ("a: |\n  b\n    ", json!({"a": "b\n  "})),
        ("a: !<tag:yaml.org,2002:str> &b |+\n  b\n\n", json!({"a": "b\n\n"})),
        ("a: |\r\n  b\r\n", json!({"a": "b\n"})),
        ("a: |+\n\n", json!({"a": "\n"})),
        ("a: |1-\n  b\n", json!({"a": " b"})),
        ("- |\n b\n- >\n c\n\n\n d\n", json!(["b\n", "c\n\nd\n"])),
    ] {
        check(text, &value);
    }
}

#[test]
fn what_only_yaml_1_2_knows_is_refused() {
    for (text, message) in [
        ("%YAML 1.2\n---\na", "yaml: found incompatible YAML document"),
        ("%FOO\n---\na", "yaml: found unknown directive name"),
        ("%FOO bar\n---\na", "yaml: found unknown directive name"),
        ("a: &b.c d", "yaml: did not find expected alphabetic or numeric character"),
    ] {
        assert_eq!(refused(text), message);
    }
    check("%YAML 1.1\n%TAG !e! tag:yaml.org,2002:\n---\n!e!str 1", &json!("1"));
}

/// RP-10: documents are read one by one.
#[test]
fn streams() {
    let text = "# c\na: 1\n---\n---\n- b\n...\n---\n\nc: 2\n";
    let documents: Vec<_> = read_documents(text.as_bytes())
        .into_iter()
        .map(|document| document.map(|document| (document.value().clone(), document.line())))
        .collect::<Result<_, _>>()
        .unwrap();
    let expected =
        [(json!({"a": 1}), 2), (json!(null), 3), (json!(["b"]), 5), (json!({"c": 2}), 9)];
    assert_eq!(documents, expected);
    assert!(read_documents(b"").is_empty());
    assert!(read_documents(b"# a\n\n").is_empty());

    let documents = read_documents(b"a: 1\n---\nb: [\n---\nc: 1\n");
    assert_eq!(documents.len(), 2);
    let error = documents[1].as_ref().unwrap_err();
    assert_eq!((error.line(), error.column()), (4, 1));
    assert_eq!(error.to_string(), "yaml: line 3: did not find expected node content");
    let documents = read_documents(b"a: 1\n---\nb: 1\n---\nc: \x01\n---\nd: 1");
    assert_eq!(documents.len(), 3);
    let error = documents[2].as_ref().unwrap_err();
    assert_eq!((error.line(), error.column()), (5, 4));
    assert_eq!(error.to_string(), "yaml: control characters are not allowed");
    assert!(read_document(b"a: 1\n---\nc: \x01").is_ok());
    assert!(read_document(b"a: 1\n---\nc: [").is_ok());
    assert!(read_document(b"a: \"\n\x01\"").unwrap_err().to_string().contains("control"));
    assert!(read_document(b"a: 1\xff").is_err());
}

/// SS-01; vector yamldoc-deep; fact `deep`.
#[test]
fn depth_is_limited() {
    let nested = |open: &str, close: &str, n: usize| {
        read(&format!("{}{}", open.repeat(n), close.repeat(n))).map(drop).map_err(|e| e.to_string())
    };
    let message = Err("yaml: exceeded max depth of 10000".to_owned());
    assert_eq!(nested("[", "]", 10_000), Ok(()));
    assert_eq!(nested("[", "]", 10_001), message);
    assert_eq!(nested("[", "", 100_000), message);
    assert_eq!(nested("{a: ", "}", 10_000), Ok(()));
    assert_eq!(nested("{a: ", "}", 10_001), message);
    assert_eq!(nested("- ", "", 10_000), Ok(()));
    assert_eq!(nested("- ", "", 10_001), message);
    assert_eq!(nested("[{a: ", "}]", 5_000), Ok(()));
    assert_eq!(nested("[{a: ", "}]", 5_001), message);
    let half = |inner: &str| format!("{}{inner}{}", "[".repeat(6000), "]".repeat(6000));
    assert!(read(&format!("- &a {}\n- {}", half("x"), half("*a"))).is_err());
    // Also where it only is a key or broken.
    refused(&format!("{}? {}", "[".repeat(9_000), "? ".repeat(100)));
    refused(&format!("{}@", "[".repeat(9_000)));
}

/// All vectors of the shared table. Their results are those of a decode that preserves everything,
/// so the value itself must be the same.
#[test]
fn shared_vectors() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/conformance/table_yaml.jsonl");
    let Ok(table) = std::fs::read_to_string(path) else {
        eprintln!("the shared vectors are not here; nothing was compared");
        return;
    };
    let mut failed = Vec::new();
    let mut count = 0;
    for line in table.lines() {
        count += 1;
        let case = billhook_decode::read_json_to_depth(line.as_bytes(), 20_000).unwrap();
        let case = case.value();
        let text = case["input"]["objectText"].as_str().unwrap_or_default();
        // What has no kind is refused only after it was read.
        let error = case["expect"]["errors"][0]["error"].as_str().unwrap_or_default();
        let is_read = !(error.starts_with("yaml: ")
            || error.starts_with("json: unsupported")
            || error.starts_with("unsupported map key"));
        let right = match read(text) {
            Err(_) => !is_read,
            Ok(document) => match case["expect"]["ok"].as_object() {
                None => is_read,
                Some(ok) => {
                    let strict: Vec<_> =
                        strict_error_text(document.duplicates()).into_iter().collect();
                    deep_eq(document.value(), &ok["object"]) && json!(strict) == ok["strict_errors"]
                }
            },
        };
        if !right {
            failed.push(format!("{}: {:.300}", case["id"], format!("{:?}", read(text))));
        }
    }
    assert!(failed.is_empty(), "{} of {count} failed:\n{}", failed.len(), failed.join("\n"));
    assert_eq!(count, 217);
}

/// Blanks at the start of a further line do not belong to a quoted scalar, so it does not matter
/// how many there are; quotes that start no scalar are left alone (RP-10).
#[test]
fn further_lines_of_quoted_scalars_need_no_indentation() {
    for (text, expected) in [
        ("a:\n  b: 'x\ny'\n  c: 1\n", json!({"a": {"b": "x y", "c": 1}})),
        ("a:\n- b: \"x \\\"\n\ny\\\n z\"\n  c: 1\n", json!({"a": [{"b": "x \"\nyz", "c": 1}]})),
        ("a: !!str &x 'it''s\nb: c'\nd: *x\n", json!({"a": "it's b: c", "d": "it's b: c"})),
        ("- - - k: '1\n2'\n", json!([[[{"k": "1 2"}]]])),
        (
            "a: |\n  it's 'x\n  y'\nb: it's\nc: 'd # e\nf' # '\ng: >-\n 'h\n\n i\nj: ['\n', k]\n",
            json!({
                "a": "it's 'x\ny'\n", "b": "it's", "c": "d # e f", "g": "'h\ni", "j": [" ", "k"],
            }),
        ),
        ("a: 'x\r\ny'\r\nb: 1\r\n", json!({"a": "x y", "b": 1})),
    ] {
        let read = read_document(text.as_bytes());
        assert_eq!(read.unwrap().value(), &expected, "{text}");
    }
    for text in ["a:\n  b: 'x\ny' z\n", "a: 'x\ny\n", "a: b\n 'c\nd'\ne: 'f\ng'\n"] {
        assert!(read_document(text.as_bytes()).is_err(), "{text}");
    }
}

/// Spellings that few readers have in common, as the server reads them (RP-10).
#[test]
fn unusual_spellings() {
    for (text, value) in [
        ("v: \"a\\'b\"", json!({"v": "a'b"})),
        ("v: {\n\ta: 1\n}", json!({"v": {"a": 1}})),
        ("v: !a,b 1", json!({"v": "1"})),
        ("v: [?a]", json!({"v": [{"a": null}]})),
        ("{a:}", json!({"a:": null})),
        ("[a]#c", json!(["a"])),
        ("{a: &a b, c: *a}", json!({"a": "b", "c": "b"})),
        ("a: &a b\n*a: c", json!({"a": "b", "b": "c"})),
        ("a: 1\u{2028}b: 2", json!({"a": 1, "b": 2})),
        ("a: |\n  x\u{2029}  y\n", json!({"a": "x\u{2029}y\n"})),
        ("a: 'x\u{2028}y'", json!({"a": "x\u{2028}y"})),
        ("a: x\u{85} y", json!({"a": "x y"})),
        ("a: \"\u{feff}\"", json!({"a": "\u{feff}"})),
    ] {
        check(text, &value);
    }
    for text in ["v: [!a,b]", "v: [?]", "v: [a?]", "v: [:a]", "v: [::a]", "v: {a: ?}", "...\na: 1"]
    {
        refused(text);
    }
}

/// RP-10: errors of characters name their line, those of tokens the line before, and errors in the
/// first line none. Vectors yaml-131, yaml-140, yaml-148, yaml-152, yamldoc-bad-indent,
/// yamldoc-unterminated, yamldoc-bad-flow, plain-same and plain-top, and fact `deep`.
#[test]
fn errors_name_the_lines_that_the_server_names() {
    for (text, expected) in [
        ("v: @a", "found character that cannot start any token"),
        ("\n\n\nv: @a", "line 4: found character that cannot start any token"),
        ("\n\n\nv: [,]\n", "line 3: did not find expected node content"),
        ("v: [,]\n", "did not find expected node content"),
        ("\n\n\nv: a\u{85}b\n", "line 6: could not find expected ':'"),
        ("\n\n\nv: -\n", "line 4: block sequence entries are not allowed in this context"),
        ("\n\n\nv: !!\n", "line 4: did not find expected tag URI"),
        ("\n\n\nv:\n\tw: 1\n", "line 5: found character that cannot start any token"),
        ("\n\n\nv:\n   a: 1\n  b: 2\n", "line 5: did not find expected key"),
        ("\n\n\nv: \"a\n", "line 5: found unexpected end of stream"),
        ("\n\n\nv: [1, 2\n", "line 4: did not find expected ',' or ']'"),
        ("\n\n\ns:\n  m: a\n  b\n  n: c\n", "line 7: could not find expected ':'"),
        ("\n\n\nm: a\nb\nn: c\n", "line 6: could not find expected ':'"),
    ] {
        assert_eq!(refused(text), format!("yaml: {expected}"), "{text:?}");
    }
    // All of a document is read before it is looked at.
    assert_eq!(
        refused("a: !!int x\nb: @\n"),
        "yaml: line 2: found character that cannot start any token"
    );
}
