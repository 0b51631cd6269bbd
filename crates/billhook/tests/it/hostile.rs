//! Input made to hurt: it gets a result or a clear error, on a stack of 2 MiB, in bounded time.

use billhook::{CustomResourceDefinition, DecodeOptions, Dialect, read_manifests};
use billhook_apimachinery::value::DeepValue;
use billhook_testing::on_small_stack;
use serde_json::{Map, Value, json};

use crate::definitions::version_with;

const LIMIT: usize = 10_000;

fn nested(open: &str, inner: &str, close: &str, levels: usize) -> String {
    format!("{}{inner}{}", open.repeat(levels), close.repeat(levels))
}

fn body(members: &str) -> String {
    format!(r#"{{"apiVersion":"example.com/v1","kind":"Foo","metadata":{{}},{members}}}"#)
}

#[test]
fn objects_may_be_nested_as_deep_as_a_server_allows() {
    on_small_stack(|| {
        let preserving = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
        let pruning = json!({"type": "object"});
        let options = DecodeOptions::default().report(true);
        for (open, close) in [("[", "]"), (r#"{"a":"#, "}")] {
            for schema in [&preserving, &pruning] {
                let version = version_with(schema, Dialect::Kubernetes, false);
                let deep = body(&format!(r#""v":{}"#, nested(open, "1", close, LIMIT - 1)));
                let decoded = version.decode(deep.as_bytes(), &options).unwrap();
                let copy = decoded.clone();
                assert!(copy == decoded);
                let stored = version.encode_storage(decoded.object()).unwrap();
                version.decode_storage(&stored, &options).unwrap();
                assert!(!format!("{decoded:?}").is_empty());
                assert!(!billhook::to_json_pretty(decoded.object()).is_empty());

                let deeper = body(&format!(r#""v":{}"#, nested(open, "1", close, LIMIT)));
                let error = version.decode(deeper.as_bytes(), &options).unwrap_err();
                assert!(error.to_string().ends_with("exceeded max depth"), "{error}");
            }
        }
    });
}

#[test]
fn deep_fields_are_pruned_defaulted_and_reported_level_by_level() {
    on_small_stack(|| {
        let levels = 1_000;
        let mut schema = DeepValue::from(json!({"type": "object"}));
        for _ in 0..levels {
            let mut properties = Map::new();
            properties.insert("a".to_owned(), std::mem::take(&mut *schema));
            properties.insert("d".to_owned(), json!({"type": "integer", "default": 1}));
            *schema = json!({"type": "object"});
            schema["properties"] = Value::Object(properties);
        }
        let version = version_with(&schema, Dialect::Kubernetes, false);
        let deep =
            body(&format!(r#""a":{},"x":1"#, nested(r#"{"x":1,"a":"#, "{}", "}", levels - 1)));
        let options = DecodeOptions::default().report(true);
        let decoded = version.decode(deep.as_bytes(), &options).unwrap();
        assert_eq!(decoded.changes().len(), 2 * levels);
        assert!(version.structural_errors().is_empty());
    });
}

#[test]
fn schemas_may_be_nested_as_deep_as_their_json() {
    on_small_stack(|| {
        let levels = LIMIT - 20;
        let open = r#"{"type":"array","default":[],"items":"#;
        let text = nested(open, r#"{"type":"string"}"#, "}", levels);
        let text = format!(r#"{{"type":"object","properties":{{"a":{text}}}}}"#);
        let schema = billhook_decode::read_json(text.as_bytes()).unwrap().into_value();
        let version = version_with(&schema, Dialect::Kubernetes, false);
        assert!(version.structural_errors().is_empty());
        let deep = body(&format!(r#""a":{}"#, nested("[", "null", "]", levels - 10)));
        let options = DecodeOptions::default();
        let decoded = version.decode(deep.as_bytes(), &options).unwrap();
        assert_eq!(billhook_apimachinery::value::depth(decoded.object()), levels - 9);

        let junctors = nested(r#"{"not":{"allOf":["#, "{}", "]}}", LIMIT / 3 - 10);
        let schema = billhook_decode::read_json(junctors.as_bytes()).unwrap().into_value();
        assert_eq!(version_with(&schema, Dialect::Kubernetes, false).structural_errors().len(), 1);
    });
}

#[test]
fn wide_schemas_and_large_objects_take_seconds_at_most() {
    let property = |index| (format!("property-{index}"), json!({"type": "string"}));
    let properties: Map<String, Value> = (0..100_000).map(property).collect();
    let schema = json!({"type": "object", "properties": properties});
    let version = version_with(&schema, Dialect::Kubernetes, false);
    let members: Vec<String> =
        (0..100_000).map(|index| format!(r#""property-{}":"x""#, index * 2)).collect();
    let text = body(&members.join(","));
    let decoded = version.decode(text.as_bytes(), &DecodeOptions::default().report(true)).unwrap();
    assert_eq!(decoded.changes().len(), 50_000);
}

/// DF-29, the same on every way.
#[test]
fn defaults_cannot_exhaust_memory() {
    let mut deep = json!({"type": "string"});
    for _ in 0..8 {
        deep = json!({
            "type": "array",
            "default": Value::Array(vec![json!({}); 100]),
            "items": {"type": "object", "properties": {"a": deep}},
        });
    }
    let long = json!({"type": "string", "default": "x".repeat(1 << 20)});
    let long = json!({"type": "array", "items": {"type": "object", "properties": {"s": long}}});
    let embedded = json!({"type": "array", "items": {
        "type": "object",
        "x-kubernetes-embedded-resource": true,
        "properties": {"metadata": {"type": "object", "properties": {
            "name": {"type": "string", "default": "x".repeat(1 << 20)},
        }}},
    }});
    let resource = r#"{"apiVersion":"v1","kind":"Pod","metadata":{"namespace":"a"}}"#;
    let list = |item: &str, count: usize| format!(r#""a":[{}]"#, vec![item; count].join(","));
    for (schema, within, beyond) in [
        (deep, r#""a":[]"#.to_owned(), r#""b":1"#.to_owned()),
        (long, list("{}", 200), list("{}", 256)),
        (embedded, list(resource, 200), list(resource, 256)),
    ] {
        let schema = json!({"type": "object", "properties": {"a": schema}});
        let version = version_with(&schema, Dialect::Kubernetes, false);
        for report in [false, true] {
            let decode = |members: &str| {
                let options = DecodeOptions::default().report(report);
                let decoded = version.decode(body(members).as_bytes(), &options);
                decoded.map(drop).map_err(|error| error.to_string())
            };
            assert_eq!(decode(&within), Ok(()));
            let limit = "the defaults of the object take more than 268435456 bytes of memory";
            assert_eq!(decode(&beyond), Err(limit.to_owned()));
        }
        let mut tree: Value = serde_json::from_str(&body(&beyond)).unwrap();
        assert!(version.apply_defaults(&mut tree, &mut ()).is_err());
    }
}

#[test]
fn odd_bodies_are_refused_or_read_as_a_server_reads_them() {
    let schema = json!({"type": "object", "properties": {"s": {"type": "string"}}});
    let version = version_with(&schema, Dialect::Kubernetes, false);
    let decode = |body: &[u8]| {
        version
            .decode(body, &DecodeOptions::default())
            .map(|decoded| (decoded.object()["s"].clone(), decoded.strict_errors().to_vec()))
            .map_err(|error| error.status_message().to_owned())
    };
    let unrecognized = "the object provided is unrecognized (must be of type Foo): \
                        couldn't get version/kind; json parse error: ";
    assert_eq!(decode(b""), Err(format!("{unrecognized}unexpected end of JSON input (<empty>)")));
    assert_eq!(
        decode(br#"{"apiVersion":null,"kind":"Foo"}"#),
        Err("Foo in version \"\" cannot be handled as a Foo: .apiVersion accessor error: <nil> is of \
             the type <nil>, expected string"
            .to_owned())
    );
    assert_eq!(
        decode(b"{\"a\": 1,}"),
        Err(format!(
            "{unrecognized}invalid character '}}' looking for beginning of object key string \
             ({{\"a\": 1,}})"
        ))
    );
    assert_eq!(
        decode(
            &[
                b"{\"apiVersion\":\"example.com/v1\",\"kind\":\"Foo\",\"s\":\"",
                &b"\xff\xfe"[..],
                b"\"}"
            ]
            .concat()
        ),
        Ok((json!("\u{fffd}\u{fffd}"), Vec::new()))
    );
    assert_eq!(
        decode(body(r#""s":"a","s":"b""#).as_bytes()),
        Ok((json!("b"), vec!["duplicate field \"s\"".to_owned()]))
    );
    assert_eq!(
        decode(body(&format!(r#""s":1{}"#, "0".repeat(400))).as_bytes()),
        Err(format!(
            "Foo in version \"v1\" cannot be handled as a Foo: json: cannot unmarshal number \
             1{} into Go value of type float64",
            "0".repeat(400)
        ))
    );
    let huge = body(&format!(r#""s":{}"#, "9".repeat(300)));
    assert_eq!(decode(huge.as_bytes()), Ok((json!(1e300), Vec::new())));
}

#[test]
fn documents_that_are_no_definition_say_so() {
    for (text, expected) in [
        ("", "expected one CustomResourceDefinition, found 0"),
        ("a: [", "yaml: line"),
        ("a: 1", "not a CustomResourceDefinition of apiextensions.k8s.io/v1"),
        ("[1]", "not a CustomResourceDefinition"),
    ] {
        let error = CustomResourceDefinition::from_yaml(text).unwrap_err().to_string();
        assert!(error.contains(expected), "{text:?}: {error}");
    }
    let error = read_manifests(b"a: b\n\xff").unwrap_err();
    assert_eq!(error.place(), Some((2, 1)));
}

/// PR-34: paths of unknown fields far down take a bounded share of memory; whatever is not listed is
/// removed and counted.
#[test]
fn reports_of_deep_objects_are_bounded() {
    const DEPTH: usize = 200;
    let mut schema = json!({"type": "object"});
    for _ in 0..DEPTH {
        schema = json!({"type": "object", "properties": {"a": schema}});
    }
    let version = crate::definitions::version_with(&schema, Dialect::Kubernetes, false);
    let body = |count: usize| {
        let unknown: Vec<_> = (0..count).map(|index| format!(r#""x{index}":1"#)).collect();
        let (open, close) = (r#""a":{"#.repeat(DEPTH), "}".repeat(DEPTH));
        let types = r#""apiVersion":"example.com/v1","kind":"Foo""#;
        format!("{{{types},{open}{}{close}}}", unknown.join(","))
    };
    let options = DecodeOptions::default().report(true);
    for (count, is_whole) in [(1_000, true), (60_000, false)] {
        let decoded = version.decode(body(count).as_bytes(), &options).unwrap();
        assert_eq!(decoded.changes().len() + decoded.omitted_changes(), count);
        assert_eq!(decoded.omitted_changes() == 0, is_whole);
        assert_eq!(decoded.strict_errors().len(), decoded.changes().len());
        let path = decoded.changes()[999].path().to_dotted();
        assert!(path.starts_with("a.a.") && path.rsplit_once(".a.x").is_some());
        assert!(!billhook::to_json(decoded.object()).contains("\"x"));
    }
}
