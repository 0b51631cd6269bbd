//! Patterns at and beyond the limits: refused where Go refuses them, and never at
//! the cost of the stack or of much memory or time.

use billhook_regex::{ErrorKind, Pattern, Patterns, Steps, check, limits};

fn kind(pattern: &str) -> Option<ErrorKind> {
    let checked = check(pattern).err().map(|error| error.kind());
    let compiled = Pattern::new(pattern).err().map(|error| error.kind());
    if compiled != Some(ErrorKind::TooLargeToMatch) {
        assert_eq!(checked, compiled, "for `{pattern:.60}…`");
    }
    compiled
}

fn nested(open: &str, inner: &str, close: &str, levels: usize) -> String {
    format!("{}{inner}{}", open.repeat(levels), close.repeat(levels))
}

#[test]
fn height() {
    let max = limits::MAX_HEIGHT as usize;
    let cases = [
        ("(", "", ")", 1),
        ("(", "a", ")", 1),
        ("(?:", "a", ")*", 1),
        ("(", "a", ")*", 2),
        ("(a", "", ")", 2),
        ("(a|", "", ")", 2),
        ("(?:a|b*", "", ")+", 3),
    ];
    for (open, inner, close, per_level) in cases {
        let mut levels = max / per_level + 2;
        while kind(&nested(open, inner, close, levels)) == Some(ErrorKind::NestingDepth) {
            levels -= 1;
        }
        let highest = levels * per_level;
        assert!(
            highest.abs_diff(max) <= per_level + 1,
            "`{open}{inner}{close}` nests {levels} levels deep"
        );
        assert_eq!(kind(&nested(open, inner, close, levels)), None);
    }
    assert_eq!(kind(&nested("(", "", ")", 999)), None);
    assert_eq!(kind(&nested("(", "", ")", 1000)), Some(ErrorKind::NestingDepth));
    // A group that does not capture is not a node.
    assert_eq!(kind(&nested("(?:", "a", ")", 100_000)), None);
}

#[test]
fn the_error_for_height_shows_all_of_the_pattern() {
    let pattern = nested("(", "", ")", 1000);
    let error = check(&pattern).unwrap_err();
    assert_eq!(error.text(), pattern);
    assert_eq!(
        error.to_string(),
        format!("error parsing regexp: expression nests too deeply: `{pattern}`")
    );
}

#[test]
fn high_trees_match_on_a_small_stack() {
    let work = || {
        let stars = Pattern::new(&format!("^{}$", nested("(?:", "a", ")*", 990))).unwrap();
        assert!(stars.is_match("aaa") && !stars.is_match("b"));
        let optional = Pattern::new(&format!("^{}$", nested("(?:ab", "", ")?", 490))).unwrap();
        assert!(optional.is_match(&"ab".repeat(490)) && !optional.is_match("aba"));
        assert!(check(&nested("((?:a|b*)", "", ")", 1_000_000)).is_err());
    };
    std::thread::Builder::new().stack_size(512 << 10).spawn(work).unwrap().join().unwrap();
}

#[test]
fn size() {
    // Go reckons with at most so many instructions; the second is one below.
    assert_eq!(kind(&format!("(?:{}){{1000}}", "a?".repeat(3355))), Some(ErrorKind::Large));
    let below = format!("(?:{}){{1000}}", "a?".repeat(1677));
    assert!(check(&below).is_ok());
    // Alternatives of one character each are one class.
    assert_eq!(kind(&format!("(?:{}b){{1000}}", "a|".repeat(4000))), None);
    assert_eq!(kind(&r"\pL".repeat(27_000)), Some(ErrorKind::Large));
    assert!(check(&r"\pL".repeat(20_000)).is_ok());
}

#[test]
fn too_large_to_match() {
    let pattern = r"[\pLa]".repeat(8_000);
    assert!(check(&pattern).is_ok());
    let error = Pattern::new(&pattern).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TooLargeToMatch);
    assert!(
        error
            .to_string()
            .starts_with("error parsing regexp: expression needs too much memory to match: `")
    );
    // An error of Go's comes first, wherever it is.
    let pattern = pattern + ")";
    assert_eq!(Pattern::new(&pattern).unwrap_err().kind(), ErrorKind::UnexpectedParen);
}

#[test]
fn large_classes_are_shared() {
    for pattern in [
        r"\pL{1000}".repeat(4),
        r"\pL".repeat(20_000),
        "(?:..){500}".repeat(800),
        format!("(?i){}", "k".repeat(500_000)),
    ] {
        assert!(!Pattern::new(&pattern).unwrap().is_match("é"), "for `{pattern:.60}…`");
    }
}

/// As many large patterns as a definition of a megabyte may have share one bound of memory; those
/// beyond it match all the same.
#[test]
fn patterns_share_memory() {
    let patterns = Patterns::default();
    let texts: Vec<String> = (0..300)
        .map(|index| format!(r"^x{index}(?:[\pL\pN]{{500}}){{2}}[^\pL]{{0,500}}$"))
        .collect();
    for (index, text) in texts.iter().enumerate() {
        let pattern = patterns.get(text).unwrap();
        let length = if index % 2 == 0 { 1000 } else { 999 };
        let text = format!("x{index}{}-", "é".repeat(length));
        assert_eq!(pattern.is_match(&text), index % 2 == 0);
    }
}

#[test]
fn work_is_bounded() {
    let pattern = Pattern::new("(?:a|b)*a(?:a|b){500}$").unwrap();
    let random = |state: &mut u32| {
        *state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        Some(if *state >> 31 == 0 { 'a' } else { 'b' })
    };
    let mut state = 1;
    let text: String = std::iter::from_fn(|| random(&mut state)).take(100_000).collect();
    let mut steps = Steps::of(1_000_000);
    assert!(pattern.is_match_within(&text, &mut steps).is_err());
    assert_eq!(steps.left(), 0);
    let mut steps = Steps::of(1_000_000);
    assert!(pattern.find_within(&text, 1, &mut steps).is_err());
    let mut steps = Steps::of(1_000_000);
    let simple = Pattern::new("^(?:ab)*$").unwrap();
    assert_eq!(simple.is_match_within(&"ab".repeat(50_000), &mut steps), Ok(true));
    assert!(steps.left() > 980_000);
}

#[test]
fn large_patterns_that_still_match() {
    let pattern = Pattern::new(r"^[\pL\pN]{1000}$").unwrap();
    assert!(pattern.is_match(&"é1".repeat(500)));
    assert!(!pattern.is_match(&"é1".repeat(499)));
    let pattern = Pattern::new("^(?:.{0,1000}){1}$").unwrap();
    assert!(pattern.is_match(&"é".repeat(1000)));
    assert!(!pattern.is_match(&"é".repeat(1001)));
    let pattern = Pattern::new(&format!("^{}$", "ab".repeat(50_000))).unwrap();
    assert!(pattern.is_match(&"ab".repeat(50_000)));
}

#[test]
fn no_search_is_repeated_for_every_character() {
    for pattern in [
        format!("[{}a]", "[:".repeat(300_000)),
        format!("[{}]", r"\pL".repeat(100_000)),
        format!("(?i)[{}]", r"\x{0}-\x{10ffff}".repeat(20_000)),
        "x{".repeat(300_000),
        r"\Q".repeat(300_000),
        "a|".repeat(100_000),
        "a*".repeat(100_000),
    ] {
        assert!(check(&pattern).is_ok(), "for `{pattern:.60}…`");
    }
}
