//! Many objects at once: every one as if it were decoded alone.

use std::io::{self, BufReader, Cursor, Read, Write};

use billhook::{
    Counts, CrdVersion, DecodeError, DecodeErrorKind, DecodeOptions, Dialect, FieldValidation,
    StreamError,
};
use billhook_testing::{resource, root_schema};
use proptest::prelude::*;
use serde_json::json;

use crate::definitions::version_with;

fn version() -> CrdVersion {
    let schema = json!({"type": "object", "properties": {
        "spec": {"type": "object", "properties": {
            "keep": {"type": "integer", "default": 7},
            "note": {"type": "string"},
            "any": {"x-kubernetes-preserve-unknown-fields": true},
        }},
    }});
    version_with(&schema, Dialect::Kubernetes, false)
}

fn silent() -> DecodeOptions {
    DecodeOptions::default().field_validation(FieldValidation::Ignore)
}

/// The output: the text, the numbers and texts of what was refused, and the counts.
type Outcome = (String, Vec<(u64, String)>, Result<Counts, String>);

/// Runs one of the functions, with a reader that gives `step` bytes at a time.
fn run(
    text: &str,
    step: usize,
    work: impl FnOnce(
        BufReader<&[u8]>,
        &mut Vec<u8>,
        &mut dyn FnMut(u64, DecodeError),
    ) -> Result<Counts, StreamError>,
) -> Outcome {
    let (mut output, mut refused) = (Vec::new(), Vec::new());
    let reader = BufReader::with_capacity(step, text.as_bytes());
    let mut note = |number, error: DecodeError| refused.push((number, error.to_string()));
    let result = work(reader, &mut output, &mut note).map_err(|error| error.to_string());
    (String::from_utf8(output).unwrap(), refused, result)
}

fn lines(text: &str, options: &DecodeOptions) -> Outcome {
    let version = version();
    let whole =
        run(text, 1 << 16, |reader, out, note| version.decode_lines(reader, out, options, note));
    let slow = run(text, 1, |reader, out, note| version.decode_lines(reader, out, options, note));
    assert_eq!(whole, slow, "{text}");
    #[cfg(feature = "rayon")]
    {
        let jobs = 3.try_into().unwrap();
        let parallel = run(text, 1 << 16, |reader, out, note| {
            version.decode_lines_parallel(reader, out, options, jobs, note)
        });
        assert_eq!(whole, parallel, "{text}");
    }
    whole
}

fn list(text: &str) -> Outcome {
    let (version, options) = (version(), DecodeOptions::default());
    let whole =
        run(text, 1 << 16, |reader, out, note| version.decode_list(reader, out, &options, note));
    for step in [1, 7] {
        let slow =
            run(text, step, |reader, out, note| version.decode_list(reader, out, &options, note));
        assert_eq!(whole, slow, "{text}");
    }
    #[cfg(feature = "rayon")]
    {
        let jobs = 2.try_into().unwrap();
        let parallel = run(text, 1 << 16, |reader, out, note| {
            version.decode_list_parallel(reader, out, &options, jobs, note)
        });
        assert_eq!(whole, parallel, "{text}");
    }
    whole
}

fn counts(result: &Result<Counts, String>) -> (u64, u64, u64) {
    let counts = result.as_ref().unwrap();
    (counts.decoded, counts.unchanged, counts.refused)
}

