//! Which files and programs a check command runs: its scripts, what they call, the recipes of make and package managers.
//! Read as a careful person reads a shell line, not as a shell does; what cannot be read names nothing.

use std::collections::BTreeSet;

use super::command_words::{Behind, SHELLS, Seen, Simple, behind, simple_commands};
use super::module_names::is_of_an_interpreter;
use super::recipes::{included, making, package_lines, shell_lines};
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
const PACKAGE_MANAGERS: &[&str] = &["npm", "yarn", "pnpm", "bun"];
/// Options of package managers with which they go elsewhere first.
const ELSEWHERE: &[&str] = &["--prefix", "--dir", "--cwd", "-C"];
/// What runs a tool of the package.
const TOOL_RUNNERS: &[&str] = &["npx", "bunx", "pnpx"];
const TOOLS_OF_A_PACKAGE: &str = "node_modules/.bin";
const AWKS: &[&str] = &["awk", "gawk", "mawk", "nawk"];
/// Options of make that take the next word along.
const OPTIONS_OF_MAKE: &[&str] = &["-C", "-f", "-I", "-o", "-W", "-j", "-l"];
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
    /// Files that make would make on the way: where one lies there, what it is made by is not run.
    pub made: BTreeSet<String>,
    /// Folders in which Python looks before its own modules.
    module_folders: BTreeSet<String>,
    /// What scripts read into themselves, whether it is taken for a part of them or not.
    sourced: BTreeSet<String>,
    recipes: BTreeSet<Recipe>,
}

/// Lines that stand in another file than the command that runs them.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Recipe {
    folder: String,
    from: Origin,
    of: RecipeOf,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum RecipeOf {
    Make { files: Vec<String>, targets: Vec<String> },
    Package { script: String },
}

