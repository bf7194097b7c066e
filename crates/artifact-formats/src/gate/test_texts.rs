//! The tests, skip marks and assertions of the changed files, before and after; what was lost between the two. A test that
//! moved to another changed file is not lost.

use std::collections::BTreeMap;

use super::assertions::{assertions, stands_alone};
use super::hampered::Hampered;
use super::languages::{Language, Tests};
use crate::goal_loop::is_test_path;
use crate::one_line::one_line;

/// More of one kind say nothing new.
const MOST_NAMED: usize = 12;
const MOST_CHARS: usize = 160;

/// All files of a change that can hold tests.
#[derive(Debug, Default)]
pub struct TestTexts {
    tests: Tally,
    assertions: Tally,
    skips: BTreeMap<String, (u32, u32)>,
    /// What was done to a test that is still there, in sentences.
    hampered: Hampered,
    /// Files of tests that are not there any more and in which no test has a name, and the texts of new files.
    gone: Vec<(String, String)>,
    arrived: Vec<String>,
}

/// In sentences, empty where nothing was lost.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Losses {
    pub deleted: Vec<String>,
    pub skipped: Vec<String>,
    pub weakened: Vec<String>,
}

/// How often something stands before and after, and where it stood.
#[derive(Debug, Default)]
struct Tally(BTreeMap<String, (u32, u32, String)>);

impl Tally {
    fn before(&mut self, what: String, path: &str) {
        let entry = self.0.entry(what).or_default();
        entry.0 += 1;
        path.clone_into(&mut entry.2);
    }

    fn after(&mut self, what: String) {
        self.0.entry(what).or_default().1 += 1;
    }

    fn lost(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0
            .iter()
            .filter(|(_, (before, after, _))| after < before)
            .map(|(what, (_, _, path))| (what.as_str(), path.as_str()))
    }
}

impl TestTexts {
    /// Whether a file can hold tests at all; others need not be read.
    pub fn can_hold(path: &str) -> bool {
        is_test_path(path) || !Language::of(path).inner_tests.is_empty()
    }

    /// Whether a text holds what begins the tests in a file of the code.
    pub fn holds_some(path: &str, text: &str) -> bool {
        Language::of(path).inner_tests.iter().any(|mark| text.contains(mark))
    }

    /// One changed file; absent where it was not there or is not there any more.
    pub fn add(&mut self, path: &str, before: Option<&str>, after: Option<&str>) {
        let language = Language::of(path);
        if let (Some(before), Some(after)) = (before, after) {
            self.hampered.compare(language, path, (before, after));
        }
        let (before, after) =
            (before.map(|text| part(language, path, text)), after.map(|text| part(language, path, text)));
        let had = before.as_deref().map(|text| tests(language, text)).unwrap_or_default();
        match (&before, &after) {
            (Some(text), None) if is_test_path(path) && had.is_empty() => {
                self.gone.push((path.to_owned(), text.clone()));
            }
            (None, Some(text)) if is_test_path(path) => self.arrived.push(text.clone()),
            _ => {}
        }
        for name in had {
            self.tests.before(name, path);
        }
        let skips = |text: &Option<String>| text.as_deref().map_or(0, |text| marks(language.skips, text));
        self.skips.insert(path.to_owned(), (skips(&before), skips(&after)));
        if let Some(text) = &before {
            // A deleted file is told of as deleted tests.
            if after.is_some() || !is_test_path(path) {
                for one in assertions(language, text) {
                    self.assertions.before(one, path);
                }
            }
        }
        if let Some(text) = &after {
            for name in tests(language, text) {
                self.tests.after(name);
            }
            for one in assertions(language, text) {
                self.assertions.after(one);
            }
        }
    }

    pub fn losses(&self) -> Losses {
        let deleted: Vec<String> = self.tests.lost().map(|(name, path)| format!("{path}: {name}")).collect();
        let (before, after) =
            self.skips.values().fold((0, 0), |sum, (before, after)| (sum.0 + before, sum.1 + after));
        let more = |(path, (before, after)): (&String, &(u32, u32))| {
            (after > before).then(|| format!("{path}: {} more", after - before))
        };
        let mut skipped: Vec<String> =
            if after > before { self.skips.iter().filter_map(more).collect() } else { Vec::new() };
        skipped.extend(self.hampered.left_out.iter().cloned());
        let weakened =
            self.assertions.lost().map(|(words, path)| format!("{path}: {}", one_line(words, MOST_CHARS)));
        let gone = self.gone.iter().filter(|(_, text)| !self.arrived.contains(text));
        Losses {
            deleted: bounded(gone.map(|(path, _)| path.clone()).chain(deleted).collect()),
            skipped: bounded(skipped),
            weakened: bounded(weakened.chain(self.hampered.cut_short.iter().cloned()).collect()),
        }
    }
}

