//! The source of a crate as a tree of modules, without its tests: read with `syn`, for tools that
//! ask what is public and which file needs which.

mod imports;
mod macros;
mod resolve;

use std::path::{Path, PathBuf};

use syn::Item;

pub(crate) use imports::{Import, imports};
pub(crate) use resolve::name_of;

/// A crate.
pub(crate) struct Source {
    /// The root comes first, every module after its parent.
    pub(crate) modules: Vec<Module>,
}

/// A module: a file or a block.
pub(crate) struct Module {
    /// Its names from the root of the crate.
    pub(crate) path: Vec<String>,
    pub(crate) parent: usize,
    /// Relative to the root of the workspace.
    pub(crate) file: PathBuf,
    pub(crate) is_public: bool,
    pub(crate) items: Vec<Item>,
    pub(crate) imports: Vec<Import>,
}

impl Source {
    /// Reads a crate of the workspace from its `src/lib.rs` or `src/main.rs`.
    pub(crate) fn read(workspace: &Path, directory: &str) -> Result<Self, String> {
        let root = ["src/lib.rs", "src/main.rs"]
            .map(|file| Path::new(directory).join(file))
            .into_iter()
            .find(|file| workspace.join(file).is_file())
            .ok_or_else(|| format!("{directory}: neither a library nor a command"))?;
        let mut source = Source { modules: Vec::new() };
        source.read_file(workspace, Vec::new(), 0, root, true)?;
        Ok(source)
    }

    fn read_file(
        &mut self,
        workspace: &Path,
        path: Vec<String>,
        parent: usize,
        file: PathBuf,
        is_public: bool,
    ) -> Result<(), String> {
        let shown = file.display();
        let text = std::fs::read_to_string(workspace.join(&file))
            .map_err(|error| format!("{shown}: {error}"))?;
        let parsed = syn::parse_file(&text).map_err(|error| format!("{shown}: {error}"))?;
        let items = macros::expand(parsed.items).map_err(|error| format!("{shown}: {error}"))?;
        let module = Module { path, parent, file, is_public, items, imports: vec![] };
        self.add(workspace, module)
    }

    /// Adds a module and all that are declared in it.
    fn add(&mut self, workspace: &Path, mut module: Module) -> Result<(), String> {
        module.imports = imports(&module.items);
        let items = std::mem::take(&mut module.items);
        let (path, file) = (module.path.clone(), module.file.clone());
        let index = self.modules.len();
        self.modules.push(module);
        let mut kept = Vec::new();
        for item in items {
            match item {
                _ if is_test(&item) => {}
                Item::Mod(declared) => {
                    let mut path = path.clone();
                    path.push(declared.ident.to_string());
                    let is_public = is_public(&declared.vis);
                    match declared.content {
                        Some((_, items)) => {
                            let (file, imports) = (file.clone(), Vec::new());
                            let module =
                                Module { path, parent: index, file, is_public, items, imports };
                            self.add(workspace, module)?;
                        }
                        None => {
                            let file = match written_path(&declared.attrs) {
                                Some(written) => file.with_file_name(written),
                                None => file_of(workspace, &file, &path)?,
                            };
                            self.read_file(workspace, path, index, file, is_public)?;
                        }
                    }
                }
                item => kept.push(item),
            }
        }
        if let Some(module) = self.modules.get_mut(index) {
            module.items = kept;
        }
        Ok(())
    }

    /// The module of this name inside another one.
    pub(crate) fn child(&self, parent: usize, name: &str) -> Option<usize> {
        self.modules.iter().enumerate().skip(1).find_map(|(index, module)| {
            (module.parent == parent && module.path.last().is_some_and(|last| last == name))
                .then_some(index)
        })
    }
}

/// The path that a module is declared with, if it is: from the folder of the file that declares it.
fn written_path(attributes: &[syn::Attribute]) -> Option<String> {
    let attribute = attributes.iter().find(|it| it.path().is_ident("path"))?;
    match &attribute.meta.require_name_value().ok()?.value {
        syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(path), .. }) => Some(path.value()),
        _ => None,
    }
}

/// The file of a module that is declared in `parent`.
fn file_of(workspace: &Path, parent: &Path, path: &[String]) -> Result<PathBuf, String> {
    let mut directory = parent.parent().unwrap_or(Path::new("")).to_owned();
    let stem = parent.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    if !["lib", "main", "mod"].contains(&stem) {
        directory.push(stem);
    }
    let name = path.last().map(String::as_str).unwrap_or_default();
    [directory.join(format!("{name}.rs")), directory.join(name).join("mod.rs")]
        .into_iter()
        .find(|file| workspace.join(file).is_file())
        .ok_or_else(|| format!("{}: no file for the module {name}", parent.display()))
}

/// Whether an item is compiled for tests alone.
pub(crate) fn is_test(item: &Item) -> bool {
    let attributes = match item {
        Item::Mod(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        _ => return false,
    };
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg")
            && attribute.parse_args::<syn::Ident>().is_ok_and(|name| name == "test")
    })
}

/// Whether a visibility is plain `pub`.
pub(crate) fn is_public(visibility: &syn::Visibility) -> bool {
    matches!(visibility, syn::Visibility::Public(_))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A crate of inline modules.
    pub(crate) fn parse(text: &str) -> Source {
        let items = syn::parse_file(text).unwrap().items;
        let mut source = Source { modules: Vec::new() };
        let file = PathBuf::from("lib.rs");
        let module =
            Module { path: vec![], parent: 0, file, is_public: true, items, imports: vec![] };
        source.add(Path::new("."), module).unwrap();
        source
    }
}
