//! Which paths measure a change rather than being it: tests, checks, CI, configuration, manifests, lock files. By the
//! names that well-known tools look for, and by patterns of the user.

use std::collections::BTreeSet;

use crate::goal_loop::{covers, is_test_path};

/// Why a path is protected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Protected {
    Test,
    /// A check command runs it.
    Check,
    Ci,
    Configuration,
    Manifest,
    Lock,
    /// A pattern of the user names it.
    Named,
}

#[derive(Debug, Clone, Default)]
pub struct ProtectedPaths {
    pub protected: Vec<String>,
    pub unprotected: Vec<String>,
    /// Files that the check commands run.
    pub checks: BTreeSet<String>,
}

impl ProtectedPaths {
    pub fn kind(&self, path: &str) -> Option<Protected> {
        if self.spares(path) {
            return None;
        }
        if self.checks.contains(path) {
            return Some(Protected::Check);
        }
        let named = || self.protected.iter().any(|pattern| covers(pattern, path));
        usual(path).or_else(|| named().then_some(Protected::Named))
    }

    /// Whether the user says that nobody need look at it.
    pub fn spares(&self, path: &str) -> bool {
        self.unprotected.iter().any(|pattern| covers(pattern, path))
    }
}

const LOCKS: &[&str] = &[
    "Cargo.lock",
    "package-lock.json",
    "npm-shrinkwrap.json",
    "yarn.lock",
    "pnpm-lock.yaml",
    "bun.lock",
    "bun.lockb",
    "deno.lock",
    "poetry.lock",
    "uv.lock",
    "Pipfile.lock",
    "pdm.lock",
    "go.sum",
    "gradle.lockfile",
    "Gemfile.lock",
    "composer.lock",
    "mix.lock",
    "flake.lock",
    "pubspec.lock",
    "packages.lock.json",
    "Package.resolved",
];

const MANIFESTS: &[&str] = &[
    "Cargo.toml",
    "package.json",
    "pyproject.toml",
    "setup.py",
    "Pipfile",
    "go.mod",
    "go.work",
    "pom.xml",
    "build.gradle",
    "build.gradle.kts",
    "settings.gradle",
    "settings.gradle.kts",
    "build.sbt",
    "Gemfile",
    "composer.json",
    "mix.exs",
    "CMakeLists.txt",
    "meson.build",
    "Package.swift",
    "pubspec.yaml",
];

