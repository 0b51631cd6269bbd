//! Runs the built command and compares all that comes out of it with snapshots.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Returns the root of the workspace, where commands run.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Runs the command; gives all that comes out of it.
pub(crate) fn run(args: &str, stdin: &str) -> String {
    run_with(args, stdin.as_bytes(), &[])
}

pub(crate) fn run_with(args: &str, stdin: &[u8], environment: &[(&str, &str)]) -> String {
    let mut child = Command::new(env!("CARGO_BIN_EXE_billhook"))
        .args(args.split_whitespace())
        .current_dir(root())
        .env_remove("NO_COLOR")
        .env_remove("CLICOLOR_FORCE")
        .env_remove("GITHUB_ACTIONS")
        .envs(environment.iter().copied())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut pipe = child.stdin.take().unwrap();
    // A command that does not read its input may be gone before it is written.
    let _ = pipe.write_all(stdin);
    drop(pipe);
    let output = child.wait_with_output().unwrap();
    let (stdout, stderr) = (output.stdout, output.stderr);
    format!(
        "$ billhook {args}\nexit status: {}\n\n-- standard output\n{}\n-- standard error\n{}",
        output.status.code().unwrap(),
        String::from_utf8(stdout).unwrap(),
        String::from_utf8(stderr).unwrap()
    )
}

/// The platform in the name of a directory of setup-envtest, such as `linux-amd64`.
pub(crate) fn go_platform() -> String {
    let os = match std::env::consts::OS {
        "macos" => "darwin",
        other => other,
    };
    let architecture = match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    };
    format!("{os}-{architecture}")
}

/// A directory that is removed at the end.
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    /// Creates a directory with files by their paths in it.
    pub(crate) fn new(name: &str, files: &[(&str, &str)]) -> Self {
        let scratch =
            Scratch(std::env::temp_dir().join(format!("billhook-{}-{name}", std::process::id())));
        fs::create_dir_all(&scratch.0).unwrap();
        files.iter().for_each(|(file, text)| scratch.write(file, text));
        scratch
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    pub(crate) fn write(&self, file: &str, text: &str) {
        let path = self.0.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn text(&self, file: &str) -> String {
        fs::read_to_string(self.0.join(file)).unwrap()
    }

    /// Runs the command, in whose arguments `DIR` is the directory; so it is in what comes out.
    pub(crate) fn run(&self, args: &str) -> String {
        let path = self.0.to_str().unwrap();
        run(&args.replace("DIR", path), "").replace(path, "DIR")
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Compares with a snapshot beside the test file; its first line says all that the expression
/// would.
macro_rules! snapshot {
    ($name:expr, $shown:expr) => {
        insta::with_settings!({omit_expression => true}, { insta::assert_snapshot!($name, $shown) })
    };
}

/// One snapshot for each: name, arguments, standard input.
macro_rules! cases {
    ($($name:ident: $args:literal $(< $stdin:expr)?;)*) => {
        $(#[test]
        fn $name() {
            let stdin = String::new() $(+ &$stdin[0])?;
            snapshot!(stringify!($name), run($args, &stdin));
        })*
    };
}

/// Splits a long report in JSON: the report with numbers in place of the objects at an
/// indentation, and these objects.
pub(crate) fn entries(shown: &str, indentation: usize) -> (String, Vec<String>) {
    let indentation = " ".repeat(indentation);
    let (mut rest, mut entries) = (String::new(), Vec::new());
    let mut entry: Option<String> = None;
    for line in shown.lines() {
        let at = line.strip_prefix(&indentation);
        if at == Some("{") {
            entry = Some(String::new());
        }
        let Some(open) = &mut entry else {
            rest.extend([line, "\n"]);
            continue;
        };
        open.extend([at.unwrap_or(line), "\n"]);
        if matches!(at, Some("}" | "},")) {
            rest.push_str(&format!("{indentation}#{}\n", entries.len()));
            entries.extend(entry.take());
        }
    }
    (rest, entries)
}

/// One snapshot for a report and one for each of its objects at an indentation.
macro_rules! report_snapshots {
    ($name:expr, $indentation:expr, $shown:expr) => {
        let (rest, entries) = crate::support::entries(&$shown, $indentation);
        assert!(entries.len() > 1);
        snapshot!($name, rest);
        for (index, entry) in entries.iter().enumerate() {
            snapshot!(format!("{}-{index}", $name), entry);
        }
    };
}

pub(crate) use {cases, report_snapshots, snapshot};
