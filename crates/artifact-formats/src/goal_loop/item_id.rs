//! The name of an item in the queue: one capital letter and at least three digits, such as `F001`.
//! It knows the spelling, not which items exist.

use std::fmt;

/// More digits than any queue needs, and few enough that the number always fits.
const MOST_DIGITS: usize = 18;

/// Ordered by prefix, then by number.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ItemId {
    prefix: char,
    number: u64,
    spelling: String,
}

impl ItemId {
    /// Exact match only: blanks and lower case make another text, not this id.
    pub fn parse(text: &str) -> Option<Self> {
        let prefix = text.chars().next().filter(char::is_ascii_uppercase)?;
        let digits = &text[1..];
        let is_number =
            (3..=MOST_DIGITS).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_digit());
        let number = digits.parse().ok().filter(|_| is_number)?;
        Some(Self { prefix, number, spelling: text.to_owned() })
    }

    /// Three digits, more where the number needs them.
    pub(crate) fn numbered(prefix: char, number: u64) -> Option<Self> {
        Self::parse(&format!("{prefix}{number:03}"))
    }

    /// `F` new work, `R` refactoring, `B` bug, `E` what existed before.
    pub fn prefix(&self) -> char {
        self.prefix
    }

    pub fn number(&self) -> u64 {
        self.number
    }

    pub fn as_str(&self) -> &str {
        &self.spelling
    }
}

impl fmt::Display for ItemId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.spelling)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_capital_letter_and_three_digits_or_more() {
        for text in ["F001", "Z999", "E0001", "B1234567"] {
            assert_eq!(ItemId::parse(text).unwrap().as_str(), text);
        }
        for text in
            ["", "F", "F01", "f001", "FF001", "F001 ", "F-001", "Ä001", "F1234567890123456789", "F0x1"]
        {
            assert_eq!(ItemId::parse(text), None, "{text:?}");
        }
    }

    #[test]
    fn ids_are_ordered_by_number_and_not_by_letters() {
        let mut ids: Vec<ItemId> =
            ["F1000", "R001", "F999", "F002"].iter().map(|text| ItemId::parse(text).unwrap()).collect();
        ids.sort();
        assert_eq!(ids.iter().map(ItemId::as_str).collect::<Vec<_>>(), ["F002", "F999", "F1000", "R001"]);
    }
}
