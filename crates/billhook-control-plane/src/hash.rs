//! Hashes of templates, as they are in names and labels (CP-31).

use billhook_apimachinery::print::plain_json;
use serde_json::Value;

/// The letters of name suffixes, as servers use them.
const LETTERS: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";

/// Returns the hash of a template. The count of collisions makes it another one.
pub(crate) fn hash_of(template: &Value, collision_count: Option<i64>) -> String {
    let mut text = plain_json(template);
    if let Some(count) = collision_count {
        text.push_str(&count.to_string());
    }
    let letter = |digit: char| {
        let index = u32::from(digit) as usize % LETTERS.len();
        char::from(LETTERS.get(index).copied().unwrap_or_default())
    };
    number_of(&text).to_string().chars().map(letter).collect()
}

/// Returns a number that stands for a text: its 32-bit FNV-1a hash.
pub(crate) fn number_of(text: &str) -> u32 {
    let step = |hash: u32, byte: &u8| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193);
    text.as_bytes().iter().fold(0x811c_9dc5, step)
}
