//! Sizes as people write them.

use std::fmt;
use std::str::FromStr;

/// The units, from the smallest.
const UNITS: [(&str, u32); 4] = [("B", 0), ("KiB", 10), ("MiB", 20), ("GiB", 30)];

/// A number of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Size(pub(crate) usize);

impl FromStr for Size {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        let (digits, unit) = text.split_at(end);
        let unit = if unit.is_empty() { "B" } else { unit };
        let unit = UNITS.iter().find(|(name, _)| *name == unit);
        let (number, (_, shift)) = digits
            .parse::<usize>()
            .ok()
            .zip(unit)
            .ok_or("expected bytes, or a number with KiB, MiB or GiB, such as 16MiB")?;
        number.checked_mul(1 << shift).map(Size).ok_or("the size is too large")
    }
}

/// Prints the size in the largest unit that it is a multiple of.
impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_multiple =
            |(_, shift): &&(&str, u32)| self.0 > 0 && self.0.trailing_zeros() >= *shift;
        match UNITS.iter().rev().find(is_multiple) {
            Some((unit, shift)) => write!(f, "{}{unit}", self.0 >> shift),
            None => f.write_str("0B"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units() {
        let read = |text: &str| text.parse::<Size>().map(|size| (size.0, size.to_string()));
        assert_eq!(read("16MiB"), Ok((16 << 20, "16MiB".to_owned())));
        assert_eq!(read("1536KiB"), Ok((1536 << 10, "1536KiB".to_owned())));
        assert_eq!(read("1023"), Ok((1023, "1023B".to_owned())));
        assert_eq!(read("0"), Ok((0, "0B".to_owned())));
        assert_eq!(read("2048B"), Ok((2048, "2KiB".to_owned())));
        for wrong in ["", "MiB", "1 MiB", "-1", "+1", "1.5GiB", "1mib", "1M", "١"] {
            assert!(read(wrong).unwrap_err().contains("such as 16MiB"), "{wrong}");
        }
        let large = format!("{}GiB", usize::MAX);
        assert_eq!(read(&large), Err("the size is too large"));
    }
}
