//! The lines that a make target, a script of a package's manifest or a shell script runs, as text. It knows how these files are
//! written; what a line runs is found elsewhere.

use std::collections::{BTreeMap, BTreeSet};

/// Spellings of the folder in which a script lies.
const OWN_FOLDER: &[&str] = &[
    r#"$(cd "$(dirname "$0")" && pwd)"#,
    r#"$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"#,
    r#"$(cd -- "$(dirname -- "$0")" && pwd)"#,
    r#"$(dirname "${BASH_SOURCE[0]}")"#,
    r#"$(dirname "$BASH_SOURCE")"#,
    r#"$(dirname -- "$0")"#,
    r#"$(dirname "$0")"#,
    "$(dirname $0)",
    r#"`dirname "$0"`"#,
    "`dirname $0`",
    "${0%/*}",
];
/// Variables of a makefile that are made of others are followed so far.
const DEPTH: usize = 4;

#[derive(Default)]
struct Makefile {
    variables: BTreeMap<String, String>,
    rules: Vec<Rule>,
}

struct Rule {
    targets: String,
    needs: String,
    lines: Vec<String>,
}

/// What make does for a command.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Making {
    /// The lines it would run.
    pub(super) lines: Vec<String>,
    /// The files it would make: one that lies there already, and is no older than what it is made of, is not made, and its
    /// lines are not run.
    pub(super) files: BTreeSet<String>,
}

/// For these targets and for what they need; for the first target of the file where none is named.
pub(super) fn making(text: &str, targets: &[String]) -> Making {
    let file = Makefile::read(text);
    let phony: BTreeSet<String> = file.needs_of(".PHONY").into_iter().collect();
    let mut open = targets.to_vec();
    if open.is_empty() {
        open.extend(file.default_target());
    }
    let (mut seen, mut making) = (BTreeSet::new(), Making::default());
    while let Some(target) = open.pop() {
        if !seen.insert(target.clone()) {
            continue;
        }
        let mut made = false;
        for rule in &file.rules {
            let Some(stem) = file.stem(rule, &target) else { continue };
            // Without lines nothing is left out when it lies there; without needs either, it is what makes others be made.
            made |= !rule.lines.is_empty() || rule.needs.trim().is_empty();
            making.lines.extend(rule.lines.iter().map(|line| file.expanded(line)));
            let needs = file.expanded(&rule.needs).replace('%', &stem);
            open.extend(needs.split_whitespace().filter(|need| *need != "|").map(str::to_owned));
        }
        if made && !phony.contains(&target) {
            making.files.insert(target);
        }
    }
    making
}

/// The makefiles that this one reads in, by the names it calls them.
pub(super) fn included(text: &str) -> Vec<String> {
    let file = Makefile::read(text);
    let lines = logical_lines(text);
    let named = lines.iter().filter_map(|line| {
        let words = ["include ", "-include ", "sinclude "].iter().find_map(|word| line.strip_prefix(word))?;
        Some(file.expanded(words.split('#').next().unwrap_or_default()))
    });
    named.flat_map(|names| words(&names)).collect()
}

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

impl Makefile {
    fn read(text: &str) -> Self {
        let mut file = Self::default();
        for line in logical_lines(text) {
            if let Some(recipe) = line.strip_prefix('\t') {
                if let Some(rule) = file.rules.last_mut() {
                    rule.lines.push(recipe.trim_start_matches(['@', '-', '+', ' ', '\t']).to_owned());
                }
                continue;
            }
            let line = line.split('#').next().unwrap_or_default().trim();
            if let Some((name, value)) = assignment(line) {
                file.variables.insert(name.to_owned(), value.to_owned());
            } else if let Some((targets, rest)) = line.split_once(':') {
                let (needs, first) = rest.trim_start_matches(':').split_once(';').unwrap_or((rest, ""));
                // A variable for one target is no list of what it needs.
                let needs = if needs.contains('=') { "" } else { needs };
                let lines = Some(first.trim().to_owned()).filter(|line| !line.is_empty());
                let lines = lines.into_iter().collect();
                file.rules.push(Rule { targets: targets.to_owned(), needs: needs.to_owned(), lines });
            }
        }
        file
    }

    fn default_target(&self) -> Option<String> {
        let named = self.variables.get(".DEFAULT_GOAL").cloned();
        named.or_else(|| {
            let targets = self.rules.iter().map(|rule| self.expanded(&rule.targets));
            let mut firsts =
                targets.filter_map(|targets| Some(targets.split_whitespace().next()?.to_owned()));
            firsts.find(|name| !name.starts_with('.') && !name.contains('%'))
        })
    }

    /// What stands for `%` where the rule makes this target; nothing in a rule without one.
    fn stem(&self, rule: &Rule, target: &str) -> Option<String> {
        self.expanded(&rule.targets).split_whitespace().find_map(|name| match name.split_once('%') {
            None => (name == target).then(String::new),
            // A rule for everything says nothing about one file.
            Some(("", "")) => None,
            Some((before, after)) => {
                let stem = target.strip_prefix(before)?.strip_suffix(after)?;
                (!stem.is_empty()).then(|| stem.to_owned())
            }
        })
    }

