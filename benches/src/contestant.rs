//! Contestants: ways to read or clean an input, all on the same bytes.

use std::hint::black_box;
use std::time::{Duration, Instant};

use billhook::{DecodeOptions, FieldValidation};
use serde::de::IgnoredAny;
use serde_json::Value;

use crate::input::{Document, Input, Variant};

/// One way to read or clean an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Contestant {
    /// The strict scan of the bytes, nothing else.
    Scan,
    /// serde_json, discarding everything.
    IgnoredAny,
    /// serde_json to a tree.
    Parse,
    /// Copying the parsed tree and dropping the copy.
    CloneDrop,
    /// Bytes to bytes.
    Text,
    /// Bytes to bytes with warnings and all changes.
    TextReport,
    /// Bytes to a tree.
    Value,
    /// Bytes to a Rust type, which here keeps nothing.
    Typed,
    /// Pruning, null removal and defaults in one walk over the parsed tree.
    InPlace,
    /// The three verbs one after the other over the parsed tree.
    Verbs,
    /// Everything that decoding does, over the parsed tree.
    Tree,
    /// The same with warnings and all changes.
    TreeReport,
    /// serde_json to a tree, the three verbs, and back to bytes.
    Steps,
}

impl Contestant {
    /// All contestants.
    pub const ALL: [Contestant; 13] = [
        Contestant::Scan,
        Contestant::IgnoredAny,
        Contestant::Parse,
        Contestant::CloneDrop,
        Contestant::Text,
        Contestant::TextReport,
        Contestant::Value,
        Contestant::Typed,
        Contestant::InPlace,
        Contestant::Verbs,
        Contestant::Tree,
        Contestant::TreeReport,
        Contestant::Steps,
    ];

    /// A short name.
    pub fn name(self) -> &'static str {
        match self {
            Contestant::Scan => "scan",
            Contestant::IgnoredAny => "IgnoredAny",
            Contestant::Parse => "parse to Value",
            Contestant::CloneDrop => "clone and drop",
            Contestant::Text => "bytes to bytes",
            Contestant::TextReport => "bytes to bytes, report",
            Contestant::Value => "bytes to Value",
            Contestant::Typed => "bytes to type",
            Contestant::InPlace => "in place, fused",
            Contestant::Verbs => "in place, three verbs",
            Contestant::Tree => "decode in place",
            Contestant::TreeReport => "decode in place, report",
            Contestant::Steps => "parse, verbs, print",
        }
    }

    /// Runs once over a document. `scratch` is a copy of the parsed document; the contestants that
    /// work in place change it.
    pub fn run(self, document: &Document, scratch: &mut Value) {
        let version = &document.kind.version;
        let text = black_box(document.text.as_slice());
        let plain = DecodeOptions::default().field_validation(FieldValidation::Ignore);
        match self {
            Contestant::Scan => drop(black_box(billhook_decode::check_json(text).unwrap())),
            Contestant::IgnoredAny => {
                black_box(serde_json::from_slice::<IgnoredAny>(text).unwrap());
            }
            Contestant::Parse => drop(black_box(serde_json::from_slice::<Value>(text).unwrap())),
            Contestant::CloneDrop => drop(black_box(black_box(&document.value).clone())),
            Contestant::Text => drop(black_box(version.decode_text(text, &plain).unwrap())),
            Contestant::TextReport => {
                let options = DecodeOptions::default().report(true);
                drop(black_box(version.decode_text(text, &options).unwrap()));
            }
            Contestant::Value => drop(black_box(version.decode(text, &plain).unwrap())),
            Contestant::Typed => {
                black_box(version.decode_into::<IgnoredAny>(text, &plain).unwrap());
            }
            Contestant::InPlace => version.prune_and_default(black_box(scratch), &mut ()).unwrap(),
            Contestant::Verbs => {
                version.prune(black_box(scratch), &mut ());
                version.remove_nulls(scratch, &mut ());
                version.apply_defaults(scratch, &mut ()).unwrap();
            }
            Contestant::Tree => drop(version.decode_value(black_box(scratch), &plain).unwrap()),
            Contestant::TreeReport => {
                let options = DecodeOptions::default().report(true);
                drop(black_box(version.decode_value(black_box(scratch), &options).unwrap()));
            }
            Contestant::Steps => {
                let mut value: Value = serde_json::from_slice(text).unwrap();
                version.prune(&mut value, &mut ());
                version.remove_nulls(&mut value, &mut ());
                version.apply_defaults(&mut value, &mut ()).unwrap();
                drop(black_box(serde_json::to_vec(&value).unwrap()));
            }
        }
    }

    /// How long it takes to run over an input, so many times. Copies that are there only to be
    /// changed are made outside the measured time.
    pub fn time(self, input: &Input, iterations: u64) -> Duration {
        let is_in_place = matches!(
            self,
            Contestant::InPlace | Contestant::Verbs | Contestant::Tree | Contestant::TreeReport
        );
        if is_in_place {
            return input
                .documents
                .iter()
                .map(|document| {
                    if input.variant == Variant::Clean {
                        time_in_place(self, document, iterations)
                    } else {
                        time_on_copies(self, document, iterations)
                    }
                })
                .sum();
        }
        let start = Instant::now();
        for _ in 0..iterations {
            for document in &input.documents {
                self.run(document, &mut Value::Null);
            }
        }
        start.elapsed()
    }
}

/// A clean value stays as it is, so it needs no copies.
fn time_in_place(contestant: Contestant, document: &Document, iterations: u64) -> Duration {
    let mut value = document.value.clone();
    let start = Instant::now();
    for _ in 0..iterations {
        contestant.run(document, &mut value);
    }
    start.elapsed()
}

/// Several copies at a time, lest reading the clock counts, but not so many that none of them is
/// in a cache.
fn time_on_copies(contestant: Contestant, document: &Document, iterations: u64) -> Duration {
    let at_a_time = (20_000 / document.text.len()).clamp(1, 8) as u64;
    let mut time = Duration::ZERO;
    let mut left = iterations;
    while left > 0 {
        let count = at_a_time.min(left);
        left -= count;
        let mut copies: Vec<Value> = (0..count).map(|_| document.value.clone()).collect();
        let start = Instant::now();
        for copy in &mut copies {
            contestant.run(document, copy);
        }
        time += start.elapsed();
    }
    time
}
