//! Names of single tests, line by line, in the dialects whose lines stand alone. A tool that changes its words loses its
//! names and nothing else.

use std::collections::{BTreeMap, BTreeSet};

use super::go::Go;
use super::suites::Suites;

/// Longer lines are data.
const MAX_LINE_BYTES: usize = 2000;
const MAX_NAMES: usize = 200_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    Passed,
    Failed,
    /// Neither: skipped, ignored, expected to fail.
    Aside,
}

#[derive(Debug, Default)]
pub(super) struct Listing {
    pub(super) passed: BTreeSet<String>,
    pub(super) failed: BTreeSet<String>,
}

/// Endings by name. A test that failed once in a run has failed, unless a retry says otherwise.
#[derive(Debug, Default)]
pub(super) struct Endings(BTreeMap<String, Ending>);

impl Endings {
    pub(super) fn add(&mut self, name: &str, ending: Ending) {
        let name = name.trim();
        if name.is_empty() || self.0.len() >= MAX_NAMES {
            return;
        }
        let known = self.0.entry(name.to_owned()).or_insert(ending);
        if ending == Ending::Failed || *known == Ending::Aside {
            *known = ending;
        }
    }

    fn overrule(&mut self, name: &str, ending: Ending) {
        self.0.insert(name.trim().to_owned(), ending);
    }
}

impl Listing {
    pub(super) fn read(output: &str) -> Self {
        let mut endings = Endings::default();
        let mut binary = String::new();
        let mut go = Go::default();
        let mut suites = Suites::default();
        for line in output.lines().filter(|line| line.len() <= MAX_LINE_BYTES) {
            let bare = line.trim();
            let read = cargo(&mut binary, &mut endings, bare)
                || nextest(&mut endings, bare)
                || pytest(&mut endings, bare)
                || go.line(&mut endings, line)
                || tap(&mut endings, bare)
                || gradle(&mut endings, bare);
            if !read {
                suites.line(&mut endings, line);
            }
        }
        go.end(&mut endings);
        let mut listing = Self::default();
        for (name, ending) in endings.0 {
            match ending {
                Ending::Passed => listing.passed.insert(name),
                Ending::Failed => listing.failed.insert(name),
                Ending::Aside => false,
            };
        }
        listing
    }
}

/// `test path::name ... ok` under `Running tests/it.rs (target/debug/deps/it-0123456789abcdef)`.
fn cargo(binary: &mut String, endings: &mut Endings, line: &str) -> bool {
    if let Some(rest) = line.strip_prefix("Running ") {
        let Some((_, file)) = rest.rsplit_once(" (") else { return false };
        let file = file
            .trim_end_matches(')')
            .trim_end_matches(".exe")
            .rsplit(['/', '\\'])
            .next()
            .unwrap_or_default();
        // The hash behind the name changes with every dependency; a line without one is not of cargo.
        let Some((name, hash)) = file.rsplit_once('-') else { return false };
        if hash.len() != 16 || !hash.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return false;
        }
        name.clone_into(binary);
        return true;
    }
    if let Some(name) = line.strip_prefix("Doc-tests ") {
        *binary = format!("doc {name}");
        return true;
    }
    let Some((name, ending)) = line.strip_prefix("test ").and_then(|rest| rest.rsplit_once(" ... ")) else {
        return false;
    };
    let ending = match ending.split([' ', ',']).next().unwrap_or_default() {
        "ok" => Ending::Passed,
        "FAILED" => Ending::Failed,
        "ignored" => Ending::Aside,
        _ => return false,
    };
    // Lines of doc tests move with the text above them, and are no part of the name.
    let name = name.split(" (line ").next().unwrap_or(name);
    let name = name.strip_suffix(" - should panic").unwrap_or(name);
    endings.add(&if binary.is_empty() { name.to_owned() } else { format!("{binary} {name}") }, ending);
    true
}

