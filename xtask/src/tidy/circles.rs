//! Inside a crate data flows one way: no two modules import each other, and circles of files are
//! only those that `ARCHITECTURE.md` lists with a reason.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use syn::visit::Visit;

use super::{Files, Findings};
use crate::source::{Source, is_test};

/// Where circles are listed: between these two lines of `ARCHITECTURE.md`, in a table of files and
/// reasons. Files are relative to the workspace, between backticks; a folder stands for all inside.
const DOCUMENT: &str = "ARCHITECTURE.md";
const BEGIN: &str = "<!-- circles -->";
const END: &str = "<!-- /circles -->";

/// The packages beside the crates.
const TOOLS: [&str; 2] = ["benches", "xtask"];

/// Checks all crates and tools. While there is no document to list them in, circles are only noted.
pub(super) fn check(root: &Path, files: &Files, findings: &mut Findings) -> Result<(), String> {
    let listed = files.text(DOCUMENT).map(allowed);
    let mut found = Vec::new();
    let of_package = |(file, _): (&str, &str)| {
        let name = file.strip_suffix("/Cargo.toml")?;
        (name.starts_with("crates/") || TOOLS.contains(&name)).then(|| name.to_owned())
    };
    for name in files.all().filter_map(of_package) {
        let directory = Path::new(&name);
        let graph = file_graph(&Source::read(root, &name)?);
        for circle in circles(&graph) {
            found.push((describe(&name, directory, &circle), circle));
        }
        found.extend(mutual(&graph, &directory.join("src")));
    }
    let Some(listed) = listed else {
        findings.notes.extend(found.into_iter().map(|(problem, _)| problem));
        return Ok(());
    };
    let mut used = vec![false; listed.len()];
    for (problem, circle) in found {
        let row = listed.iter().position(|row| {
            circle.iter().all(|file| row.iter().any(|listed| file.starts_with(listed)))
        });
        match row.and_then(|row| used.get_mut(row)) {
            Some(used) => *used = true,
            None => findings.problems.push(problem),
        }
    }
    for (row, _) in listed.iter().zip(used).filter(|(_, used)| !used) {
        let row: Vec<String> = row.iter().map(|file| file.display().to_string()).collect();
        findings.problems.push(format!("{DOCUMENT}: no longer a circle: {}", row.join(" ")));
    }
    Ok(())
}

/// The rows of the table: the files of each.
fn allowed(document: &str) -> Vec<Vec<PathBuf>> {
    let table = document.split_once(BEGIN).and_then(|(_, rest)| rest.split_once(END));
    let rows = table.map_or("", |(table, _)| table).lines().filter(|line| line.starts_with("| `"));
    let files = |row: &str| {
        let first = row.trim_start_matches('|').split('|').next().unwrap_or_default();
        first.split('`').skip(1).step_by(2).map(PathBuf::from).collect()
    };
    rows.map(files).collect()
}

fn describe(name: &str, directory: &Path, circle: &[PathBuf]) -> String {
    let files: Vec<String> = circle
        .iter()
        .map(|file| file.strip_prefix(directory).unwrap_or(file).display().to_string())
        .collect();
    format!("{name}: a circle of {} files: {}", files.len(), files.join(" "))
}

/// Which file needs which.
type Graph = BTreeMap<PathBuf, BTreeSet<PathBuf>>;

/// The files of a crate with the files whose items they use. Re-exports do not count, they need
/// nothing of what they pass on; neither does what a module takes from those that it is a part of.
fn file_graph(source: &Source) -> Graph {
    let mut graph = Graph::new();
    for (index, module) in source.modules.iter().enumerate() {
        let mut paths = Paths(Vec::new());
        module.items.iter().filter(|item| !is_test(item)).for_each(|item| paths.visit_item(item));
        let used = module.imports.iter().filter(|import| !import.is_reexport);
        let used = used.map(|import| import.path.clone()).chain(paths.0);
        let targets = graph.entry(module.file.clone()).or_default();
        for path in used {
            if let Some(target) = source.resolve(index, &path)
                && let Some(used) = source.modules.get(target.0)
                && used.file != module.file
                && !module.path.starts_with(&used.path)
            {
                targets.insert(used.file.clone());
            }
        }
    }
    graph
}

/// Collects the paths of code.
struct Paths(Vec<Vec<String>>);

