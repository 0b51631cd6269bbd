//! The messages of the commits of a change: one of many lines says why, in a body.

use std::path::Path;
use std::process::Command;

/// Up to so many changed lines a subject is enough.
const LINES: usize = 100;

/// Checks the commits after a base: the commit in the variable `BILLHOOK_BASE`, or else where the change
/// left `origin/main`. Merges are not looked at. Without a base, as in a clone without history, nothing
/// is checked.
///
/// # Errors
///
/// Returns the commits that need a body.
pub fn check(root: &Path) -> Result<(), String> {
    let given = std::env::var("BILLHOOK_BASE").ok();
    let base = match &given {
        Some(base) => {
            git(root, &["rev-parse", "--verify", "--quiet", &format!("{base}^{{commit}}")])
        }
        None => git(root, &["merge-base", "HEAD", "origin/main"]),
    };
    let Some(base) = base else {
        println!("no commit to compare with: the messages of commits are left out");
        return Ok(());
    };
    let range = format!("{}..HEAD", base.trim());
    let log =
        git(root, &["log", "--no-merges", "--numstat", "--format=%x00%h %s%x01%b%x01", &range])
            .ok_or("git log failed")?;
    let without: Vec<&str> = log.split('\0').filter_map(unexplained).collect();
    if without.is_empty() {
        return Ok(());
    }
    Err(format!("commits of over {LINES} lines need a body that says why: {}", without.join("; ")))
}

/// The hash and the subject of a commit that needs a body and has none. Its text is the subject, the body
/// and the numbers of lines, between separators.
fn unexplained(commit: &str) -> Option<&str> {
    let mut parts = commit.splitn(3, '\x01');
    let (subject, body, files) = (parts.next()?, parts.next()?, parts.next()?);
    let lines: usize = files.lines().map(changed_lines).sum();
    (body.trim().is_empty() && lines > LINES).then_some(subject)
}

/// The added and removed lines of a file; none of one that is not text.
fn changed_lines(line: &str) -> usize {
    line.split('\t').take(2).filter_map(|number| number.parse::<usize>().ok()).sum()
}

/// The output of git; none if it fails.
fn git(root: &Path, arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).current_dir(root).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_commits_have_a_body() {
        let of = |body: &str, lines: &str| {
            unexplained(&format!("abc A subject\x01{body}\x01\n\n{lines}")).map(str::to_owned)
        };
        let named = Some("abc A subject".to_owned());
        assert_eq!(of("", "60\t41\ta.rs\n"), named);
        assert_eq!(of("\n", "60\t0\ta.rs\n0\t41\tb.rs\n"), named);
        assert_eq!(of("", "60\t40\ta.rs\n-\t-\tpicture.png\n"), None);
        assert_eq!(of("Because.\n", "600\t40\ta.rs\n"), None);
        assert_eq!(unexplained(""), None);
    }
}
