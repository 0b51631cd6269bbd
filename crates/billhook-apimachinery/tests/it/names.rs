//! Name syntaxes (OM-50 to OM-54), checked against the texts of the specification.

use billhook_apimachinery::Wording;
use billhook_apimachinery::names::{
    dns1035_label, dns1123_label, dns1123_subdomain, label_value, qualified_name,
};

const LABEL_1035: &str = "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";
const LABEL_1123: &str = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const SUBDOMAIN: &str = r"a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const LABEL_KEY: &str = "a valid label key must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')";
const NAME_PART: &str = "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const LABEL_VALUE: &str = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

fn check(syntax: fn(&str) -> Vec<String>, table: &[(&str, &[&str])]) {
    for (value, expected) in table {
        assert_eq!(syntax(value), *expected, "{value:?}");
    }
}

/// OM-50.
#[test]
fn dns1035_labels() {
    let (longest, too_long) = ("a".repeat(63), "a".repeat(64));
    let (both, wide) = ("A".repeat(64), "ü".repeat(32));
    check(
        dns1035_label,
        &[
            ("a", &[]),
            ("a-1", &[]),
            (&longest, &[]),
            (&too_long, &["must be no more than 63 characters"]),
            (&both, &["must be no more than 63 characters", LABEL_1035]),
            (&wide, &["must be no more than 63 characters", LABEL_1035]),
            ("", &[LABEL_1035]),
            ("1a", &[LABEL_1035]),
            ("-a", &[LABEL_1035]),
            ("a-", &[LABEL_1035]),
            ("aB", &[LABEL_1035]),
            ("a.b", &[LABEL_1035]),
            ("a\n", &[LABEL_1035]),
        ],
    );
}

/// OM-51.
#[test]
fn dns1123_labels() {
    let dotted = format!("{}.{}", "a".repeat(40), "b".repeat(40));
    check(
        dns1123_label,
        &[
            ("a", &[]),
            ("1-a", &[]),
            ("a.b", &["must not contain dots"]),
            (&dotted, &["must be no more than 63 characters", "must not contain dots"]),
            ("a..b", &[LABEL_1123]),
            (".", &[LABEL_1123]),
            ("A_b", &[LABEL_1123]),
            ("", &[LABEL_1123]),
            ("-", &[LABEL_1123]),
        ],
    );
}

/// OM-52. A label within a subdomain may be of any length.
#[test]
fn dns1123_subdomains() {
    let (longest, too_long) = ("a".repeat(253), "a".repeat(254));
    check(
        dns1123_subdomain,
        &[
            ("example.com", &[]),
            ("0.a-1", &[]),
            (&longest, &[]),
            (&too_long, &["must be no more than 253 characters"]),
            ("", &[SUBDOMAIN]),
            ("a.-b", &[SUBDOMAIN]),
            ("a.b-", &[SUBDOMAIN]),
            ("a.", &[SUBDOMAIN]),
            ("A.b", &[SUBDOMAIN]),
        ],
    );
}

/// OM-53.
#[test]
fn qualified_names() {
    let long_name = "a".repeat(64);
    let long_prefix = format!("{}/a", "a".repeat(254));
    let bad_prefix = format!("prefix part {SUBDOMAIN}");
    check(
        |value| qualified_name(value, <&Wording>::default()),
        &[
            ("a", &[]),
            ("My_Name.1", &[]),
            ("example.com/MyName", &[]),
            ("a/b/c", &[LABEL_KEY]),
            ("//", &[LABEL_KEY]),
            ("/x", &["prefix part must be non-empty"]),
            ("x/", &["name part must be non-empty", NAME_PART]),
            ("/", &["prefix part must be non-empty", "name part must be non-empty", NAME_PART]),
            ("", &["name part must be non-empty", NAME_PART]),
            ("X/y", &[&bad_prefix]),
            (&long_prefix, &["prefix part must be no more than 253 bytes"]),
            (&long_name, &["name part must be no more than 63 bytes"]),
            ("a b", &[NAME_PART]),
            ("-a", &[NAME_PART]),
            ("a.", &[NAME_PART]),
        ],
    );
}

/// OM-54.
#[test]
fn label_values() {
    let long = "é".repeat(32);
    check(
        |value| label_value(value, <&Wording>::default()),
        &[
            ("", &[]),
            ("My_value.1", &[]),
            ("c d", &[LABEL_VALUE]),
            ("-", &[LABEL_VALUE]),
            (&long, &["must be no more than 63 bytes", LABEL_VALUE]),
        ],
    );
}
