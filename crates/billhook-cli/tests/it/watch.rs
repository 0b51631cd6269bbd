//! `--watch`: a child process that runs again when something changes, until it is interrupted.

use std::io::{BufRead as _, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use crate::support::{Scratch, root, run};

/// Only a process that does nothing takes so long.
const LIMIT: Duration = Duration::from_secs(120);

/// A command that watches, and the lines that come out of it.
struct Watching {
    process: Child,
    lines: Receiver<String>,
}

impl Watching {
    fn new(scratch: &Scratch, args: &str) -> Self {
        let mut process = Command::new(env!("CARGO_BIN_EXE_billhook"))
            .args(args.replace("DIR", scratch.path().to_str().unwrap()).split_whitespace())
            .current_dir(root())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let (sender, lines) = channel();
        let outputs: [Box<dyn Read + Send>; 2] =
            [Box::new(process.stdout.take().unwrap()), Box::new(process.stderr.take().unwrap())];
        for output in outputs {
            let sender = sender.clone();
            thread::spawn(move || {
                for line in BufReader::new(output).lines() {
                    let _ = sender.send(line.unwrap());
                }
            });
        }
        Watching { process, lines }
    }

    /// Reads up to a line with a text and the one that ends the run, in any order.
    fn see(&self, text: &str) {
        let mut wanted = vec![text, "Ctrl-C ends"];
        let mut seen = Vec::new();
        while !wanted.is_empty() {
            let line = self.lines.recv_timeout(LIMIT);
            let line = line.unwrap_or_else(|_| panic!("no {wanted:?} after {seen:#?}"));
            assert!(!line.contains('\x1b'), "{line:?}");
            wanted.retain(|wanted| !line.contains(wanted));
            seen.push(line);
        }
    }

    /// Interrupts the command, which ends well.
    fn interrupt(mut self) {
        let id = self.process.id().to_string();
        assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
        assert_eq!(self.process.wait().unwrap().code(), Some(0));
        // Lines of the last run may still come.
        assert!(self.lines.iter().all(|line| !line.contains("panicked")));
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        // It has ended, unless the test failed.
        let _ = self.process.kill();
    }
}

const BACKUP: &str = r#"apiVersion: data.example.com/v1
kind: Backup
metadata: {name: a}
spec:
  schedule: 1 2 3 4 5
  target: {url: "https://a"}
"#;

#[test]
fn validate_watches_inputs_crds_and_settings() {
    let crd = std::fs::read_to_string(root().join("fixtures/crds/backups.data.example.com.yaml"));
    let crd = crd.unwrap();
    let scratch = Scratch::new("watch", &[("crds/backup.yaml", &crd), ("in/a.yaml", BACKUP)]);
    let watching = Watching::new(&scratch, "validate --watch --crd DIR/crds DIR/in");
    watching.see("Backup a: valid");
    scratch.write("in/a.yaml", &BACKUP.replace("schedule", "shedule"));
    watching.see("spec.schedule: Required value");
    scratch.write("crds/backup.yaml", &crd.replace("schedule", "shedule"));
    watching.see("Backup a: valid");
    scratch.write("in/more/b.yaml", &BACKUP.replace("name: a", "name: b"));
    watching.see("2 files, 2 objects: 1 error");
    scratch.write("in/billhook.toml", "rules.FieldValueRequired = \"off\"\n");
    watching.see("Backup b: invalid, but ignored");
    std::fs::remove_file(scratch.path().join("in/more/b.yaml")).unwrap();
    watching.see("Backup a: valid");
    watching.interrupt();
}

#[test]
fn tests_are_watched() {
    let suite = "crds: [crds]\ncases:\n- name: x\n  object: {apiVersion: data.example.com/v1, kind: Backup, spec: {schedule: 1 2 3 4 5, target: {url: 'https://a'}}}\n";
    let crd = std::fs::read_to_string(root().join("fixtures/crds/backups.data.example.com.yaml"));
    let scratch =
        Scratch::new("watch-test", &[("crds/backup.yaml", &crd.unwrap()), ("t/a.yaml", suite)]);
    scratch.write("t/a.yaml", &suite.replace("[crds]", "[../crds]"));
    let watching = Watching::new(&scratch, "test --watch DIR/t");
    watching.see("1 passed, 0 failed");
    scratch.write("t/a.yaml", &suite.replace("[crds]", "[../crds]").replace("schedule", "x"));
    watching.see("0 passed, 1 failed");
    scratch.write("t/new/b.yaml", &suite.replace("[crds]", "[../../crds]"));
    watching.see("1 passed, 1 failed");
    watching.interrupt();
}

#[test]
fn check_and_decode_watch_files() {
    let crd = std::fs::read_to_string(root().join("fixtures/crds/backups.data.example.com.yaml"));
    let crd = crd.unwrap();
    let scratch = Scratch::new("watch-one", &[("a.yaml", BACKUP), ("crd.yaml", &crd)]);
    let watching = Watching::new(&scratch, "check --watch DIR/crd.yaml");
    watching.see("accepted");
    scratch.write("crd.yaml", &crd.replace("kind: Backup", "kind: backup!"));
    watching.see("refused");
    watching.interrupt();
    scratch.write("crd.yaml", &crd);
    let watching = Watching::new(&scratch, "decode --watch --crd DIR/crd.yaml DIR/a.yaml");
    watching.see("schedule: 1 2 3 4 5");
    // A file beside it is none of its business.
    scratch.write("b.yaml", BACKUP);
    scratch.write("a.yaml", &BACKUP.replace("1 2 3 4 5", "1 2 3 4 6"));
    watching.see("schedule: 1 2 3 4 6");
    // A file that is replaced, as editors do, and one that is gone for a while.
    scratch.write("c.yaml", &BACKUP.replace("1 2 3 4 5", "1 2 3 4 7"));
    std::fs::rename(scratch.path().join("c.yaml"), scratch.path().join("a.yaml")).unwrap();
    watching.see("schedule: 1 2 3 4 7");
    std::fs::remove_file(scratch.path().join("a.yaml")).unwrap();
    watching.see("no such file or directory");
    scratch.write("a.yaml", BACKUP);
    watching.see("schedule: 1 2 3 4 5");
    watching.interrupt();
}

#[test]
fn standard_input_cannot_be_watched() {
    for args in ["validate --watch --crd fixtures/crds -", "check --watch -"] {
        let shown = run(args, BACKUP);
        assert!(shown.contains("error: `--watch` cannot watch standard input"), "{shown}");
        assert!(shown.contains("exit status: 2"), "{shown}");
    }
}
