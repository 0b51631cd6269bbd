//! Errors that are one message.

/// Declares an error that is one message, with a constructor and conversions from texts.
///
/// ```
/// billhook_apimachinery::message_error! {
///     /// A service that cannot be found.
///     pub struct ServiceError;
/// }
///
/// let error = ServiceError::from("no such service");
/// assert_eq!(error.to_string(), "no such service");
/// ```
#[macro_export]
macro_rules! message_error {
    ($(#[$attribute:meta])* pub struct $name:ident;) => {
        $(#[$attribute])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct $name {
            message: String,
        }

        impl $name {
            /// An error with a message.
            pub fn new(message: impl Into<String>) -> Self {
                Self { message: message.into() }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&self.message)
            }
        }

        impl std::error::Error for $name {}

        impl From<String> for $name {
            fn from(message: String) -> Self {
                Self { message }
            }
        }

        impl From<&str> for $name {
            fn from(message: &str) -> Self {
                Self::new(message)
            }
        }
    };
}
