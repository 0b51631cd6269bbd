//! The examples of `--help` run, and the manual pages have them too.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::support::{Scratch, go_platform, root, run, run_with, snapshot};

/// The files that examples name, and those of the workspace that they are.
const FILES: [(&str, &str); 14] = [
    ("crds/backups.data.example.com.yaml", "fixtures/crds/backups.data.example.com.yaml"),
    ("crds/stacks.platform.example.com.yaml", "fixtures/crds/stacks.platform.example.com.yaml"),
    ("new-crds/backups.data.example.com.yaml", "fixtures/crds/backups.data.example.com.yaml"),
    ("new-crds/stacks.platform.example.com.yaml", "fixtures/crds/stacks.platform.example.com.yaml"),
    ("backup.yaml", "fixtures/apply/backup.yaml"),
    ("live.yaml", "fixtures/apply/backup-live.yaml"),
    ("stack.yaml", "fixtures/objects/stack.yaml"),
    ("stack-v1beta1.yaml", "fixtures/objects/stack-v1beta1.yaml"),
    ("manifests/backup.yaml", "fixtures/objects/backup.yaml"),
    ("policies.yaml", "fixtures/suites/backup-policies.yaml"),
    ("hooks.yaml", "fixtures/suites/webhooks.yaml"),
    ("review.json", "fixtures/match/review.json"),
    ("suites/backups.yaml", "fixtures/suites/backups.yaml"),
    ("suites/webhooks.yaml", "fixtures/suites/webhooks.yaml"),
];

const SUBCOMMANDS: [&str; 22] = [
    "decode",
    "prune",
    "default",
    "validate",
    "admit",
    "convert",
    "apply",
    "owners",
    "diff",
    "normalize",
    "neat",
    "check",
    "compat",
    "match",
    "test",
    "serve",
    "envtest",
    "data",
    "explain",
    "explain-expression",
    "completions",
    "man",
];

/// Returns the examples at the end of a help text.
fn examples(help: &str) -> Vec<&str> {
    let (_, examples) = help.split_once("\nExamples:\n").unwrap_or_else(|| panic!("{help}"));
    examples.lines().map_while(|line| line.strip_prefix("  ")).collect()
}

/// A directory with the files that examples name, and a kubectl that prints the live object.
fn project() -> Scratch {
    let project = Scratch::new("help", &[("bin/kubectl", "#!/bin/sh\ncat live.yaml\n")]);
    for (name, file) in FILES {
        project.write(name, &std::fs::read_to_string(root().join(file)).unwrap());
    }
    for directory in [".local/share/bash-completion/completions", ".config/fish/completions"] {
        std::fs::create_dir_all(project.path().join(directory)).unwrap();
    }
    project
}

/// Runs a command line as a shell does.
fn shell(line: &str, directory: &Path) -> Output {
    let built = Path::new(env!("CARGO_BIN_EXE_billhook")).parent().unwrap();
    let path = std::env::var("PATH").unwrap();
    let path = format!("{}/bin:{}:{path}", directory.display(), built.display());
    Command::new("sh")
        .args(["-c", &format!("chmod +x bin/kubectl; {line}")])
        .current_dir(directory)
        .env("PATH", path)
        .env("HOME", directory)
        .env_remove("GITHUB_ACTIONS")
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

/// Starts a server as an example does, until it says that it is ready.
fn serve(line: &str, directory: &Path) -> String {
    let words = line.trim_end_matches(" &").replace("127.0.0.1:8001", "127.0.0.1:0");
    let mut server = Command::new(env!("CARGO_BIN_EXE_billhook"))
        .args(words.split(' ').skip(1))
        .current_dir(directory)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut ready = String::new();
    BufReader::new(server.stdout.take().unwrap()).read_line(&mut ready).unwrap();
    server.kill().unwrap();
    server.wait().unwrap();
    ready.split(' ').next().unwrap().to_owned()
}

/// A terminal of the usual width breaks no line of what stands below the options.
#[test]
fn texts_below_the_options_fit() {
    for subcommand in SUBCOMMANDS {
        let [narrow, wide] = ["100", "400"].map(|columns| {
            let help = run_with(&format!("{subcommand} --help"), b"", &[("COLUMNS", columns)]);
            let (_, below) = help.split_once("  -h, --help").unwrap();
            below.split_once("\n\n").unwrap().1.to_owned()
        });
        assert_eq!(narrow, wide, "{subcommand}");
    }
}

/// The status of each example, and the first line that it prints.
#[cfg(unix)]
#[test]
fn examples_run() {
    let project = project();
    let mut shown = String::new();
    for subcommand in SUBCOMMANDS {
        let help = run(&format!("{subcommand} --help"), "");
        let examples = examples(&help);
        assert!((2..=3).contains(&examples.len()), "{subcommand}: {examples:#?}");
        for example in examples {
            assert!(example.len() <= 98, "a terminal breaks `{example}`");
            shown.push_str(&format!("$ {example}\n"));
            if example.starts_with("billhook serve ") {
                shown.push_str(&format!("{}\n", serve(example, project.path())));
                continue;
            }
            let Output { status, stdout, stderr, .. } = shell(example, project.path());
            let (stdout, stderr) =
                (String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr));
            let code = status.code().unwrap();
            assert!(code < 2, "`{example}` ends with {code}: {stderr}");
            let first = stdout.lines().chain(stderr.lines()).next().unwrap_or_default();
            shown.push_str(&format!("{code}: {first}\n"));
        }
    }
    let directory = project.path().canonicalize().unwrap();
    let shown =
        shown.replace(directory.to_str().unwrap(), "DIR").replace(&go_platform(), "OS-ARCH");
    snapshot!("examples", shown);
}

#[test]
fn subcommands_are_all() {
    let help = run("--help", "");
    let (_, commands) = help.split_once("Commands:\n").unwrap();
    let (commands, _) = commands.split_once("\n\n").unwrap();
    let names = commands.lines().filter(|line| !line.starts_with("   "));
    let names: Vec<&str> = names.filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(names, [SUBCOMMANDS.as_slice(), &["help"]].concat());
}

#[test]
fn pages_have_the_examples() {
    let pages = Scratch::new("pages", &[]);
    pages.run("man DIR");
    for subcommand in SUBCOMMANDS {
        let page = pages.text(&format!("billhook-{subcommand}.1"));
        let (_, examples) = page.split_once("\n.SH EXAMPLES\n").unwrap();
        assert!(examples.starts_with("  billhook "), "{examples}");
        assert!(!page.contains("EXTRA"), "{page}");
    }
}
