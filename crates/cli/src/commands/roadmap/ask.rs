//! The questions before a roadmap is written, one at a time and the recommended answer first. Asked only where a person sits
//! at a terminal; what comes of it is an answers file like any other.

use crate::output::{Output, printable};
use serde_json::{Map, Value, json};
use std::io::{BufRead, IsTerminal as _, Write};
use windlass_control_api::roadmap_setup::{AnswersFormat, AnswersText, RoadmapInitReport, SetupQuestion};
use windlass_control_api::{Code, Fault};

pub(super) fn can_ask(output: &Output) -> bool {
    output.tells_stories() && std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

/// Everything a roadmap needs to know, as a person answers it.
pub(super) fn answers(ahead: &RoadmapInitReport) -> Result<AnswersText, Fault> {
    let mut stdin = std::io::stdin().lock();
    let mut talk = Talk { from: &mut stdin, to: &mut std::io::stderr().lock() };
    let answers = talk.all(&ahead.questions).map_err(failed)?;
    Ok(AnswersText {
        name: "your answers".to_owned(),
        text: answers.to_string(),
        format: AnswersFormat::Json,
    })
}

pub(super) fn agreed() -> Result<bool, Fault> {
    let mut stdin = std::io::stdin().lock();
    let mut talk = Talk { from: &mut stdin, to: &mut std::io::stderr().lock() };
    let answer = talk.line("Is this what was agreed on? It becomes one commit. [y/N] ").map_err(failed)?;
    Ok(matches!(answer.to_ascii_lowercase().as_str(), "y" | "yes"))
}

fn failed(error: std::io::Error) -> Fault {
    Fault::new(Code::FileSystem, format!("cannot ask: {error}")).kept("nothing was written")
}

struct Talk<'a> {
    from: &'a mut dyn BufRead,
    to: &'a mut dyn Write,
}

