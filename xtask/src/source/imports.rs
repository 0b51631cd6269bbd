//! The `use` lines of a module: which name stands for which path.

use syn::{Item, UseTree, Visibility};

use super::{is_public, is_test};

/// One name that a `use` line brings in.
#[derive(Debug, Clone)]
pub(crate) struct Import {
    /// The name in this module; none for `*`.
    pub(crate) name: Option<String>,
    /// As it is written, without `*`.
    pub(crate) path: Vec<String>,
    /// Whether it is visible outside of the module at all.
    pub(crate) is_reexport: bool,
    pub(crate) is_public: bool,
}

/// All imports of these items.
pub(crate) fn imports(items: &[Item]) -> Vec<Import> {
    let mut imports = Vec::new();
    for item in items {
        if let Item::Use(used) = item
            && !is_test(item)
        {
            let visibility = Import {
                name: None,
                path: Vec::new(),
                is_reexport: !matches!(used.vis, Visibility::Inherited),
                is_public: is_public(&used.vis),
            };
            leaves(&used.tree, &visibility, &mut imports);
        }
    }
    imports
}

fn leaves(tree: &UseTree, before: &Import, out: &mut Vec<Import>) {
    let mut import = before.clone();
    match tree {
        UseTree::Path(path) => {
            import.path.push(path.ident.to_string());
            leaves(&path.tree, &import, out);
        }
        UseTree::Group(group) => group.items.iter().for_each(|tree| leaves(tree, before, out)),
        UseTree::Glob(_) => out.push(import),
        UseTree::Name(name) => {
            if name.ident != "self" {
                import.path.push(name.ident.to_string());
            }
            import.name = import.path.last().cloned();
            out.push(import);
        }
        UseTree::Rename(rename) => {
            if rename.ident != "self" {
                import.path.push(rename.ident.to_string());
            }
            import.name = Some(rename.rename.to_string());
            out.push(import);
        }
    }
}
