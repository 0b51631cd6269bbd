//! The formats of Kubernetes: the values of `format` and their meaning (VV-70, VV-71).
//!
//! The rules are the server's, not those of the RFCs that the names suggest: `ssn` needs both its
//! separators, `duration` skips groups it does not know, `ipv4` accepts leading zeros.

mod digits;
mod email;
mod encoded_word;
mod names;
mod net;
mod time;

use billhook_apimachinery::KubernetesVersion;
use billhook_apimachinery::net::Url;

use crate::edition::EDITIONS;

pub use time::{parse_duration, parse_go_duration};

/// A format of strings that a server knows.
///
/// ```
/// use billhook_validation::Format;
/// assert_eq!(Format::named("date-time"), Format::named("datetime"));
/// assert!(Format::named("date-time").is_some());
/// assert_eq!(Format::named("Date-Time"), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// 24 hexadecimal digits.
    BsonObjectId,
    /// A request URI.
    Uri,
    /// An address with or without a display name.
    Email,
    /// A host name.
    Hostname,
    /// An IP address with a dot.
    Ipv4,
    /// An IP address with a colon.
    Ipv6,
    /// An IP address and the length of a prefix.
    Cidr,
    /// A hardware address.
    Mac,
    /// A UUID of any version.
    Uuid,
    /// A UUID of version 3.
    Uuid3,
    /// A UUID of version 4.
    Uuid4,
    /// A UUID of version 5.
    Uuid5,
    /// A book number of either length.
    Isbn,
    /// A book number of ten digits.
    Isbn10,
    /// A book number of thirteen digits.
    Isbn13,
    /// The number of a credit card.
    CreditCard,
    /// A U.S. social security number.
    Ssn,
    /// A color in hexadecimal digits.
    HexColor,
    /// A color as `rgb(…)`.
    RgbColor,
    /// Base64.
    Byte,
    /// Any text.
    Password,
    /// A day.
    Date,
    /// A day and a time.
    DateTime,
    /// A length of time.
    Duration,
    /// A DNS label.
    K8sShortName,
    /// Several DNS labels.
    K8sLongName,
}

/// Whether a text has a format.
type Rule = fn(&str) -> bool;

/// The names of formats, without hyphens, and their rules.
const FORMATS: [(&str, Format, Rule); 26] = [
    ("bsonobjectid", Format::BsonObjectId, digits::is_object_id),
    ("uri", Format::Uri, Url::is_request_uri),
    ("email", Format::Email, email::is_address),
    ("hostname", Format::Hostname, |text| names::Hostnames::new().admit(text)),
    ("ipv4", Format::Ipv4, net::is_ipv4),
    ("ipv6", Format::Ipv6, net::is_ipv6),
    ("cidr", Format::Cidr, net::is_cidr),
    ("mac", Format::Mac, net::is_mac),
    ("uuid", Format::Uuid, |text| digits::is_uuid(text, None)),
    ("uuid3", Format::Uuid3, |text| digits::is_uuid(text, Some('3'))),
    ("uuid4", Format::Uuid4, |text| digits::is_uuid(text, Some('4'))),
    ("uuid5", Format::Uuid5, |text| digits::is_uuid(text, Some('5'))),
    ("isbn", Format::Isbn, |text| digits::is_isbn10(text) || digits::is_isbn13(text)),
    ("isbn10", Format::Isbn10, digits::is_isbn10),
    ("isbn13", Format::Isbn13, digits::is_isbn13),
    ("creditcard", Format::CreditCard, digits::is_credit_card),
    ("ssn", Format::Ssn, digits::is_ssn),
    ("hexcolor", Format::HexColor, digits::is_hex_color),
    ("rgbcolor", Format::RgbColor, digits::is_rgb_color),
    ("byte", Format::Byte, digits::is_base64),
    ("password", Format::Password, |_| true),
    ("date", Format::Date, time::is_date),
    ("datetime", Format::DateTime, time::is_date_time),
    ("duration", Format::Duration, |text| time::parse_duration(text).is_some()),
    ("k8sshortname", Format::K8sShortName, names::is_short_name),
    ("k8slongname", Format::K8sLongName, names::is_long_name),
];

impl Format {
    /// Returns the format with a name; hyphens do not matter, case does (VV-70).
    pub fn named(name: &str) -> Option<Self> {
        let name = name.replace('-', "");
        FORMATS.iter().find(|(known, ..)| *known == name).map(|(_, format, _)| *format)
    }

    /// Returns whether a text has this format (VV-71).
    ///
    /// ```
    /// use billhook_validation::Format;
    /// assert!(Format::Date.matches("2024-02-29"));
    /// assert!(!Format::Date.matches("2023-02-29"));
    /// ```
    pub fn matches(self, text: &str) -> bool {
        Checker::new(self).matches(text)
    }

    /// Returns whether a server checks a format of objects beside a written `type` (empty if there
    /// is none, or if the type is int-or-string) (VV-02, KV-61).
    ///
    /// ```
    /// use billhook_apimachinery::KubernetesVersion;
    /// use billhook_validation::Format;
    ///
    /// let newest = KubernetesVersion::default();
    /// assert!(Format::has_effect("integer", "int32", newest));
    /// assert!(Format::has_effect("", "date", newest));
    /// assert!(!Format::has_effect("number", "date", newest));
    /// assert!(Format::has_effect("number", "date", KubernetesVersion::V1_35));
    /// ```
    pub fn has_effect(type_: &str, format: &str, kubernetes: KubernetesVersion) -> bool {
        let is_checked = || Format::named(format).is_some_and(|it| it.is_checked_by(kubernetes));
        if !EDITIONS.of(kubernetes).checks_formats_by_type {
            return is_checked();
        }
        match type_ {
            "integer" => matches!(format, "int32" | "int64"),
            "number" => matches!(format, "float" | "double"),
            "string" | "" => is_checked(),
            _ => false,
        }
    }

    /// Returns whether a server knows the format (KV-62); default values are checked by all that it
    /// knows.
    pub(crate) fn is_known_to(self, kubernetes: KubernetesVersion) -> bool {
        match self {
            Format::K8sShortName | Format::K8sLongName => {
                EDITIONS.of(kubernetes).knows_name_formats
            }
            _ => true,
        }
    }

    /// Returns whether a server checks the format in objects, which for a new one begins a version
    /// later (KV-62).
    fn is_checked_by(self, kubernetes: KubernetesVersion) -> bool {
        match self {
            Format::K8sShortName | Format::K8sLongName => {
                EDITIONS.of(kubernetes).checks_name_formats
            }
            _ => true,
        }
    }
}

/// A format made ready to check texts with.
#[derive(Clone, Debug)]
pub(crate) enum Checker {
    Rule(Rule),
    Hostname(names::Hostnames),
}

impl Checker {
    pub(crate) fn new(format: Format) -> Self {
        if format == Format::Hostname {
            return Checker::Hostname(names::Hostnames::new());
        }
        let row = FORMATS.iter().find(|(_, known, _)| *known == format);
        Checker::Rule(row.map_or(|_| true, |(_, _, rule)| *rule))
    }

    #[inline]
    pub(crate) fn matches(&self, text: &str) -> bool {
        match self {
            Checker::Rule(rule) => rule(text),
            Checker::Hostname(names) => names.admit(text),
        }
    }
}