    fn needs_of(&self, target: &str) -> Vec<String> {
        let rules = self.rules.iter().filter(|rule| self.stem(rule, target).is_some());
        rules.flat_map(|rule| words(&self.expanded(&rule.needs))).collect()
    }

    fn expanded(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for _ in 0..DEPTH {
            for (name, value) in &self.variables {
                text = text.replace(&format!("$({name})"), value).replace(&format!("${{{name}}}"), value);
            }
        }
        for (name, value) in [("MAKE", "make"), ("CURDIR", ".")] {
            text = text.replace(&format!("$({name})"), value).replace(&format!("${{{name}}}"), value);
        }
        text.replace("$$", "$")
    }
}

fn assignment(line: &str) -> Option<(&str, &str)> {
    let (name, value) = line.split_once('=')?;
    let name = name.trim_end_matches([':', '?', '+', '!']).trim();
    let name = name.strip_prefix("export ").unwrap_or(name).trim();
    let plain =
        !name.is_empty() && name.chars().all(|one| one.is_ascii_alphanumeric() || "_.-".contains(one));
    plain.then_some((name, value.trim()))
}

/// What a package manager would run for a script of the manifest, with the tools of the package before all others.
pub(super) fn package_lines(manifest: &str, script: &str) -> Vec<String> {
    let Ok(manifest) = serde_json::from_str::<serde_json::Value>(manifest) else { return Vec::new() };
    let names = [format!("pre{script}"), script.to_owned(), format!("post{script}")];
    let lines = names.iter().filter_map(|name| manifest.get("scripts")?.get(name)?.as_str());
    lines.map(|line| format!("PATH=node_modules/.bin; {line}")).collect()
}

/// The lines of a shell script, with the folder that it lies in spelled out.
pub(super) fn shell_lines(path: &str, text: &str) -> Vec<String> {
    let folder = path.rsplit_once('/').map_or(".", |(folder, _)| folder);
    let text = OWN_FOLDER.iter().fold(text.to_owned(), |text, spelling| text.replace(spelling, folder));
    let mut variables: Vec<(&str, &str)> = Vec::new();
    let mut lines = Vec::new();
    for line in text.lines().filter(|line| !line.trim_start().starts_with('#')) {
        let given =
            line.split_once('=').map(|(name, value)| (name.trim(), value.trim().trim_matches(['"', '\''])));
        // Only what is the folder or lies in it: of everything else the lines themselves tell enough.
        let plain = |name: &str| {
            !name.is_empty() && name.chars().all(|one| one.is_ascii_alphanumeric() || one == '_')
        };
        variables.extend(given.filter(|(name, value)| plain(name) && value.starts_with(folder)));
        let spelled = variables.iter().rev().fold(line.to_owned(), |line, (name, value)| {
            line.replace(&format!("${{{name}}}"), value).replace(&format!("${name}/"), &format!("{value}/"))
        });
        lines.push(spelled);
    }
    lines
}

