//! The files of the page, which are part of the program.

use http::{HeaderMap, HeaderValue, header};
use hyper::body::Bytes;

/// The path of the page, which those of its parts begin with.
pub(super) const PAGE: &str = "/billhook/ui/";

const HTML: &str = "text/html; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";

/// The name, type and text of each.
const FILES: [(&str, &str, &str); 9] = [
    ("", HTML, include_str!("page/index.html")),
    ("style.css", CSS, include_str!("page/style.css")),
    ("main.js", SCRIPT, include_str!("page/main.js")),
    ("api.js", SCRIPT, include_str!("page/api.js")),
    ("dom.js", SCRIPT, include_str!("page/dom.js")),
    ("tree.js", SCRIPT, include_str!("page/tree.js")),
    ("object.js", SCRIPT, include_str!("page/object.js")),
    ("yaml.js", SCRIPT, include_str!("page/yaml.js")),
    ("lists.js", SCRIPT, include_str!("page/lists.js")),
];

/// Nothing but these files is run or shown, and no text becomes markup.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
    img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
    require-trusted-types-for 'script'; trusted-types 'none'";

fn of_path(path: &str) -> Option<(&'static str, &'static str)> {
    let name = path.strip_prefix(PAGE)?;
    let found = FILES.iter().find(|(file, ..)| *file == name);
    found.map(|(_, media_type, text)| (*media_type, *text))
}

/// Whether a path is that of a file. They are the same for everyone.
pub(crate) fn is_file(path: &str) -> bool {
    of_path(path).is_some()
}

/// Returns the answer with a file, if the path is that of one.
pub(super) fn find(path: &str) -> Option<http::Response<Bytes>> {
    let (media_type, text) = of_path(path)?;
    let mut response = http::Response::new(Bytes::from_static(text.as_bytes()));
    let headers: &mut HeaderMap = response.headers_mut();
    let mut set = |name, value| drop(headers.insert(name, HeaderValue::from_static(value)));
    set(header::CONTENT_TYPE, media_type);
    set(header::CONTENT_SECURITY_POLICY, POLICY);
    set(header::X_CONTENT_TYPE_OPTIONS, "nosniff");
    set(header::REFERRER_POLICY, "no-referrer");
    Some(response)
}