/// `PASS [   0.032s] (216/218) package::binary name`, also in the list of failures at the end.
fn nextest(endings: &mut Endings, line: &str) -> bool {
    let Some((words, rest)) = line.split_once(" [") else { return false };
    let Some((time, name)) = rest.split_once("] ") else { return false };
    if !time.trim_start_matches([' ', '>']).ends_with('s') || !time.contains('.') {
        return false;
    }
    let name = name.trim_start();
    let name = match name.strip_prefix('(').and_then(|rest| rest.split_once(") ")) {
        Some((counter, name)) if counter.contains('/') => name,
        _ => name,
    };
    let words: Vec<&str> = words.split_whitespace().collect();
    match words.as_slice() {
        ["PASS" | "LEAK"] => endings.add(name, Ending::Passed),
        ["SKIP"] => endings.add(name, Ending::Aside),
        ["FLAKY", _] | ["TRY", _, "PASS"] => endings.overrule(name, Ending::Passed),
        ["TRY", ..] => endings.overrule(name, Ending::Failed),
        ["FAIL" | "TIMEOUT" | "ABORT" | "LEAK-FAIL" | "FAIL+LEAK"] => endings.add(name, Ending::Failed),
        [signal] if signal.starts_with("SIG") => endings.add(name, Ending::Failed),
        _ => return false,
    }
    true
}

/// `tests/a.py::test_x PASSED [ 10%]`, `FAILED tests/a.py::test_x - why`, `[gw0] [ 10%] PASSED tests/a.py::test_x`.
fn pytest(endings: &mut Endings, line: &str) -> bool {
    let ending_of = |word: &str| match word {
        "PASSED" | "XPASS" => Some(Ending::Passed),
        "FAILED" | "ERROR" => Some(Ending::Failed),
        "SKIPPED" | "XFAIL" => Some(Ending::Aside),
        _ => None,
    };
    let line = match line.strip_prefix("[gw").and_then(|rest| rest.split_once("%] ")) {
        Some((_, rest)) => rest,
        None => line,
    };
    if let Some((word, rest)) = line.split_once(' ')
        && let Some(ending) = ending_of(word)
    {
        let name = rest.split(" - ").next().unwrap_or(rest).trim();
        let is_name = name.contains("::") || is_python(name);
        if is_name {
            endings.add(name, ending);
        }
        return is_name;
    }
    let without_percent = match line.strip_suffix("%]").and_then(|rest| rest.rsplit_once(" [")) {
        Some((rest, _)) => rest.trim_end(),
        None => line,
    };
    let without_reason =
        without_percent.strip_suffix(')').and_then(|rest| rest.rsplit_once(" (")).map(|(rest, _)| rest);
    for text in [Some(without_percent), without_reason].into_iter().flatten() {
        if let Some((name, word)) = text.rsplit_once(' ')
            && let Some(ending) = ending_of(word)
            && name.contains("::")
            && name.split("::").next().is_some_and(is_python)
        {
            endings.add(name, ending);
            return true;
        }
    }
    false
}

fn is_python(file: &str) -> bool {
    file.rsplit_once('.').is_some_and(|(_, extension)| extension == "py")
}

/// `ok 1 - name` and `not ok 2 - name`, with a directive behind the second number sign; the numbers shift when tests are added.
fn tap(endings: &mut Endings, line: &str) -> bool {
    let (rest, ending) = match (line.strip_prefix("ok "), line.strip_prefix("not ok ")) {
        (Some(rest), _) => (rest, Ending::Passed),
        (_, Some(rest)) => (rest, Ending::Failed),
        _ => return false,
    };
    let digits = rest.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(rest.len());
    if digits == 0 {
        return false;
    }
    let (name, directive) = rest[digits..].split_once(" # ").unwrap_or((&rest[digits..], ""));
    let directive = directive.to_ascii_uppercase();
    let ending =
        if directive.starts_with("TODO") || directive.starts_with("SKIP") { Ending::Aside } else { ending };
    let name = name.trim().trim_start_matches("- ").trim();
    endings.add(if name.is_empty() { &rest[..digits] } else { name }, ending);
    true
}

/// `com.example.InvoiceTest > total() PASSED`, as gradle and the JUnit console print it.
fn gradle(endings: &mut Endings, line: &str) -> bool {
    let Some((name, word)) = line.rsplit_once(' ') else { return false };
    let ending = match word {
        "PASSED" => Ending::Passed,
        "FAILED" => Ending::Failed,
        "SKIPPED" => Ending::Aside,
        _ => return false,
    };
    let is_name = name.contains(" > ");
    if is_name {
        endings.add(name, ending);
    }
    is_name
}
