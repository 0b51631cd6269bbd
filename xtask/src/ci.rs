//! Everything that a change must pass, step by step.

use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::Instant;

use serde_json::Value;

/// Found on the path, so that rustup tells all that it starts which toolchain this is: some packages
/// ask for another one where they are built.
const CARGO: &str = "cargo";

/// One step: its name, and the commands that it runs.
type Step = (&'static str, fn(&Path) -> Result<(), String>);

/// The steps that run in order; their output is shown as it comes. Tests come early: while they wait
/// for each other, those beside them build.
const STEPS: [Step; 5] = [
    ("fmt", |root| cargo(root, "fmt --all --check")),
    ("commits", crate::commits::check),
    ("tests", |root| cargo(root, "test --workspace --locked --quiet")),
    ("clippy", |root| {
        cargo(root, "clippy --workspace --all-targets --all-features --locked -- -D warnings")
    }),
    ("docs", |root| {
        // With the examples come the packages of tests, and features as clippy has them: other packages
        // are not checked once more.
        let arguments =
            "doc --workspace --all-features --no-deps --lib --bins --examples --locked --quiet";
        run(root, Command::new(CARGO).args(words(arguments)).env("RUSTDOCFLAGS", "-D warnings"))
    }),
];

/// The steps that run beside them, in two lanes: those that build, and those that mostly do not.
const LANES: [&[Step]; 2] = [
    &[("features", features), ("numbers", numbers), ("instructions", instructions)],
    &[("conformance", conformance), ("replay", replay), ("package", package)],
];

fn steps() -> impl Iterator<Item = &'static Step> {
    STEPS.iter().chain(LANES.into_iter().flatten())
}

/// The names of all steps.
pub fn step_names() -> Vec<&'static str> {
    steps().map(|(name, _)| *name).collect()
}

/// `cargo xtask ci`: runs the named steps, or all; stops at the first that fails.
pub fn main(root: &Path, names: &[String]) -> ExitCode {
    let result = match names {
        [] => std::thread::scope(|scope| {
            let lanes = LANES.map(|lane| scope.spawn(move || lane_beside(lane)));
            let steps = in_order(root, STEPS.iter());
            lanes.into_iter().fold(steps, |result, lane| {
                result.and(lane.join().unwrap_or_else(|_| Err("panicked".to_owned())))
            })
        }),
        names => in_order(root, steps().filter(|(name, _)| names.iter().any(|own| own == name))),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Runs steps one after the other.
fn in_order<'s>(root: &Path, steps: impl Iterator<Item = &'s Step>) -> Result<(), String> {
    let mut times = Vec::new();
    let mut result = Ok(());
    for (name, step) in steps {
        println!("== {name}");
        let start = Instant::now();
        result = step(root).map_err(|error| format!("{name}: {error}"));
        times.push(format!("{name} {} s", start.elapsed().as_secs()));
        if result.is_err() {
            break;
        }
    }
    println!("== {}", times.join(", "));
    result
}

/// Runs a lane as another process, and prints what it printed when it ends.
fn lane_beside(lane: &[Step]) -> Result<(), String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let names: Vec<&str> = lane.iter().map(|(name, _)| *name).collect();
    let output = Command::new(program).arg("ci").args(&names).output();
    let output = output.map_err(|error| error.to_string())?;
    print!("{}", String::from_utf8_lossy(&output.stdout));
    eprint!("{}", String::from_utf8_lossy(&output.stderr));
    if output.status.success() { Ok(()) } else { Err(format!("failed: {}", names.join(", "))) }
}

