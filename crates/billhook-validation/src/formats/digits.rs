//! Formats made of digits: object ids, UUIDs, numbers with check digits, colors, base64 (VV-71).

pub(super) fn is_object_id(text: &str) -> bool {
    text.len() == 24 && is_hex(text)
}

fn is_hex(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Groups of 8, 4, 4, 4 and 12 hexadecimal digits, hyphens between them being optional. `version`
/// is the first digit of the third group; from version 4 on, the fourth begins with 8, 9, a or b.
pub(super) fn is_uuid(text: &str, version: Option<char>) -> bool {
    let mut rest = text;
    let mut groups = [""; 5];
    for (position, (group, length)) in groups.iter_mut().zip([8, 4, 4, 4, 12]).enumerate() {
        if position > 0 {
            rest = rest.strip_prefix('-').unwrap_or(rest);
        }
        let Some((digits, behind)) = rest.split_at_checked(length) else { return false };
        (*group, rest) = (digits, behind);
    }
    if !rest.is_empty() || !groups.iter().all(|group| is_hex(group)) {
        return false;
    }
    let [_, _, third, fourth, _] = groups;
    match version {
        None => true,
        Some(version) => {
            let has_variant = fourth.starts_with(['8', '9', 'a', 'b', 'A', 'B']);
            third.starts_with(version) && (version == '3' || has_variant)
        }
    }
}

/// The digits of a book number, without spaces and hyphens.
fn isbn_characters(text: &str) -> Vec<char> {
    let is_skipped = |c: &char| matches!(c, ' ' | '\t' | '\n' | '\x0c' | '\r' | '-');
    text.chars().filter(|c| !is_skipped(c)).collect()
}

pub(super) fn is_isbn10(text: &str) -> bool {
    let characters = isbn_characters(text);
    if characters.len() != 10 {
        return false;
    }
    let mut sum = 0;
    for (weight, character) in (1..).zip(characters) {
        sum += weight
            * match character {
                'X' if weight == 10 => 10,
                digit => match decimal(digit) {
                    Some(digit) => digit,
                    None => return false,
                },
            };
    }
    sum % 11 == 0
}

pub(super) fn is_isbn13(text: &str) -> bool {
    let characters = isbn_characters(text);
    let digits: Option<Vec<u32>> = characters.into_iter().map(decimal).collect();
    let Some(digits) = digits.filter(|digits| digits.len() == 13) else { return false };
    let weighted = digits.iter().zip([1, 3].into_iter().cycle());
    weighted.map(|(digit, weight)| digit * weight).sum::<u32>().is_multiple_of(10)
}

fn decimal(character: char) -> Option<u32> {
    character.to_digit(10)
}

pub(super) fn is_credit_card(text: &str) -> bool {
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    is_issued(&digits) && has_luhn_sum(&digits)
}

/// Returns whether a number has a prefix and a length that some issuer uses.
fn is_issued(digits: &str) -> bool {
    let begins = |starts: &[&str]| starts.iter().any(|start| digits.starts_with(start));
    let second_up_to = |last: char| digits.chars().nth(2).is_some_and(|digit| digit <= last);
    match digits.len() {
        13 => begins(&["4"]),
        14 => begins(&["36", "38"]) || begins(&["30"]) && second_up_to('5'),
        15 => begins(&["34", "37", "2131", "1800"]),
        16 => begins(&["4", "51", "52", "53", "54", "55", "6011", "65", "35"]),
        _ => false,
    }
}

fn has_luhn_sum(digits: &str) -> bool {
    let sum: u32 = digits
        .chars()
        .rev()
        .filter_map(decimal)
        .enumerate()
        .map(|(position, digit)| match (position % 2, digit * 2) {
            (0, _) => digit,
            (_, doubled) if doubled > 9 => doubled - 9,
            (_, doubled) => doubled,
        })
        .sum();
    sum.is_multiple_of(10)
}

/// Eleven bytes with both separators.
pub(super) fn is_ssn(text: &str) -> bool {
    text.len() == 11
        && text.bytes().enumerate().all(|(position, byte)| match position {
            3 | 6 => byte == b'-' || byte == b' ',
            _ => byte.is_ascii_digit(),
        })
}

pub(super) fn is_hex_color(text: &str) -> bool {
    let digits = text.strip_prefix('#').unwrap_or(text);
    matches!(digits.len(), 3 | 6) && is_hex(digits)
}

pub(super) fn is_rgb_color(text: &str) -> bool {
    let inner = text.strip_prefix("rgb(").and_then(|rest| rest.strip_suffix(')'));
    let Some(inner) = inner else { return false };
    let is_space = |c: char| matches!(c, ' ' | '\t' | '\n' | '\x0c' | '\r');
    let parts: Vec<&str> = inner.split(',').map(|part| part.trim_matches(is_space)).collect();
    parts.len() == 3 && parts.iter().all(|part| is_color_part(part))
}

/// 0 to 255 without leading zeros.
fn is_color_part(text: &str) -> bool {
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit());
    is_plain && (text == "0" || !text.starts_with('0')) && text.parse::<u8>().is_ok()
}

/// Standard base64 with padding, not empty.
pub(super) fn is_base64(text: &str) -> bool {
    if text.is_empty() || !text.len().is_multiple_of(4) {
        return false;
    }
    let digits = text.strip_suffix("==").or_else(|| text.strip_suffix('=')).unwrap_or(text);
    digits.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'+' || byte == b'/')
}
