//! Counts as a script of one's own prints them: `2 errors`, `5 passed, 1 failed`. A line counts only if nothing else stands
//! on it, so that sentences with numbers in them are left alone.

use super::tally::{Source, Tally};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Passed,
    Failed,
    Tests,
    LeftOut,
    Errors,
    Warnings,
    /// Their sum says nothing that its parts do not say better.
    Sum,
}

fn kind(word: &str) -> Option<Kind> {
    Some(match word {
        "passed" | "passing" | "pass" | "ok" | "succeeded" => Kind::Passed,
        "failed" | "failing" | "fail" | "failure" | "failures" => Kind::Failed,
        "test" | "tests" | "example" | "examples" | "runs" => Kind::Tests,
        "skipped" | "skips" | "ignored" | "pending" | "todo" => Kind::LeftOut,
        "error" | "errors" => Kind::Errors,
        "warning" | "warnings" => Kind::Warnings,
        "problem" | "problems" | "issue" | "issues" | "total" | "assertions" => Kind::Sum,
        _ => return None,
    })
}

pub(super) fn read(tally: &mut Tally, line: &str) {
    let Some(counts) = counts(line) else { return };
    let of = |wanted: Kind| counts.iter().find(|(_, kind)| *kind == wanted).map(|(count, _)| *count);
    let (errors, warnings) = (of(Kind::Errors), of(Kind::Warnings));
    let (passed, failed) = (of(Kind::Passed), of(Kind::Failed));
    if passed.is_none() && failed.is_none() {
        return tally.set_problems(Source::Words, errors, warnings);
    }
    // Beside tests, an error is a test that could not be run.
    let broken = failed.unwrap_or(0).saturating_add(errors.unwrap_or(0));
    let left_out = of(Kind::LeftOut).unwrap_or(0);
    let passed = passed.or_else(|| Some(of(Kind::Tests)?.saturating_sub(broken).saturating_sub(left_out)));
    match (passed, failed) {
        (Some(passed), None) if errors.is_none() => tally.set_passed(Source::Words, passed),
        (None, Some(failed)) => tally.set_failed(Source::Words, failed),
        (passed, _) => tally.set_tests(Source::Words, passed, Some(broken)),
    }
}

/// Every number with its word; nothing where the line says anything else.
fn counts(line: &str) -> Option<Vec<(u32, Kind)>> {
    let line = line.to_ascii_lowercase();
    let line = line.trim_matches(|letter: char| !letter.is_ascii_alphanumeric());
    let line = ["found ", "result: ", "results: ", "total: ", "summary: "]
        .iter()
        .fold(line, |line, label| line.strip_prefix(label).unwrap_or(line));
    let line = [" found", " in total"].iter().fold(line, |line, end| line.strip_suffix(end).unwrap_or(line));
    let mut words = line
        .split(|letter: char| letter.is_whitespace() || ",;|()".contains(letter))
        .filter(|word| !word.is_empty() && *word != "and");
    let mut counts = Vec::new();
    while let Some(number) = words.next() {
        let count = if number == "no" { 0 } else { number.parse().ok()? };
        counts.push((count, kind(words.next()?)?));
    }
    Some(counts)
}
