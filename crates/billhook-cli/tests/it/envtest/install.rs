//! `billhook envtest`: where the programs are put, and how tools find them (ET-01 to ET-05, ET-50 to
//! ET-54).

use std::io::Read as _;
use std::process::Command;

use super::harness::run as run_program;
use crate::support::{Scratch, go_platform, snapshot};

/// ET-50, ET-51.
#[test]
fn programs_lie_where_setup_envtest_looks() {
    let scratch = Scratch::new("envtest-install", &[]);
    let platform = |version: &str| format!("k8s/{version}-{}", go_platform());
    let shown = |text: String| text.replace(&platform("1.36.999"), "k8s/1.36.999-OS-ARCH");
    let missing = shown(scratch.run("envtest path --bin-dir DIR"));
    snapshot!("envtest_missing", missing);
    let installed = scratch.run("envtest install --bin-dir DIR --print env");
    snapshot!("envtest_install", shown(installed));
    snapshot!("envtest_path", shown(scratch.run("envtest path --bin-dir DIR")));
    for name in ["kube-apiserver", "etcd", "kubectl"] {
        let file = scratch.path().join(platform("1.36.999")).join(name);
        assert!(file.symlink_metadata().unwrap().is_file(), "{name}: links do not survive copying");
    }
    // The directory of another version is another server.
    scratch.run("envtest install --bin-dir DIR --version 1.34.1");
    let server = scratch.path().join(platform("1.34.1")).join("kube-apiserver");
    let version = Command::new(server).arg("--version").output().unwrap();
    assert!(version.stdout.starts_with(b"Kubernetes v1.34."), "{version:?}");
}

#[test]
fn other_programs_are_not_replaced() {
    let scratch = Scratch::new("envtest-other", &[]);
    scratch.run("envtest install --bin-dir DIR");
    let directory = std::fs::read_dir(scratch.path().join("k8s")).unwrap().next().unwrap();
    let directory = directory.unwrap().path();
    std::fs::remove_file(directory.join(".billhook")).unwrap();
    let refused = scratch.run("envtest install --bin-dir DIR");
    assert!(refused.contains("there are other programs, which are not replaced"), "{refused}");
    let refused = scratch.run("envtest install --bin-dir DIR --version 1.36");
    assert!(refused.contains("exit status: 2"), "{refused}");
}

/// ET-53: three regular files.
#[test]
fn archives_are_as_setup_envtest_reads_them() {
    let scratch = Scratch::new("envtest-archive", &[]);
    scratch.run("envtest install --archive DIR/a.tar.gz");
    let file = std::fs::File::open(scratch.path().join("a.tar.gz")).unwrap();
    let mut archive = flate2::read::MultiGzDecoder::new(file);
    let mut names = Vec::new();
    loop {
        let mut header = [0; 512];
        archive.read_exact(&mut header).unwrap();
        if header[0] == 0 {
            break;
        }
        let text = |range: std::ops::Range<usize>| {
            let text = std::str::from_utf8(&header[range]).unwrap();
            text.trim_matches(['\0', ' ']).to_owned()
        };
        let mut summed = header;
        summed[148..156].fill(b' ');
        let sum: u32 = summed.iter().map(|byte| u32::from(*byte)).sum();
        assert_eq!(u32::from_str_radix(&text(148..156), 8).unwrap(), sum);
        assert_eq!((text(100..108).as_str(), text(156..157).as_str()), ("0000555", "0"));
        let size = u64::from_str_radix(&text(124..136), 8).unwrap();
        let copied = std::io::copy(&mut (&mut archive).take(size), &mut std::io::sink()).unwrap();
        assert_eq!(copied, size);
        let rest = size.next_multiple_of(512) - size;
        std::io::copy(&mut (&mut archive).take(rest), &mut std::io::sink()).unwrap();
        names.push(text(0..100));
    }
    let directory = "controller-tools/envtest";
    let expected = ["kube-apiserver", "etcd", "kubectl"].map(|name| format!("{directory}/{name}"));
    assert_eq!(names, expected);
}

#[test]
fn help_tells_what_becomes_of_flags() {
    let help = String::from_utf8(run_program("kube-apiserver", &["--help"]).stdout).unwrap();
    snapshot!("envtest_help", help);
}
