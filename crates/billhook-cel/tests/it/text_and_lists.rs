//! The libraries of text, lists, sets and patterns (CE-10).

use crate::evaluate::{check, cost};

/// CE-10: the strings extension, version 2. Positions are characters.
#[test]
fn strings() {
    check(&[
        ("'tacocat'.charAt(3)", "o"),
        ("'añb'.charAt(2)", "b"),
        ("'ab'.charAt(2)", ""),
        ("'ab'.charAt(3)", "error: index out of range: 3"),
        ("'ab'.charAt(-1)", "error: index out of range: -1"),
        ("'añbñc'.indexOf('ñ')", "1"),
        ("'añbñc'.indexOf('ñ', 2)", "3"),
        ("'abc'.indexOf('')", "0"),
        ("'abc'.indexOf('', 2)", "2"),
        ("'abc'.indexOf('x')", "-1"),
        ("'abc'.indexOf('c', 9)", "-1"),
        ("'abc'.indexOf('c', -1)", "error: index out of range: -1"),
        ("'añbñc'.lastIndexOf('ñ')", "3"),
        ("'añbñc'.lastIndexOf('ñ', 2)", "1"),
        ("'añbñc'.lastIndexOf('ñb', 1)", "1"),
        ("'abc'.lastIndexOf('')", "3"),
        ("'abc'.lastIndexOf('abcd')", "-1"),
        ("'abc'.lastIndexOf('a', -1)", "error: index out of range: -1"),
        ("'abc'.lastIndexOf('a', 3)", "-1"),
        ("'TacoCÆt'.lowerAscii()", "tacocÆt"),
        ("'tacocæt'.upperAscii()", "TACOCæT"),
        ("'\\u00a0 x\\t\\n'.trim()", "x"),
        ("'hello hello'.replace('he', 'we')", "wello wello"),
        ("'hello hello'.replace('he', 'we', 1)", "wello hello"),
        ("'hello hello'.replace('he', 'we', -1)", "wello wello"),
        ("'hello'.replace('he', 'we', 0)", "hello"),
        ("'añ'.replace('', '-')", "-a-ñ-"),
        ("'a,b,c'.split(',')", "[a, b, c]"),
        ("'a,b,c'.split(',', 2)", "[a, b,c]"),
        ("'a,b,c'.split(',', 0)", "[]"),
        ("'a,b,c'.split(',', -1)", "[a, b, c]"),
        ("'aña'.split('')", "[a, ñ, a]"),
        ("'aña'.split('', 2)", "[a, ña]"),
        ("''.split(',')", "[]"),
        ("'añbc'.substring(2)", "bc"),
        ("'añbc'.substring(1, 3)", "ñb"),
        ("'abc'.substring(3)", ""),
        ("'abc'.substring(9)", "error: index out of range: 9"),
        ("'abc'.substring(0, 4)", "error: index out of range: 4"),
        ("'abc'.substring(2, 1)", "error: invalid substring range. start: 2, end: 1"),
        ("['a', 'b'].join()", "ab"),
        ("['a', 'b'].join(', ')", "a, b"),
        ("[].join(', ')", ""),
        (r#"strings.quote('a"\n\\é')"#, r#""a\"\n\\é""#),
    ]);
}

/// CE-10: `format`, as the server's English locale writes numbers.
#[test]
fn format() {
    check(&[
        ("'%s %d %%'.format(['a', 5])", "a 5 %"),
        ("'%s'.format([[1, 'a', 1.5, null, b'x']])", r#"[1, "a", 1.500000, null, b"x"]"#),
        ("'%s'.format([{'b': 1, 'a': [true]}])", r#"{"a":[true], "b":1}"#),
        ("'%s'.format([{2: duration('1s')}])", r#"{2:duration("1s")}"#),
        (
            "'%s'.format([b'\\xff'])",
            "error: error during formatting: could not convert argument \"invalid UTF-8 in bytes, \
             cannot convert to string\" to string",
        ),
        ("'%s'.format([timestamp('2024-01-01T00:00:00Z')])", "2024-01-01T00:00:00Z"),
        ("'%s %s'.format([1.5, 5u])", "1.5 5"),
        ("'%s'.format([type(1)])", "int"),
        ("'%f'.format([2.71828])", "2.718280"),
        ("'%.3f'.format([1.2345])", "1.234"),
        ("'%.2f'.format([1234567.5])", "1,234,567.50"),
        ("'%.0f'.format([9.6])", "10"),
        ("'%.1f'.format([-0.96])", "-1.0"),
        ("'%f'.format([double('NaN')])", "NaN"),
        ("'%f'.format([double('-Infinity')])", "-∞"),
        ("'%.6e'.format([1052.032911275])", "1.052033×10⁰³"),
        ("'%.1e'.format([0.000996])", "1.0×10⁻⁰³"),
        ("'%b %b %b'.format([5, -5, true])", "101 -101 1"),
        ("'%x %X %x'.format([30, 30u, 'hi'])", "1e 1E 6869"),
        ("'%X'.format([b'\\xfe'])", "FE"),
        ("'%o'.format([11])", "13"),
        (
            "'%d'.format(dyn([1.5]))",
            "error: error during formatting: decimal clause can only be \
            used on integers, was given double",
        ),
        (
            "'%.'.format(dyn([1.5]))",
            "error: could not parse formatting clause: error while \
            parsing precision: could not find end of precision specifier",
        ),
        ("'%'.format(dyn([1]))", "error: unexpected end of string"),
        ("'%s %s'.format(dyn([1]))", "error: index 1 out of range"),
        (
            "'%a'.format(dyn([1]))",
            "error: could not parse formatting clause: unrecognized \
            formatting clause \"a\"",
        ),
    ]);
}

/// CE-10: Kubernetes' list library.
#[test]
fn kubernetes_lists() {
    check(&[
        ("[1, 2, 2].isSorted()", "true"),
        ("['b', 'a'].isSorted()", "false"),
        ("[].isSorted()", "true"),
        ("[true, false].isSorted()", "false"),
        ("[duration('1s'), duration('2s')].isSorted()", "true"),
        ("[1, 3].sum()", "4"),
        ("[1u, 3u].sum()", "4u"),
        ("[1.5, 3.0].sum()", "4.5"),
        ("[duration('1s'), duration('2s')].sum() == duration('3s')", "true"),
        ("dyn([1.5, 1.5]).sum()", "3.0"),
        ("[9223372036854775807, 1].sum()", "error: integer overflow"),
        ("[3, 1, 2].min()", "1"),
        ("['a', 'c', 'b'].max()", "c"),
        ("dyn([]).min()", "error: min called on empty list"),
        ("dyn([]).max()", "error: max called on empty list"),
        ("[1, 2, 1].indexOf(1)", "0"),
        ("[1, 2, 1].lastIndexOf(1)", "2"),
        ("[[1], [2]].indexOf([2])", "1"),
        ("['a'].indexOf('b')", "-1"),
    ]);
}

/// CE-10: the lists extension, version 3.
#[test]
fn lists_extension() {
    check(&[
        ("[1, 2, 3, 4].slice(1, 3)", "[2, 3]"),
        ("[1, 2].slice(0, 0)", "[]"),
        ("[1, 2].slice(-1, 1)", "error: cannot slice(-1, 1), negative indexes not supported"),
        (
            "[1, 2].slice(2, 1)",
            "error: cannot slice(2, 1), start index must be less than or equal to end index",
        ),
        ("[1, 2].slice(0, 3)", "error: cannot slice(0, 3), list is length 2"),
        ("[[1], [2, 3], []].flatten()", "[1, 2, 3]"),
        ("[dyn(1), dyn([dyn(2), dyn([dyn(3), dyn([4])])])].flatten(2)", "[1, 2, 3, [4]]"),
        ("[dyn(1), dyn([2])].flatten(0)", "[1, [2]]"),
        ("[dyn([1])].flatten(-1)", "error: level must be non-negative"),
        ("[1, 2].reverse()", "[2, 1]"),
        ("[1, 2, 1, 3].distinct()", "[1, 2, 3]"),
        ("[[1], [1]].distinct()", "[[1]]"),
        ("[dyn(1), dyn(1.0), dyn(1u)].distinct().size()", "1"),
        ("[3, 1, 2].sort()", "[1, 2, 3]"),
        ("['b', 'a'].sort()", "[a, b]"),
        ("[dyn('b'), dyn(1)].sort()", "error: list elements must have the same type"),
        ("['bb', 'a'].sortBy(x, x.size())", "[a, bb]"),
        ("[{'n': 2}, {'n': 1}].sortBy(x, x.n)", "[{n: 1}, {n: 2}]"),
        ("lists.range(3)", "[0, 1, 2]"),
        ("lists.range(-3)", "[]"),
        (
            "lists.range(9223372036854775807)",
            "error: operation cancelled: actual cost limit exceeded",
        ),
    ]);
}

/// CE-10: sets.
#[test]
fn sets() {
    check(&[
        ("sets.contains([1, 2, 3], [2, 3, 2])", "true"),
        ("sets.contains([1], [1, 2])", "false"),
        ("sets.contains([], [])", "true"),
        ("sets.equivalent([1, 1], [1])", "true"),
        ("sets.equivalent([1, 2], [1])", "false"),
        ("sets.intersects([1, 2], [2, 3])", "true"),
        ("sets.intersects([1], [])", "false"),
        ("sets.contains([dyn(1)], [dyn(1.0)])", "true"),
    ]);
}

/// CE-10: patterns, greedy and lazy.
#[test]
fn patterns() {
    check(&[
        ("'abc 123'.find('[0-9]+')", "123"),
        ("'abc'.find('[0-9]+')", ""),
        ("'aaa'.find('a+?')", "a"),
        ("'aaa'.find('(?U)a+')", "a"),
        ("'ab'.find('a|ab')", "a"),
        ("'123 abc 456'.findAll('[0-9]+')", "[123, 456]"),
        ("'123 abc 456'.findAll('[0-9]+', 1)", "[123]"),
        ("'123 abc 456'.findAll('[0-9]+', 0)", "[]"),
        ("'123 abc 456'.findAll('[0-9]+', -1)", "[123, 456]"),
        ("'baac'.findAll('a*')", "[, aa, ]"),
        (
            "'a'.find('['.substring(0))",
            "error: Illegal regex: error parsing regexp: missing closing ]: `[`",
        ),
    ]);
}

/// CE-10: maps made by macros have each key once.
#[test]
fn made_maps() {
    check(&[
        ("[1, 2].transformMap(i, v, v * 2)", "{0: 2, 1: 4}"),
        ("{'a': 1, 'b': 2}.transformMap(k, v, v > 1, v)", "{b: 2}"),
        ("['a', 'b'].transformMapEntry(i, v, {v: i})", "{a: 0, b: 1}"),
        (
            "['a', 'a'].transformMapEntry(i, v, {v: i})",
            "error: insert failed: key a already exists",
        ),
    ]);
}

/// CE-35: what the functions cost beside their arguments, which are constants here.
#[test]
fn costs() {
    for (expression, expected) in [
        // A tenth of the characters, rounded up.
        ("'0123456789a'.lowerAscii()", 2),
        ("'0123456789a'.substring(1)", 2),
        // And of the characters that are written.
        ("'0123456789a'.replace('a', 'b')", 3),
        ("'0123456789a'.split('a')", 3),
        ("''.trim()", 0),
        ("'0123456789a'.charAt(1)", 1),
        ("'0123456789a'.indexOf('a')", 1),
        ("'0123'.indexOf('a')", 0),
        ("['a', 'b'].join('0123456789')", 3),
        ("'%s'.format(['0123456789a'])", 1),
        ("'0123456789a'.format([])", 2),
        ("strings.quote('0123456789a')", 2),
        // What is in an optional counts.
        ("optional.of('0123456789a') == optional.of('0123456789ab')", 1 + 1 + 2),
        // The text and a quarter of the pattern.
        ("'0123456789'.find('[a-z]')", 4),
        ("'0123456789'.findAll('[a-z]')", 4),
        ("[1, 2, 3].sum()", 3),
        ("['a', 'b'].isSorted()", 0),
        ("['0123456789', 'b'].max()", 1),
        ("[1, 2, 3].slice(0, 2)", 13),
        ("[[1], [2]].flatten()", 13),
        ("[dyn([1]), dyn([2])].flatten(3)", 17),
        ("[1, 2].reverse()", 13),
        ("lists.range(5)", 16),
        // Each element with each other.
        ("[1, 2].sort()", 19),
        ("['a', 'b', 'c'].distinct()", 29),
        ("dyn([1, 2]).sort()", 1),
        ("sets.contains([1, 2], [1])", 3),
        ("sets.intersects([1, 2], [1])", 3),
        ("sets.equivalent([1, 2], [1])", 5),
    ] {
        assert_eq!(cost(expression), expected, "{expression}");
    }
}
