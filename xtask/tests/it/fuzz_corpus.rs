//! The findings of coverage-guided runs are tried again.

use std::path::Path;

use xtask::fuzz::targets::TARGETS;

#[test]
fn corpora_come_through_their_targets() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/corpus");
    for (name, target) in TARGETS {
        let mut files: Vec<_> = std::fs::read_dir(corpus.join(name))
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        files.sort();
        assert!(!files.is_empty(), "no corpus for {name}");
        for file in files {
            let data = std::fs::read(&file).unwrap();
            target(&data).unwrap_or_else(|problem| panic!("{}: {problem}", file.display()));
        }
    }
}
