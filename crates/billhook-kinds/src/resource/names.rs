//! Names of drivers, pools, attributes and capacities (BK-489).

use billhook_apimachinery::names::dns1123_subdomain;
use billhook_apimachinery::{FieldError, FieldPath};

use crate::rules::{invalid, named, required};

/// The name of a pool: subdomains between slashes.
pub(super) fn pool(errors: &mut Vec<FieldError>, path: &FieldPath, name: &str) {
    if name.is_empty() {
        return required(errors, path, name);
    }
    for part in name.split('/') {
        named(errors, path, part, dns1123_subdomain);
    }
}

/// The name of an attribute or a capacity, after a domain and a slash if it has one.
pub(super) fn qualified(errors: &mut Vec<FieldError>, path: &FieldPath, name: &str) {
    let (domain, identifier) = match name.split_once('/') {
        Some((domain, identifier)) => (Some(domain), identifier),
        None => (None, name),
    };
    match domain {
        Some("") => invalid(errors, path, "", ["the domain must not be empty"]),
        Some(domain) => named(errors, path, domain, dns1123_subdomain),
        None => {}
    }
    if identifier.is_empty() {
        invalid(errors, path, "", ["the name must not be empty"]);
    }
}

/// Such a name with its domain.
pub(super) fn fully_qualified(errors: &mut Vec<FieldError>, path: &FieldPath, name: &str) {
    qualified(errors, path, name);
    if !name.contains('/') {
        let detail = "a fully qualified name must be a domain and a name separated by a slash";
        invalid(errors, path, name, [detail]);
    }
}
