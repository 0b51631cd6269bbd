//! Rules that have the same result for all values.

use billhook_cel::{is_contradiction, is_tautology};

#[test]
fn rules_that_are_always_true() {
    for (rule, expected) in [
        ("true", true),
        ("1 == 1 || true", true),
        ("!(has(self.a) && !has(self.a))", true),
        ("!has(self.a) || has(self.a) && true", true),
        ("has(self.a) || self.a == 'x'", false),
        // It fails where the field is absent.
        ("self.a == 'x' || self.a != 'x'", false),
        ("has(self.a)", false),
        ("false", false),
        ("has(self.a", false),
    ] {
        assert_eq!(is_tautology(rule), expected, "{rule}");
    }
}

#[test]
fn rules_that_exclude_each_other() {
    for (rules, expected) in [
        (&["false"][..], true),
        (&["has(self.a) && !has(self.a)"], true),
        (&["self.a < 3", "self.a > 5"], true),
        (&["self.a < 3", "self.a >= 3"], true),
        (&["self.a <= 3", "self.a >= 3"], false),
        (&["self.a <= 3", "3 < self.a"], true),
        (&["self.a < 3", "self.b > 5"], false),
        (&["self in ['a', 'b']", "self == 'c'"], true),
        (&["self in ['a', 'b']", "self != 'a'"], false),
        (&["self in ['a', 'b']", "self != 'a' && self != 'b'"], false),
        (&["self == 'a'", "!(self in ['a', 'b'])"], true),
        (&["has(self.a) || has(self.b)", "!has(self.a)", "!has(self.b)"], true),
        (&["has(self.a) || has(self.b)", "!has(self.a)"], false),
        (&["self.a < 3 || self.a > 5"], false),
    ] {
        assert_eq!(is_contradiction(rules), expected, "{rules:?}");
    }
}