impl Talk<'_> {
    fn all(&mut self, questions: &[SetupQuestion]) -> std::io::Result<Value> {
        let mut answers = Map::new();
        for question in questions {
            let answer = if question.many {
                self.list(&format!("{} (one for each line, an empty line ends)", question.words))?
            } else {
                self.one(question)?
            };
            answers.insert(question.key.clone(), answer);
        }
        writeln!(self.to, "\nMilestones: three to seven are a good beginning; later ones may be coarse.")?;
        let mut milestones = Vec::new();
        loop {
            let number = milestones.len() + 1;
            let title = self.line(&format!("Milestone {number}, its title (nothing ends the list): "))?;
            if title.is_empty() && !milestones.is_empty() {
                break;
            }
            if !title.is_empty() {
                milestones.push(self.milestone(&title, number)?);
            }
        }
        answers.insert("milestones".to_owned(), Value::Array(milestones));
        Ok(Value::Object(answers))
    }

    /// One of the suggestions by its number, other words, or nothing for the recommended one.
    fn one(&mut self, question: &SetupQuestion) -> std::io::Result<Value> {
        writeln!(self.to, "\n{}", printable(&question.words))?;
        for (index, one) in question.suggestions.iter().enumerate() {
            let recommended = if index == 0 { " (recommended)" } else { "" };
            writeln!(
                self.to,
                "  {}) {}{recommended}: {} [{}]",
                index + 1,
                one.label,
                one.text,
                one.trade_off
            )?;
        }
        let ask =
            if question.suggestions.is_empty() { "> " } else { "A number, other words, or nothing for 1: " };
        loop {
            let answer = self.line(ask)?;
            let chosen = answer.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
            match (chosen, question.suggestions.first()) {
                (Some(index), Some(_)) if index < question.suggestions.len() => {
                    return Ok(json!(question.suggestions[index].text));
                }
                (Some(_), Some(_)) => writeln!(self.to, "There is no such number.")?,
                (None, Some(first)) if answer.is_empty() => return Ok(json!(first.text)),
                (_, None) if answer.is_empty() => writeln!(self.to, "This one only you can answer.")?,
                _ => return Ok(json!(answer)),
            }
        }
    }

    fn milestone(&mut self, title: &str, number: usize) -> std::io::Result<Value> {
        let intent = self.line("  What for? ")?;
        let signal = self.line("  What shows that it is done? ")?;
        let after = if number == 1 {
            String::new()
        } else {
            self.line("  Which milestones have to be done before? Numbers, separated by commas: ")?
        };
        let lane =
            self.line("  Its lane; milestones of different lanes may be worked on side by side [main]: ")?;
        let directions = self.list("  Where could a round begin? (one for each line, an empty line ends)")?;
        let hint = if lane.is_empty() { "serial-by-default" } else { "lane-safe-only" };
        let directions: Vec<Value> = directions
            .as_array()
            .into_iter()
            .flatten()
            .map(|summary| json!({ "summary": summary, "parallel-hints": hint }))
            .collect();
        let after: Vec<&str> = after.split(',').map(str::trim).filter(|one| !one.is_empty()).collect();
        Ok(json!({
            "title": title,
            "intent": intent,
            "completion-signal": signal,
            "depends-on": after,
            "lane": lane,
            "directions": directions,
        }))
    }

    fn list(&mut self, words: &str) -> std::io::Result<Value> {
        writeln!(self.to, "\n{}", printable(words))?;
        let mut entries = Vec::new();
        loop {
            let entry = self.line("- ")?;
            if entry.is_empty() {
                return Ok(json!(entries));
            }
            entries.push(entry);
        }
    }

    /// A terminal that went away answers nothing any more.
    fn line(&mut self, ask: &str) -> std::io::Result<String> {
        write!(self.to, "{ask}")?;
        self.to.flush()?;
        let mut answer = String::new();
        if self.from.read_line(&mut answer)? == 0 {
            return Err(std::io::Error::new(std::io::ErrorKind::UnexpectedEof, "the answers ended"));
        }
        Ok(answer.trim().to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use windlass_control_api::roadmap_setup::SetupSuggestion;

    fn question(key: &str, suggestions: &[&str], many: bool) -> SetupQuestion {
        let suggestions = suggestions.iter().map(|text| SetupSuggestion {
            label: (*text).to_owned(),
            text: (*text).to_owned(),
            trade_off: String::new(),
        });
        SetupQuestion {
            key: key.to_owned(),
            name: key.to_owned(),
            words: format!("{key}?"),
            suggestions: suggestions.collect(),
            many,
        }
    }

    fn answered(lines: &str) -> (std::io::Result<Value>, String) {
        let questions = [
            question("title", &[], false),
            question("risk", &["low", "high"], false),
            question("not", &[], true),
        ];
        let mut asked = Vec::new();
        let answers = Talk { from: &mut lines.as_bytes(), to: &mut asked }.all(&questions);
        (answers, String::from_utf8(asked).unwrap())
    }

    #[test]
    fn answers_are_taken_one_at_a_time_and_nothing_means_the_recommended_one() {
        let (answers, asked) =
            answered("\nStart\n3\n\na\nb\n\n\nFirst\nwhy\nseen\n\nx\n\nSecond\n\n\n1\nlane\n\n\n");
        let answers = answers.unwrap();
        assert_eq!(answers["title"], "Start");
        assert_eq!(answers["risk"], "low");
        assert_eq!(answers["not"], json!(["a", "b"]));
        assert_eq!(answers["milestones"][0]["directions"][0]["summary"], "x");
        assert_eq!(answers["milestones"][1]["depends-on"], json!(["1"]));
        assert_eq!(answers["milestones"][1]["lane"], "lane");
        assert!(asked.contains("only you can answer") && asked.contains("no such number"), "{asked}");
        assert!(asked.contains("1) low (recommended)"), "{asked}");
    }

    #[test]
    fn a_number_chooses_and_other_words_count_as_they_are() {
        let chosen = answered("T\n2\n\nM\n\n\n\n\n\n").0.unwrap();
        assert_eq!(chosen["risk"], "high");
        let own = answered("T\nmy own\n\nM\n\n\n\n\n\n").0.unwrap();
        assert_eq!(own["risk"], "my own");
        assert!(answered("T\n").0.is_err(), "a terminal that went away agrees to nothing");
    }
}
