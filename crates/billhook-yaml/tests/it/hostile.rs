//! Hostile text on a small stack.

use billhook_yaml::read_documents_with_spans;

fn on_a_small_stack(work: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(256 * 1024).spawn(work).unwrap();
    thread.join().unwrap();
}

/// Texts of about `n` bytes.
fn texts(n: usize) -> Vec<(&'static str, String)> {
    let deep =
        |inner: &str, close: &str| format!("{}{inner}{}", "[".repeat(9_000), close.repeat(9_000));
    let pairs = |pair: fn(usize) -> String, count| (0..count).map(pair).collect::<String>();
    vec![
        ("flow depth", "[".repeat(n)),
        ("flow mapping depth", "{a: ".repeat(n / 4)),
        ("block depth", "- ".repeat(n / 2)),
        ("explicit keys", "? ".repeat(n / 2)),
        ("depth with tabs", format!("# {}\n{}", "\t".repeat(n), "- ".repeat(9_000))),
        ("items", format!("[{}x]", "x, ".repeat(n / 3))),
        ("items far in", deep(&"x, ".repeat(n / 3), "]")),
        ("keys", pairs(|i| format!("k{i}: 1\n"), n / 12)),
        ("repeated keys", "k: 1\n".repeat(n / 5)),
        ("repeated keys far in", deep(&format!("{{{}}}", "a: 1, ".repeat(n / 6)), "]")),
        ("repeated keys in places far in", deep(&"{a: 1, a: 1}, ".repeat(n / 14), "]")),
        ("keys that are numbers", pairs(|i| format!("{i}: 1\n"), n / 10)),
        ("bad members", pairs(|i| format!("k{i}: .inf\n"), n / 14)),
        ("anchors", pairs(|i| format!("- &a{i} 1\n"), n / 14)),
        ("one anchor", format!("- &a [{}]\n- *a\n", "x, ".repeat(n / 3))),
        ("nested anchors", pairs(|i| format!("&a{i} [ "), 9_000.min(n / 9))),
        ("aliases", format!("- &a 1\n{}", "- *a\n".repeat(n / 5))),
        (
            "alias chain",
            pairs(|i| format!("- &a{} [*a{i}, 1]\n", i + 1), n / 20).replacen("*a0", "x", 1),
        ),
        ("long aliases", format!("- &a {}\n{}", "x".repeat(n / 2), "- *a\n".repeat(n / 10))),
        ("merges", format!("a: &a {{p: 1}}\n{}", "b: {<<: *a}\n".repeat(n / 12))),
        ("merge list", format!("a: &a {{p: 1}}\nb: {{<<: [{}]}}", "*a, ".repeat(n / 4))),
        ("merge depth", "{<<: ".repeat(n / 5)),
        ("merge list depth", "{<<: [".repeat(n / 6)),
        ("escapes", format!("\"{}\"", "\\\\u".repeat(n / 3))),
        ("backslashes", format!("\"{}\"", "\\\\".repeat(n / 2))),
        ("folded", format!(">\n{}", " a\n\n".repeat(n / 4))),
        ("empty lines", format!("a:{}", "\n".repeat(n))),
        ("tabs", format!("a:{}b", "\t".repeat(n))),
        ("lines with tabs far in", deep(&"a\n\tb, ".repeat(n / 6), "]")),
        ("lines with tabs", "a: b #\t\n".repeat(n / 8)),
        ("comments", "# a\n".repeat(n / 4)),
        ("documents", "--- a\n".repeat(n / 6)),
        ("directives", pairs(|i| format!("%TAG !a{i}! b\n"), n / 16)),
        ("marks", "\u{feff}".repeat(n / 3)),
        ("open quote", format!("a: \"{}", "x\n ".repeat(n / 3))),
        ("control character at the end", format!("{}\u{1}", "a: 1\n---\n".repeat(n / 9))),
    ]
}

/// `HOSTILE_BYTES` sets the size of the texts.
#[test]
fn hostile_text_is_read_on_a_small_stack() {
    on_a_small_stack(|| {
        let bytes = std::env::var("HOSTILE_BYTES").ok().and_then(|text| text.parse().ok());
        for (_, text) in texts(bytes.unwrap_or(200_000)) {
            for document in read_documents_with_spans(text.as_bytes()).into_iter().flatten() {
                drop(document.clone());
            }
        }
    });
}

/// The tree of a text takes at most 512 MiB or twelve times its length, all documents together.
#[test]
fn trees_are_bounded() {
    let documents = |count| "---\n- {a: 1}\n- {a: 1}\n".repeat(count);
    let errors = |text: String| {
        let read = billhook_yaml::read_documents(text.as_bytes());
        read.into_iter().filter_map(Result::err).map(|error| error.to_string()).collect::<Vec<_>>()
    };
    assert!(errors(documents(100_000)).is_empty());
    let expected = "the document takes more memory than 512 MiB and 12 times its length";
    assert_eq!(errors(documents(350_000)), [expected]);
}
