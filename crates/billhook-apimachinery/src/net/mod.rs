//! URLs and IP addresses, read as the server reads them and with its errors.

mod address;
mod escape;
mod url;

pub use address::{Address, AddressError, parse_prefix};
pub use escape::{EscapeError, UrlPart, escape, unescape, unescape_text};
pub use url::{Url, UrlError};