fn foo(rest: &str) -> String {
    format!(r#"{{"apiVersion":"example.com/v1","kind":"Foo"{rest}}}"#)
}

#[test]
fn a_refused_line_in_the_middle_stops_nothing() {
    let first = foo(r#","spec":{"kep":1}"#);
    let broken = foo(r#","spec":{"#);
    let other_kind = first.replace("Foo", "Bar");
    let other_version = first.replace("com/v1", "com/v2");
    let last = foo(r#","spec":{"keep":1}"#);
    let text = format!(
        "{first}\n\n{broken}\r\n \t\r\n{other_kind}\n{other_version}\na: 1\n[]\n1 2\n  {last} \r"
    );
    let (output, refused, result) = lines(&text, &DecodeOptions::default());
    assert_eq!(output, format!("{}\n{last}\n", foo(r#","spec":{"keep":7}"#)));
    assert_eq!(counts(&result), (2, 1, 6));
    let numbers: Vec<u64> = refused.iter().map(|(number, _)| *number).collect();
    assert_eq!(numbers, [3, 5, 6, 7, 8, 9]);
    assert_eq!(refused[1].1, r#"kind: Invalid value: "Bar": must be Foo"#);
    assert_eq!(
        refused[2].1,
        "the API version in the data (example.com/v2) does not match the expected API version \
         (example.com/v1)"
    );
}

#[test]
fn strict_validation_refuses_lines() {
    let text = format!("{}\n{}\n", foo(r#","spec":{"kep":1}"#), foo(""));
    let strict = DecodeOptions::default().field_validation(FieldValidation::Strict);
    let (output, refused, result) = lines(&text, &strict);
    assert_eq!(output, format!("{}\n", foo("")));
    assert_eq!(refused, [(1, r#"strict decoding error: unknown field "spec.kep""#.to_owned())]);
    assert_eq!(counts(&result), (1, 1, 1));
}

#[test]
fn long_lines_end_the_stream() {
    let (short, long) = (foo(""), foo(r#","spec":{"any":"long"}"#));
    let text = format!("{short}\n{long}\n");
    let at_most = |bytes| lines(&text, &silent().max_line(bytes));
    assert_eq!(counts(&at_most(long.len()).2).0, 2);
    let expected = format!("line 2 is longer than {} bytes", long.len() - 1);
    assert_eq!(at_most(long.len() - 1).2, Err(expected));
}

#[test]
fn no_lines() {
    for text in ["", "\n", " \r\n\n\t"] {
        let (output, refused, result) = lines(text, &DecodeOptions::default());
        assert_eq!((output.as_str(), refused.len(), counts(&result)), ("", 0, (0, 0, 0)));
    }
}

#[test]
fn other_kinds_have_a_kind_of_error() {
    let mut kinds = Vec::new();
    let text = foo("").replace("Foo", "Bar");
    let note = |_, error: DecodeError| kinds.push(error.kind());
    version().decode_lines(text.as_bytes(), io::sink(), &silent(), note).unwrap();
    assert_eq!(kinds, [DecodeErrorKind::WrongKind]);
}

#[test]
fn lists_pass_through() {
    let plain = foo(r#","spec":{"keep":1}"#);
    let tricky =
        foo(r#","spec":{"keep":1,"note":"]}\\\"],[{\u005d","any":[{"]":"}"},[["\\"]],{},[]]}"#);
    for text in [
        r#"{"items":[]}"#.to_owned(),
        r#"{"items":null}"#.to_owned(),
        " {\n\t\"items\" : [ \r\n ] } \n".to_owned(),
        r#"{"kind":"List","items":[],"metadata":{"continue":"a]}\"","x":[1,"]"]},"n":1.5e3}"#
            .to_owned(),
        format!(r#"{{"metadata":{{"items":["a"]}},"items":[{plain}]}}"#),
        format!(r#"{{"items":[{plain},{tricky}],"metadata":{{}},"apiVersion":"v1"}}"#),
        format!("{{\"a\":\"items\",\"items\":[\n {tricky} ,\n\n {plain}\t,{tricky} ]\n}}"),
        format!(r#"{{"\u0069tems":[{plain}]}}"#),
    ] {
        let (output, refused, result) = list(&text);
        assert_eq!((output, refused), (text.clone(), vec![]));
        assert_eq!(counts(&result).0, counts(&result).1, "{text}");
    }
}

#[test]
fn refused_items_are_left_out() {
    let (good, changed) = (foo(r#","spec":{"keep":1}"#), foo(r#","spec":{"x":[1,{}]}"#));
    let made = foo(r#","spec":{"keep":7}"#);
    let bad = foo("").replace("Foo", "Bar");
    for (items, expected, numbers, wanted) in [
        (format!("[ {bad} ]"), "[ ]".to_owned(), vec![0], (0, 0, 1)),
        (format!("[ {bad} , {good} ]"), format!("[  {good} ]"), vec![0], (1, 1, 1)),
        (format!("[{good}, {bad}]"), format!("[{good}]"), vec![1], (1, 1, 1)),
        (
            format!("[1,null,{changed},\"]\",\n{good},tru]"),
            format!("[{made},\n{good}]"),
            vec![0, 1, 3, 5],
            (2, 1, 4),
        ),
        (
            format!(r#"[{{"a" 1}},{changed},[[[]]],{{"a":[1,]}}]"#),
            format!("[{made}]"),
            vec![0, 2, 3],
            (1, 0, 3),
        ),
    ] {
        let (output, refused, result) = list(&format!(r#"{{"items":{items},"z":0}}"#));
        assert_eq!(output, format!(r#"{{"items":{expected},"z":0}}"#), "{items}");
        let found: Vec<u64> = refused.iter().map(|(number, _)| *number).collect();
        assert_eq!((found, counts(&result)), (numbers, wanted), "{items}");
    }
}

#[test]
fn text_that_is_no_list() {
    let good = foo("");
    for (text, message, offset) in [
        (String::new(), "expected `{`", 0),
        (" []".to_owned(), "expected `{`", 1),
        ("{}".to_owned(), "no field `items`", 1),
        (r#"{"kind":"Foo"}"#.to_owned(), "no field `items`", 13),
        (r#"{"items":{}}"#.to_owned(), "expected a list of items", 9),
        (r#"{"items":[],"items":[]}"#.to_owned(), "repeated field `items`", 20),
        (r#"{"items":[]}x"#.to_owned(), "text behind the list", 12),
        (r#"{"items":[],}"#.to_owned(), "expected a field name", 12),
        (r#"{,"items":[]}"#.to_owned(), "expected a field name", 1),
        (r#"{"items":[] "a":1}"#.to_owned(), "expected `,` or `}`", 12),
        (r#"{"items" []}"#.to_owned(), "expected `:`", 9),
        (r#"{"items":[,]}"#.to_owned(), "expected a value", 10),
        (format!(r#"{{"items":[{good},]}}"#), "expected a value", 11 + good.len()),
        (format!(r#"{{"items":[{good} {good}]}}"#), "expected `,` or `]`", 11 + good.len()),
        (format!(r#"{{"items":[{good}"#), "expected `,` or `]`", 10 + good.len()),
        (r#"{"items":[{"a""#.to_owned(), "unexpected end of JSON input", 14),
        (r#"{"items":[]"#.to_owned(), "expected `,` or `}`", 11),
        (
            r#"{"items":[],"a":[1,]}"#.to_owned(),
            "invalid character ']' looking for beginning of value",
            19,
        ),
        (r#"{"kind":List}"#.to_owned(), "invalid character 'L' looking for beginning of value", 8),
        (r#"{"a":01,"items":[]}"#.to_owned(), "invalid character '1' after top-level value", 6),
    ] {
        let (_, _, result) = list(&text);
        let expected = format!("not a list of objects: {message} at byte {offset}");
        assert_eq!(result, Err(expected), "{text}");
    }
}

/// The same item again and again.
struct Items<'i> {
    item: &'i [u8],
    left: usize,
}

impl Read for Items<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.left == 0 {
            return Ok(0);
        }
        self.left -= 1;
        let mut cursor = Cursor::new(self.item);
        cursor.read(out)
    }
}

#[test]
fn many_items_take_the_memory_of_one() {
    let version = version();
    let item = foo(r#","spec":{"kep":1}},"#).replace("},}", "},");
    let (count, last) = (100_000, foo(""));
    let head = br#"{"kind":"FooList","items":["#;
    let tail = format!("{last}]}}");
    // What is compiled at the first object is not counted.
    version.decode_text(last.as_bytes(), &silent()).unwrap();
    let mut found = None;
    let allocations = allocation_counter::measure(|| {
        let items = Items { item: item.as_bytes(), left: count };
        let reader = head.chain(items).chain(tail.as_bytes());
        let reader = BufReader::new(reader);
        let refused = |_, error| panic!("{error}");
        found = Some(version.decode_list(reader, io::sink(), &silent(), refused).unwrap());
    });
    let found = found.unwrap();
    assert_eq!((found.decoded, found.unchanged), (count as u64 + 1, 1));
    assert!(allocations.bytes_max < 64 << 10, "{} bytes", allocations.bytes_max);
}

/// Fails after some bytes.
struct Full(usize);

impl Write for Full {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        self.0 = self.0.checked_sub(text.len()).ok_or(io::ErrorKind::StorageFull)?;
        Ok(text.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn errors_of_reader_and_writer_end_the_stream() {
    let text = format!("{}\n", foo("")).repeat(10_000);
    let result = version().decode_lines(text.as_bytes(), Full(1000), &silent(), |_, _| ());
    assert!(matches!(result, Err(StreamError::Write(_))), "{result:?}");

    struct Broken;
    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::ErrorKind::ConnectionReset.into())
        }
    }
    let mut output = Vec::new();
    let reader = BufReader::new(text.as_bytes().chain(Broken));
    let result = version().decode_lines(reader, &mut output, &silent(), |_, _| ());
    assert!(matches!(result, Err(StreamError::Read(_))), "{result:?}");
    assert_eq!(output, text.as_bytes());
    #[cfg(feature = "rayon")]
    {
        let jobs = 2.try_into().unwrap();
        output.clear();
        let reader = BufReader::new(text.as_bytes().chain(Broken));
        let version = version();
        let result = version.decode_lines_parallel(reader, &mut output, &silent(), jobs, |_, _| ());
        assert!(matches!(result, Err(StreamError::Read(_))), "{result:?}");
        assert_eq!(output, text.as_bytes());
    }
}

#[cfg(feature = "rayon")]
#[test]
fn the_order_stays_over_many_batches() {
    let version = version();
    let line = |number: u32| {
        let rest = format!(r#","spec":{{"keep":{number},"note":"{}"}}"#, "x".repeat(500));
        let line = foo(&rest);
        if number % 1000 == 7 { line.replace("Foo", "Bar") } else { line }
    };
    let text: String = (0..30_000).map(|number| line(number) + "\n").collect();
    let items = text.trim_end().replace('\n', ",");
    let list = format!(r#"{{"items":[{items}]}}"#);
    let options = DecodeOptions::default();
    for jobs in [1, 2, 5] {
        let jobs = jobs.try_into().unwrap();
        let lines = |parallel: bool| {
            run(&text, 1 << 16, |reader, out, note| match parallel {
                true => version.decode_lines_parallel(reader, out, &options, jobs, note),
                false => version.decode_lines(reader, out, &options, note),
            })
        };
        assert!(lines(true) == lines(false));
        let items = |parallel: bool| {
            run(&list, 1 << 16, |reader, out, note| match parallel {
                true => version.decode_list_parallel(reader, out, &options, jobs, note),
                false => version.decode_list(reader, out, &options, note),
            })
        };
        assert!(items(true) == items(false));
    }
}

proptest! {
    #[test]
    fn every_object_as_if_alone(
        schema in root_schema(),
        objects in proptest::collection::vec(resource(), 0..6),
    ) {
        let version = version_with(&schema, Dialect::Kubernetes, false);
        let texts: Vec<String> = objects.iter().map(billhook::to_json).collect();
        let alone: Vec<String> = texts
            .iter()
            .filter_map(|text| version.decode_text(text.as_bytes(), &silent()).ok())
            .map(|decoded| String::from_utf8(decoded.text().to_vec()).unwrap())
            .collect();

        let (output, _, result) = run(&texts.join("\n"), 16, |reader, out, note| {
            version.decode_lines(reader, out, &silent(), note)
        });
        let expected: String = alone.iter().map(|text| format!("{text}\n")).collect();
        prop_assert_eq!(output, expected);
        prop_assert_eq!(counts(&result).0, alone.len() as u64);

        let list = format!(r#"{{"items":[{}]}}"#, texts.join(","));
        let (output, refused, _) = run(&list, 16, |reader, out, note| {
            version.decode_list(reader, out, &silent(), note)
        });
        prop_assert_eq!(output, format!(r#"{{"items":[{}]}}"#, alone.join(",")));
        prop_assert_eq!(refused.len(), texts.len() - alone.len());
    }
}
