//! The project's own tools: `cargo xtask TOOL`.

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.split_first() {
        Some((tool, rest)) if tool == "conformance" => xtask::conformance::main(rest),
        Some((tool, [])) if tool == "tidy" => xtask::tidy::main(),
        _ => {
            eprintln!(
                "usage: cargo xtask conformance [--show ID] [--failures K] FILE…\n       \
                 cargo xtask tidy"
            );
            ExitCode::from(2)
        }
    }
}
