//! The names under which the program takes the place of others (ET-03): `kube-apiserver`, `etcd` and
//! `kubectl`, as the harness `envtest` starts them.

mod apiserver;
mod backend;
mod etcd;
mod flags;
mod kubectl;
mod log;
mod options;
mod users;

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use crate::program::Program;

/// Runs the program that the first argument names; `None` if it is none of them.
pub(crate) fn run() -> Option<ExitCode> {
    let mut arguments = std::env::args_os();
    let path = arguments.next()?;
    let program = Program::of(&path)?;
    let arguments: Vec<OsString> = arguments.collect();
    let arguments: Vec<String> =
        arguments.iter().map(|argument| argument.to_string_lossy().into_owned()).collect();
    Some(match program {
        Program::ApiServer => apiserver::run(Path::new(&path), &arguments),
        Program::Etcd => etcd::run(&arguments),
        Program::Kubectl => kubectl::run(&arguments),
    })
}

/// A runtime as small as one server of many on a machine needs it (ET-82).
fn runtime() -> std::io::Result<tokio::runtime::Runtime> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(2);
    tokio::runtime::Builder::new_multi_thread().worker_threads(threads).enable_all().build()
}
