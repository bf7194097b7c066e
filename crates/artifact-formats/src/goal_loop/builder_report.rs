//! What a builder says it did, in free Markdown. Only two things are taken from it: one line for the commit, and whether it
//! asks for a person. What it changed is seen elsewhere.

use crate::markdown::headings;
use crate::one_line::one_line;

const BUILT: &str = "Built";
const BLOCKED: &str = "Blocked";
const MAX_SUMMARY_CHARS: usize = 100;
const MAX_QUESTION_CHARS: usize = 600;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BuilderReport {
    pub summary: String,
    /// What keeps the builder from going on.
    pub question: Option<String>,
}

impl BuilderReport {
    pub const FILE_NAME: &'static str = "report.md";

    /// Nothing where the text says nothing.
    pub fn read(text: &str) -> Option<Self> {
        if text.trim().is_empty() {
            return None;
        }
        let built = section(text, BUILT).unwrap_or(text);
        let question = section(text, BLOCKED).map(|words| one_line(words, MAX_QUESTION_CHARS));
        let question = question.filter(|words| !words.is_empty() && !is_nothing(words));
        Some(Self { summary: first_sentence(built), question })
    }
}

fn section<'t>(text: &'t str, title: &str) -> Option<&'t str> {
    let all = headings(text);
    let position = all.iter().position(|heading| heading.title.trim().eq_ignore_ascii_case(title))?;
    let end = all.get(position + 1).map_or(text.len(), |next| next.line_start);
    text.get(all[position].content_start..end)
}

fn is_nothing(words: &str) -> bool {
    let plain = words.trim().trim_matches(['-', '*', '.', ' ']).to_lowercase();
    ["", "none", "no", "nothing", "n/a"].contains(&plain.as_str())
}

/// The first line with words on it, up to the end of its first sentence.
fn first_sentence(text: &str) -> String {
    let lines = text.lines().map(|line| line.trim().trim_start_matches(['-', '*', '#', '>', ' ']));
    let line = lines.into_iter().find(|line| !line.is_empty()).unwrap_or_default();
    let sentence = line.split_once(". ").map_or(line, |(first, _)| first);
    one_line(sentence.trim_end_matches('.'), MAX_SUMMARY_CHARS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_sentence_under_built_is_the_summary() {
        let text = "## Built\n\n- Added a parser. It reads dates.\n\n## Tests\nall green\n";
        let report = BuilderReport::read(text).unwrap();
        assert_eq!(report, BuilderReport { summary: "Added a parser".to_owned(), question: None });
    }

    #[test]
    fn a_report_without_headings_is_a_report() {
        let report = BuilderReport::read("\n# Done\n").unwrap();
        assert_eq!(report.summary, "Done");
    }

    #[test]
    fn what_blocks_it_is_a_question_and_none_is_not() {
        let blocked = BuilderReport::read("## Built\nhalf\n## Blocked\nWhich format\nis meant?\n").unwrap();
        assert_eq!(blocked.question.as_deref(), Some("Which format is meant?"));
        assert_eq!(BuilderReport::read("## Built\nall\n## Blocked\nNone.\n").unwrap().question, None);
    }

    #[test]
    fn an_empty_report_says_nothing() {
        assert_eq!(BuilderReport::read(" \n"), None);
    }
}
