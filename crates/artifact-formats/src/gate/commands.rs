//! Which files and programs a check command runs: its scripts, what they call, the recipes of make and package managers.
//! Read as a careful person reads a shell line, not as a shell does; what cannot be read names nothing.

use std::collections::BTreeSet;

use crate::goal_loop::is_test_path;

/// Scripts that call scripts are followed so far.
const MOST_FILES: usize = 64;

const INTERPRETERS: &[&str] = &[
    "sh", "bash", "dash", "zsh", "ksh", "python", "python3", "node", "ruby", "perl", "php", "deno", "bun",
    ".", "source",
];
const SOURCING: &[&str] = &[".", "source"];
const CHECK_FOLDERS: &[&str] =
    &["ci", ".ci", "script", "scripts", "tool", "tools", "hack", "build", "dev", "etc", "bin"];
const CHECK_WORDS: &[&str] =
    &["check", "test", "lint", "verify", "ci", "build", "setup", "common", "lib", "each"];
/// Fewer than for what is run: `lib` and `common` are what a product is made of.
const SOURCED_WORDS: &[&str] =
    &["check", "checks", "test", "tests", "testing", "lint", "verify", "ci", "spec"];
/// Words before the program proper.
const LEADS: &[&str] = &[
    "if", "then", "else", "elif", "do", "while", "until", "!", "time", "exec", "command", "env", "nohup",
    "sudo", "nice", "timeout", "xargs", "eval",
];
const PACKAGE_MANAGERS: &[&str] = &["npm", "yarn", "pnpm", "bun"];
const MAKES: &[(&str, &[&str])] = &[
    ("make", &["GNUmakefile", "makefile", "Makefile"]),
    ("gmake", &["GNUmakefile", "makefile", "Makefile"]),
    ("just", &["justfile", "Justfile", ".justfile"]),
    ("task", &["Taskfile.yml", "Taskfile.yaml"]),
    ("rake", &["Rakefile"]),
    ("tox", &["tox.ini"]),
    ("nox", &["noxfile.py"]),
];

/// What the check commands of a tree run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Instruments {
    /// Paths inside the tree, whether they are there or not.
    pub files: BTreeSet<String>,
    /// Programs that are looked for on the search path.
    pub programs: BTreeSet<String>,
    /// The manifest and the script of it that a package manager runs.
    pub package_scripts: BTreeSet<(String, String)>,
    /// Those of the files that no command names: they are taken for a part of a check by their names.
    pub guessed: BTreeSet<String>,
    /// What scripts read into themselves, whether it is taken for a part of them or not.
    sourced: BTreeSet<String>,
}

impl Instruments {
    /// Reads the commands, and the shell scripts they run as they stand in a tree.
    pub fn of(commands: &[String], mut read: impl FnMut(&str) -> Option<String>) -> Self {
        let mut found = Self::default();
        for command in commands {
            found.line(command, Origin::Command);
        }
        let mut open: Vec<String> = found.files.union(&found.sourced).cloned().collect();
        let mut seen = BTreeSet::new();
        while let Some(path) = open.pop() {
            if seen.len() >= MOST_FILES || !seen.insert(path.clone()) {
                continue;
            }
            let Some(text) = read(&path).filter(|text| is_shell(&path, text)) else { continue };
            let before: BTreeSet<String> = found.files.union(&found.sourced).cloned().collect();
            for line in text.lines().filter(|line| !line.trim_start().starts_with('#')) {
                found.line(line, Origin::Script);
            }
            let after = found.files.union(&found.sourced);
            open.extend(after.filter(|path| !before.contains(*path)).cloned());
        }
        found
    }

