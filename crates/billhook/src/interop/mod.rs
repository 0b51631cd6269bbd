//! Conversions from and to the types of other crates. Each crate is behind a feature.

mod k8s_openapi;
#[cfg(feature = "kube")]
mod kube;

pub use self::k8s_openapi::namespace_labels;
#[cfg(feature = "kube")]
pub use self::kube::KubeConversionError;

/// Other crates have no text where this one has an empty one.
fn or_none(text: String) -> Option<String> {
    (!text.is_empty()).then_some(text)
}
