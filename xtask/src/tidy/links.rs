//! Links in Markdown lead to files that exist, and to rules that exist.

use std::path::Path;

use super::Files;

pub(super) fn check(files: &Files, root: &Path, problems: &mut Vec<String>) {
    for (file, text) in files.ending_in(".md") {
        let directory = Path::new(file).parent().unwrap_or(Path::new(""));
        let mut in_code = false;
        for (index, line) in text.lines().enumerate() {
            in_code ^= line.starts_with("```");
            if in_code || line.starts_with("    ") {
                continue;
            }
            for target in targets(line) {
                if let Err(problem) = check_target(files, root, file, directory, &target) {
                    problems.push(format!("{file}:{}: {target}: {problem}", index + 1));
                }
            }
        }
    }
}

/// The targets of links outside of code.
fn targets(line: &str) -> Vec<String> {
    let without_code: String =
        line.replace("``", "`").split('`').step_by(2).collect::<Vec<_>>().join("`");
    let after = without_code.split("](").skip(1);
    after.filter_map(|rest| Some(rest.split_once(')')?.0.to_owned())).collect()
}

fn check_target(
    files: &Files,
    root: &Path,
    file: &str,
    directory: &Path,
    target: &str,
) -> Result<(), String> {
    if target.contains("://") || target.starts_with("mailto:") {
        return Ok(());
    }
    let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
    let path = if path.is_empty() { file.into() } else { directory.join(path) };
    if !root.join(&path).exists() {
        return Err("does not exist".to_owned());
    }
    let text = files.text(&path.to_string_lossy()).unwrap_or_default();
    match anchor {
        "" => Ok(()),
        anchor if has_anchor(text, anchor) => Ok(()),
        _ => Err("no such anchor".to_owned()),
    }
}

fn has_anchor(text: &str, anchor: &str) -> bool {
    let heading = |line: &str| {
        let title = line.trim_start_matches('#').trim().to_lowercase().replace(' ', "-");
        line.starts_with('#')
            && title.chars().filter(|c| c.is_alphanumeric() || "-_".contains(*c)).eq(anchor.chars())
    };
    text.contains(&format!("<a id=\"{anchor}\">")) || text.lines().any(heading)
}