    /// Whether a script of a package's manifest that the commands run differs between two texts of it.
    pub fn package_script_changed(&self, path: &str, before: &str, after: &str) -> Option<String> {
        let scripts = |text: &str| serde_json::from_str::<serde_json::Value>(text).ok();
        let (before, after) = (scripts(before), scripts(after));
        let named = self.package_scripts.iter().filter(|(file, _)| file == path).map(|(_, script)| script);
        named.flat_map(|script| [format!("pre{script}"), script.clone(), format!("post{script}")]).find(
            |script| {
                let of = |manifest: &Option<serde_json::Value>| {
                    manifest.as_ref().and_then(|manifest| manifest.get("scripts")?.get(script)).cloned()
                };
                of(&before) != of(&after)
            },
        )
    }

    fn line(&mut self, line: &str, from: Origin) {
        let mut folder = String::new();
        for (simple, seen) in simple_commands(line) {
            self.simple(&simple, (seen, from), &mut folder);
        }
    }

    fn simple(&mut self, command: &str, at: (Seen, Origin), folder: &mut String) {
        let mut words = command.split_whitespace().map(|word| word.trim_matches(['"', '\'']));
        let program = words.find(|word| {
            let assignment = word.split_once('=').is_some_and(|(name, _)| is_name(name));
            let lead = LEADS.contains(word)
                || word.starts_with('-')
                || word.starts_with(|one: char| one.is_ascii_digit());
            !word.is_empty() && !assignment && !lead
        });
        let Some(program) = program else { return };
        let rest: Vec<&str> = words.collect();
        if program == "cd" {
            *folder = rest.first().map_or_else(String::new, |to| joined(folder, to));
            return;
        }
        if program.contains('/') {
            self.run(folder, program, at);
            return;
        }
        let base = program.trim_end_matches(|one: char| one.is_ascii_digit() || one == '.');
        let script = rest.iter().find(|word| !word.starts_with('-'));
        match script {
            Some(script) if SOURCING.contains(&program) => self.source(folder, script),
            // A file whose syntax alone is looked at is what is checked, not what checks.
            Some(_)
                if rest
                    .iter()
                    .take_while(|word| word.starts_with('-'))
                    .any(|option| only_parses(base, option)) => {}
            Some(script) if INTERPRETERS.contains(&program) || INTERPRETERS.contains(&base) => {
                self.run(folder, script, at);
            }
            _ => {}
        }
        if let Some((_, files)) = MAKES.iter().find(|(name, _)| *name == program) {
            let given = rest.iter().position(|word| *word == "-f").and_then(|at| rest.get(at + 1));
            let inner = rest.iter().position(|word| *word == "-C").and_then(|at| rest.get(at + 1));
            let inner = inner.map_or_else(|| folder.clone(), |to| joined(folder, to));
            for file in files.iter().chain(given) {
                self.file(&inner, file);
            }
        }
        if PACKAGE_MANAGERS.contains(&program) {
            let word =
                rest.iter().find(|word| !word.starts_with('-') && **word != "run" && **word != "run-script");
            if let Some(script) = word {
                self.package_scripts.insert((joined(folder, "package.json"), script.to_string()));
            }
        }
        if program != "." && program.chars().all(|one| one.is_ascii_alphanumeric() || "._-+".contains(one)) {
            self.programs.insert(program.to_owned());
        }
    }

    /// A file whose exit code counts. One whose output somebody looks at is what is checked, not what checks; and of what a script
    /// runs, only what is called like a check is one.
    fn run(&mut self, folder: &str, path: &str, (seen, from): (Seen, Origin)) {
        if seen != Seen::ByItsExit {
            return;
        }
        let inner = joined(folder, path);
        match from {
            Origin::Command => self.file(folder, path),
            Origin::Script if is_called_like_a_check(&inner) && in_the_tree(&inner) => self.guess(inner),
            Origin::Script => {}
        }
    }

    /// What is read into a script can be a part of the check, or what it checks: most shell projects test so. By its name and
    /// place the two are told apart; what it runs itself counts in either case.
    fn source(&mut self, folder: &str, path: &str) {
        let path = joined(folder, path);
        if !in_the_tree(&path) {
            return;
        }
        let called = path.split(['/', '.', '-', '_']).any(|word| SOURCED_WORDS.contains(&word));
        if called || is_test_path(&path) {
            self.guess(path.clone());
        }
        self.sourced.insert(path);
    }

