//! What the hot path costs, as ratios between contestants on the same inputs: by the clock and in
//! instructions.

mod count;
mod report;
mod rows;
mod table;

use std::process::ExitCode;
use std::time::Duration;

use billhook_benches::{Input, Variant, shapes, sources};

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

/// `cargo xtask bench-report`.
pub fn report_main(arguments: &[String]) -> ExitCode {
    let (mut budget, mut with_times) = (Duration::from_secs(100), false);
    for argument in arguments {
        match argument.as_str() {
            "--quick" => budget = Duration::from_secs(15),
            "--times" => with_times = true,
            other => return unknown(other),
        }
    }
    print!("{}", report::run(budget, with_times));
    ExitCode::SUCCESS
}

/// `cargo xtask bench-count`.
pub fn count_main(arguments: &[String]) -> ExitCode {
    if let Some(other) = arguments.first() {
        return unknown(other);
    }
    match count::run() {
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

fn unknown(argument: &str) -> ExitCode {
    eprintln!("error: unknown argument {argument}");
    ExitCode::from(2)
}
