//! The names under which the program takes the place of others (ET-03): `kube-apiserver`, `etcd` and
//! `kubectl`, as the harness `envtest` starts them.

mod apiserver;
mod etcd;
mod flags;
mod kubectl;
mod log;
mod options;
mod users;

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::ExitCode;

/// A program whose place is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Program {
    ApiServer,
    Etcd,
    Kubectl,
}

impl Program {
    pub(crate) const ALL: [Program; 3] = [Program::ApiServer, Program::Etcd, Program::Kubectl];

    /// The name of its file.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Program::ApiServer => "kube-apiserver",
            Program::Etcd => "etcd",
            Program::Kubectl => "kubectl",
        }
    }

    /// The program that was started by a path, whatever file lies there (ET-04).
    fn of(path: &OsStr) -> Option<Self> {
        let name = Path::new(path).file_name()?.to_str()?;
        let name = name.strip_suffix(".exe").unwrap_or(name);
        Self::ALL.into_iter().find(|program| program.name() == name)
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_files() {
        for (path, program) in [
            ("kube-apiserver", Some(Program::ApiServer)),
            ("/a b/k8s/1.36.0-linux-amd64/etcd", Some(Program::Etcd)),
            ("bin/kubectl.exe", Some(Program::Kubectl)),
            ("billhook", None),
            ("etcdctl", None),
            ("", None),
        ] {
            assert_eq!(Program::of(OsStr::new(path)), program, "{path}");
        }
    }
}