    /// Not named by a command, but found by reading.
    fn guess(&mut self, path: String) {
        if !self.files.contains(&path) {
            self.guessed.insert(path.clone());
            self.files.insert(path);
        }
    }

    fn file(&mut self, folder: &str, path: &str) {
        let path = joined(folder, path);
        if in_the_tree(&path) {
            self.guessed.remove(&path);
            self.files.insert(path);
        }
    }
}

fn in_the_tree(path: &str) -> bool {
    !path.is_empty() && !path.starts_with('/') && !path.contains(['$', '*', '~'])
}

/// Where a line that is read stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Origin {
    Command,
    Script,
}

/// What becomes of a simple command.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Seen {
    ByItsExit,
    /// Piped on or put into another command.
    ByItsOutput,
}

fn simple_commands(line: &str) -> Vec<(String, Seen)> {
    let mut found = Vec::new();
    let mut current = String::new();
    let (mut inside, mut quoted) = (0_usize, false);
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        let piped = letter == '|' && letters.peek() != Some(&'|');
        let seen = if piped || inside > 0 || quoted { Seen::ByItsOutput } else { Seen::ByItsExit };
        match letter {
            '$' if letters.peek() == Some(&'(') => {
                letters.next();
                found.push((std::mem::take(&mut current), seen));
                inside += 1;
            }
            ')' => {
                found.push((std::mem::take(&mut current), seen));
                inside = inside.saturating_sub(1);
            }
            '`' => {
                found.push((std::mem::take(&mut current), seen));
                quoted = !quoted;
            }
            ';' | '&' | '|' | '(' | '\n' | '{' | '}' => found.push((std::mem::take(&mut current), seen)),
            letter => current.push(letter),
        }
    }
    found.push((current, if inside > 0 || quoted { Seen::ByItsOutput } else { Seen::ByItsExit }));
    found
}

/// Options with which an interpreter reads its file and runs nothing of it.
fn only_parses(program: &str, option: &str) -> bool {
    match program {
        "sh" | "bash" | "dash" | "zsh" | "ksh" => option == "-n",
        "node" => ["-c", "--check"].contains(&option),
        "ruby" | "perl" => ["-c", "-wc", "-cw"].contains(&option),
        "php" => option == "-l",
        _ => false,
    }
}

fn is_called_like_a_check(path: &str) -> bool {
    let mut parts: Vec<&str> = path.split('/').collect();
    let name = parts.pop().unwrap_or_default();
    let word = |part: &str| CHECK_WORDS.contains(&part.to_ascii_lowercase().as_str());
    parts.iter().any(|part| CHECK_FOLDERS.contains(part)) || name.split(['.', '-', '_']).any(word)
}

fn is_shell(path: &str, text: &str) -> bool {
    let first = text.lines().next().unwrap_or_default();
    let shebang = first.starts_with("#!") && first.contains("sh");
    let plain = !first.starts_with("#!") && [".sh", ".bash"].iter().any(|end| path.ends_with(end));
    shebang || plain
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|one| one.is_ascii_alphanumeric() || one == '_')
}

