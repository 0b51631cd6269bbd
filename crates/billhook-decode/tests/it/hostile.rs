//! Text that would take much time or memory.

use billhook_decode::read_json;

fn deep(inner: &str) -> String {
    const DEPTH: usize = 9_990;
    format!("{}{inner}{}", r#"{"a":"#.repeat(DEPTH), "}".repeat(DEPTH))
}

/// RP-20: each path once, in document order. The path of a place far down is put together once.
#[test]
fn repeated_keys_far_down_are_listed_once() {
    let repeated = format!("{{{}}}", vec![r#""x":1"#; 50_000].join(","));
    let places = format!("{{{}}}", vec![r#""b":{"x":1,"x":1}"#; 20_000].join(","));
    for (inner, ends) in [(repeated, vec![".a.x"]), (places, vec![".a.b.x", ".a.b"])] {
        let text = deep(&inner);
        let document = read_json(text.as_bytes()).unwrap();
        let listed = document.duplicates();
        assert_eq!(listed.len(), ends.len());
        for (path, end) in listed.iter().zip(ends) {
            assert!(path.ends_with(end));
        }
    }
}

#[test]
fn repeated_keys_are_listed_in_order_and_at_most_100() {
    let text = r#"{"d":[{"e":1,"e":2},{"e":1,"e":1,"e":1}],"d":[{"e":1,"e":1}],"":{"":1,"":1}}"#;
    let document = read_json(text.as_bytes()).unwrap();
    assert_eq!(document.duplicates(), ["d[0].e", "d[1].e", "d", "."]);
    let many: Vec<_> = (0..200).map(|index| format!(r#""k{index}":1,"k{index}":1"#)).collect();
    let document = read_json(format!("{{{}}}", many.join(",")).as_bytes()).unwrap();
    assert_eq!(document.duplicates().len(), 100);
    assert_eq!(document.duplicates()[99], "k99");
}

/// The tree of a text takes at most 512 MiB or twelve times its length.
#[test]
fn trees_are_bounded() {
    let objects = |count| format!("[{}]", vec![r#"{"a":1}"#; count].join(","));
    assert!(read_json(objects(390_000).as_bytes()).is_ok());
    let text = objects(700_000);
    let error = read_json(text.as_bytes()).unwrap_err();
    let expected = "the document takes more memory than 512 MiB and 12 times its length";
    assert_eq!(error.to_string(), expected);
    let sparse = text.replace(',', &format!(",{}", " ".repeat(80)));
    assert!(read_json(sparse.as_bytes()).is_ok());
}
