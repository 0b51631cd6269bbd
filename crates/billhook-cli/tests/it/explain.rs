//! `billhook explain`: rules as text, lists of ids, and ids that do not exist.

use std::fs;

use billhook::ErrorType;
use billhook::webhook::DecisionReason;

use crate::support::{cases, root, run, run_with, snapshot};

cases! {
    explain_list_of_cases: "explain PR-12";
    explain_two: "explain pr-32 WCF-L1";
    explain_table: "explain DI-T2";
    explain_wide_table: "explain SS-03 OM-31";
    explain_code: "explain WCF-40";
    explain_families: "explain --list pr-2 DI-T1";
    explain_words: "explain refused fieldvaluetoolong";
    explain_unknown: "explain PR-12 pr-99";
    explain_unknown_family: "explain qqqq-1";
    explain_nothing: "explain";
    help_explain: "explain --help";
}

#[test]
fn explain_in_color() {
    let shown = run_with("explain PR-16", b"", &[("CLICOLOR_FORCE", "1")]);
    snapshot!("explain_in_color", shown.replace('\x1b', "␛"));
}

/// Every rule can be printed, and every id of the list leads to its rule.
#[test]
fn explain_all() {
    let listed = run("explain --list", "");
    let ids: Vec<&str> = listed
        .lines()
        .filter_map(|line| line.split_once("  ").map(|(id, _)| id))
        .filter(|id| id.contains('-') && !id.contains(' '))
        .collect();
    for id in rules_of_the_book() {
        assert!(ids.contains(&&*id), "{id} is not listed");
    }
    let all = run(&format!("explain {}", ids.join(" ")), "");
    for mark in ["<a id", "**", "```\n", "| |"] {
        assert!(!all.contains(mark), "`{mark}` is left in the text");
    }
    for id in ids {
        assert!(all.contains(&format!("\n{id} ")), "{id}");
    }
}

/// The words that findings have in place of numbers can be explained, too.
#[test]
fn explain_all_words() {
    let formats = fs::read_to_string(root().join("docs/formats/README.md")).unwrap();
    let (_, own) = formats.split_once("words in place of numbers: ").unwrap();
    let (own, _) = own.split_once("\n`schema`").unwrap();
    let words: Vec<&str> = own.split('`').skip(1).step_by(2).collect();
    assert!(words.len() > 8, "{words:?}");
    let reasons = ErrorType::ALL.iter().map(|error| error.reason());
    let codes = DecisionReason::ALL.iter().map(|reason| reason.code());
    for word in words.into_iter().chain(reasons).chain(codes) {
        let shown = run(&format!("explain {word}"), "");
        assert!(shown.contains("\nexit status: 0\n"), "{shown}");
    }
}

/// The ids in the headings of `docs/rules`.
fn rules_of_the_book() -> Vec<String> {
    let files = fs::read_dir(root().join("docs/rules")).unwrap();
    let texts = files.map(|file| fs::read_to_string(file.unwrap().path()).unwrap());
    let headings = texts.flat_map(|text| {
        let rules = text.lines().filter_map(|line| line.strip_prefix("### "));
        rules.map(|rule| rule.split(' ').next().unwrap().to_owned()).collect::<Vec<_>>()
    });
    let ids: Vec<String> = headings.filter(|id| id.contains('-')).collect();
    assert!(ids.len() > 1_000, "{} rules", ids.len());
    ids
}