/// A path from a folder, without `.` and `..`; what leads out of the tree stays as it is and names nothing.
fn joined(folder: &str, path: &str) -> String {
    if path.starts_with('/') {
        return path.to_owned();
    }
    let mut parts: Vec<&str> = Vec::new();
    for part in folder.split('/').chain(path.split('/')) {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(command: &str) -> Instruments {
        Instruments::of(&[command.to_owned()], |_| None)
    }

    fn files(command: &str) -> Vec<String> {
        of(command).files.into_iter().collect()
    }

    #[test]
    fn a_script_is_found_where_it_is_run_and_not_where_it_is_read() {
        assert_eq!(files("./check.sh"), ["check.sh"]);
        assert_eq!(files("RUST_LOG=1 ./ci/check.sh --all && cargo test"), ["ci/check.sh"]);
        assert_eq!(files("sh -eu scripts/check.sh"), ["scripts/check.sh"]);
        assert_eq!(files("python3.12 tools/check.py"), ["tools/check.py"]);
        assert_eq!(files("cd tools && ./check"), ["tools/check"]);
        assert_eq!(files("if ! timeout 5 ./check; then exit 1; fi"), ["check"]);
        assert_eq!(files("grep -q hello src/hello.txt"), Vec::<String>::new());
        assert_eq!(files("test -f ./hello.txt"), Vec::<String>::new());
        assert_eq!(files("/usr/bin/true ./a"), Vec::<String>::new());
        assert_eq!(files("./greet.sh | grep hello"), Vec::<String>::new());
        assert_eq!(files("[ \"$(./greet.sh ada)\" = hello ]"), Vec::<String>::new());
        assert_eq!(files("./check.sh || exit 1"), ["check.sh"]);
    }

    #[test]
    fn a_file_whose_syntax_alone_is_looked_at_is_no_script_of_the_check() {
        for command in
            ["sh -n slug.sh", "bash -n slug.sh", "node --check a.js", "perl -wc a.pl", "php -l a.php"]
        {
            assert_eq!(files(command), Vec::<String>::new(), "{command}");
        }
        assert_eq!(files("sh -e slug.sh"), ["slug.sh"]);
    }

    #[test]
    fn scripts_that_scripts_run_are_found_as_well() {
        let read = |path: &str| match path {
            "check.sh" => Some("#!/bin/sh\nset -e\n# ./not-this\n. ./lib/env.sh\npytest -q\n".to_owned()),
            "lib/env.sh" => Some("./scripts/deeper\n./product\n".to_owned()),
            _ => None,
        };
        let found = Instruments::of(&["./check.sh".to_owned()], read);
        let files = |found: &BTreeSet<String>| found.iter().cloned().collect::<Vec<_>>();
        assert_eq!(files(&found.files), ["check.sh", "scripts/deeper"], "a sourced file is read as well");
        assert_eq!(files(&found.guessed), ["scripts/deeper"]);
        assert!(found.programs.contains("pytest"), "{found:?}");
    }

    #[test]
    fn what_a_script_sources_is_a_check_only_where_it_is_called_like_one_or_lies_among_tests() {
        let of = |sourced: &str| {
            let read = |path: &str| (path == "test.sh").then(|| format!(". ./{sourced}\n[ 1 = 1 ]\n"));
            Instruments::of(&["sh test.sh".to_owned()], read)
        };
        for part in ["tests/helper.sh", "check-functions.sh", "ci/env.sh", "test_common.sh"] {
            assert!(of(part).files.contains(part) && of(part).guessed.contains(part), "{part}");
        }
        for product in ["lib.sh", "cache.conf", "lib/env.sh", "src/common.sh"] {
            assert_eq!(of(product).files, BTreeSet::from(["test.sh".to_owned()]), "{product}");
        }
        assert!(of("test.sh").guessed.is_empty(), "a command names it");
    }

    #[test]
    fn recipes_of_make_and_package_managers_are_instruments() {
        assert!(files("make -C sub test").contains(&"sub/Makefile".to_owned()));
        assert!(files("make -f build.mk").contains(&"build.mk".to_owned()));
        let npm = of("npm run --silent test");
        assert_eq!(npm.package_scripts, BTreeSet::from([("package.json".to_owned(), "test".to_owned())]));
        let manifest = |test: &str| format!(r#"{{"version":"1","scripts":{{"test":"{test}","build":"x"}}}}"#);
        assert_eq!(npm.package_script_changed("package.json", &manifest("jest"), &manifest("jest")), None);
        let changed = npm.package_script_changed("package.json", &manifest("jest"), &manifest("true"));
        assert_eq!(changed.as_deref(), Some("test"));
        assert_eq!(of("cargo test").programs, BTreeSet::from(["cargo".to_owned()]));
    }
}
