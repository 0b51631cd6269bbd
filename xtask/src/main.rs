//! The project's own tools: `cargo xtask TOOL`.

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.split_first() {
        Some((tool, rest)) if tool == "bench-count" => xtask::bench::count_main(rest),
        Some((tool, rest)) if tool == "bench-report" => xtask::bench::report_main(rest),
        Some((tool, rest)) if tool == "conformance" => xtask::conformance::main(rest),
        Some((tool, rest)) if tool == "fuzz-diff" => xtask::fuzz::main(rest),
        Some((tool, [])) if tool == "tidy" => xtask::tidy::main(),
        _ => {
            eprintln!(
                "usage: cargo xtask bench-count\n       \
                 cargo xtask bench-report [--quick] [--times]\n       \
                 cargo xtask conformance [--show ID] [--failures K] FILE…\n       \
                 cargo xtask fuzz-diff [--cases N] [--seed N]\n       \
                 cargo xtask tidy"
            );
            ExitCode::from(2)
        }
    }
}
