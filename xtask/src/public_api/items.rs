//! Walks public modules, re-exports and the methods of public types.

use std::collections::BTreeSet;

use quote::quote;
use syn::{Fields, ImplItem, Item, TraitItem};

use super::print::line;
use crate::source::{Source, is_public, name_of};

/// Adds a module that is public under this path.
pub(super) fn module(source: &Source, index: usize, path: &str, out: &mut BTreeSet<String>) {
    let Some(module) = source.modules.get(index) else { return };
    for (child, inner) in source.modules.iter().enumerate().skip(1) {
        if inner.parent == index && inner.is_public {
            let name = inner.path.last().map(String::as_str).unwrap_or_default();
            let path = format!("{path}::{name}");
            out.insert(format!("mod {path}"));
            self::module(source, child, &path, out);
        }
    }
    for item in &module.items {
        self::item(source, index, item, path, None, out);
    }
    for import in module.imports.iter().filter(|import| import.is_public) {
        let target = source.resolve(index, &import.path);
        let renamed = import.name.as_deref();
        match (target, renamed) {
            (Some((target, Some(name))), renamed) => {
                reexport(source, target, &name, path, renamed, out);
            }
            (Some((target, None)), None) => self::module(source, target, path, out),
            (Some((target, None)), Some(name)) => {
                self::module(source, target, &format!("{path}::{name}"), out);
            }
            (None, renamed) => {
                let name = renamed.unwrap_or("*");
                out.insert(format!("use {path}::{name} = {}", import.path.join("::")));
            }
        }
    }
}

fn reexport(
    source: &Source,
    index: usize,
    name: &str,
    path: &str,
    renamed: Option<&str>,
    out: &mut BTreeSet<String>,
) {
    let Some(module) = source.modules.get(index) else { return };
    for item in &module.items {
        if name_of(item).is_some_and(|own| own == name) {
            self::item(source, index, item, path, renamed, out);
        }
    }
}

/// Adds an item with all that is public in it.
fn item(
    source: &Source,
    index: usize,
    item: &Item,
    path: &str,
    renamed: Option<&str>,
    out: &mut BTreeSet<String>,
) {
    let (Some(name), Some(visibility)) = (name_of(item), visibility(item)) else { return };
    if !is_public(visibility) {
        return;
    }
    let own = name.to_string();
    let path = format!("{path}::{}", renamed.unwrap_or(&own));
    match item {
        Item::Const(item) => add(out, "const", &path, &item.ty),
        Item::Static(item) => add(out, "static", &path, &item.ty),
        Item::Type(item) => add(out, "type", &path, &item.ty),
        Item::Fn(item) => add(out, "fn", &path, &item.sig),
        Item::Struct(item) => {
            out.insert(format!("struct {path}{}", generics(&item.attrs, &item.generics)));
            derives(&item.attrs, &path, out);
            fields(&item.fields, &path, out);
        }
        Item::Enum(item) => {
            out.insert(format!("enum {path}{}", generics(&item.attrs, &item.generics)));
            derives(&item.attrs, &path, out);
            for variant in &item.variants {
                let (name, mut fields) = (&variant.ident, variant.fields.clone());
                fields.iter_mut().for_each(|field| field.attrs.clear());
                out.insert(format!("variant {path}::{name}{}", line(&quote!(#fields))));
            }
        }
        Item::Trait(item) => {
            out.insert(format!("trait {path}{}", generics(&item.attrs, &item.generics)));
            for inner in &item.items {
                match inner {
                    TraitItem::Fn(method) => add(out, "method", &path, &method.sig),
                    TraitItem::Type(other) => add(out, "type", &path, &other.ident),
                    TraitItem::Const(other) => add(out, "const", &path, &other.ident),
                    _ => {}
                }
            }
        }
        _ => {}
    }
    methods(source, index, &own, &path, out);
}

fn add(out: &mut BTreeSet<String>, kind: &str, path: &str, signature: &impl quote::ToTokens) {
    out.insert(format!("{kind} {path}: {}", line(&quote!(#signature))));
}

fn visibility(item: &Item) -> Option<&syn::Visibility> {
    Some(match item {
        Item::Const(item) => &item.vis,
        Item::Static(item) => &item.vis,
        Item::Type(item) => &item.vis,
        Item::Fn(item) => &item.vis,
        Item::Struct(item) => &item.vis,
        Item::Enum(item) => &item.vis,
        Item::Trait(item) => &item.vis,
        _ => return None,
    })
}

/// The parameters of a type, and whether it may grow.
fn generics(attributes: &[syn::Attribute], generics: &syn::Generics) -> String {
    let grows = attributes.iter().any(|attribute| attribute.path().is_ident("non_exhaustive"));
    let generics = line(&quote!(#generics));
    if grows { format!("{generics} (non-exhaustive)") } else { generics }
}

/// Adds the traits that a type derives.
fn derives(attributes: &[syn::Attribute], path: &str, out: &mut BTreeSet<String>) {
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("derive")) {
        if let syn::Meta::List(list) = &attribute.meta {
            add(out, "derive", path, &list.tokens);
        }
    }
}

fn fields(fields: &Fields, path: &str, out: &mut BTreeSet<String>) {
    for (index, field) in fields.iter().enumerate().filter(|(_, field)| is_public(&field.vis)) {
        let name = field.ident.as_ref().map_or(index.to_string(), ToString::to_string);
        add(out, "field", &format!("{path}.{name}"), &field.ty);
    }
}

/// Adds the methods and the traits of a type, wherever in the crate they are written.
fn methods(source: &Source, home: usize, name: &str, path: &str, out: &mut BTreeSet<String>) {
    for (index, module) in source.modules.iter().enumerate() {
        for item in &module.items {
            let Item::Impl(item) = item else { continue };
            let syn::Type::Path(own) = &*item.self_ty else { continue };
            let own: Vec<String> =
                own.path.segments.iter().map(|segment| segment.ident.to_string()).collect();
            let defined = source.resolve(index, &own);
            if defined != Some((home, Some(name.to_owned()))) {
                continue;
            }
            if let Some((implemented, _)) = &item.trait_ {
                add(out, "impl", path, implemented);
                continue;
            }
            for inner in &item.items {
                match inner {
                    ImplItem::Fn(method) if is_public(&method.vis) => {
                        add(out, "method", path, &method.sig);
                    }
                    ImplItem::Const(constant) if is_public(&constant.vis) => {
                        let ty = &constant.ty;
                        add(out, "const", &format!("{path}::{}", constant.ident), ty);
                    }
                    _ => {}
                }
            }
        }
    }
}
