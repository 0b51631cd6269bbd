//! The warnings of one request and their limits (AR-80 to AR-86, RP-26).

use indexmap::IndexSet;

/// The characters that all warnings of a request may have together before they are cut (AR-84).
const MAX_TOTAL: usize = 4096;
/// The characters that are left of a warning when it is cut (AR-85).
const MAX_CUT: usize = 256;

/// Collects the warnings of one request as the server does for its response headers: each text
/// once, within a budget.
///
/// ```
/// use billhook_admission::Warnings;
/// let mut warnings = Warnings::default();
/// warnings.add("deprecated");
/// warnings.add("deprecated");
/// warnings.add(&"x".repeat(5000));
/// assert_eq!(warnings.texts(), ["deprecated".to_owned(), "x".repeat(256)]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Warnings {
    /// In full, in the order they came.
    raw: IndexSet<String>,
    /// How many of `raw` are sent; all are until the budget is used up.
    sent: usize,
    total: usize,
    is_cutting: bool,
}

impl Warnings {
    /// Adds a warning. Texts that are empty, known or not the text of a header are dropped (AR-82, AR-83).
    pub fn add(&mut self, text: &str) {
        if text.is_empty()
            || text.chars().any(char::is_control)
            || !self.raw.insert(text.to_owned())
        {
            return;
        }
        let length = text.chars().count();
        if self.is_cutting {
            if self.total < MAX_TOTAL {
                self.sent = self.raw.len();
                self.total += length.min(MAX_CUT);
            }
        } else if self.total + length <= MAX_TOTAL {
            self.sent = self.raw.len();
            self.total += length;
        } else {
            self.is_cutting = true;
            self.sent = self.raw.len();
            self.total = self.raw.iter().map(|text| text.chars().count().min(MAX_CUT)).sum();
        }
    }

    /// The warnings that the client gets, in order (AR-84, AR-85).
    pub fn texts(&self) -> Vec<String> {
        let sent = self.raw.iter().take(self.sent);
        if self.is_cutting {
            sent.map(|text| text.chars().take(MAX_CUT).collect()).collect()
        } else {
            sent.cloned().collect()
        }
    }

    /// All warnings in full, in order, each text once (AR-86).
    pub fn raw(&self) -> Vec<&str> {
        self.raw.iter().map(String::as_str).collect()
    }

    /// Whether the budget was exceeded, so that texts are cut or dropped.
    pub fn is_cut(&self) -> bool {
        self.is_cutting
    }

    /// The values of the `Warning` headers of the response (AR-81).
    pub fn headers(&self) -> Vec<String> {
        let header = |text: &String| {
            let escaped = text.replace('\\', "\\\\").replace('"', "\\\"");
            format!("299 - \"{escaped}\"")
        };
        self.texts().iter().map(header).collect()
    }
}
