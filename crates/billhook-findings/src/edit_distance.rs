//! Names that may have been meant.

/// Returns the name that is most like a misspelled one; the first of several, and none if all are
/// too different. Upper and lower case count less than other differences.
pub fn closest<'n>(wrong: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let wrong: Vec<char> = wrong.chars().take(LONGEST).collect();
    let most = (wrong.len() / 3).max(1) * CHANGE;
    let distance = |name: &'n str| {
        let name_chars: Vec<char> = name.chars().take(LONGEST).collect();
        let is_near = wrong.len().abs_diff(name_chars.len()) * CHANGE <= most;
        is_near.then(|| (distance(&wrong, &name_chars), name))
    };
    names.filter_map(distance).filter(|(distance, _)| *distance <= most).min().map(|(_, name)| name)
}

/// Whether a name is so much like a misspelled one, and all others so much less, that it was meant
/// without doubt: only upper and lower case differ, or one character in four at most, and no other
/// name comes as close.
pub(crate) fn is_alone<'n>(wrong: &str, meant: &str, names: impl Iterator<Item = &'n str>) -> bool {
    let is_short = |name: &str| name.chars().nth(LONGEST).is_none();
    if !is_short(wrong) || !is_short(meant) {
        return false;
    }
    let lower = |name: &str| name.to_lowercase();
    let letters: Vec<char> = wrong.chars().collect();
    let distance = |name: &str| distance(&letters, &name.chars().collect::<Vec<_>>());
    let least = distance(meant);
    let is_close = letters.len() > 2 && least <= (letters.len() / 4).max(1) * CHANGE;
    let mut others = names.filter(|name| *name != meant && is_short(name));
    (is_close || lower(wrong) == lower(meant)) && others.all(|name| distance(name) > least)
}

/// How many characters of a name are compared.
const LONGEST: usize = 100;
const CHANGE: usize = 4;

/// Whether two characters differ only in case.
fn is_same_letter(a: char, b: char) -> bool {
    match a.is_ascii() && b.is_ascii() {
        true => a.eq_ignore_ascii_case(&b),
        false => a.to_lowercase().eq(b.to_lowercase()),
    }
}

fn distance(from: &[char], to: &[char]) -> usize {
    let cost = |a: char, b: char| {
        if a == b {
            0
        } else if is_same_letter(a, b) {
            1
        } else {
            CHANGE
        }
    };
    // The rows of the last two characters.
    let mut before: Vec<usize> = (0..=to.len()).map(|n| n * CHANGE).collect();
    let (mut earlier, mut last) = (Vec::<usize>::new(), None);
    for &a in from {
        let mut diagonal = before.first().copied().unwrap_or_default();
        let mut left = diagonal + CHANGE;
        let mut row = vec![left];
        let mut beside = None;
        for (index, (&b, &above)) in to.iter().zip(before.iter().skip(1)).enumerate() {
            left = (diagonal + cost(a, b)).min(above + CHANGE).min(left + CHANGE);
            // Two characters in the other order are one change.
            if beside == Some(a) && last == Some(b) {
                let swapped = index.checked_sub(1).and_then(|index| earlier.get(index));
                left = swapped.map_or(left, |swapped| left.min(swapped + CHANGE));
            }
            diagonal = above;
            beside = Some(b);
            row.push(left);
        }
        (earlier, before, last) = (before, row, Some(a));
    }
    before.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_are_like_others() {
        let names = ["keep", "keepLast", "schedule", "target", "Keep"];
        let closest = |wrong: &str| closest(wrong, names.into_iter());
        assert_eq!(closest("kep"), Some("keep"));
        assert_eq!(closest("KeepLast"), Some("keepLast"));
        assert_eq!(closest("shedul"), Some("schedule"));
        assert_eq!(closest("keep"), Some("keep"));
        assert_eq!(closest("zzz"), None);
        assert_eq!(closest(""), None);
    }

    #[test]
    fn names_that_were_meant_without_doubt() {
        let names = ["keep", "keepLast", "schedule", "port", "pork", "id"];
        let is_alone = |wrong: &str, meant: &str| is_alone(wrong, meant, names.into_iter());
        assert!(is_alone("kep", "keep"));
        assert!(is_alone("KEEPLAST", "keepLast"));
        assert!(is_alone("shcedule", "schedule"));
        assert!(is_alone("kepe", "keep"));
        assert!(!is_alone("shcdul", "schedule"));
        assert!(!is_alone("porl", "port"));
        assert!(!is_alone("it", "id"));
    }
}