/// Every optional feature of every library alone, and none at all, with the oldest toolchain that
/// the libraries promise to build with.
fn features(root: &Path) -> Result<(), String> {
    let metadata = crate::tidy::metadata(root)?;
    let packages = metadata["packages"].as_array().ok_or("no packages")?;
    let toolchain = oldest_toolchain(packages)?;
    for package in packages {
        let name = package["name"].as_str().unwrap_or_default();
        let features = package["features"].as_object().into_iter().flatten();
        let mut features: Vec<&str> = features.map(|(feature, _)| feature.as_str()).collect();
        let is_published = package["publish"].is_null() && name.starts_with("billhook");
        if !is_published || features.is_empty() && name != "billhook-findings" {
            continue;
        }
        features.push("");
        for feature in features {
            // Tests of the crate, its dependents and other features stay out of it.
            let arguments = format!("check -p {name} --locked --quiet --no-default-features");
            let mut command = cargo_of(toolchain);
            command.args(words(&arguments)).arg(format!("--features={feature}"));
            run(root, &mut command).map_err(|error| format!("{name} {feature}: {error}"))?;
        }
    }
    Ok(())
}

/// The oldest toolchain that the libraries promise to build with, if it is installed.
fn oldest_toolchain(packages: &[Value]) -> Result<Option<&str>, String> {
    let facade = packages.iter().find(|package| package["name"] == "billhook");
    let version = facade.and_then(|facade| facade["rust_version"].as_str());
    let version = version.ok_or("no rust-version")?;
    let is_installed = cargo_of(Some(version)).arg("--version").output();
    if is_installed.is_ok_and(|output| output.status.success()) {
        return Ok(Some(version));
    }
    println!("no Rust {version}: the check of the oldest toolchain is left out");
    Ok(None)
}

/// Another toolchain builds into a directory of its own.
fn cargo_of(toolchain: Option<&str>) -> Command {
    let Some(toolchain) = toolchain else { return Command::new(CARGO) };
    let mut command = Command::new("rustup");
    command.args(["run", toolchain, CARGO]).env("CARGO_TARGET_DIR", "target/msrv");
    command
}

/// Numbers and members in order, as dependents may switch them on for all.
fn numbers(root: &Path) -> Result<(), String> {
    // Both at once: each concerns something else, the order of members and numbers.
    let features = "serde_json/preserve_order,serde_json/arbitrary_precision";
    let arguments = "test -p billhook --profile dev --locked --quiet --test it --features";
    cargo(root, &format!("{arguments} {features}"))
}

/// Compares the cost of the paths of the product with the recorded one.
fn instructions(root: &Path) -> Result<(), String> {
    crate::bench::check_instructions(root)
}

/// The packages as they would be published; three never are.
fn package(root: &Path) -> Result<(), String> {
    let ours =
        ["xtask", "billhook-benches", "billhook-testing"].map(|name| format!(" --exclude {name}"));
    let arguments = "--no-verify --allow-dirty --locked --quiet";
    cargo(root, &format!("package --workspace{} {arguments}", ours.concat()))
}

/// All vectors, if they are there; the tests run the committed part.
fn conformance(root: &Path) -> Result<(), String> {
    let files = crate::conformance::shared_files(root);
    if files.is_empty() {
        println!("no ../shared: the full conformance run is left out");
        return Ok(());
    }
    let options = crate::conformance::Options { files, ..Default::default() };
    failed(crate::conformance::main(root, &options))
}

/// All recorded conversations, if they are there; the tests play the committed part.
fn replay(root: &Path) -> Result<(), String> {
    let files = crate::replay::shared_files(root);
    if files.is_empty() {
        println!("no ../shared: the full replay is left out");
        return Ok(());
    }
    let options = crate::replay::Options { files, ..Default::default() };
    failed(crate::replay::main(root, &options))
}

fn cargo(root: &Path, arguments: &str) -> Result<(), String> {
    run(root, Command::new(CARGO).args(words(arguments)))
}

fn words(arguments: &str) -> impl Iterator<Item = &str> {
    arguments.split_whitespace()
}

fn run(root: &Path, command: &mut Command) -> Result<(), String> {
    match command.current_dir(root).status() {
        Ok(status) if status.success() => Ok(()),
        Ok(_) => Err(format!("failed: {command:?}")),
        Err(error) => Err(error.to_string()),
    }
}

fn failed(code: ExitCode) -> Result<(), String> {
    if code == ExitCode::SUCCESS { Ok(()) } else { Err("failed".to_owned()) }
}
