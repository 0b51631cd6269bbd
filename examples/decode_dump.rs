//! Decodes a dump of many objects, one JSON document a line, with all cores: what a server would
//! prune and default in each of them is done, and what it would refuse is left out.
//!
//! With the feature `rayon`. A few batches of lines are in memory at a time, whatever the size of
//! the dump; the order stays.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "the output is the example")]

use std::error::Error;
use std::io::{BufWriter, stdout};
use std::num::NonZeroUsize;
use std::thread::available_parallelism;

use billhook::{CustomResourceDefinition, DecodeOptions};

const DEFINITION: &str = "
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: backups.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: backups, kind: Backup}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              keep: {type: integer, default: 7}
";

/// In a program of your own: a file in a `BufReader`, or the locked standard input.
const DUMP: &str = r#"{"apiVersion":"example.com/v1","kind":"Backup","spec":{"keep":3}}
{"apiVersion":"example.com/v1","kind":"Backup","spec":{"kep":3}}
{"apiVersion":"example.com/v1","kind":"Backup","metadata":[]}
"#;

fn main() -> Result<(), Box<dyn Error>> {
    let definition = CustomResourceDefinition::from_yaml(DEFINITION)?;
    let v1 = definition.served("v1")?;
    let jobs = available_parallelism().unwrap_or(NonZeroUsize::MIN);

    let counts = v1.decode_lines_parallel(
        DUMP.as_bytes(),
        BufWriter::new(stdout()),
        &DecodeOptions::default(),
        jobs,
        |line, error| eprintln!("line {line}: {error}"),
    )?;
    let billhook::Counts { decoded, unchanged, refused, .. } = counts;
    println!("{decoded} decoded, {unchanged} of them unchanged, {refused} refused");
    Ok(())
}
