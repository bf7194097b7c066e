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

/// What make would run for these targets and for what they need; for the first target of the file where none is named.
pub(super) fn make_lines(text: &str, targets: &[String]) -> Vec<String> {
    let file = Makefile::read(text);
    let mut open = targets.to_vec();
    if open.is_empty() {
        open.extend(file.default_target());
    }
    let (mut seen, mut lines) = (BTreeSet::new(), Vec::new());
    while let Some(target) = open.pop() {
        if !seen.insert(target.clone()) {
            continue;
        }
        let names = |rule: &&Rule| file.expanded(&rule.targets).split_whitespace().any(|name| name == target);
        for rule in file.rules.iter().filter(names) {
            lines.extend(rule.lines.iter().map(|line| file.expanded(line)));
            open.extend(file.expanded(&rule.needs).split_whitespace().map(str::to_owned));
        }
    }
    lines
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
            make_lines(text, &targets)
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
        assert_eq!(make_lines("a: b\n\t1\nb: a\n\t2\n", &[]), ["1", "2"], "a circle ends");
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