fn bounded(mut lines: Vec<String>) -> Vec<String> {
    let more = lines.len().saturating_sub(MOST_NAMED);
    lines.truncate(MOST_NAMED);
    if more > 0 {
        lines.push(format!("and {more} more"));
    }
    lines
}

/// What counts of a file: not its comments, and of a file of the code only its tests.
fn part(language: &Language, path: &str, text: &str) -> String {
    let begins = language.inner_tests.iter().filter_map(|mark| text.find(mark)).min();
    let text = match begins {
        _ if is_test_path(path) || language.inner_tests.is_empty() => text,
        Some(at) => &text[at..],
        None => "",
    };
    let mut kept = String::with_capacity(text.len());
    let mut in_comment = false;
    for line in text.lines() {
        let bare = line.trim_start();
        in_comment |= bare.starts_with("/*") && language.comments.contains(&"/*");
        let skipped = in_comment
            || (language.comments.iter().any(|mark| bare.starts_with(mark)) && !bare.starts_with("#["));
        if in_comment && line.contains("*/") {
            in_comment = false;
        }
        // Directives of Go and of shell test runners stand in comments.
        let directive = bare.starts_with("//go:build") || bare.starts_with("# SKIP");
        if !skipped || directive {
            kept.push_str(line);
            kept.push('\n');
        }
    }
    kept
}

fn tests(language: &Language, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut marked = false;
    for line in text.lines() {
        let bare = line.trim();
        match &language.tests {
            Tests::None => {}
            Tests::Named(words) => found.extend(words.iter().find_map(|word| {
                let rest = after_mark(bare, word)?;
                let last = word.rsplit(' ').next().unwrap_or_default();
                Some(format!("{last}{}", name(rest)))
            })),
            Tests::Quoted(words) => {
                found.extend(words.iter().find_map(|word| quoted(after_mark(bare, word)?)));
            }
            Tests::Marked(marks, words) => {
                marked |= marks.iter().any(|mark| bare.contains(mark));
                let named = words.iter().find_map(|word| after_mark(bare, word)).map(name);
                if marked && let Some(named) = named.filter(|name| !name.is_empty()) {
                    found.push(named.to_owned());
                    marked = false;
                }
            }
        }
    }
    found
}

fn after_mark<'t>(line: &'t str, mark: &str) -> Option<&'t str> {
    let at = line.match_indices(mark).map(|(at, _)| at).find(|at| stands_alone(line, *at, mark))?;
    Some(&line[at + mark.len()..])
}

fn name(text: &str) -> &str {
    let end = text.find(|one: char| !one.is_alphanumeric() && one != '_').unwrap_or(text.len());
    &text[..end]
}

fn quoted(text: &str) -> Option<String> {
    let at = text.find(['"', '\'', '`'])?;
    let quote = text[at..].chars().next()?;
    let rest = &text[at + 1..];
    Some(rest[..rest.find(quote)?].to_owned())
}

