//! Names that may have been meant.

/// Returns the name that is most like a misspelled one; the first of several, and none if all are
/// too different. Upper and lower case count less than other differences.
pub(crate) fn closest<'n>(wrong: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    const LONGEST: usize = 100;
    let wrong: Vec<char> = wrong.chars().take(LONGEST).collect();
    let most = (wrong.len() / 3).max(1) * CHANGE;
    let distance = |name: &'n str| {
        let name_chars: Vec<char> = name.chars().take(LONGEST).collect();
        (distance(&wrong, &name_chars), name)
    };
    names.map(distance).filter(|(distance, _)| *distance <= most).min().map(|(_, name)| name)
}

const CHANGE: usize = 4;

fn distance(from: &[char], to: &[char]) -> usize {
    let cost = |a: char, b: char| {
        if a == b {
            0
        } else if a.to_lowercase().eq(b.to_lowercase()) {
            1
        } else {
            CHANGE
        }
    };
    let mut before: Vec<usize> = (0..=to.len()).map(|n| n * CHANGE).collect();
    for &a in from {
        let mut diagonal = before.first().copied().unwrap_or_default();
        let mut left = diagonal + CHANGE;
        let mut row = vec![left];
        for (&b, &above) in to.iter().zip(before.iter().skip(1)) {
            left = (diagonal + cost(a, b)).min(above + CHANGE).min(left + CHANGE);
            diagonal = above;
            row.push(left);
        }
        before = row;
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
}
