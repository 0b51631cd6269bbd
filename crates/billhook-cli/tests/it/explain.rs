//! `billhook explain`: rules as text, lists of ids, and ids that do not exist.

use crate::support::{cases, run, run_with, snapshot};

cases! {
    explain_list_of_cases: "explain PR-12";
    explain_two: "explain pr-32 WCF-L1";
    explain_table: "explain DI-T2";
    explain_wide_table: "explain SS-03 OM-31";
    explain_code: "explain WCF-40";
    explain_families: "explain --list pr-2 DI-T1";
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
    assert!(ids.len() >= 810, "{} ids", ids.len());
    let all = run(&format!("explain {}", ids.join(" ")), "");
    for mark in ["<a id", "**", "```\n", "| |"] {
        assert!(!all.contains(mark), "`{mark}` is left in the text");
    }
    for id in ids {
        assert!(all.contains(&format!("\n{id} ")), "{id}");
    }
}
