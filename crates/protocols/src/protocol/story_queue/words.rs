//! Closed lists of words that clients spell (a phase, a category, an event), and the checks that texts share.

use super::refusal::Refusal;
use alloc::format;

/// Not a word of the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownWord;

/// An enum whose variants have one spelling, in JSON, in the journal and in words for people.
macro_rules! words {
    ($(#[$doc:meta])* pub enum $name:ident { $($(#[$note:meta])* $variant:ident = $text:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
        pub enum $name { $($(#[$note])* #[serde(rename = $text)] $variant,)+ }

        impl $name {
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $text,)+ }
            }
        }

        impl core::str::FromStr for $name {
            type Err = $crate::protocol::story_queue::words::UnknownWord;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                Self::ALL.iter().copied().find(|word| word.name() == text)
                    .ok_or($crate::protocol::story_queue::words::UnknownWord)
            }
        }
    };
}
pub(crate) use words;

/// Something is written there, and not more than fits.
pub(crate) fn check_text(field: &str, text: &str, most: usize) -> Result<(), Refusal> {
    if text.trim().is_empty() {
        return Err(Refusal::field(field, "can't be blank"));
    }
    check_length(field, text, most)
}

pub(crate) fn check_length(field: &str, text: &str, most: usize) -> Result<(), Refusal> {
    if text.chars().count() > most {
        return Err(Refusal::field(field, &format!("should be at most {most} characters")));
    }
    Ok(())
}
