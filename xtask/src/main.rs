//! The project's own tools: `cargo xtask TOOL`.

use std::path::Path;
use std::process::ExitCode;

use clap::Parser;
use xtask::{bench, ci, conformance, fuzz, kinds, public_api, readme, replay, suites, tidy};

/// The project's own tools
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", max_term_width = 100)]
enum Tool {
    /// Run everything that a change must pass, and print the time of each step
    ///
    /// The oldest Rust version is checked by what one toolchain can see: clippy refuses functions of
    /// the standard library that are newer than `rust-version` in Cargo.toml.
    Ci {
        /// Steps to run [default: all]
        #[arg(value_parser = clap::builder::PossibleValuesParser::new(ci::step_names()))]
        steps: Vec<String>,
    },
    /// Check what the compiler does not: files, links, rules, layers, circles, licences, words
    Tidy,
    /// Run vectors: inputs with the results of a real server
    Conformance(conformance::Options),
    /// Run test suites of definitions in the layout of OpenShift's API repository
    Suites(suites::Options),
    /// Play recorded conversations with a server, webhooks included, and compare the answers
    Replay(replay::Options),
    /// Compare two ways to decode on generated objects
    FuzzDiff {
        /// Number of objects
        #[arg(long, value_name = "N", default_value_t = 100_000)]
        cases: usize,
        /// Where the random numbers start
        #[arg(long, value_name = "N", default_value_t = 0)]
        seed: u64,
    },
    /// Write the public items of the crates to docs/public-api
    PublicApi {
        /// Only say whether they are as written
        #[arg(long)]
        check: bool,
    },
    /// Write the tables of built-in kinds from crates/billhook-kinds/data
    ///
    /// The data is copied from ../shared/facts/kinds first, where that is there.
    Kinds {
        /// Only say whether they are as the data says
        #[arg(long)]
        check: bool,
    },
    /// Write the tables of README.md and docs: docs/templates with what was measured
    Readme {
        /// Only say whether they are up to date
        #[arg(long)]
        check: bool,
    },
    /// Print ratios of the hot path and of the product's other paths by the clock
    BenchReport(bench::Options),
    /// Print ratios of the hot path, and the cost of all paths, in instructions counted by valgrind
    BenchCount(bench::CountOptions),
}

fn main() -> ExitCode {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    match Tool::parse() {
        Tool::Ci { steps } => ci::main(&root, &steps),
        Tool::Tidy => tidy::main(),
        Tool::Conformance(options) => conformance::main(&root, &options),
        Tool::Suites(options) => suites::main(&options),
        Tool::Replay(options) => replay::main(&root, &options),
        Tool::FuzzDiff { cases, seed } => fuzz::main(cases, seed),
        Tool::PublicApi { check } => public_api::main(&root, check),
        Tool::Kinds { check } => kinds::main(&root, check),
        Tool::Readme { check } => readme::main(&root, check),
        Tool::BenchReport(options) => bench::report_main(&root, &options),
        Tool::BenchCount(options) => bench::count_main(&root, &options),
    }
}
