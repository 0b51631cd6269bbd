//! Conversions from and to the types of `k8s-openapi`, which are the same documents.

use k8s_openapi::api::authentication::v1 as authentication;
use k8s_openapi::apimachinery::pkg::apis::meta::v1 as meta;
use serde::de::DeserializeOwned;

use crate::label_selector::LabelSelector;
use crate::record::TypedRecord;
use crate::value::DeepValue;
use crate::{Status, UserInfo};

/// Reads a document of a type that is written in another crate too.
fn from_document<T: DeserializeOwned + Default>(document: DeepValue) -> T {
    // Only a value of another type could fail, and both have the same fields.
    serde_json::from_value(document.into_inner()).unwrap_or_default()
}

/// Conversions both ways.
macro_rules! convert {
    ($($(#[$from:meta])* $theirs:path => $ours:ident $(#[$to:meta])* as $document:ident;)*) => {$(
        $(#[$from])*
        impl From<$theirs> for $ours {
            fn from(theirs: $theirs) -> Self {
                from_document(serde_json::to_value(theirs).unwrap_or_default().into())
            }
        }

        $(#[$to])*
        impl From<$ours> for $theirs {
            fn from(ours: $ours) -> Self {
                from_document(ours.$document())
            }
        }
    )*};
}

convert! {
    /// The user of a request, e.g. of a `TokenReview`.
    ///
    /// ```
    /// use k8s_openapi::api::authentication::v1::UserInfo;
    ///
    /// let ada = UserInfo { username: Some("ada".to_owned()), ..UserInfo::default() };
    /// let user = billhook_apimachinery::UserInfo::from(ada.clone());
    /// assert_eq!(user.username, "ada");
    /// assert_eq!(UserInfo::from(user), ada);
    /// ```
    authentication::UserInfo => UserInfo as to_document;

    /// A selector, ready to be parsed.
    ///
    /// ```
    /// use billhook_apimachinery::label_selector;
    /// use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
    ///
    /// let labels = std::collections::BTreeMap::from([("app".to_owned(), "web".to_owned())]);
    /// let written = LabelSelector { match_labels: Some(labels), ..LabelSelector::default() };
    /// let selector = label_selector::LabelSelector::from(written).parse()?;
    /// assert_eq!(selector.to_string(), "app=web");
    /// # Ok::<(), label_selector::SelectorError>(())
    /// ```
    meta::LabelSelector => LabelSelector as to_document;

    /// A status, without the metadata that it has in lists.
    meta::Status => Status
    /// The status that a client gets when a request fails.
    ///
    /// ```
    /// use billhook_apimachinery::Status;
    /// use k8s_openapi::apimachinery::pkg::apis::meta::v1;
    ///
    /// let status = v1::Status::from(Status::timeout());
    /// assert_eq!(status.code, Some(504));
    /// ```
    as to_value;
}