/// Files that say how tests run, what linters allow and how code is built. A test run can be hollowed out by each of them.
const CONFIGURATION: &[&str] = &[
    // Rust
    "clippy.toml",
    ".clippy.toml",
    "rustfmt.toml",
    ".rustfmt.toml",
    "deny.toml",
    "rust-toolchain",
    "rust-toolchain.toml",
    "build.rs",
    // Python
    "conftest.py",
    "pytest.ini",
    ".pytest.ini",
    "tox.ini",
    "noxfile.py",
    "setup.cfg",
    "mypy.ini",
    ".mypy.ini",
    "ruff.toml",
    ".ruff.toml",
    ".flake8",
    ".pylintrc",
    ".coveragerc",
    "sitecustomize.py",
    "usercustomize.py",
    "pylintrc",
    "pyrightconfig.json",
    "basedpyrightconfig.json",
    ".pyre_configuration",
    ".bandit",
    ".isort.cfg",
    ".style.yapf",
    "tasks.py",
    "dodo.py",
    ".python-version",
    // JavaScript and TypeScript
    ".npmrc",
    ".yarnrc",
    ".yarnrc.yml",
    ".babelrc",
    "biome.json",
    "biome.jsonc",
    "deno.json",
    "deno.jsonc",
    "turbo.json",
    "nx.json",
    ".eslintignore",
    ".prettierignore",
    ".stylelintignore",
    "tslint.json",
    ".jshintrc",
    ".jshintignore",
    ".oxlintrc.json",
    ".taprc",
    "bunfig.toml",
    "lerna.json",
    ".nvmrc",
    ".node-version",
    ".pnpmfile.cjs",
    "pnpm-workspace.yaml",
    // Go
    ".golangci.yml",
    ".golangci.yaml",
    ".golangci.toml",
    // Java
    "gradle.properties",
    "gradle-wrapper.properties",
    "gradle-wrapper.jar",
    "maven-wrapper.properties",
    "checkstyle.xml",
    "pmd.xml",
    "spotbugs-exclude.xml",
    "gradlew",
    "gradlew.bat",
    "mvnw",
    "mvnw.cmd",
    "detekt.yml",
    "detekt-config.yml",
    "lint.xml",
    ".scalafmt.conf",
    ".scalafix.conf",
    // C and C++, Bazel
    ".clang-tidy",
    ".clang-format",
    "CMakePresets.json",
    "CTestTestfile.cmake",
    ".bazelrc",
    ".bazelversion",
    ".bazelignore",
    "BUILD",
    "BUILD.bazel",
    "WORKSPACE",
    "WORKSPACE.bazel",
    "MODULE.bazel",
    // Swift, Dart, Elixir, Lua, Haskell, .NET
    ".swiftlint.yml",
    ".swiftformat",
    "analysis_options.yaml",
    "dart_test.yaml",
    ".credo.exs",
    ".formatter.exs",
    ".dialyzer_ignore.exs",
    ".luacheckrc",
    ".busted",
    "selene.toml",
    ".hlint.yaml",
    "Directory.Build.props",
    "Directory.Build.targets",
    "global.json",
    ".runsettings",
    // Texts, containers, secrets and security
    ".yamllint",
    ".yamllint.yml",
    ".yamllint.yaml",
    ".hadolint.yaml",
    ".hadolint.yml",
    ".tflint.hcl",
    ".gitleaks.toml",
    ".gitleaksignore",
    ".semgrepignore",
    ".semgrep.yml",
    ".trivyignore",
    "trivy.yaml",
    ".checkov.yaml",
    "typos.toml",
    ".typos.toml",
    "_typos.toml",
    ".codespellrc",
    ".vale.ini",
    "sonar-project.properties",
    // Make, shell and others
    "Makefile",
    "makefile",
    "GNUmakefile",
    "justfile",
    "Justfile",
    ".justfile",
    "Taskfile.yml",
    "Taskfile.yaml",
    "Rakefile",
    ".rspec",
    ".rubocop.yml",
    ".rubocop_todo.yml",
    ".standard.yml",
    ".simplecov",
    ".ruby-version",
    "phpunit.xml",
    "phpunit.xml.dist",
    "phpstan.neon",
    "phpstan.neon.dist",
    "phpstan-baseline.neon",
    "psalm.xml",
    "phpcs.xml",
    "phpcs.xml.dist",
    ".shellcheckrc",
    ".editorconfig",
    ".pre-commit-config.yaml",
    "lefthook.yml",
    ".envrc",
    ".tool-versions",
    "mise.toml",
    ".mise.toml",
    ".gitattributes",
    // Windlass itself: what the next run is held to.
    "windlass.toml",
];

const CONFIGURATION_STEMS: &[&str] = &[
    "jest.config.",
    "vitest.config.",
    "vitest.workspace.",
    "vite.config.",
    "karma.conf.",
    "playwright.config.",
    "cypress.config.",
    "babel.config.",
    "webpack.config.",
    "rollup.config.",
    "eslint.config.",
    ".eslintrc",
    ".prettierrc",
    "prettier.config.",
    ".mocharc",
    ".nycrc",
    "ava.config.",
    "tsconfig",
    "jsconfig",
    ".stylelintrc",
    "stylelint.config.",
    ".c8rc",
    "jest.setup.",
    "vitest.setup.",
    "jest-setup.",
    "wdio.conf.",
    "nightwatch.conf.",
    ".swcrc",
    ".markdownlint",
    ".commitlintrc",
    "commitlint.config.",
    ".lintstagedrc",
    "lint-staged.config.",
    "cspell.",
    ".cspell.",
    ".dependency-cruiser.",
];

const CONFIGURATION_FOLDERS: &[&str] =
    &[".cargo", ".husky", ".mvn", ".config/nextest", ".githooks", ".bundle", ".semgrep"];

const CI_FOLDERS: &[&str] =
    &[".github/workflows", ".github/actions", ".gitlab", ".circleci", ".buildkite", ".woodpecker", ".drone"];

const CI_FILES: &[&str] = &[
    ".gitlab-ci.yml",
    ".travis.yml",
    "appveyor.yml",
    ".appveyor.yml",
    "azure-pipelines.yml",
    "bitbucket-pipelines.yml",
    "Jenkinsfile",
    ".drone.yml",
    ".woodpecker.yml",
    ".cirrus.yml",
    "cloudbuild.yaml",
    "codecov.yml",
    ".codecov.yml",
];

