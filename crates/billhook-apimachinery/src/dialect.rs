//! The rules to follow where a server and the KEPs differ.

/// The rules to follow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Dialect {
    /// The behavior of an API server, in its [`KubernetesVersion`](crate::KubernetesVersion).
    #[default]
    Kubernetes,
    /// The text of the KEPs where the server differs: preservation is inherited below a preserved
    /// node until a node that itself lists properties (KD-01, KD-02, KD-07), a value of the wrong
    /// type is an error (KD-03), and nulls are neither removed nor defaulted (KD-20, KD-21).
    Kep,
}
