//! Conversions from and to the types of other crates. Each crate is behind a feature.

mod k8s_openapi;
#[cfg(feature = "kube")]
mod kube;