/// Names and folders are held against any place in the tree: a workspace has many manifests.
fn usual(path: &str) -> Option<Protected> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let inside = |folder: &&str| {
        let at = |path: &str| path.strip_prefix(*folder).is_some_and(|rest| rest.starts_with('/'));
        at(path) || path.match_indices('/').any(|(slash, _)| at(&path[slash + 1..]))
    };
    if CI_FILES.contains(&name) || CI_FOLDERS.iter().any(inside) {
        return Some(Protected::Ci);
    }
    if LOCKS.contains(&name) {
        return Some(Protected::Lock);
    }
    // A `tests/Cargo.toml` is a manifest: it says what is built, and holds no test.
    if MANIFESTS.contains(&name) || is_requirements(name) {
        return Some(Protected::Manifest);
    }
    let stem = CONFIGURATION_STEMS.iter().any(|stem| name.starts_with(stem));
    // In any folder but this, the name says nothing.
    let nextest = path == ".config/nextest.toml" || path.ends_with("/.config/nextest.toml");
    let make = std::path::Path::new(name).extension().is_some_and(|extension| extension == "mk");
    if CONFIGURATION.contains(&name) || stem || make || nextest || CONFIGURATION_FOLDERS.iter().any(inside) {
        return Some(Protected::Configuration);
    }
    is_test_path(path).then_some(Protected::Test)
}

fn is_requirements(name: &str) -> bool {
    let ending = std::path::Path::new(name).extension();
    name.starts_with("requirements") && ending.is_some_and(|ending| ending == "txt" || ending == "in")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_measures_is_known_by_its_name_in_every_ecosystem() {
        let paths = ProtectedPaths::default();
        for (kind, names) in [
            (
                Protected::Test,
                &[
                    "tests/it.rs",
                    "crates/a/tests/deep/case.rs",
                    "test_sum.py",
                    "pkg/sum_test.go",
                    "src/sum.test.ts",
                    "web/__tests__/sum.js",
                    "src/test/java/SumTest.java",
                    "spec/sum_spec.rb",
                ][..],
            ),
            (Protected::Ci, &[".github/workflows/ci.yml", ".gitlab-ci.yml", "Jenkinsfile"]),
            (Protected::Lock, &["Cargo.lock", "web/package-lock.json", "go.sum", "poetry.lock"]),
            (
                Protected::Manifest,
                &["Cargo.toml", "a/package.json", "pyproject.toml", "requirements-dev.txt"],
            ),
            (
                Protected::Configuration,
                &[
                    ".cargo/config.toml",
                    "clippy.toml",
                    "tests/conftest.py",
                    "pytest.ini",
                    "jest.config.mjs",
                    "tsconfig.base.json",
                    ".eslintrc.json",
                    "Makefile",
                    "mk/rules.mk",
                    "windlass.toml",
                    "gradlew",
                    "pyrightconfig.json",
                    "web/.eslintignore",
                    "pylintrc",
                    ".clang-tidy",
                    ".markdownlint.json",
                    ".markdownlint-cli2.yaml",
                    ".config/nextest.toml",
                    ".c8rc.json",
                    "jest.setup.js",
                    "lib/BUILD.bazel",
                    ".trivyignore",
                    "analysis_options.yaml",
                    ".nvmrc",
                ],
            ),
        ] {
            for name in names {
                assert_eq!(paths.kind(name), Some(kind), "{name}");
            }
        }
        for name in [
            "src/lib.rs",
            "README.md",
            "src/contest.rs",
            "latest.py",
            "app/main.go",
            "cargo.rs",
            "src/build",
            "nextest.toml.md",
        ] {
            assert_eq!(paths.kind(name), None, "{name}");
        }
    }

    #[test]
    fn the_users_patterns_add_and_take_away() {
        let paths = ProtectedPaths {
            protected: vec!["schema/**".to_owned(), "golden/".to_owned()],
            unprotected: vec!["Cargo.lock".to_owned(), "tests/scratch/".to_owned()],
            checks: BTreeSet::from(["tools/check".to_owned()]),
        };
        assert_eq!(paths.kind("schema/a/b.json"), Some(Protected::Named));
        assert_eq!(paths.kind("golden/out.txt"), Some(Protected::Named));
        assert_eq!(paths.kind("tools/check"), Some(Protected::Check));
        assert_eq!(paths.kind("Cargo.lock"), None);
        assert_eq!(paths.kind("tests/scratch/a.rs"), None);
        assert_eq!(paths.kind("tests/a.rs"), Some(Protected::Test));
    }
}
