//! `kube-apiserver --help` (ET-14).

use std::fmt::Write as _;

use super::table::{Answer, Flag, Kind, SECTIONS};

const ABOUT: &str = "\
billhook in place of kube-apiserver: the API server of Kubernetes in one small process, with its
objects in memory.

Usage:
  kube-apiserver [flags]
";

const OWN: &str = "
--billhook-controllers switches on what a controller manager does: `all`, or `namespaces`, which ends the
deletion of namespaces, `gc`, which collects what has no owner any more, `workloads`, `nodes`, which
schedules and simulates pods, or names of controllers; BILLHOOK_CONTROLLERS does the same.
--billhook-strict refuses flags that have no effect here.
";

/// The help text: flags by subject, and the effect of each.
pub(in super::super) fn help() -> String {
    let mut text = ABOUT.to_owned() + OWN;
    for section in SECTIONS {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "\n{} flags:\n", section.name);
        for flag in section.flags {
            text += &line(flag);
        }
    }
    text
}

fn line(flag: &Flag) -> String {
    let name = match flag.short {
        Some(short) if flag.name.starts_with(short) && flag.name.len() > 1 => {
            format!("  -{short}, --{}", flag.name)
        }
        Some(short) => format!("  -{short}, --{short}"),
        None => format!("      --{}", flag.name),
    };
    let kind = match flag.kind {
        Kind::Bool => "",
        Kind::Number => " int",
        Kind::Count => " float",
        Kind::Duration => " duration",
        Kind::Text => " string",
        Kind::List => " strings",
        Kind::Pairs => " mapStringString",
    };
    let becomes = match flag.answer {
        Answer::Honored => String::new(),
        Answer::Accepted => "   Accepted; nothing depends on it.".to_owned(),
        Answer::Idle(what) => format!("   Accepted; has no effect: {what}."),
        Answer::Refused(why) => format!("   Refused: {why}."),
    };
    format!("{name}{kind}{becomes}\n")
}
