//! Conversions from and to the types of other crates, each with a crate feature.

mod k8s_openapi;
#[cfg(feature = "kube")]
mod kube;