impl<'ast> Visit<'ast> for Paths {
    fn visit_item_use(&mut self, _: &'ast syn::ItemUse) {}

    fn visit_path(&mut self, path: &'ast syn::Path) {
        self.0.push(path.segments.iter().map(|segment| segment.ident.to_string()).collect());
        syn::visit::visit_path(self, path);
    }
}

/// The groups of files that all need each other, by way of others or not; each sorted.
fn circles(graph: &Graph) -> Vec<Vec<PathBuf>> {
    let reach: BTreeMap<&PathBuf, BTreeSet<&PathBuf>> =
        graph.keys().map(|file| (file, reachable(graph, file))).collect();
    let mut seen = BTreeSet::new();
    let mut circles = Vec::new();
    for (file, reached) in &reach {
        if !reached.contains(file) || !seen.insert(*file) {
            continue;
        }
        let mut circle = vec![(*file).clone()];
        for other in reached {
            let returns = reach.get(other).is_some_and(|reached| reached.contains(file));
            if returns && seen.insert(*other) {
                circle.push((*other).clone());
            }
        }
        circle.sort();
        circles.push(circle);
    }
    circles
}

/// All files that one needs, by way of others or not.
fn reachable<'g>(graph: &'g Graph, from: &PathBuf) -> BTreeSet<&'g PathBuf> {
    let mut found = BTreeSet::new();
    let mut open: Vec<&PathBuf> = graph.get(from).into_iter().flatten().collect();
    while let Some(file) = open.pop() {
        if found.insert(file) {
            open.extend(graph.get(file).into_iter().flatten());
        }
    }
    found
}

/// Modules with the same parent that need each other, with one use of each by the other and the
/// files of these uses.
fn mutual(graph: &Graph, src: &Path) -> Vec<(String, Vec<PathBuf>)> {
    let mut uses: BTreeMap<(PathBuf, String, String), (&Path, &Path)> = BTreeMap::new();
    for (file, targets) in graph {
        for target in targets {
            if let Some(pair) = siblings(file, target, src) {
                uses.entry(pair).or_insert((file, target));
            }
        }
    }
    let mut found = Vec::new();
    for ((parent, a, b), (file, target)) in &uses {
        let back = uses.get(&(parent.clone(), b.clone(), a.clone()));
        if let Some((other, back)) = back.filter(|_| a < b) {
            let problem = format!(
                "{}: the modules {a} and {b} import each other: {} -> {}, {} -> {}",
                parent.display(),
                file.display(),
                target.display(),
                other.display(),
                back.display()
            );
            found.push((problem, [*file, *target, *other, *back].map(Path::to_owned).to_vec()));
        }
    }
    found
}

/// The modules at which the ways to two files part, with what they have in common; none if one
/// is inside the other.
fn siblings(a: &Path, b: &Path, src: &Path) -> Option<(PathBuf, String, String)> {
    let names = |file: &Path| -> Vec<String> {
        let inside = file.strip_prefix(src).unwrap_or(file).with_extension("");
        let names = inside.iter().map(|name| name.to_string_lossy().into_owned());
        names.filter(|name| !["lib", "main", "mod"].contains(&name.as_str())).collect()
    };
    let (a, b) = (names(a), names(b));
    let common = a.iter().zip(&b).take_while(|(a, b)| a == b).count();
    let parent = a.iter().take(common).fold(src.to_owned(), |path, name| path.join(name));
    Some((parent, a.get(common)?.clone(), b.get(common)?.clone()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::tests::parse;

    #[test]
    fn circles_are_found() {
        let edge = |a: &str, b: &[&str]| {
            (PathBuf::from(a), b.iter().map(PathBuf::from).collect::<BTreeSet<_>>())
        };
        let graph = Graph::from([
            edge("a", &["b"]),
            edge("b", &["c"]),
            edge("c", &["a", "d"]),
            edge("d", &["e"]),
            edge("e", &[]),
        ]);
        assert_eq!(circles(&graph), [["a", "b", "c"].map(PathBuf::from)]);
    }

    #[test]
    fn modules_that_import_each_other() {
        let edge = |a: &str, b: &[&str]| {
            (PathBuf::from(a), b.iter().map(PathBuf::from).collect::<BTreeSet<_>>())
        };
        let graph = Graph::from([
            edge("src/a/x.rs", &["src/b.rs", "src/a/y.rs", "src/a/mod.rs"]),
            edge("src/b.rs", &["src/a/y.rs"]),
        ]);
        let found: Vec<String> =
            mutual(&graph, Path::new("src")).into_iter().map(|(problem, _)| problem).collect();
        assert_eq!(
            found,
            [
                "src: the modules a and b import each other: src/a/x.rs -> src/b.rs, src/b.rs -> src/a/y.rs"
            ]
        );
    }

    #[test]
    fn paths_lead_through_reexports() {
        let source = parse(
            "mod a { mod deep { pub struct S; } pub use deep::S; pub use super::b::*; }
             mod b { pub struct T; }
             use a::{S as Renamed, T};",
        );
        let resolve = |path: &str| {
            let path: Vec<String> = path.split("::").map(str::to_owned).collect();
            let (module, item) = source.resolve(0, &path)?;
            Some((source.modules[module].path.join("::"), item.unwrap_or_default()))
        };
        let found = |module: &str, item: &str| Some((module.to_owned(), item.to_owned()));
        assert_eq!(resolve("Renamed"), found("a::deep", "S"));
        assert_eq!(resolve("crate::a::T"), found("b", "T"));
        assert_eq!(resolve("T"), found("b", "T"));
        assert_eq!(resolve("crate::a::deep"), found("a::deep", ""));
        assert_eq!(resolve("std::io"), None);
    }
}
