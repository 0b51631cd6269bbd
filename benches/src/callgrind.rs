//! Instructions counted by callgrind: the same in every run and on a busy machine.

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Stdio};

/// Separates what is counted: a new count begins at each call.
#[inline(never)]
pub fn count_mark() {
    std::hint::black_box(());
}

/// Runs a program under callgrind. Returns what it printed, and the instructions before the first
/// [`count_mark`] and between each two. The directory, which has to exist, is left with callgrind's
/// files in it.
///
/// # Errors
///
/// valgrind is missing, the program fails, or callgrind writes no profile.
pub fn count(
    program: &Path,
    arguments: &[&OsStr],
    directory: &Path,
) -> Result<(String, Vec<f64>), String> {
    if !is_there() {
        return Err("valgrind is missing: `apt-get install valgrind`".to_owned());
    }
    let profile = directory.join("profile");
    let output = Command::new("valgrind")
        .arg("--tool=callgrind")
        .arg("--dump-before=*count_mark*")
        .arg(format!("--callgrind-out-file={}", profile.display()))
        .arg(program)
        .args(arguments)
        .output()
        .map_err(|error| format!("valgrind: {error}"))?;
    if !output.status.success() {
        return Err(format!("valgrind: {}", String::from_utf8_lossy(&output.stderr)));
    }
    let mut counts = Vec::new();
    loop {
        // Each mark ends a numbered profile.
        let numbered = format!("{}.{}", profile.display(), counts.len() + 1);
        if !Path::new(&numbered).exists() {
            break;
        }
        counts.push(total(Path::new(&numbered))?);
    }
    Ok((String::from_utf8_lossy(&output.stdout).into_owned(), counts))
}

/// Returns whether there is a valgrind to count with.
pub fn is_there() -> bool {
    let found = Command::new("valgrind").arg("--version").stdout(Stdio::null()).status();
    found.is_ok_and(|status| status.success())
}

fn total(profile: &Path) -> Result<f64, String> {
    let name = profile.display();
    let text = std::fs::read_to_string(profile).map_err(|error| format!("{name}: {error}"))?;
    let total = text.lines().find_map(|line| line.strip_prefix("summary: "));
    let total = total.and_then(|total| total.trim().parse().ok());
    total.ok_or_else(|| format!("{name} has no summary"))
}
