//! The names of types in Rust.

/// Splits the name of a type in OpenAPI into its group, its version and its own name.
pub(super) fn parts(name: &str) -> (&str, &str, &str) {
    let (package, own) = name.rsplit_once('.').unwrap_or(("", name));
    let (group, version) = package.rsplit_once('.').unwrap_or(("", package));
    (group.rsplit('.').next().unwrap_or_default(), version, own)
}

/// The module of a type: `core_v1`.
pub(super) fn module(name: &str) -> String {
    let (group, version, _) = parts(name);
    format!("{group}_{version}")
}

/// The table of a type: `POD_SPEC`.
pub(super) fn table(name: &str) -> String {
    let (_, _, own) = parts(name);
    let letters: Vec<char> = own.chars().collect();
    let mut table = String::new();
    for (index, letter) in letters.iter().enumerate() {
        let before = index.checked_sub(1).and_then(|before| letters.get(before));
        let begins = letter.is_uppercase()
            && before.is_some_and(|before| {
                !before.is_uppercase() || letters.get(index + 1).is_some_and(|l| l.is_lowercase())
            });
        if begins {
            table.push('_');
        }
        table.push(letter.to_ascii_uppercase());
    }
    table
}
