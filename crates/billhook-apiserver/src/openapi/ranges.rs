//! Parts of documents: a document is answered as a file is (DT-41).

use std::ops::Range;

use bytes::Bytes;
use http::{StatusCode, header};

use super::{empty, json_response, set};
use crate::request::Request;
use crate::response::Response;

/// Answers with a document that has a tag: nothing of it if the client has it already or wants another
/// one, a part if that is asked for.
pub(super) fn answer(request: &Request, tag: &str, document: impl Into<Bytes>) -> Response {
    let document = document.into();
    let wanted = request.header("if-match");
    let known = request.header("if-none-match");
    if !wanted.is_empty() && !names(wanted, tag, false) {
        return empty(StatusCode::PRECONDITION_FAILED);
    }
    if names(known, tag, true) {
        return empty(StatusCode::NOT_MODIFIED);
    }
    let of = request.header("if-range");
    let asked = if of.is_empty() || of == tag { request.header("range") } else { "" };
    let length = document.len();
    let mut response = match part(asked, length) {
        Part::Whole => json_response(document),
        Part::Bytes(range) => {
            let place = format!("bytes {}-{}/{length}", range.start, range.end.saturating_sub(1));
            let mut response = json_response(document.slice(range));
            *response.status_mut() = StatusCode::PARTIAL_CONTENT;
            set(&mut response, header::CONTENT_RANGE, &place);
            response
        }
        Part::Nothing => {
            let mut response = empty(StatusCode::RANGE_NOT_SATISFIABLE);
            set(&mut response, header::CONTENT_RANGE, &format!("bytes */{length}"));
            response
        }
    };
    set(&mut response, header::ACCEPT_RANGES, "bytes");
    response
}

/// Whether a list of tags has a tag in it; a weak one may be enough.
fn names(tags: &str, tag: &str, is_weak_enough: bool) -> bool {
    tags.split(',').map(str::trim).any(|known| {
        let strong = known.strip_prefix("W/").filter(|_| is_weak_enough).unwrap_or(known);
        strong == tag || known == "*"
    })
}

/// The part of a document that is asked for.
#[derive(Debug, PartialEq, Eq)]
enum Part {
    Whole,
    Bytes(Range<usize>),
    Nothing,
}

/// Reads the header `Range`. Several ranges at once are answered with the whole document.
fn part(header: &str, length: usize) -> Part {
    if header.is_empty() || header.contains(',') {
        return Part::Whole;
    }
    let ends = header.strip_prefix("bytes=").and_then(|range| range.trim().split_once('-'));
    let Some((first, last)) = ends else { return Part::Nothing };
    let (first, last) = (first.trim(), last.trim());
    let number = |text: &str| {
        let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| text.parse().unwrap_or(usize::MAX))
    };
    let range = match (number(first), number(last)) {
        (Some(first), Some(last)) if first <= last => first..last.saturating_add(1).min(length),
        (Some(first), None) if last.is_empty() => first..length,
        (None, Some(count)) if first.is_empty() => length.saturating_sub(count)..length,
        _ => return Part::Nothing,
    };
    if range.is_empty() { Part::Nothing } else { Part::Bytes(range) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_cut_to_the_document() {
        for (header, expected) in [
            ("", Part::Whole),
            ("bytes=0-0,2-3", Part::Whole),
            ("bytes=0-3", Part::Bytes(0..4)),
            ("bytes=8-99999999999999999999999", Part::Bytes(8..10)),
            ("bytes=4-", Part::Bytes(4..10)),
            ("bytes=-3", Part::Bytes(7..10)),
            ("bytes=-30", Part::Bytes(0..10)),
            ("bytes=10-", Part::Nothing),
            ("bytes=3-2", Part::Nothing),
            ("bytes=-0", Part::Nothing),
            ("bytes=-", Part::Nothing),
            ("bytes=+1-2", Part::Nothing),
            ("lines=1-2", Part::Nothing),
        ] {
            assert_eq!(part(header, 10), expected, "{header}");
        }
        assert_eq!(part("bytes=0-", 0), Part::Nothing);
    }
}
