//! Test names of vitest, jest and mocha: marked with ticks, under the indented titles of their suites.

use super::listing::{Ending, Endings};

#[derive(Debug, Default)]
pub(super) struct Suites {
    /// Title and indentation of the suites around the next test.
    titles: Vec<(usize, String)>,
    /// The file a runner announced.
    file: String,
    /// The list of tests is over; what follows repeats the failures in other forms.
    over: bool,
}

impl Suites {
    pub(super) fn line(&mut self, endings: &mut Endings, line: &str) {
        let bare = line.trim();
        let indent = line.len() - line.trim_start().len();
        if bare.is_empty() {
            return;
        }
        if self.announces_file(endings, bare) {
            return;
        }
        // Mocha's totals and jest's account of failures end the list; jest starts the next file with its name.
        let is_total =
            bare.split(' ').nth(1).is_some_and(|word| matches!(word, "passing" | "failing" | "pending"));
        if is_total || bare.starts_with('●') || bare.starts_with("⎯") {
            self.over = true;
        }
        if self.over {
            return;
        }
        match marked(bare) {
            Some((name, ending)) => {
                self.titles.retain(|(depth, _)| *depth < indent);
                let titles = self.titles.iter().map(|(_, title)| title.as_str());
                let file = Some(self.file.as_str()).filter(|file| !file.is_empty());
                let parts: Vec<&str> = file.into_iter().chain(titles).chain([name.as_str()]).collect();
                endings.add(&parts.join(" > "), ending);
            }
            None if indent > 0 || !self.file.is_empty() => {
                self.titles.retain(|(depth, _)| *depth < indent);
                self.titles.push((indent, bare.to_owned()));
            }
            None => self.titles.clear(),
        }
    }

    /// `PASS src/a.test.js` of jest; `FAIL src/a.test.ts > suite > name` of vitest.
    fn announces_file(&mut self, endings: &mut Endings, line: &str) -> bool {
        let rest = ["PASS ", "FAIL "].iter().find_map(|mark| line.strip_prefix(mark));
        let Some(rest) = rest.map(str::trim) else { return false };
        let file = rest.split(' ').next().unwrap_or_default();
        if !file.contains('.') {
            return false;
        }
        if rest.contains(" > ") {
            if line.starts_with("FAIL ") {
                endings.add(rest, Ending::Failed);
            }
            return true;
        }
        file.clone_into(&mut self.file);
        self.titles.clear();
        self.over = false;
        true
    }
}

fn marked(line: &str) -> Option<(String, Ending)> {
    let mut letters = line.chars();
    let ending = match letters.next()? {
        '✓' | '✔' | '√' => Ending::Passed,
        '✕' | '✗' | '✘' | '×' | '✖' => Ending::Failed,
        '○' | '↓' => Ending::Aside,
        '❯' if line.contains(" failed") => Ending::Failed,
        letter if letter.is_ascii_digit() => {
            // `1) name` of mocha.
            let (number, name) = line.split_once(") ")?;
            let is_number = number.bytes().all(|byte| byte.is_ascii_digit());
            return is_number.then(|| (without_time(name), Ending::Failed));
        }
        _ => return None,
    };
    let name = letters.as_str().strip_prefix(' ')?;
    Some((without_time(name), ending))
}

/// `name (3 ms)`, `name 3ms` and `file (3 tests | 1 failed) 5ms` without what changes from run to run.
fn without_time(name: &str) -> String {
    let is_time = |text: &str| {
        let text = text.trim_end_matches("ms").trim_end_matches('s').trim();
        !text.is_empty() && text.chars().all(|letter| letter.is_ascii_digit() || letter == '.')
    };
    let mut name = name.trim();
    if let Some((before, last)) = name.rsplit_once(' ')
        && last.ends_with('s')
        && is_time(last)
    {
        name = before.trim_end();
    }
    if let Some((before, inside)) = name.strip_suffix(')').and_then(|name| name.rsplit_once(" ("))
        && (is_time(inside) && inside.ends_with('s') || inside.contains(" test"))
    {
        name = before.trim_end();
    }
    name.to_owned()
}
