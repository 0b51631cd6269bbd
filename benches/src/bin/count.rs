//! Runs each contestant once over a prepared input, with a mark before and after each: a profiler
//! that starts a new profile at each mark counts every contestant by itself.

use std::path::Path;
use std::process::ExitCode;

use billhook_benches::callgrind::count_mark;
use billhook_benches::{Contestant, Input};
use serde_json::Value;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [file] = arguments.as_slice() else {
        eprintln!("usage: billhook-count FILE");
        return ExitCode::from(2);
    };
    let input = match Input::read(Path::new(file)) {
        Ok(input) => input,
        Err(error) => {
            eprintln!("error: {file}: {error}");
            return ExitCode::from(2);
        }
    };
    for contestant in Contestant::ALL {
        // What is learnt from inputs is learnt before, and what others freed is cleared up.
        let mut warm_up = copies(&input);
        let mut copies = copies(&input);
        run(contestant, &input, &mut warm_up);
        count_mark();
        run(contestant, &input, &mut copies);
        count_mark();
    }
    ExitCode::SUCCESS
}

fn copies(input: &Input) -> Vec<Value> {
    input.documents.iter().map(|document| document.value.clone()).collect()
}

fn run(contestant: Contestant, input: &Input, copies: &mut [Value]) {
    for (document, copy) in input.documents.iter().zip(copies) {
        contestant.run(document, copy);
    }
}
