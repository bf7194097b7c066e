//! Story numbers as people write them, and the fixed rule that turns a number of three parts into one of two. The rule depends
//! on nothing but the id, so that the same directory read twice is the same stories.

use std::collections::BTreeMap;

const LARGEST: u32 = 9999;

/// What the author decided instead of the rule: by id (`US-7.4.2`, `7.4.2`) or by the path of the file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Renumbering(BTreeMap<String, String>);

impl Renumbering {
    pub fn new(decided: impl IntoIterator<Item = (String, String)>) -> Self {
        Self(decided.into_iter().map(|(from, to)| (bare(&from).to_owned(), bare(&to).to_owned())).collect())
    }

    pub(super) fn of(&self, id: &str, path: &str) -> Option<&str> {
        self.0.get(path).or_else(|| self.0.get(bare(id))).map(String::as_str)
    }

    pub(super) fn of_id(&self, id: &str) -> Option<&str> {
        self.0.get(bare(id)).map(String::as_str)
    }
}

/// Without the prefix people put before it.
pub(super) fn bare(id: &str) -> &str {
    let id = id.trim();
    id.strip_prefix("US-").or_else(|| id.strip_prefix("us-")).or_else(|| id.strip_prefix("us_")).unwrap_or(id)
}

/// How a number came about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Numbered {
    AsWritten(String),
    /// `7.4.2` is 7.402, and `7.4b` is 7.492: hundreds for the second part, letters from 91.
    ByRule(String),
}

/// `3`, `3.1`, `US-3.1`; absent for anything else.
pub fn story_number(text: &str) -> Option<String> {
    match numbered(text)? {
        Numbered::AsWritten(number) => Some(number),
        Numbered::ByRule(_) => None,
    }
}

pub(super) fn numbered(id: &str) -> Option<Numbered> {
    let parts: Vec<&str> = bare(id).split('.').collect();
    match parts.as_slice() {
        [major] => Some(Numbered::AsWritten(part(major)?.to_string())),
        [major, minor] => {
            if let Some(minor) = part(minor) {
                return Some(Numbered::AsWritten(format!("{}.{minor}", part(major)?)));
            }
            let (minor, letter) = lettered(minor)?;
            by_rule(part(major)?, minor, 90 + letter)
        }
        [major, minor, third] => {
            let third = match part(third) {
                Some(third) if third <= 90 => third,
                Some(_) => return None,
                // `7.4.2b` is 7.422: ten to each third part. Where that is taken, the report says so.
                None => {
                    let (third, letter) = lettered(third)?;
                    if third > 9 || letter > 9 {
                        return None;
                    }
                    third * 10 + letter
                }
            };
            by_rule(part(major)?, part(minor)?, third)
        }
        _ => None,
    }
}

fn by_rule(major: u32, minor: u32, third: u32) -> Option<Numbered> {
    let joined = minor * 100 + third;
    (joined <= LARGEST && third < 100).then(|| Numbered::ByRule(format!("{major}.{joined}")))
}

fn part(text: &str) -> Option<u32> {
    let plain = (1..=4).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    if plain { text.parse().ok() } else { None }
}

/// `4b` is 4 and the second letter.
fn lettered(text: &str) -> Option<(u32, u32)> {
    let letter = text.chars().next_back().filter(char::is_ascii_alphabetic)?;
    let place = u32::from(letter.to_ascii_lowercase()) - u32::from('a') + 1;
    (place <= 9).then_some(())?;
    Some((part(&text[..text.len() - 1])?, place))
}