fn marks(marks: &[&str], text: &str) -> u32 {
    let on = |line: &str| marks.iter().any(|mark| after_mark(line.trim(), mark).is_some());
    u32::try_from(text.lines().filter(|line| on(line)).count()).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn losses(path: &str, before: &str, after: &str) -> Losses {
        let mut texts = TestTexts::default();
        texts.add(path, Some(before), Some(after));
        texts.losses()
    }

    #[test]
    fn a_mark_to_skip_is_seen_in_every_language() {
        for (path, before, after) in [
            ("tests/a.rs", "#[test]\nfn a() {}\n", "#[test]\n#[ignore]\nfn a() {}\n"),
            ("tests/a.rs", "#[test]\nfn a() {}\n", "#[test]\n#[ignore = \"later\"]\nfn a() {}\n"),
            (
                "test_a.py",
                "def test_a():\n    pass\n",
                "@pytest.mark.skip(reason='x')\ndef test_a():\n    pass\n",
            ),
            ("test_a.py", "def test_a():\n    pass\n", "def test_a():\n    pytest.skip('x')\n"),
            ("a.test.ts", "it('a', () => {})\n", "it.skip('a', () => {})\n"),
            ("a.test.ts", "it('a', () => {})\n", "xit('a', () => {})\n"),
            (
                "a_test.go",
                "func TestA(t *testing.T) {\n}\n",
                "func TestA(t *testing.T) {\n\tt.Skip(\"x\")\n}\n",
            ),
            ("src/test/ATest.java", "@Test\nvoid a() {}\n", "@Disabled\n@Test\nvoid a() {}\n"),
            ("spec/a_spec.rb", "it \"a\" do\nend\n", "xit \"a\" do\nend\n"),
        ] {
            let found = losses(path, before, after);
            assert_eq!(found.skipped, [format!("{path}: 1 more")], "{path}: {after}");
            assert_eq!(found.deleted, Vec::<String>::new(), "{path}: {after}");
            assert_eq!(losses(path, after, before).skipped, Vec::<String>::new(), "{path}");
        }
    }

    #[test]
    fn a_test_that_is_gone_or_commented_out_is_deleted_and_one_that_moved_is_not() {
        let two = "#[test]\nfn a() {}\n#[tokio::test]\nasync fn b() {}\n";
        assert_eq!(losses("tests/t.rs", two, "#[test]\nfn a() {}\n").deleted, ["tests/t.rs: b"]);
        let commented = "// #[test]\n// fn a() {}\n#[tokio::test]\nasync fn b() {}\n";
        assert_eq!(losses("tests/t.rs", two, commented).deleted, ["tests/t.rs: a"]);
        let mut moved = TestTexts::default();
        moved.add("tests/t.rs", Some(two), None);
        moved.add("tests/u.rs", None, Some(two));
        assert_eq!(moved.losses(), Losses::default());
        let mut gone = TestTexts::default();
        gone.add("tests/case.txt", Some("x"), None);
        assert_eq!(gone.losses().deleted, ["tests/case.txt"]);
        gone.add("tests/moved.txt", None, Some("x"));
        assert_eq!(gone.losses().deleted, Vec::<String>::new());
    }

    #[test]
    fn an_assertion_that_is_lost_or_says_something_else_is_weakened() {
        let strong = "#[test]\nfn a() {\n    assert_eq!(\n        sum(2, 2),\n        4,\n    );\n}\n";
        let weak = "#[test]\nfn a() {\n    assert!(true);\n}\n";
        assert_eq!(losses("tests/t.rs", strong, weak).weakened, ["tests/t.rs: assert_eq!(sum(2,2),4,)"]);
        let formatted = "#[test]\nfn a() { assert_eq!(sum(2, 2), 4,); assert!(true); }\n";
        assert_eq!(losses("tests/t.rs", strong, formatted).weakened, Vec::<String>::new());
        let python = ("def test_a():\n    assert f(1) == 2\n", "def test_a():\n    assert f(1)\n");
        assert_eq!(losses("test_a.py", python.0, python.1).weakened, ["test_a.py: assertf(1)==2"]);
        let shell = ("[ \"$(./sum 2 2)\" = 4 ]\n", "true\n");
        assert_eq!(losses("tests/sum.sh", shell.0, shell.1).weakened.len(), 1);
    }

    #[test]
    fn a_test_of_the_code_that_no_longer_runs_or_ends_sooner_is_seen() {
        let before = "fn f() {}\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn a() {\n        assert!(f());\n    }\n}\n";
        for condition in ["#[cfg(feature = \"x\")]", "#[cfg(all(test, feature = \"x\"))]"] {
            let narrowed = before.replace("#[cfg(test)]", condition);
            assert_eq!(
                losses("src/lib.rs", before, &narrowed).skipped,
                [format!("src/lib.rs: a is under {condition}")]
            );
        }
        let apart = "#[cfg(test)]\nmod tests;\n";
        let narrowed = apart.replace("test)", "feature = \"x\")");
        assert_eq!(losses("src/lib.rs", apart, &narrowed).skipped.len(), 1);
        let one = before.replace("    #[test]", "    #[cfg(feature = \"x\")]\n    #[test]");
        assert_eq!(
            losses("src/lib.rs", before, &one).skipped,
            ["src/lib.rs: a is under #[cfg(feature = \"x\")]"]
        );
        let sooner = before
            .replace("        assert!", "        if true {\n            return;\n        }\n        assert!");
        assert_eq!(losses("src/lib.rs", before, &sooner).weakened, ["src/lib.rs: a returns before its end"]);
        assert_eq!(losses("src/lib.rs", &sooner, before), Losses::default());
        let nul = before.replace("assert!(f());", "// \0\n        assert!(true);");
        assert_eq!(losses("src/lib.rs", before, &nul).weakened, ["src/lib.rs: assert!(f())"]);
    }

    #[test]
    fn of_the_code_only_its_tests_count() {
        let before = "fn f() { assert!(ready); }\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn a() { assert!(f()); }\n}\n";
        let code = before.replace("assert!(ready);", "");
        assert_eq!(losses("src/lib.rs", before, &code), Losses::default());
        let found = losses("src/lib.rs", before, "fn f() { assert!(ready); }\n");
        assert_eq!(found.deleted, ["src/lib.rs: a"]);
        assert_eq!(found.weakened, ["src/lib.rs: assert!(f())"]);
    }
}
