//! Whose rules apply where a server and the KEPs differ.

/// Whose rules apply.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Dialect {
    /// What a Kubernetes 1.36 API server does.
    #[default]
    Kubernetes,
    /// What the KEP texts say where the server differs: preservation is inherited below a
    /// preserved node until a node that itself lists properties (KD-01, KD-02, KD-07), a value of
    /// the wrong type is an error (KD-03), and nulls are neither removed nor defaulted (KD-20,
    /// KD-21).
    Kep,
}
