//! Whether a verdict speaks of every criterion, and the rule as a reviewer is told it. What becomes of a verdict that does not is
//! decided elsewhere.

use crate::data_block::{data_block, inline_code};
use crate::task_loop::{Reason, Verdict, VerdictReport};

/// What is said of one criterion in one entry of `reasons`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Said<'a> {
    Verified,
    /// With the words after it.
    Failed(&'a str),
    /// It is named, and neither word follows.
    Neither,
}

/// Which of the criteria an entry is about: the longest name that fits, for `AC-1` begins `AC-1.2` too.
pub(super) fn spoken_of<'a, 'r>(
    reason: &'r Reason,
    ids: impl Iterator<Item = &'a str>,
) -> Option<(&'a str, Said<'r>)> {
    let between = |letter: char| letter.is_whitespace() || ":,–—".contains(letter);
    let fits = |id: &'a str| {
        let rest = reason.check.trim_start().strip_prefix(id)?;
        (rest.is_empty() || rest.starts_with(between)).then_some((id, rest))
    };
    let (id, rest) = ids.filter_map(fits).max_by_key(|(id, _)| id.len())?;
    let rest = rest.trim_matches(|letter: char| between(letter) || letter == '-');
    let (word, more) = rest.split_once(between).unwrap_or((rest, ""));
    Some((
        id,
        match word.to_ascii_lowercase().as_str() {
            "verified" => Said::Verified,
            "failed" => Said::Failed(more),
            _ => Said::Neither,
        },
    ))
}

/// What is wrong with a verdict that must speak of these criteria; nothing where it does, or where it asks for a person. Each
/// comes with files that its words seem to name and that are missing.
pub fn left_unsaid(verdict: &VerdictReport, criteria: &[(&str, Vec<&str>)]) -> Vec<String> {
    if verdict.verdict == Verdict::NeedsHuman {
        return Vec::new();
    }
    let ids = || criteria.iter().map(|(id, _)| *id);
    let mut wrong = Vec::new();
    for (id, missing) in criteria {
        let about: Vec<(&Reason, Said<'_>)> = verdict
            .reasons
            .iter()
            .filter_map(|reason| Some((reason, spoken_of(reason, ids()).filter(|(named, _)| named == id)?.1)))
            .collect();
        if about.is_empty() {
            wrong.push(format!("/reasons: says nothing about the criterion {id}"));
        } else if !about.iter().any(|(_, said)| matches!(said, Said::Verified | Said::Failed(_))) {
            wrong.push(format!("/reasons: names the criterion {id} without `verified` or `failed`"));
        } else if !about.iter().any(|(_, said)| matches!(said, Said::Failed(_))) {
            let answered = |path: &str| about.iter().any(|(reason, _)| reason.details.contains(path));
            wrong.extend(missing.iter().filter(|path| !answered(path)).map(|path| {
                format!(
                    "/reasons: calls the criterion {id} verified and does not speak of {path}, which its words seem to \
                     name and which is not there: name it in `details` and say why the criterion holds all the same, or \
                     that it failed"
                )
            }));
        }
    }
    wrong
}

/// As it stands in a request to repair a verdict.
pub fn rule_of_criteria(ids: &[&str]) -> String {
    let example = ids.first().copied().unwrap_or("AC-1");
    let example: String = example.chars().filter(|letter| !letter.is_control() && *letter != '`').collect();
    let ids: Vec<String> = ids.iter().map(|id| inline_code(id)).collect();
    format!(
        "`reasons` has one entry for each acceptance criterion: {}. Its `check` is the criterion's id and what you found, \
         `{example} verified` or `{example} failed HIGH`; its `details` says where you saw it, or what is missing. These ids \
         stand in `reasons` alone: `requirements_checked` and `requirements_missing` are for ids such as `RQ-001` and are \
         empty where the task has none.",
        ids.join(", ")
    )
}

/// What a reviewer is told of files that criteria seem to name: whose, which, and whether it is there. Empty for none.
pub fn seemingly_named(files: &[(&str, &str, bool)]) -> String {
    if files.is_empty() {
        return String::new();
    }
    let line = |(id, path, there): &(&str, &str, bool)| {
        format!("{id}: {path} is {}", if *there { "there" } else { "not there or empty" })
    };
    let lines: Vec<String> = files.iter().map(line).collect();
    format!(
        "\n\n### Files that the criteria seem to name\n\nThe engine took them from the criteria's words, so they may not be meant. \
         For each that is not there, the entry of its criterion names the file in `details` and says why the criterion holds \
         all the same, or that it failed.\n\n{}\n",
        data_block("files, looked for by the engine in the judged tree", &lines.join("\n"))
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ExtraKeys;

    fn verdict(word: Verdict, reasons: &[(&str, &str)]) -> VerdictReport {
        VerdictReport {
            task_id: "T".into(),
            verdict: word,
            reasons: reasons.iter().map(|(check, details)| Reason::new(*check, *details)).collect(),
            required_changes: Vec::new(),
            suggested_tests: Vec::new(),
            requirements_checked: Vec::new(),
            requirements_missing: Vec::new(),
            notes: String::new(),
            waivers: Vec::new(),
            extra: ExtraKeys::default(),
        }
    }

    fn plain<'a>(ids: &[&'a str]) -> Vec<(&'a str, Vec<&'a str>)> {
        ids.iter().map(|id| (*id, Vec::new())).collect()
    }

    #[test]
    fn every_criterion_is_spoken_of_however_the_entry_is_written() {
        let said = verdict(
            Verdict::Reject,
            &[("AC-1: verified", "a"), ("AC-1.2 — Verified", "b"), ("AC-10 failed HIGH", "c")],
        );
        assert_eq!(left_unsaid(&said, &plain(&["AC-1", "AC-1.2", "AC-10"])), Vec::<String>::new());
    }

    #[test]
    fn one_that_is_left_out_or_only_named_is_told_by_its_id() {
        let said = verdict(Verdict::Pass, &[("AC-10 verified", "a"), ("AC-2 is fine", "b")]);
        assert_eq!(
            left_unsaid(&said, &plain(&["AC-1", "AC-2", "AC-10"])),
            [
                "/reasons: says nothing about the criterion AC-1",
                "/reasons: names the criterion AC-2 without `verified` or `failed`",
            ]
        );
        let asks = verdict(Verdict::NeedsHuman, &[("whole", "what is meant?")]);
        assert_eq!(left_unsaid(&asks, &plain(&["AC-1"])), Vec::<String>::new());
    }

    #[test]
    fn a_missing_file_that_a_criterion_seems_to_name_must_be_answered() {
        let criteria = [("AC-1", vec!["src/hello.txt"])];
        let silent = verdict(Verdict::Pass, &[("AC-1 verified", "I looked")]);
        let wrong = left_unsaid(&silent, &criteria);
        assert!(wrong[0].contains("does not speak of src/hello.txt"), "{wrong:?}");
        for (check, details) in
            [("AC-1 verified", "src/hello.txt is only an example"), ("AC-1 failed HIGH", "nothing there")]
        {
            let answered = verdict(Verdict::Reject, &[(check, details)]);
            assert_eq!(left_unsaid(&answered, &criteria), Vec::<String>::new(), "{check}");
        }
    }

    #[test]
    fn the_rule_says_where_ids_of_criteria_go() {
        let rule = rule_of_criteria(&["AC-1", "AC-2"]);
        assert!(rule.contains("`AC-1`, `AC-2`") && rule.contains("`AC-1 failed HIGH`"), "{rule}");
    }
}
