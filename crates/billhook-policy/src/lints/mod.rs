//! Advice about policies: a server accepts them, although they are likely to be wrong.

mod alone;
mod lint;
mod together;

pub use lint::PolicyLint;
pub use together::lint_policies_together;
