//! Ratios in instructions, counted by callgrind: the same in every run and on a busy machine.
//!
//! Inputs are prepared here and handed over as files. A small program runs each contestant once
//! between two calls of a marked function, where callgrind starts a new profile.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use billhook_benches::{Contestant, Input, callgrind};

use super::table::Costs;

/// Counts everything; gives the tables.
pub(super) fn run() -> Result<String, String> {
    let program = build()?;
    let directory = std::env::temp_dir().join(format!("billhook-count-{}", std::process::id()));
    std::fs::create_dir_all(&directory).map_err(|error| error.to_string())?;
    let report = count_all(&program, &directory);
    std::fs::remove_dir_all(&directory).map_err(|error| error.to_string())?;
    report
}

/// Builds the program that is counted; it lies beside this one.
fn build() -> Result<PathBuf, String> {
    const NAME: &str = "billhook-count";
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let built = Command::new(cargo)
        .args(["build", "--quiet", "--release", "--package", "billhook-benches", "--bin", NAME])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .status();
    match built {
        Ok(status) if status.success() => {}
        Ok(_) => return Err(format!("{NAME} does not build")),
        Err(error) => return Err(format!("cargo: {error}")),
    }
    let this = std::env::current_exe().map_err(|error| error.to_string())?;
    Ok(this.with_file_name(NAME))
}

fn count_all(program: &Path, directory: &Path) -> Result<String, String> {
    let (inputs, widths) = (super::inputs(), super::widths());
    let queue = Mutex::new(inputs.iter().chain(&widths).enumerate());
    let found = Mutex::new(BTreeMap::new());
    let work = || -> Result<(), String> {
        loop {
            let Some((index, input)) = queue.lock().map_err(|_| "stopped")?.next() else {
                return Ok(());
            };
            eprintln!("counting {}", input.title());
            let counts = count(program, &directory.join(index.to_string()), input)?;
            let mut found = found.lock().map_err(|_| "stopped")?;
            found.extend(counts.into_iter().map(|(who, count)| ((index, who), count)));
        }
    };
    // Other work beside it changes times, but not counts.
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        let mut ends = workers.into_iter().map(|worker| worker.join());
        ends.try_for_each(|end| end.map_err(|_| "stopped")?)
    })?;
    let found = found.into_inner().map_err(|_| "stopped")?;
    let costs = Costs { inputs: &inputs, widths: &widths, costs: found };
    Ok(format!("Ratios of instructions.\n\n{}\n{}", costs.ratios(), counts_table(&costs)))
}

/// The instructions of each contestant on an input.
fn count(
    program: &Path,
    directory: &Path,
    input: &Input,
) -> Result<Vec<(Contestant, f64)>, String> {
    std::fs::create_dir(directory).map_err(|error| error.to_string())?;
    let file = directory.join("input");
    input.write(&file).map_err(|error| error.to_string())?;
    let (_, counts) = callgrind::count(program, &[file.as_os_str()], directory)?;
    // Each contestant is between two marks; between contestants there is something to skip.
    let counts: Vec<f64> = counts.into_iter().skip(1).step_by(2).collect();
    match counts.len() == Contestant::ALL.len() {
        true => Ok(Contestant::ALL.into_iter().zip(counts).collect()),
        false => Err(format!("callgrind wrote {} profiles", counts.len())),
    }
}

fn counts_table(costs: &Costs<'_>) -> String {
    let names: Vec<&str> = Contestant::ALL.iter().map(|contestant| contestant.name()).collect();
    let mut out = format!("| thousand instructions | {} |\n|---|", names.join(" | "));
    out.push_str(&"---|".repeat(names.len()));
    out.push('\n');
    for (index, input) in costs.inputs.iter().chain(costs.widths).enumerate() {
        let _ = write!(out, "| {} |", input.title());
        for contestant in Contestant::ALL {
            let count = costs.costs.get(&(index, contestant));
            let _ = write!(out, " {:.1} |", count.copied().unwrap_or(f64::NAN) / 1e3);
        }
        out.push('\n');
    }
    out
}
