//! The words that findings have in place of the number of a rule.

use billhook::ErrorType;
use billhook::webhook::DecisionReason;

use super::render;
use crate::report::HEADER;

/// The rule about the reasons of field errors.
const REASONS: &str = "SS-03";

/// The words of this program, and what they say.
const OWN: [(&str, &str); 11] = [
    (
        "assumed-namespace",
        "Nothing says which labels a namespace has, so it is taken to have only the one with its \
         name. `--namespace-labels` and Namespaces among the files give it others.",
    ),
    (
        "definition",
        "A CRD is used although something is wrong with it, for example a version that is not \
         served. `billhook check` says all that a server would say of it.",
    ),
    ("deprecated-field", "The description of a field in the schema says that it is deprecated."),
    ("failed-case", "A case of a test suite fails."),
    (
        "more-findings",
        "An object has more than 10,000 errors, warnings or notes; the rest is left out.",
    ),
    (
        "policy-advice",
        "A server accepts an admission policy or a binding, but it is likely not to do what it is \
         meant for.",
    ),
    (
        "refused",
        "A server refuses the object as a whole, without a reason for a field: often a value of a \
         wrong type, with which the object cannot be read.",
    ),
    ("server-warning", "A server accepts the object and sends this warning with its answer."),
    ("suite", "A test suite is not as it should be."),
    (
        "unusable",
        "The file or the object cannot be used at all: it cannot be read, is not YAML or JSON, or is \
         of a kind that is neither built in nor that of a CRD. It cannot be ignored; `exclude` in \
         billhook.toml leaves out files of directories.",
    ),
    (
        "unused-ignore",
        "A comment `billhook: ignore`, or a finding in a baseline, ignores nothing any more.",
    ),
];

/// Returns what a word of this program says, with a heading.
pub(super) fn text(word: &str) -> Option<String> {
    let (word, text) = OWN.iter().find(|(own, _)| own.eq_ignore_ascii_case(word))?;
    Some(format!("{HEADER}{word}{HEADER:#}\n\n{}\n", render::body(text).trim()))
}

/// Returns the rule that says what a word of servers means: the reason of a field error, or the code of
/// why a webhook is not called.
pub(super) fn rule(word: &str) -> Option<&'static str> {
    let is_it = |code: &str| code.eq_ignore_ascii_case(word);
    if ErrorType::ALL.iter().any(|error| is_it(error.reason())) {
        return Some(REASONS);
    }
    DecisionReason::ALL.iter().find(|reason| is_it(reason.code())).map(|reason| reason.rule())
}
