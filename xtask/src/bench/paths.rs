//! The paths of the product, in a program of their own: by the clock beside their peers, and in
//! instructions, which are kept and compared with those of the change before.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use billhook_benches::callgrind;
use serde_json::json;

use crate::readme::{Measured, measured};

/// The share by which the instructions of a path may grow from one change to the next.
const TOLERANCE: f64 = 0.05;

/// The entry of the recorded instructions with the compiler that they were counted with.
const COMPILER: &str = "compiler";

/// Times the paths for about so long; returns a table, and the ratios that have a limit.
pub(super) fn time(root: &Path, budget: Duration) -> Result<(String, Measured), String> {
    let program = build(root, "release", &[])?;
    let output = Command::new(program).arg("time").arg(budget.as_secs().to_string()).output();
    let output = output.map_err(|error| error.to_string())?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    let mut table =
        "\n| path | µs | against | µs | ratio | limit | met |\n|---|---|---|---|---|---|---|\n"
            .to_owned();
    let mut medians = Measured::new();
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let mut fields = line.split('\t');
        let (name, own) = (fields.next().unwrap_or_default(), number(fields.next()));
        let _ = write!(table, "| {name} | {:.2} |", own / 1e3);
        let Some(peer) = fields.next() else {
            table.push_str(" | | | | |\n");
            continue;
        };
        let other = number(fields.next());
        let ratio = own / other;
        let limit: Option<f64> = fields.next().and_then(|limit| limit.parse().ok());
        let met = limit.map_or("", |limit| if ratio <= limit { "yes" } else { "NO" });
        let shown = limit.map(|limit| limit.to_string()).unwrap_or_default();
        let _ =
            writeln!(table, " {peer} | {:.2} | **{ratio:.2}** | {shown} | {met} |", other / 1e3);
        if let Some(limit) = limit {
            let entry = json!({"median": (ratio * 1e3).round() / 1e3, "limit": limit});
            medians.insert(format!("{name} / {peer}"), entry);
        }
    }
    Ok((table, medians))
}

fn number(field: Option<&str>) -> f64 {
    field.and_then(|field| field.parse().ok()).unwrap_or(f64::NAN)
}

/// Counts the instructions of all paths, with the compiler's version.
pub(super) fn count(root: &Path) -> Result<Measured, String> {
    // Without optimization across crates, which takes long and makes a count depend on all others.
    let program = build(root, "count", &["--no-default-features"])?;
    let directory = std::env::temp_dir().join(format!("billhook-paths-{}", std::process::id()));
    std::fs::create_dir_all(&directory).map_err(|error| error.to_string())?;
    let counted = callgrind::count(&program, &["count".as_ref()], &directory);
    std::fs::remove_dir_all(&directory).map_err(|error| error.to_string())?;
    let (names, counts) = counted?;
    // Each path is between two marks; between paths there is something to skip.
    let counts = counts.into_iter().skip(1).step_by(2);
    let mut all: Measured =
        names.lines().map(str::to_owned).zip(counts.map(|c| json!(c))).collect();
    if all.len() != names.lines().count() {
        return Err("callgrind wrote too few profiles".to_owned());
    }
    all.insert(COMPILER.to_owned(), json!(compiler()?));
    Ok(all)
}

/// Takes the lower count of each path.
pub(super) fn keep_least(counts: &mut Measured, others: Measured) {
    for (name, other) in others {
        if let Some(count) = counts.get_mut(&name)
            && other.as_u64() < count.as_u64()
        {
            *count = other;
        }
    }
}

/// Builds the program; returns where it is.
fn build(root: &Path, profile: &str, options: &[&str]) -> Result<PathBuf, String> {
    const NAME: &str = "billhook-paths";
    let built = Command::new("cargo")
        .args(["build", "--quiet", "--locked", "--profile", profile])
        .args(["--package", "billhook-benches", "--bin", NAME])
        .args(options)
        .current_dir(root)
        .status();
    if !built.map_err(|error| format!("cargo: {error}"))?.success() {
        return Err(format!("{NAME} does not build"));
    }
    let target = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    Ok(root.join(target.unwrap_or_else(|| "target".into())).join(profile).join(NAME))
}

fn compiler() -> Result<String, String> {
    let output = Command::new("rustc").arg("--version").output();
    let output = output.map_err(|error| format!("rustc: {error}"))?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Compares counts with the recorded ones: a table, and the paths that have become slower.
pub(super) fn compare(root: &Path, counts: &Measured) -> Result<(String, Vec<String>), String> {
    let recorded: BTreeMap<_, _> = measured(root, "instructions")?;
    let mut table =
        "| path | thousand instructions | recorded | change |\n|---|---|---|---|\n".to_owned();
    let mut slower = Vec::new();
    let compiler = recorded.get(COMPILER);
    let is_comparable = compiler.is_none() || compiler == counts.get(COMPILER);
    for (name, count) in counts.iter().filter(|(name, _)| *name != COMPILER) {
        let count = count.as_f64().unwrap_or(f64::NAN);
        let _ = write!(table, "| {name} | {:.1} |", count / 1e3);
        let Some(before) = recorded.get(name).and_then(serde_json::Value::as_f64) else {
            table.push_str(" | |\n");
            slower.push(format!("{name}: not recorded"));
            continue;
        };
        let change = count / before - 1.0;
        let _ = writeln!(table, " {:.1} | {:+.1} % |", before / 1e3, change * 100.0);
        if change > TOLERANCE {
            slower.push(format!("{name}: {:+.1} % instructions", change * 100.0));
        }
    }
    if !is_comparable {
        let _ =
            writeln!(table, "\nThe figures were recorded with another compiler and prove nothing.");
        slower.clear();
    }
    Ok((table, slower))
}
