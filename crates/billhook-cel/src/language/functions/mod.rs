//! The functions expressions may call. One table serves the checker, the interpreter and the
//! limits of cost.

pub(crate) mod arithmetic;
mod authorizer;
pub(crate) mod conversion;
pub(crate) mod cost;
mod declare;
mod float;
mod format;
mod lists;
pub(crate) mod maps;
mod moment;
mod mutation;
mod net;
pub(crate) mod operators;
mod optional;
mod percent;
pub(crate) mod price;
mod quantity;
pub(crate) mod regex;
mod semver;
mod sets;
mod standard;
mod strings;
mod url;
mod work;

use std::collections::{BTreeSet, HashMap};
use std::sync::LazyLock;

use crate::language::availability::{Availability, Language};
use crate::language::types::Type;

pub(crate) use declare::{Cost, Overload};
pub(crate) use strings::{clauses, requirement};

/// The functions of a language (CE-10, KV-30).
#[derive(Clone, Copy)]
pub(crate) struct Functions(Language);

impl Functions {
    pub(crate) fn of(language: Language) -> Self {
        Functions(language)
    }

    /// The overloads of a function, in the order they were declared.
    pub(crate) fn named(self, name: &str) -> impl Iterator<Item = &'static Overload> {
        let table: &'static Table = &TABLE;
        let positions = table.by_name.get(name).map_or(&[][..], Vec::as_slice);
        let overloads = positions.iter().filter_map(|&position| table.overloads.get(position));
        overloads.filter(move |overload| self.0.has(overload.availability))
    }

    pub(crate) fn has_any(self, name: &str) -> bool {
        self.named(name).next().is_some()
    }

    /// The type of a library by its name.
    pub(crate) fn opaque_named(self, name: &str) -> Option<Type> {
        let found = TABLE.opaques.iter().find(|(known, of)| *known == name && self.0.has(*of));
        found.map(|(name, _)| Type::Opaque(name))
    }
}

/// Returns whether names of functions or types begin with a name and a dot.
pub(crate) fn is_namespace(name: &str) -> bool {
    TABLE.namespaces.contains(name)
}

/// The overloads of all libraries in all versions.
struct Table {
    overloads: Vec<Overload>,
    by_name: HashMap<&'static str, Vec<usize>>,
    /// The names of the types that functions return, and where these functions are.
    opaques: Vec<(&'static str, Availability)>,
    namespaces: BTreeSet<&'static str>,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let libraries = [
        standard::overloads,
        quantity::library,
        semver::library,
        net::library,
        url::library,
        format::library,
        strings::library,
        lists::library,
        maps::library,
        sets::library,
        regex::library,
        authorizer::library,
        mutation::library,
    ];
    let overloads: Vec<Overload> = libraries.iter().flat_map(|library| library()).collect();
    let mut by_name: HashMap<&'static str, Vec<usize>> = HashMap::new();
    for (position, overload) in overloads.iter().enumerate() {
        by_name.entry(overload.function).or_default().push(position);
    }
    let mut opaques = Vec::new();
    for overload in &overloads {
        if let Type::Opaque(name) = overload.result
            && !opaques.contains(&(name, overload.availability))
        {
            opaques.push((name, overload.availability));
        }
    }
    let names = by_name.keys().chain(opaques.iter().map(|(name, _)| name));
    let namespaces = names.filter_map(|name| Some(name.split_once('.')?.0)).collect();
    Table { overloads, by_name, opaques, namespaces }
});
