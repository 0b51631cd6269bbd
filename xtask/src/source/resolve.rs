//! Which module a path leads to: through children, `use` lines and re-exports.

use syn::Item;

use super::Source;

/// Re-exports of re-exports are followed this far.
const MAX_HOPS: usize = 16;

impl Source {
    /// The module in which the item of a path is defined, and the name of the item there; none if
    /// it comes from another crate, and no name if the path is that of a module.
    pub(crate) fn resolve(&self, from: usize, path: &[String]) -> Option<(usize, Option<String>)> {
        self.hop(from, path, MAX_HOPS)
    }

    fn hop(&self, from: usize, path: &[String], hops: usize) -> Option<(usize, Option<String>)> {
        let mut at = from;
        let mut moved = false;
        for (index, name) in path.iter().enumerate() {
            match name.as_str() {
                "crate" => at = 0,
                "self" => {}
                "super" => at = self.modules.get(at)?.parent,
                name => match self.child(at, name) {
                    Some(child) => at = child,
                    None if self.defines(at, name) => return Some((at, Some(name.to_owned()))),
                    None => {
                        let rest = path.get(index + 1..).unwrap_or_default();
                        let found = self.imported(at, name, rest, hops.checked_sub(1)?);
                        return found.or((moved).then_some((at, Some(name.to_owned()))));
                    }
                },
            }
            moved = true;
        }
        Some((at, None))
    }

    /// Follows the `use` line that brings a name in.
    fn imported(
        &self,
        at: usize,
        name: &str,
        rest: &[String],
        hops: usize,
    ) -> Option<(usize, Option<String>)> {
        let module = self.modules.get(at)?;
        for import in &module.imports {
            let mut path = import.path.clone();
            match &import.name {
                Some(bound) if bound == name => {}
                Some(_) => continue,
                None => path.push(name.to_owned()),
            }
            // `use self::x` and `use x` in the module that declares `x` mean themselves.
            if path.len() == 1 && path.first().is_some_and(|only| only == name) {
                continue;
            }
            path.extend_from_slice(rest);
            let found = self.hop(at, &path, hops);
            let defined = found.as_ref().is_some_and(|(module, item)| {
                import.name.is_some()
                    || item.as_deref().is_none_or(|item| self.defines(*module, item))
            });
            if defined {
                return found;
            }
            if import.name.is_some() {
                return None;
            }
        }
        None
    }

    /// Whether a module has an item of its own of this name.
    fn defines(&self, module: usize, name: &str) -> bool {
        let items = self.modules.get(module).map(|module| module.items.as_slice());
        items.unwrap_or_default().iter().any(|item| name_of(item).is_some_and(|own| own == name))
    }
}

/// The name of an item, if it has one.
pub(crate) fn name_of(item: &Item) -> Option<&syn::Ident> {
    Some(match item {
        Item::Const(item) => &item.ident,
        Item::Enum(item) => &item.ident,
        Item::Fn(item) => &item.sig.ident,
        Item::Macro(item) => item.ident.as_ref()?,
        Item::Static(item) => &item.ident,
        Item::Struct(item) => &item.ident,
        Item::Trait(item) => &item.ident,
        Item::Type(item) => &item.ident,
        Item::Union(item) => &item.ident,
        _ => return None,
    })
}
