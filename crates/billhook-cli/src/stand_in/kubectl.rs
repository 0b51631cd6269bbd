//! `kubectl`: not ours. Harnesses want a file of this name, and few run it (ET-02).

use std::process::ExitCode;

use super::log;

/// Says where the real one is to be had.
pub(super) fn run(arguments: &[String]) -> ExitCode {
    if arguments.first().is_some_and(|first| first == "--help" || first == "help") {
        log::line(WHERE);
        return ExitCode::SUCCESS;
    }
    log::line(&format!("error: {WHERE}"));
    ExitCode::FAILURE
}

const WHERE: &str = "billhook takes the place of kube-apiserver and etcd, not of kubectl; put a \
    kubectl in place of this file: https://kubernetes.io/docs/tasks/tools/";
