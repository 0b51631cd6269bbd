//! The cost of the hot path, as ratios between contestants on the same inputs: by the clock and in
//! instructions.

mod count;
mod paths;
mod report;
mod rows;
mod table;

use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use billhook_benches::{Input, Variant, shapes, sources};

use crate::readme::record;

/// All inputs in all variants.
fn inputs() -> Vec<Input> {
    let sources = sources();
    let variants =
        |source| Variant::ALL.map(|variant| billhook_benches::Source::input(source, variant));
    sources.iter().flat_map(variants).collect()
}

/// A narrow schema, and wide ones with all or few properties present; equally many members.
fn widths() -> [Input; 3] {
    const MEMBERS: usize = 20_000;
    [(10, 10), (2_000, 2_000), (2_000, 10)]
        .map(|(properties, present)| shapes::wide(properties, present, MEMBERS / present))
}

/// The options of `cargo xtask bench-report`.
#[derive(clap::Args)]
pub struct Options {
    /// Measure for fifteen seconds instead of a hundred
    #[arg(long)]
    quick: bool,
    /// Print the times themselves, too
    #[arg(long)]
    times: bool,
    /// Write the medians that have a limit to docs/measured/speed.json
    #[arg(long)]
    record: bool,
}

/// `cargo xtask bench-report`.
pub fn report_main(root: &Path, options: &Options) -> ExitCode {
    print(report(root, options))
}

fn report(root: &Path, options: &Options) -> Result<String, String> {
    let budget = Duration::from_secs(if options.quick { 15 } else { 100 });
    let (hot_path, mut medians) = report::run(budget, options.times);
    let (paths, of_paths) = paths::time(root, budget)?;
    medians.extend(of_paths);
    if options.record {
        record(root, "speed", medians)?;
    }
    Ok(hot_path + &paths)
}

/// The options of `cargo xtask bench-count`.
#[derive(clap::Args)]
pub struct CountOptions {
    /// Count the paths of the product only, not the hot path on all inputs
    #[arg(long)]
    paths: bool,
    /// Write the instructions of the paths to docs/measured/instructions.json
    #[arg(long, conflicts_with = "check")]
    record: bool,
    /// Fail if a path takes 5 % more instructions than recorded
    #[arg(long)]
    check: bool,
}

/// `cargo xtask bench-count`.
pub fn count_main(root: &Path, options: &CountOptions) -> ExitCode {
    print(count_all(root, options))
}

/// How often paths that seem slower are counted again.
const MORE_COUNTS: usize = 2;

fn count_all(root: &Path, options: &CountOptions) -> Result<String, String> {
    let hot_path = if options.paths { String::new() } else { count::run()? + "\n" };
    let mut counts = paths::count(root)?;
    let (mut table, mut slower) = paths::compare(root, &counts)?;
    // The allocator may tidy up in one count and not in the next: a path costs the least of a few.
    for _ in 0..MORE_COUNTS {
        if !options.check || slower.is_empty() {
            break;
        }
        paths::keep_least(&mut counts, paths::count(root)?);
        (table, slower) = paths::compare(root, &counts)?;
    }
    if options.record {
        record(root, "instructions", counts)?;
    } else if options.check && !slower.is_empty() {
        let advice =
            "make them faster, or run `cargo xtask bench-count --paths --record` and say why";
        return Err(format!("{table}\n{}\n{advice}", slower.join("\n")));
    }
    Ok(hot_path + &table)
}

/// `cargo xtask ci instructions`: no path takes more instructions than the change before allows.
pub(crate) fn check_instructions(root: &Path) -> Result<(), String> {
    if !billhook_benches::callgrind::is_there() {
        println!("no valgrind: the instructions are not counted");
        return Ok(());
    }
    let options = CountOptions { paths: true, record: false, check: true };
    count_all(root, &options).map(|table| println!("{table}"))
}

fn print(report: Result<String, String>) -> ExitCode {
    match report {
        Ok(report) => {
            print!("{report}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
