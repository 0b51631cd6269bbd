//! The tables of README.md and of pages in `docs`: templates (`docs/templates`) with the numbers of
//! `docs/measured`, which `conformance --record`, `bench-report --record` and `replay --record` write.

mod kinds;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use billhook_apimachinery::print::pretty_json;
use serde_json::Value;

/// The tables: the name of the markers and of the template, and the page that shows the table.
const TABLES: [(&str, &str); 4] = [
    ("kinds", "docs/kinds.md"),
    ("measured", "README.md"),
    ("parity", "docs/parity.md"),
    ("speed", "docs/speed.md"),
];

/// A page with a table.
#[derive(Debug)]
pub struct Page {
    /// Its file, from the root of the repository.
    pub file: &'static str,
    /// Its text as it is.
    pub text: String,
    /// Its text as it should be.
    pub updated: String,
}

/// The measured figures, by name.
pub(crate) type Measured = BTreeMap<String, Value>;

/// A file of `docs/measured`.
fn file(root: &Path, name: &str) -> PathBuf {
    root.join("docs/measured").join(name).with_extension("json")
}

fn read(file: &Path) -> Result<String, String> {
    std::fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))
}

/// The figures in a file of `docs/measured`.
pub(crate) fn measured(root: &Path, name: &str) -> Result<Measured, String> {
    let file = file(root, name);
    serde_json::from_str(&read(&file)?).map_err(|error| format!("{}: {error}", file.display()))
}

/// Adds to a file of `docs/measured`; entries of the same names are replaced.
pub(crate) fn record(root: &Path, name: &str, new: Measured) -> Result<(), String> {
    let mut all = measured(root, name)?;
    all.extend(new);
    let file = file(root, name);
    let text = pretty_json(&Value::Object(all.into_iter().collect())) + "\n";
    std::fs::write(&file, text).map_err(|error| format!("{}: {error}", file.display()))
}

/// Where the numbers of placeholders come from.
struct Numbers {
    conformance: Measured,
    kinds: Measured,
    speed: Measured,
}

impl Numbers {
    /// Expands `vectors FILE…`, `vectors all`, `kinds`, `ratio COMPARISON` or `limit COMPARISON`.
    fn expand(&self, placeholder: &str) -> Result<String, String> {
        let (verb, name) = placeholder.split_once(' ').unwrap_or((placeholder, ""));
        match verb {
            "vectors" => self.vectors(name),
            "kinds" => Ok(kinds::rows(&self.kinds)),
            "ratio" => Ok(format!("{:.2}", number(&self.speed, name, "median")?)),
            "limit" => Ok(format!("{:?}", number(&self.speed, name, "limit")?)),
            _ => Err(format!("unknown placeholder `{placeholder}`")),
        }
    }

    fn vectors(&self, files: &str) -> Result<String, String> {
        let files: Vec<&str> = match files {
            "all" => self.conformance.keys().map(String::as_str).collect(),
            _ => files.split(' ').collect(),
        };
        let (mut passed, mut failed) = (0.0, 0.0);
        for file in files {
            passed += number(&self.conformance, file, "passed")?;
            failed += number(&self.conformance, file, "failed")?;
        }
        let all = thousands(passed + failed);
        Ok(if failed == 0.0 { all } else { format!("{} of {all}", thousands(passed)) })
    }
}

fn number(measured: &Measured, name: &str, field: &str) -> Result<f64, String> {
    let number = measured.get(name).and_then(|entry| entry.get(field)).and_then(Value::as_f64);
    number.ok_or_else(|| format!("`{name}` has no measured `{field}`"))
}

/// Prints a whole number with a comma between groups of three digits.
fn thousands(number: f64) -> String {
    let digits = number.to_string();
    let groups = digits.as_bytes().rchunks(3).rev().map(String::from_utf8_lossy);
    groups.collect::<Vec<_>>().join(",")
}

/// Replaces the placeholders, which stand in braces.
fn expanded(template: &str, numbers: &Numbers) -> Result<String, String> {
    let mut parts = template.split('{');
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (placeholder, rest) = part.split_once('}').ok_or("a brace is not closed")?;
        out += &numbers.expand(placeholder)?;
        out += rest;
    }
    Ok(out)
}

/// Replaces what is between two markers.
fn replaced(text: &str, name: &str, table: &str) -> Result<String, String> {
    let (start, end) = (format!("<!-- {name} -->\n"), format!("<!-- /{name} -->\n"));
    let parts = text.split_once(&start).and_then(|(before, rest)| {
        let (_, after) = rest.split_once(&end)?;
        Some(format!("{before}{start}\n{table}\n{end}{after}"))
    });
    parts.ok_or_else(|| format!("no table between <!-- {name} --> markers"))
}

/// Returns the pages with tables.
pub fn pages(root: &Path) -> Result<Vec<Page>, String> {
    let numbers = Numbers {
        conformance: measured(root, "conformance")?,
        kinds: measured(root, "kinds")?,
        speed: measured(root, "speed")?,
    };
    TABLES.into_iter().map(|(name, file)| page(root, name, file, &numbers)).collect()
}

fn page(root: &Path, name: &str, file: &'static str, numbers: &Numbers) -> Result<Page, String> {
    let template = root.join("docs/templates").join(name).with_extension("md");
    let template_text = read(&template)?;
    let (_, table) = template_text.split_once("\n\n").unwrap_or_default();
    let table =
        expanded(table, numbers).map_err(|error| format!("{}: {error}", template.display()))?;
    let text = read(&root.join(file))?;
    let updated = replaced(&text, name, &table).map_err(|error| format!("{file}: {error}"))?;
    Ok(Page { file, text, updated })
}

fn run(root: &Path, check: bool) -> Result<(), String> {
    for Page { file, text, updated } in pages(root)? {
        if text == updated {
            continue;
        }
        if check {
            return Err(format!("{file} has another table: run `cargo xtask readme`"));
        }
        std::fs::write(root.join(file), updated).map_err(|error| format!("{file}: {error}"))?;
    }
    Ok(())
}

/// `cargo xtask readme`.
pub fn main(root: &Path, check: bool) -> ExitCode {
    match run(root, check) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(template: &str, expected: Result<&str, &str>) {
        let of = |entries: Value| serde_json::from_value::<Measured>(entries).unwrap();
        let numbers = Numbers {
            conformance: of(json!({
                "many": {"passed": 1_234_000, "failed": 0},
                "few": {"passed": 7, "failed": 0},
                "bad": {"passed": 999, "failed": 2},
            })),
            kinds: Measured::new(),
            speed: of(json!({"a / b, all": {"median": 0.126, "limit": 1.0}})),
        };
        let result = expanded(template, &numbers);
        assert_eq!(result.as_deref().map_err(String::as_str), expected);
    }

    #[test]
    fn placeholders() {
        check("no numbers", Ok("no numbers"));
        check("| {vectors few} | {vectors many few} |", Ok("| 7 | 1,234,007 |"));
        check("{vectors few bad}", Ok("1,006 of 1,008"));
        check("{vectors all}", Ok("1,235,006 of 1,235,008"));
        check("{ratio a / b, all} {limit a / b, all}", Ok("0.13 1.0"));
        check("{vectors none}", Err("`none` has no measured `passed`"));
        check("{other few}", Err("unknown placeholder `other few`"));
        check("{vectors", Err("a brace is not closed"));
    }
}
