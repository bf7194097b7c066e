//! Which sensors a repository could have: read off the files that say how it is built, tested and checked. It only
//! looks at files; it runs nothing and decides nothing for the user.

use super::runners;
use super::setup::SetupFiles;
use serde_json::Value;

/// A sensor that could be set up, and what speaks for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) name: String,
    pub(crate) command: String,
    pub(crate) why: String,
}

/// Everything that was found, in the order in which it is worth measuring. No two have the same name: where two parts of
/// a repository both have tests, the later one's sensor carries its language. An underscore, because the original's
/// viewer loses names with hyphens.
pub(crate) fn sensors(files: &dyn SetupFiles) -> Vec<Found> {
    let mut found: Vec<Found> = Vec::new();
    for (language, sensors) in [
        ("rust", rust(files)),
        ("node", node(files)),
        ("python", python(files)),
        ("go", go(files)),
        ("jvm", jvm(files)),
    ] {
        for mut sensor in sensors {
            if found.iter().any(|other| other.name == sensor.name) {
                sensor.name = format!("{}_{language}", sensor.name);
            }
            found.push(sensor);
        }
    }
    // What wraps commands mostly wraps what was found already.
    for sensor in runners::sensors(files) {
        if !found.iter().any(|other| other.name == sensor.name) {
            found.push(sensor);
        }
    }
    found
}

pub(super) fn sensor(name: &str, command: impl Into<String>, why: impl Into<String>) -> Found {
    Found { name: name.to_owned(), command: command.into(), why: why.into() }
}

