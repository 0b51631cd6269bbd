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
mod net;
mod operators;
mod optional;
mod quantity;
mod regex;
mod semver;
mod sets;
mod standard;
mod strings;
mod text;
mod url;

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

pub(crate) use declare::{Cost, Overload};
pub(crate) use strings::clauses;

/// All overloads of every library, by function.
pub(crate) struct Functions {
    pub(crate) overloads: Vec<Overload>,
    by_name: HashMap<&'static str, Vec<usize>>,
}

impl Functions {
    fn new(libraries: &[fn() -> Vec<Overload>]) -> Self {
        let overloads: Vec<Overload> = libraries.iter().flat_map(|library| library()).collect();
        let mut by_name: HashMap<&'static str, Vec<usize>> = HashMap::new();
        for (index, overload) in overloads.iter().enumerate() {
            by_name.entry(overload.function).or_default().push(index);
        }
        Functions { overloads, by_name }
    }

    /// The overloads of a function, by position, in the order they were declared.
    pub(crate) fn named(&self, name: &str) -> &[usize] {
        self.by_name.get(name).map_or(&[], Vec::as_slice)
    }
}

/// The functions of a server of this version (CE-10).
pub(crate) fn all() -> &'static Arc<Functions> {
    static ALL: LazyLock<Arc<Functions>> = LazyLock::new(|| {
        Arc::new(Functions::new(&[
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
        ]))
    });
    &ALL
}
