//! Which lines of the usual tools hold a figure. Written from the shape of their output; a tool that changes its words
//! loses its figure and nothing else.

use super::plain_words;
use super::tally::{Source, Tally};
use super::{Metric, thousandths};

/// Longer lines are data, not a summary.
const MAX_LINE_BYTES: usize = 1000;

pub(super) fn read(output: &str) -> Vec<Metric> {
    let mut tally = Tally::default();
    for line in output.lines().filter(|line| line.len() <= MAX_LINE_BYTES) {
        let line = line.trim();
        if line.is_empty() {
            continue;
        }
        tests(&mut tally, line);
        coverage(&mut tally, line);
        problems(&mut tally, line);
        unittest(&mut tally, line);
        plain_words::read(&mut tally, line);
    }
    tally.metrics()
}

fn tests(tally: &mut Tally, line: &str) {
    if line.starts_with("test result:") {
        // One line per test binary.
        tally.add_tests(Source::CargoTest, number_before(line, "passed"), number_before(line, "failed"));
    } else if line.starts_with("Summary [") && (line.contains(" tests run:") || line.contains(" test run:")) {
        let failed = number_before(line, "failed").unwrap_or(0) + number_before(line, "timed").unwrap_or(0);
        tally.set_tests(Source::Summary, number_before(line, "passed"), Some(failed));
    } else if line.starts_with("Tests:") || line.starts_with("Tests  ") {
        tally.set_tests(Source::Summary, number_before(line, "passed"), number_before(line, "failed"));
    } else if line.starts_with("Tests run:") || line.contains("] Tests run:") {
        java_tests(tally, line);
    } else if is_pytest_summary(line) {
        let failed = number_before(line, "failed").unwrap_or(0);
        let errors = number_before(line, "error").or_else(|| number_before(line, "errors")).unwrap_or(0);
        tally.set_tests(Source::Summary, number_before(line, "passed"), Some(failed + errors));
    } else if let Some(passing) = leading_number(line, "passing") {
        tally.set_passed(Source::Summary, passing);
    } else if let Some(failing) = leading_number(line, "failing") {
        tally.set_failed(Source::Summary, failing);
    } else if line.starts_with("--- PASS:") {
        tally.add_tests(Source::Go, Some(1), None);
    } else if line.starts_with("--- FAIL:") {
        tally.add_tests(Source::Go, None, Some(1));
    } else if is_tap(line, "ok ") {
        tally.add_tests(Source::Tap, Some(1), None);
    } else if is_tap(line, "not ok ") && !line.contains("# TODO") && !line.contains("# SKIP") {
        tally.add_tests(Source::Tap, None, Some(1));
    }
}

/// `Ran 5 tests in 0.001s`, and further down `OK` or `FAILED (failures=1, errors=1)`.
fn unittest(tally: &mut Tally, line: &str) {
    if let Some(rest) = line.strip_prefix("Ran ") {
        if let Some(ran) = counted(rest, "test") {
            tally.ran(ran);
        }
        return;
    }
    let details = if line == "OK" { Some("") } else { line.strip_prefix("OK (") };
    let Some(details) = details.or_else(|| line.strip_prefix("FAILED (")) else { return };
    let of = |name: &str| {
        let mut parts = details.trim_end_matches(')').split(", ");
        let count = parts.find_map(|part| part.strip_prefix(name)?.strip_prefix('='));
        count.and_then(|count| count.parse::<u32>().ok()).unwrap_or(0)
    };
    tally.of_those_ran(of("failures").saturating_add(of("errors")), of("skipped"));
}

/// `Tests run: 5, Failures: 1, Errors: 0, Skipped: 2`; the last line of a build holds the total.
fn java_tests(tally: &mut Tally, line: &str) {
    let after = |label: &str| {
        let rest = line[line.find(label)? + label.len()..].trim_start();
        rest.split(|letter: char| !letter.is_ascii_digit()).next()?.parse::<u32>().ok()
    };
    let Some(run) = after("Tests run:") else { return };
    let failed = after("Failures:").unwrap_or(0).saturating_add(after("Errors:").unwrap_or(0));
    let skipped = after("Skipped:").unwrap_or(0);
    tally.set_tests(Source::Summary, Some(run.saturating_sub(failed).saturating_sub(skipped)), Some(failed));
}

