//! The assertions of a text, each as its own words without blanks: two that say the same are the same wherever they stand.

use super::languages::Language;

/// An assertion that goes on beyond this is compared by its beginning.
const LONGEST: usize = 2000;

pub(super) fn assertions(language: &Language, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some((at, mark)) = next_mark(language, text, from) {
        let (words, end) = statement(&text[at..], mark);
        found.push(words);
        from = at + end;
    }
    found
}

fn next_mark(language: &Language, text: &str, from: usize) -> Option<(usize, &'static str)> {
    let first = |mark: &'static str| {
        let hits = text[from..].match_indices(mark).map(|(at, _)| from + at);
        hits.filter(|at| stands_alone(text, *at, mark)).map(move |at| (at, mark)).next()
    };
    // Of two marks at one place the longer one is meant.
    language
        .assertions
        .iter()
        .filter_map(|mark| first(mark))
        .min_by_key(|(at, mark)| (*at, usize::MAX - mark.len()))
}

/// `debug_assert!` holds `assert!`, and only one of them is meant.
pub(super) fn stands_alone(text: &str, at: usize, mark: &str) -> bool {
    let begins_with_letter = mark.starts_with(|one: char| one.is_alphanumeric());
    let before = text[..at].chars().next_back();
    !begins_with_letter || before.is_none_or(|one| !one.is_alphanumeric() && one != '_' && one != '.')
}

/// The statement from its mark on: to the end of its brackets, or of its line where it has none; and how long it is.
fn statement(text: &str, mark: &str) -> (String, usize) {
    let mut words = String::new();
    let mut depth = 0_usize;
    let mut end = text.len();
    for (at, letter) in text.char_indices() {
        if at >= LONGEST {
            end = at;
            break;
        }
        match letter {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            '\n' | ';' if depth == 0 && at >= mark.len() => {
                end = at;
                break;
            }
            _ => {}
        }
        if !letter.is_whitespace() {
            words.push(letter);
        }
    }
    (words, end.max(mark.len()))
}