pub(super) fn text(files: &dyn SetupFiles, path: &str) -> Option<String> {
    files.read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

fn rust(files: &dyn SetupFiles) -> Vec<Found> {
    let Some(manifest) = text(files, "Cargo.toml") else { return Vec::new() };
    let whole = if manifest.lines().any(|line| line.trim_start().starts_with("[workspace")) {
        " --workspace"
    } else {
        ""
    };
    vec![
        sensor("build", format!("cargo build{whole} --all-targets"), "Cargo.toml"),
        sensor("test", format!("cargo test{whole}"), "Cargo.toml"),
        sensor("lint", format!("cargo clippy{whole} --all-targets -- -D warnings"), "Cargo.toml"),
        sensor("format", "cargo fmt --all --check", "Cargo.toml"),
    ]
}

fn node(files: &dyn SetupFiles) -> Vec<Found> {
    let Some(package) = files.read("package.json").and_then(|bytes| serde_json::from_slice(&bytes).ok())
    else {
        return Vec::new();
    };
    let package: Value = package;
    let top = files.names_in("");
    let runner =
        [("pnpm-lock.yaml", "pnpm"), ("yarn.lock", "yarn"), ("bun.lock", "bun"), ("bun.lockb", "bun")]
            .into_iter()
            // A lock file may be larger than anything that is read here.
            .find(|(lock, _)| top.iter().any(|name| name == lock))
            .map_or("npm", |(_, runner)| runner);
    let script = |name: &str| package["scripts"][name].as_str().filter(|script| !is_placeholder(script));
    let mut found = Vec::new();
    for (name, scripts) in [
        ("build", &["build"][..]),
        ("typecheck", &["typecheck", "type-check", "check-types"]),
        ("test", &["test"]),
        ("lint", &["lint"]),
    ] {
        if let Some(script) = scripts.iter().find(|name| script(name).is_some()) {
            let why = format!("the script `{script}` in package.json");
            found.push(sensor(name, format!("{runner} run {script}"), why));
        }
    }
    let typescript =
        ["dependencies", "devDependencies"].iter().any(|group| package[group].get("typescript").is_some());
    let checked = found.iter().any(|sensor| sensor.name == "typecheck");
    if typescript && !checked && files.read("tsconfig.json").is_some() {
        let at = usize::from(found.first().is_some_and(|first| first.name == "build"));
        found.insert(at, sensor("typecheck", "npx tsc --noEmit", "tsconfig.json"));
    }
    found
}

/// What `npm init` writes where nobody has thought of tests yet.
fn is_placeholder(script: &str) -> bool {
    script.contains("no test specified")
}

fn python(files: &dyn SetupFiles) -> Vec<Found> {
    let described = ["pyproject.toml", "setup.py", "setup.cfg"].iter().any(|file| files.read(file).is_some());
    if !described {
        return Vec::new();
    }
    let mentions = |tool: &str| {
        ["pyproject.toml", "setup.cfg", "tox.ini", "requirements.txt", "requirements-dev.txt"]
            .into_iter()
            .find(|file| text(files, file).is_some_and(|text| text.contains(tool)))
    };
    let has = |name: &str| files.read(name).is_some();
    let tests = ["tests", "test"].into_iter().find(|folder| {
        files
            .names_in(folder)
            .iter()
            .any(|name| name.starts_with("test_") && name.strip_suffix(".py").is_some())
    });
    let mut found = Vec::new();
    match (mentions("pytest").or(has("pytest.ini").then_some("pytest.ini")), tests) {
        (Some(file), _) => found.push(sensor("test", "python -m pytest", format!("pytest in {file}"))),
        (None, Some(folder)) => found.push(sensor("test", "python -m pytest", format!("tests in {folder}/"))),
        (None, None) => {}
    }
    let own = |file: &'static str| has(file).then_some(file);
    if let Some(file) = mentions("ruff").or(own("ruff.toml")).or(own(".ruff.toml")) {
        found.push(sensor("lint", "ruff check .", format!("ruff in {file}")));
    }
    if let Some(file) = mentions("mypy").or(own("mypy.ini")) {
        found.push(sensor("typecheck", "mypy .", format!("mypy in {file}")));
    }
    found
}

fn go(files: &dyn SetupFiles) -> Vec<Found> {
    if files.read("go.mod").is_none() {
        return Vec::new();
    }
    vec![
        sensor("build", "go build ./...", "go.mod"),
        sensor("test", "go test ./...", "go.mod"),
        sensor("vet", "go vet ./...", "go.mod"),
    ]
}

fn jvm(files: &dyn SetupFiles) -> Vec<Found> {
    let program = |wrapper: &str, plain: &str| {
        if files.read(wrapper).is_some() { format!("./{wrapper}") } else { plain.to_owned() }
    };
    if files.read("pom.xml").is_some() {
        let maven = program("mvnw", "mvn");
        return vec![
            sensor("build", format!("{maven} -B -q compile"), "pom.xml"),
            sensor("test", format!("{maven} -B test"), "pom.xml"),
        ];
    }
    let script = ["build.gradle.kts", "build.gradle"].into_iter().find(|file| files.read(file).is_some());
    let Some(script) = script else { return Vec::new() };
    let gradle = program("gradlew", "gradle");
    vec![
        sensor("build", format!("{gradle} assemble"), script),
        sensor("test", format!("{gradle} test"), script),
    ]
}

/// Commands of which one does the work of another, so that both together only cost time.
pub(crate) fn overlaps(sensors: &[Found], files: &dyn SetupFiles) -> Vec<String> {
    let mut warnings = Vec::new();
    for (at, first) in sensors.iter().enumerate() {
        for second in &sensors[at + 1..] {
            let pair = |wide: &Found, narrow: &Found, how: &str| {
                format!(
                    "`{}` ({}) {how} what `{}` ({}) measures; leave {} out to save its time",
                    wide.name, wide.command, narrow.name, narrow.command, narrow.name
                )
            };
            if first.command == second.command {
                warnings.push(format!("`{}` and `{}` run the same command", first.name, second.name));
            } else if covers(&first.command, &second.command, files) {
                warnings.push(pair(first, second, "already does"));
            } else if covers(&second.command, &first.command, files) {
                warnings.push(pair(second, first, "already does"));
            }
        }
    }
    warnings
}

/// What a tool does on the way to something else. In each row a step does all that stands before it.
const CHAINS: [(&[&str], &[&str]); 3] = [
    (&["cargo"], &["check", "build", "test"]),
    (&["mvn", "./mvnw", "mvnw"], &["compile", "test", "package", "verify", "install"]),
    (&["gradle", "./gradlew", "gradlew"], &["assemble", "test", "check", "build"]),
];

fn covers(wide: &str, narrow: &str, files: &dyn SetupFiles) -> bool {
    let place = |command: &str, tools: &[&str], steps: &[&str]| {
        let words: Vec<&str> = command.split_whitespace().collect();
        let tool = words.first().is_some_and(|word| tools.contains(word));
        let step = words.iter().skip(1).filter_map(|word| steps.iter().position(|step| step == word)).max();
        step.filter(|_| tool)
    };
    let in_chain =
        CHAINS.iter().any(|(tools, steps)| match (place(wide, tools, steps), place(narrow, tools, steps)) {
            (Some(wide), Some(narrow)) => wide > narrow,
            _ => false,
        });
    in_chain || body_of(wide, files).is_some_and(|body| body.contains(narrow))
}

/// What stands behind `npm run NAME`.
fn body_of(command: &str, files: &dyn SetupFiles) -> Option<String> {
    let (_, name) = command.split_once(" run ")?;
    let package: Value = serde_json::from_slice(&files.read("package.json")?).ok()?;
    package["scripts"][name.trim()].as_str().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    struct Files(BTreeMap<&'static str, &'static str>);

    impl SetupFiles for Files {
        fn names_in(&self, directory: &str) -> Vec<String> {
            let inside = |path: &&&str| path.rsplit_once('/').map_or("", |(folder, _)| folder) == directory;
            self.0
                .keys()
                .filter(inside)
                .filter_map(|path| Some(path.rsplit('/').next()?.to_owned()))
                .collect()
        }

        fn read(&self, path: &str) -> Option<Vec<u8>> {
            self.0.get(path).map(|text| text.as_bytes().to_vec())
        }
    }

    fn files<const N: usize>(files: [(&'static str, &'static str); N]) -> Files {
        Files(files.into())
    }

    fn commands(files: &Files) -> Vec<(String, String)> {
        sensors(files).into_iter().map(|found| (found.name, found.command)).collect()
    }

    fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
        expected.iter().map(|(name, command)| ((*name).to_owned(), (*command).to_owned())).collect()
    }

    #[test]
    fn each_kind_of_repository_has_its_sensors() {
        let cargo = [
            ("build", "cargo build --workspace --all-targets"),
            ("test", "cargo test --workspace"),
            ("lint", "cargo clippy --workspace --all-targets -- -D warnings"),
            ("format", "cargo fmt --all --check"),
        ];
        assert_eq!(commands(&files([("Cargo.toml", "[workspace]\n")])), pairs(&cargo));
        let go = [("build", "go build ./..."), ("test", "go test ./..."), ("vet", "go vet ./...")];
        assert_eq!(commands(&files([("go.mod", "module x\n")])), pairs(&go));
        let maven = [("build", "./mvnw -B -q compile"), ("test", "./mvnw -B test")];
        assert_eq!(commands(&files([("pom.xml", "<project/>"), ("mvnw", "")])), pairs(&maven));
        let gradle = [("build", "gradle assemble"), ("test", "gradle test")];
        assert_eq!(commands(&files([("build.gradle", "")])), pairs(&gradle));
        assert_eq!(commands(&files([("README.md", "cargo test")])), pairs(&[]));
    }

    #[test]
    fn a_node_repository_is_measured_by_its_scripts_and_its_package_manager() {
        let package =
            r#"{"scripts": {"test": "vitest", "lint": "eslint ."}, "devDependencies": {"typescript": "5"}}"#;
        let found =
            commands(&files([("package.json", package), ("pnpm-lock.yaml", ""), ("tsconfig.json", "{}")]));
        let expected =
            [("typecheck", "npx tsc --noEmit"), ("test", "pnpm run test"), ("lint", "pnpm run lint")];
        assert_eq!(found, pairs(&expected));

        let fresh = r#"{"scripts": {"test": "echo \"Error: no test specified\" && exit 1"}}"#;
        assert_eq!(commands(&files([("package.json", fresh)])), pairs(&[]), "no placeholder is a sensor");
        assert_eq!(commands(&files([("package.json", "{ broken")])), pairs(&[]));
    }

    #[test]
    fn python_tools_count_only_where_the_repository_speaks_of_them() {
        let bare = files([("pyproject.toml", "[project]\nname = 'x'\n")]);
        assert_eq!(commands(&bare), pairs(&[]));
        let full = files([("pyproject.toml", "[tool.ruff]\n[tool.mypy]\n"), ("tests/test_x.py", "")]);
        let expected = [("test", "python -m pytest"), ("lint", "ruff check ."), ("typecheck", "mypy .")];
        assert_eq!(commands(&full), pairs(&expected));
    }

    #[test]
    fn two_languages_have_two_sensors_and_a_makefile_adds_what_is_missing() {
        let makefile = "test := 1\n.PHONY: lint\nlint check: tools\n\tx\nbuild:\n\ty\n";
        let both = files([("go.mod", ""), ("Cargo.toml", "[package]"), ("Makefile", makefile)]);
        let names: Vec<String> = commands(&both).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["build", "test", "lint", "format", "build_go", "test_go", "vet", "check"]);
        let alone = commands(&files([("Makefile", makefile)]));
        assert_eq!(alone, pairs(&[("build", "make build"), ("lint", "make lint"), ("check", "make check")]));
    }

    #[test]
    fn recipes_and_scripts_of_the_repository_s_own_are_found() {
        let justfile =
            "test := '1'\nset shell := ['sh']\n# lint:\n@test *flags: build\n  x\n[private]\nbuild:\n  y\n";
        let just = commands(&files([("justfile", justfile)]));
        assert_eq!(just, pairs(&[("build", "just build"), ("test", "just test")]));
        let scripts =
            files([("test.sh", "#!/usr/bin/env bash\nexit 0\n"), ("lint.sh", "exit 0\n"), ("deploy.sh", "")]);
        let expected = [("test", "bash test.sh"), ("lint", "sh lint.sh")];
        assert_eq!(commands(&scripts), pairs(&expected));
        let wrapped = files([("Makefile", "test:\n\tsh test.sh\n"), ("test.sh", ""), ("lint.sh", "")]);
        assert_eq!(commands(&wrapped), pairs(&[("test", "make test"), ("lint", "sh lint.sh")]));
        assert_eq!(commands(&files([("go.mod", ""), ("test.sh", "")])).len(), 3, "go's own tests are there");
    }

    #[test]
    fn commands_that_do_each_other_s_work_are_named() {
        let package = r#"{"scripts": {"build": "tsc", "test": "npm run build && jest"}}"#;
        let node = files([("package.json", package)]);
        let warned = overlaps(&sensors(&node), &node);
        assert_eq!(
            warned,
            [
                "`test` (npm run test) already does what `build` (npm run build) measures; leave build out to save its time"
            ]
        );
        let given = |name: &str, command: &str| sensor(name, command, "given");
        let maven =
            [given("all", "mvn -B verify"), given("unit", "mvn test"), given("lint", "mvn checkstyle:check")];
        assert_eq!(overlaps(&maven, &node).len(), 1);
        assert_eq!(
            overlaps(&[given("a", "make x"), given("b", "make x")], &node),
            ["`a` and `b` run the same command"]
        );
        assert_eq!(overlaps(&[given("t", "go test ./..."), given("v", "go vet ./...")], &node), [""; 0]);
    }
}