/// `== 3 failed, 10 passed, 1 warning in 0.12s ==`, with or without the rule around it.
fn is_pytest_summary(line: &str) -> bool {
    let words = line.trim_matches(['=', ' ']);
    let timed = words
        .rsplit_once(" in ")
        .is_some_and(|(_, time)| time.starts_with(|letter: char| letter.is_ascii_digit()));
    timed
        && words.starts_with(|letter: char| letter.is_ascii_digit())
        && ["passed", "failed", "error", "errors"].iter().any(|word| number_before(words, word).is_some())
}

fn is_tap(line: &str, start: &str) -> bool {
    line.strip_prefix(start).is_some_and(|rest| rest.starts_with(|letter: char| letter.is_ascii_digit()))
}

fn coverage(tally: &mut Tally, line: &str) {
    if !line.contains('%') && !line.starts_with("All files") {
        return;
    }
    if line.starts_with("TOTAL") {
        let percents: Vec<i64> = line.split_whitespace().filter_map(percent).collect();
        // With regions, functions and lines side by side, lines stand third.
        tally.set_coverage(Source::Summary, percents.get(2).or(percents.last()).copied());
    } else if line.starts_with("All files") {
        let columns: Vec<i64> =
            line.split('|').skip(1).filter_map(|column| thousandths(column.trim())).collect();
        tally.set_coverage(Source::Summary, columns.get(3).or(columns.first()).copied());
    } else if line.starts_with("total:") || line.starts_with("lines.") {
        tally.set_coverage(Source::Summary, line.split_whitespace().find_map(percent));
    } else if line.to_ascii_lowercase().contains("coverage") {
        let found = line.split([' ', '\t', '(', ',', '=', ':']).find_map(percent);
        tally.set_coverage(Source::Lines, found);
    }
}

fn problems(tally: &mut Tally, line: &str) {
    if line.starts_with("warning: `") && line.contains(" generated ") {
        tally.add_problems(
            Source::Summary,
            None,
            number_before(line, "warning").or_else(|| number_before(line, "warnings")),
        );
    } else if line.starts_with("error: could not compile") {
        tally.add_problems(Source::Summary, number_before(line, "previous"), None);
    } else if line.starts_with(['✖', '✘']) && line.contains("problem") {
        tally.add_problems(Source::Summary, counted(line, "error"), counted(line, "warning"));
    } else if line.starts_with("Found ") && counted(line, "error").is_some() {
        tally.add_problems(Source::Summary, counted(line, "error"), None);
    } else if line.ends_with(" generated.") || line.ends_with(" generated") {
        tally.add_problems(Source::Summary, counted(line, "error"), counted(line, "warning"));
    } else if is_located(line, "error") || line.contains("): error TS") || line.contains(" - error TS") {
        tally.add_problems(Source::Lines, Some(1), None);
    } else if is_located(line, "warning") {
        tally.add_problems(Source::Lines, None, Some(1));
    }
}

/// `path:12:3: error: words`, as compilers of the C family print it.
fn is_located(line: &str, kind: &str) -> bool {
    let Some((place, _)) = line.split_once(&format!(": {kind}: ")) else { return false };
    place
        .rsplit(':')
        .next()
        .is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
}

fn counted(line: &str, word: &str) -> Option<u32> {
    number_before(line, word).or_else(|| number_before(line, &format!("{word}s")))
}

/// The number right before a word, whatever punctuation stands around them.
fn number_before(line: &str, word: &str) -> Option<u32> {
    let mut before = "";
    for token in line
        .split(|letter: char| letter.is_whitespace() || ",;|()[]:.=`".contains(letter))
        .filter(|token| !token.is_empty())
    {
        if token == word
            && let Ok(number) = before.parse()
        {
            return Some(number);
        }
        before = token;
    }
    None
}

fn leading_number(line: &str, word: &str) -> Option<u32> {
    let (number, rest) = line.split_once(' ')?;
    let ends = rest.strip_prefix(word)?;
    (ends.is_empty() || ends.starts_with(" (")).then(|| number.parse().ok())?
}

fn percent(token: &str) -> Option<i64> {
    let number = token.trim_end_matches([',', '.', ')']).strip_suffix('%')?;
    thousandths(number).filter(|value| (0..=100_000).contains(value))
}