fn logical_lines(text: &str) -> Vec<String> {
    let (mut lines, mut open) = (Vec::new(), String::new());
    for line in text.lines() {
        if let Some(part) = line.strip_suffix('\\') {
            open.push_str(part);
            open.push(' ');
        } else {
            open.push_str(line);
            lines.push(std::mem::take(&mut open));
        }
    }
    lines.push(open);
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate::Instruments;

    #[test]
    fn make_runs_the_lines_of_a_target_and_of_what_it_needs() {
        let text = "SH = sh -eu\nCHECKS := lint \\\n  $(MORE)\nMORE ?= units\n.PHONY: test\n\nall: ; ./build\n\
            test: $(CHECKS) | dirs # words\n\t@$(SH) scripts/ci.sh \\\n\t  --all\n\t-$(MAKE) -C sub deep\n\
            lint units::\n\t@echo $$HOME\ntest: X = 1\nother:\n\t./never\n";
        let lines = |targets: &[&str]| {
            let targets: Vec<String> = targets.iter().map(|target| (*target).to_owned()).collect();
            making(text, &targets)
                .lines
                .iter()
                .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
                .collect::<Vec<_>>()
        };
        assert_eq!(
            lines(&["test"]),
            ["sh -eu scripts/ci.sh --all", "make -C sub deep", "echo $HOME", "echo $HOME"]
        );
        assert_eq!(lines(&[]), ["./build"], "the first that is no word of make's own");
        assert_eq!(lines(&["nothing"]), Vec::<String>::new());
        assert_eq!(making("a: b\n\t1\nb: a\n\t2\n", &[]).lines, ["1", "2"], "a circle ends");
    }

    #[test]
    fn a_file_that_make_would_make_is_a_part_of_the_check() {
        let made = |makefile: &str, command: &str| -> Vec<String> {
            let more = "deep: FORCE\n\ttrue\nFORCE:\n";
            let tree = [("Makefile", makefile), ("sub/Makefile", makefile), ("mk/more.mk", more)];
            in_a_tree(command, &tree).made.into_iter().collect()
        };
        let plain = "check:\n\tgrep -q good out.txt\n\ntest: check\n";
        assert_eq!(made(plain, "make test"), ["check"], "`test` itself runs nothing");
        assert_eq!(made(plain, "make -C sub test"), ["sub/check"]);
        assert_eq!(made(plain, "sh -c 'cd sub && make'"), ["sub/check"]);
        assert_eq!(made(&format!(".PHONY: test check\n{plain}"), "make test"), Vec::<String>::new());
        let stamp = ".PHONY: test\ntest: .stamp\n.stamp: out.txt\n\tgrep -q good out.txt\n\ttouch .stamp\n";
        assert_eq!(made(stamp, "make test"), [".stamp"], "what has no rule is the product");
        let pattern = ".PHONY: test\ntest: a.ok\n%.ok: %.txt\n\tgrep -q good $<\n%: x\n\ttrue\n";
        assert_eq!(made(pattern, "make test"), ["a.ok"]);
        assert_eq!(made("D = mk\ninclude $(D)/more.mk\ntest: deep\n", "make test"), ["FORCE", "deep"]);
    }

    #[test]
    fn a_script_knows_the_folder_it_lies_in() {
        let text = "DIR=\"$(cd \"$(dirname \"$0\")\" && pwd)\"\n\"$(dirname \"$0\")/check.sh\"\n\"$DIR/lint.sh\"\n# no\nsh ${DIR}/x\n";
        let lines = shell_lines("ci/all.sh", text);
        assert_eq!(lines[1..], ["\"ci/check.sh\"", "\"ci/lint.sh\"", "sh ci/x"]);
        assert_eq!(shell_lines("all.sh", text)[1], "\"./check.sh\"");
    }

    /// What is read of the tree stands in pairs of path and text.
    fn in_a_tree(command: &str, tree: &[(&str, &str)]) -> Instruments {
        let read =
            |path: &str| tree.iter().find(|(name, _)| *name == path).map(|(_, text)| (*text).to_owned());
        Instruments::of(&[command.to_owned()], read)
    }

    #[test]
    fn what_a_recipe_runs_is_run_by_the_check() {
        for (recipe, script) in [
            ("sh scripts/ci.sh", "scripts/ci.sh"),
            ("@./verify.sh", "verify.sh"),
            ("bash -eu validate", "validate"),
            ("./go", "go"),
            ("cd ci && ./go", "ci/go"),
            ("npm run lint", "tools/lint.js"),
        ] {
            let makefile = format!("test: units\n\ttrue\nunits:\n\t{recipe}\n");
            let manifest = r#"{"scripts": {"lint": "node tools/lint"}}"#;
            let found = in_a_tree("make test", &[("Makefile", &makefile), ("package.json", manifest)]);
            assert!(found.files.contains(script) && !found.guessed.contains(script), "{recipe}: {found:?}");
        }
        for (line, script) in [
            ("node scripts/check.js", "scripts/check.js"),
            ("node test", "test.js"),
            ("grep -q good s.txt", "node_modules/.bin/grep"),
            ("npm run deeper", "ci/deep.sh"),
            ("make -C sub x", "sub/x.sh"),
        ] {
            let manifest = format!(
                r#"{{"scripts": {{"pretest": "{line}", "test": "true", "deeper": "sh ci/deep.sh"}}}}"#
            );
            for (command, folder) in [("npm test", ""), ("npm t", ""), ("pnpm --dir web run test", "web/")] {
                let (place, make) = (format!("{folder}package.json"), format!("{folder}sub/Makefile"));
                let found = in_a_tree(command, &[(&place, &manifest), (&make, "x:\n\tsh x.sh\n")]);
                assert!(found.files.contains(&format!("{folder}{script}")), "{command}: {line}: {found:?}");
            }
        }
        let unread = in_a_tree("make test", &[("Makefile", "other:\n\t./go\ntest:\n\t./app | grep x\n")]);
        assert!(!unread.files.contains("go") && !unread.files.contains("app"), "{unread:?}");
    }

    #[test]
    fn names_that_leave_something_away_are_followed() {
        for (command, script) in [
            ("node tools", "tools/index.js"),
            ("node tools/verify", "tools/verify.js"),
            ("node -r ./tools/check.js -e ''", "tools/check.js"),
            ("node --import=./tools/check.js x.js", "tools/check.js"),
            ("python3 tools", "tools/__main__.py"),
            ("awk -f v.awk s.txt", "v.awk"),
            ("npx --no-install eslint .", "node_modules/.bin/eslint"),
        ] {
            let found = in_a_tree(command, &[]).files;
            assert!(found.contains(script), "{command}: {found:?}");
        }
        let all = in_a_tree("sh ci/all.sh", &[("ci/all.sh", "\"$(dirname \"$0\")/check.sh\"\n")]);
        assert!(all.files.contains("ci/check.sh"), "{all:?}");
    }
}
