//! The cost of the hot path, as ratios between contestants on the same inputs: by the clock and in
//! instructions.

mod count;
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
    let budget = Duration::from_secs(if options.quick { 15 } else { 100 });
    let (report, medians) = report::run(budget, options.times);
    let result = if options.record { record(root, "speed", medians) } else { Ok(()) };
    print(result.map(|()| report))
}

/// `cargo xtask bench-count`.
pub fn count_main() -> ExitCode {
    print(count::run())
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