impl Instruments {
    /// Reads the commands, and the shell scripts they run as they stand in a tree.
    pub fn of(commands: &[String], mut read: impl FnMut(&str) -> Option<String>) -> Self {
        let mut found = Self::default();
        for command in commands {
            found.line(command, Origin::Command);
        }
        let (mut seen, mut followed) = (BTreeSet::new(), BTreeSet::new());
        while seen.len() + followed.len() < MOST_FILES {
            if let Some(recipe) = found.recipes.difference(&followed).next().cloned() {
                found.follow(&recipe, &mut read);
                followed.insert(recipe);
                continue;
            }
            let worth = |path: &&String| !seen.contains(*path) && !path.contains(TOOLS_OF_A_PACKAGE);
            let Some(path) = found.files.union(&found.sourced).find(worth).cloned() else { break };
            let text = read(&path).filter(|text| is_shell(&path, text)).unwrap_or_default();
            for line in shell_lines(&path, &text) {
                found.line(&line, Origin::Script);
            }
            seen.insert(path);
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

    /// Whether Python would take a file there for one of the modules that every check needs.
    pub fn stands_before_a_module(&self, path: &str) -> bool {
        self.module_folders.iter().any(|folder| {
            let inner = match folder.as_str() {
                "" => Some(path),
                folder => path.strip_prefix(folder).and_then(|rest| rest.strip_prefix('/')),
            };
            inner.is_some_and(|inner| {
                let name =
                    inner.split_once('/').map_or_else(|| inner.strip_suffix(".py"), |(name, _)| Some(name));
                name.is_some_and(is_of_an_interpreter)
            })
        })
    }

    /// Reads what a recipe runs as if the commands had said it.
    fn follow(&mut self, recipe: &Recipe, read: &mut impl FnMut(&str) -> Option<String>) {
        let lines = match &recipe.of {
            RecipeOf::Make { files, targets } => {
                let text = files.iter().find_map(|file| read(&joined(&recipe.folder, file)));
                let mut text = text.unwrap_or_default();
                for file in included(&text) {
                    let more = read(&joined(&recipe.folder, &file)).unwrap_or_default();
                    text = format!("{text}\n{more}");
                }
                let making = making(&text, targets);
                let made = making.files.iter().map(|file| joined(&recipe.folder, file));
                self.made.extend(made.filter(|file| in_the_tree(file)));
                making.lines
            }
            RecipeOf::Package { script } => {
                let text = read(&joined(&recipe.folder, "package.json"));
                text.map(|text| package_lines(&text, script)).unwrap_or_default()
            }
        };
        for line in lines {
            self.line_in(&line, recipe.from, &mut recipe.folder.clone());
        }
    }

    fn line(&mut self, line: &str, from: Origin) {
        self.line_in(line, from, &mut String::new());
    }

    /// `folder` is where the line begins, and afterwards where it ends.
    fn line_in(&mut self, line: &str, from: Origin, folder: &mut String) {
        let commands = simple_commands(line);
        for (at, simple) in commands.iter().enumerate() {
            let before = at.checked_sub(1).and_then(|before| commands.get(before));
            let last = at + 1 == commands.len();
            self.simple(simple, (from, before, last), folder);
        }
    }

    fn simple(
        &mut self,
        command: &Simple,
        (from, before, last): (Origin, Option<&Simple>, bool),
        folder: &mut String,
    ) {
        let (program, rest) = (command.program.as_str(), command.rest.as_slice());
        if program == "cd" {
            *folder = rest.first().map_or_else(String::new, |to| joined(folder, to));
            return;
        }
        let mut here = command.folder.as_ref().map_or_else(|| folder.clone(), |to| joined(folder, to));
        let at = (command.seen, from);
        if program.contains('/') {
            self.run(&here, program, at);
            return;
        }
        for entry in &command.search_path {
            self.run(&joined(&here, entry), program, at);
        }
        let base = program.trim_end_matches(|one: char| one.is_ascii_digit() || one == '.');
        if SOURCING.contains(&program) {
            if let Some(script) = rest.first() {
                // With nothing behind it, what is read in is the check.
                if last && from == Origin::Command {
                    self.file(&here, script);
                } else {
                    self.source(&here, script);
                }
            }
        } else if let (true, Behind::Words(line)) = (SHELLS.contains(&base), behind(base, rest)) {
            // The line may have been taken apart in its middle, and go on after this.
            if command.seen == Seen::ByItsExit {
                self.line_in(&line, from, &mut here);
                folder.clone_from(&here);
            }
        } else if INTERPRETERS.contains(&base) {
            self.interpreted((base, rest), (command, before), &here, from);
        } else if AWKS.contains(&program) {
            for script in behind_each(rest, &["-f", "--file"]) {
                self.run(&here, script, at);
            }
        } else if TOOL_RUNNERS.contains(&program)
            && let Some(tool) = rest.iter().find(|word| !word.starts_with('-'))
        {
            self.run(&joined(&here, TOOLS_OF_A_PACKAGE), tool, at);
        }
        if command.seen == Seen::ByItsExit {
            self.recipes((program, rest), &here, from);
        }
        if program != "." && program.chars().all(|one| one.is_ascii_alphanumeric() || "._-+".contains(one)) {
            self.programs.insert(program.to_owned());
        }
    }

    /// What an interpreter runs: a script, a module, a line, or what it is fed with.
    fn interpreted(
        &mut self,
        (interpreter, rest): (&str, &[String]),
        (command, before): (&Simple, Option<&Simple>),
        folder: &str,
        from: Origin,
    ) {
        let mut options = rest.iter().take_while(|word| word.starts_with('-'));
        // A file whose syntax alone is looked at is what is checked, not what checks.
        if options.any(|option| only_parses(interpreter, option)) {
            return;
        }
        let at = (command.seen, from);
        if ["node", "bun", "ruby"].contains(&interpreter) {
            let loaded = behind_each(rest, &["-r", "--require", "--import", "--loader"]);
            for script in loaded.into_iter().filter(|script| script.starts_with('.')) {
                self.script(interpreter, folder, script, at);
            }
        }
        match behind(interpreter, rest) {
            Behind::Script(script) => {
                self.script(interpreter, folder, script, at);
                if interpreter == "python" && command.seen == Seen::ByItsExit {
                    let script = joined(folder, script);
                    let beside = script.rsplit_once('/').map_or("", |(beside, _)| beside);
                    self.module_folders.insert(beside.to_owned());
                }
            }
            Behind::Module(module) => self.module(folder, module, at),
            Behind::Words(_) | Behind::Text => {}
            Behind::Nothing => {
                let typed =
                    before.filter(|before| before.seen == Seen::ByItsOutput && before.program == "cat");
                let typed = typed.iter().flat_map(|before| &before.rest);
                for script in command.fed_from.iter().chain(typed) {
                    self.run(folder, script, at);
                }
            }
        }
    }

    /// A script by the name that an interpreter is given, which may leave its ending away or be a folder.
    fn script(&mut self, interpreter: &str, folder: &str, script: &str, at: (Seen, Origin)) {
        self.run(folder, script, at);
        let name = script.trim_end_matches('/');
        let bare = !name.rsplit('/').next().unwrap_or_default().trim_start_matches('.').contains('.');
        let others: &[&str] = match interpreter {
            "node" | "bun" if bare => &[".js", "/index.js"],
            "python" if bare => &["/__main__.py"],
            _ => &[],
        };
        for ending in others {
            self.run(folder, &format!("{name}{ending}"), at);
        }
    }

    /// The files that Python looks for first, whether they are there or not.
    fn module(&mut self, folder: &str, module: &str, (seen, from): (Seen, Origin)) {
        if seen != Seen::ByItsExit {
            return;
        }
        self.module_folders.insert(folder.to_owned());
        let path = module.replace('.', "/");
        let mut files = vec![format!("{path}.py"), format!("{path}/__main__.py")];
        if !module.contains('.') {
            files.push(format!("{path}/__init__.py"));
        }
        for file in files {
            self.run(folder, &file, (seen, from));
        }
    }

    /// The recipes of make and its like, and the scripts of a package's manifest.
    fn recipes(&mut self, (program, rest): (&str, &[String]), folder: &str, from: Origin) {
        if let Some((_, files)) = MAKES.iter().find(|(name, _)| *name == program) {
            let behind = |option: &str| behind_each(rest, &[option]).into_iter().next();
            let inner = behind("-C").map_or_else(|| folder.to_owned(), |to| joined(folder, to));
            for file in files.iter().copied().chain(behind("-f")) {
                self.file(&inner, file);
            }
            if ["make", "gmake"].contains(&program) {
                let files = behind("-f").map_or_else(|| files.to_vec(), |file| vec![file]);
                let files = files.into_iter().map(str::to_owned).collect();
                let targets = plain_words(rest, OPTIONS_OF_MAKE).filter(|word| !word.contains('='));
                let of = RecipeOf::Make { files, targets: targets.cloned().collect() };
                self.recipes.insert(Recipe { folder: inner, from, of });
            }
        }
        if PACKAGE_MANAGERS.contains(&program) {
            let inner = behind_each(rest, ELSEWHERE).into_iter().next();
            let inner = inner.map_or_else(|| folder.to_owned(), |to| joined(folder, to));
            let mut words =
                plain_words(rest, ELSEWHERE).filter(|word| *word != "run" && *word != "run-script");
            if let Some(script) = words.next() {
                let script = if ["t", "tst"].contains(&script.as_str()) { "test" } else { script };
                self.package_scripts.insert((joined(&inner, "package.json"), script.to_owned()));
                let of = RecipeOf::Package { script: script.to_owned() };
                self.recipes.insert(Recipe { folder: inner, from, of });
            }
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

/// What stands behind each of these options.
fn behind_each<'a>(words: &'a [String], options: &[&str]) -> Vec<&'a str> {
    let found = words.iter().enumerate().filter_map(|(at, word)| {
        if options.contains(&word.as_str()) {
            return words.get(at + 1).map(String::as_str);
        }
        let (option, value) = word.split_once('=')?;
        options.contains(&option).then_some(value)
    });
    found.collect()
}

/// The words that are neither options nor taken along by one of these.
fn plain_words<'a>(words: &'a [String], taking: &[&str]) -> impl Iterator<Item = &'a String> {
    let is_taken =
        |at: usize| at.checked_sub(1).is_some_and(|before| taking.contains(&words[before].as_str()));
    let plain: Vec<&String> = words
        .iter()
        .enumerate()
        .filter(|(at, word)| !word.starts_with('-') && !is_taken(*at))
        .map(|(_, word)| word)
        .collect();
    plain.into_iter()
}

/// Where a line that is read stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Origin {
    Command,
    Script,
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
    fn a_script_is_found_in_every_spelling_of_its_command() {
        for command in [
            "bash -euo pipefail scripts/go",
            "python3 -W error scripts/go",
            "\"$PWD/scripts/go\"",
            "\"$PWD\"/scripts/go",
            "sh \"$(git rev-parse --show-toplevel)/scripts/go\"",
            "D=./scripts; $D/go",
            "PATH=scripts:$PATH go",
            "export PATH=\"$PWD/scripts:$PATH\"; go",
            "bash -c \"source scripts/go\"",
            ". ./scripts/go",
            "env -u FOO -C . sh scripts/go",
            "env -C scripts ./go",
            "sh < scripts/go",
            "sh <scripts/go",
            "cat scripts/go | sh",
            "sh -c 'cd scripts && ./go'",
            "cd scripts && bash -c ./go",
        ] {
            let found = files(command);
            // Python may be given a folder.
            let others = found.iter().filter(|path| *path != "scripts/go/__main__.py");
            assert_eq!(others.collect::<Vec<_>>(), ["scripts/go"], "{command}");
        }
        assert_eq!(files("python3 tools/lint.py src/product.py"), ["tools/lint.py"]);
        assert_eq!(files(". ./lib.sh && [ \"$(greet)\" = hello ]"), Vec::<String>::new());
        assert_eq!(files("cat notes.txt | grep hello"), Vec::<String>::new());
        assert!(files("python3 -m scripts.ci").contains(&"scripts/ci.py".to_owned()));
    }

    #[test]
    fn what_python_would_find_before_the_runner_is_a_part_of_the_check() {
        assert_eq!(
            files("python3 -m unittest discover -s tests"),
            ["unittest.py", "unittest/__init__.py", "unittest/__main__.py"]
        );
        let found = of("cd app && python3 -m pytest -q");
        for path in ["app/difflib.py", "app/re/__init__.py", "app/_pytest/main.py", "app/pluggy.py"] {
            assert!(found.stands_before_a_module(path), "{path}");
        }
        for path in ["difflib.py", "app/product.py", "app/src/re.py", "app/re.txt", "apple/re.py"] {
            assert!(!found.stands_before_a_module(path), "{path}");
        }
        assert!(of("python3 tools/lint.py").stands_before_a_module("tools/ast.py"));
        assert!(!of("pytest -q").stands_before_a_module("ast.py"), "its own folder comes first");
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
