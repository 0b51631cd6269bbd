//! The error of strict decoding.

/// How many bytes the findings in an error of strict decoding have at most; what comes after them is
/// only counted. A server has no such limit.
const MAX_FINDINGS: usize = 256 << 10;

/// Returns the error of strict decoding for its findings (RP-21).
///
/// ```
/// use billhook_apimachinery::strict_decoding_error;
///
/// let error = strict_decoding_error(["unknown field \"a\"", "unknown field \"b\""]);
/// assert_eq!(error, "strict decoding error: unknown field \"a\", unknown field \"b\"");
/// ```
pub fn strict_decoding_error<'f>(findings: impl IntoIterator<Item = &'f str>) -> String {
    let mut error = "strict decoding error: ".to_owned();
    let limit = error.len() + MAX_FINDINGS;
    let mut left_out = 0;
    for (index, finding) in findings.into_iter().enumerate() {
        if left_out > 0 || error.len() + finding.len() > limit {
            left_out += 1;
            continue;
        }
        error.push_str(if index > 0 { ", " } else { "" });
        error.push_str(finding);
    }
    if left_out > 0 {
        error.push_str(&format!(", and {left_out} more"));
    }
    error
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_errors_are_cut() {
        let finding = "x".repeat(100_000);
        let error = strict_decoding_error(std::iter::repeat_n(finding.as_str(), 100));
        assert!(error.len() < MAX_FINDINGS + 100, "{}", error.len());
        assert!(error.ends_with("xx, and 98 more"));
    }
}
