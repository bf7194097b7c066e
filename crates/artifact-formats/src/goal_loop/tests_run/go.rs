//! Test names of go: printed before the line that names their package, or one JSON object per event.

use serde_json::Value;

use super::listing::{Ending, Endings};

/// Tests that wait for the line of their package.
#[derive(Debug, Default)]
pub(super) struct Go {
    waiting: Vec<(String, Ending)>,
}

impl Go {
    pub(super) fn line(&mut self, endings: &mut Endings, line: &str) -> bool {
        let bare = line.trim();
        if bare.starts_with("{\"") && bare.contains("\"Action\"") {
            return event(endings, bare);
        }
        for (mark, ending) in
            [("--- PASS: ", Ending::Passed), ("--- FAIL: ", Ending::Failed), ("--- SKIP: ", Ending::Aside)]
        {
            if let Some(rest) = bare.strip_prefix(mark) {
                let name = rest.rsplit_once(" (").map_or(rest, |(name, _)| name);
                self.waiting.push((name.to_owned(), ending));
                return true;
            }
        }
        // `ok  \tpackage\t0.1s`; a line of words with one blank is something else.
        let mut columns = line.split('\t').map(str::trim);
        let (state, package) = (columns.next().unwrap_or_default(), columns.next());
        let ending = match (state, package) {
            ("ok", Some(_)) => Ending::Passed,
            ("FAIL", Some(_)) => Ending::Failed,
            _ => return false,
        };
        let package = package.unwrap_or_default().split(' ').next().unwrap_or_default();
        self.flush(endings, package);
        endings.add(package, ending);
        true
    }

    pub(super) fn end(&mut self, endings: &mut Endings) {
        self.flush(endings, "");
    }

    fn flush(&mut self, endings: &mut Endings, package: &str) {
        for (name, ending) in self.waiting.drain(..) {
            endings.add(&if package.is_empty() { name } else { format!("{package} {name}") }, ending);
        }
    }
}

fn event(endings: &mut Endings, line: &str) -> bool {
    let Ok(event) = serde_json::from_str::<Value>(line) else { return false };
    let value = |key: &str| event.get(key).and_then(Value::as_str);
    let ending = match value("Action") {
        Some("pass") => Ending::Passed,
        Some("fail") => Ending::Failed,
        Some("skip") => Ending::Aside,
        Some(_) => return true,
        None => return false,
    };
    let Some(package) = value("Package") else { return true };
    match value("Test") {
        Some(test) => endings.add(&format!("{package} {test}"), ending),
        // A package without tests is skipped, which is no result.
        None if ending != Ending::Aside => endings.add(package, ending),
        None => {}
    }
    true
}
