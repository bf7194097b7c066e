//! How tests, skipped tests and assertions are written in each language: marks to look for, no grammar.

/// What a language calls them. A mark counts where no letter stands before it.
pub(super) struct Language {
    /// What begins a line that says nothing.
    pub(super) comments: &'static [&'static str],
    pub(super) tests: Tests,
    pub(super) skips: &'static [&'static str],
    pub(super) assertions: &'static [&'static str],
    /// Where the tests of a file that is no test file begin: at the first of these.
    pub(super) inner_tests: &'static [&'static str],
}

pub(super) enum Tests {
    /// The name follows one of these words.
    Named(&'static [&'static str]),
    /// The name is in quotes behind one of these.
    Quoted(&'static [&'static str]),
    /// One of these marks stands before the function, whose name follows one of those words.
    Marked(&'static [&'static str], &'static [&'static str]),
    None,
}

const SLASHES: &[&str] = &["//", "*", "/*"];
const HASH: &[&str] = &["#"];

const RUST: Language = Language {
    comments: SLASHES,
    tests: Tests::Marked(
        &["#[test]", "::test]", "::test(", "#[rstest", "#[test_case", "#[quickcheck"],
        &["fn "],
    ),
    skips: &["#[ignore", ", ignore)", "#[cfg(any())]"],
    assertions: &[
        "assert!",
        "assert_eq!",
        "assert_ne!",
        "assert_matches!",
        "prop_assert!",
        "prop_assert_eq!",
        "prop_assert_ne!",
        "debug_assert!",
        "debug_assert_eq!",
        "assert_snapshot!",
        "assert_json_snapshot!",
        "assert_debug_snapshot!",
        "should_panic",
    ],
    inner_tests: &["#[cfg(test)]", "#[cfg(all(test", "#[cfg(any(test", "#[test]", "::test]", "::test("],
};

const PYTHON: Language = Language {
    comments: HASH,
    tests: Tests::Named(&["def test"]),
    skips: &[
        "pytest.mark.skip",
        "pytest.mark.xfail",
        "pytest.skip(",
        "pytest.xfail(",
        "pytest.importorskip(",
        "unittest.skip",
        "unittest.expectedFailure",
        "@skip",
        "self.skipTest(",
        "__test__ = False",
    ],
    assertions: &[
        "assert ",
        "assert(",
        "self.assert",
        "self.fail(",
        "pytest.raises(",
        "pytest.fail(",
        "pytest.warns(",
    ],
    inner_tests: &[],
};

const SCRIPT: Language = Language {
    comments: SLASHES,
    tests: Tests::Quoted(&[
        "it(",
        "test(",
        "it.each",
        "test.each",
        "it.only(",
        "test.only(",
        "it.skip(",
        "test.skip(",
        "xit(",
        "xtest(",
    ]),
    skips: &[
        "it.skip",
        "test.skip",
        "describe.skip",
        "suite.skip",
        "it.todo",
        "test.todo",
        "xit(",
        "xtest(",
        "xdescribe(",
        "it.only",
        "test.only",
        "describe.only",
        "this.skip(",
        "it.fails",
        "test.fails",
        "t.skip(",
    ],
    assertions: &[
        "expect(",
        "assert(",
        "assert.",
        "t.is(",
        "t.deepEqual(",
        "t.true(",
        "t.throws(",
        "should.",
    ],
    inner_tests: &[],
};

const GO: Language = Language {
    comments: SLASHES,
    tests: Tests::Named(&["func Test", "func Fuzz", "func Example", "func Benchmark"]),
    skips: &["t.Skip", "b.Skip", "f.Skip", "go:build ignore"],
    assertions: &["t.Error", "t.Fatal", "t.Fail", "assert.", "require.", "b.Fatal", "is."],
    inner_tests: &[],
};

const JAVA: Language = Language {
    comments: SLASHES,
    tests: Tests::Marked(
        &["@Test", "@ParameterizedTest", "@RepeatedTest", "@Property", "@TestFactory"],
        &["void ", "fun ", "def ", "Stream<DynamicTest> "],
    ),
    skips: &["@Disabled", "@Ignore", "@EnabledIf", "assumeTrue(", "assumeFalse(", "enabled = false"],
    assertions: &["assert", "verify(", "fail("],
    inner_tests: &[],
};

const CSHARP: Language = Language {
    comments: SLASHES,
    tests: Tests::Marked(&["[Fact", "[Theory", "[Test]", "[TestCase", "[TestMethod]"], &["void ", "Task "]),
    skips: &["[Ignore", "Skip =", "Skip=", "Assert.Ignore(", "Assert.Inconclusive("],
    assertions: &["Assert.", ".Should()"],
    inner_tests: &[],
};

const RUBY: Language = Language {
    comments: HASH,
    tests: Tests::Quoted(&["it ", "test ", "specify ", "xit ", "it(", "test("]),
    skips: &["skip", "xit ", "xdescribe ", "xcontext ", "pending", "fit "],
    assertions: &["expect(", "expect {", "assert", "refute", "should "],
    inner_tests: &[],
};

const PHP: Language = Language {
    comments: &["//", "*", "/*", "#"],
    tests: Tests::Named(&["function test"]),
    skips: &["markTestSkipped(", "markTestIncomplete("],
    assertions: &["$this->assert", "self::assert", "expect("],
    inner_tests: &[],
};

const SHELL: Language = Language {
    comments: HASH,
    tests: Tests::Quoted(&["@test "]),
    skips: &["skip", "# SKIP", "# TODO"],
    assertions: &["[ ", "[[ ", "test ", "grep ", "diff ", "cmp ", "assert", "exit 1", "false", "return 1"],
    inner_tests: &[],
};

/// Whatever else a test may be written in.
const OTHER: Language = Language {
    comments: &["//", "#", "*"],
    tests: Tests::None,
    skips: &[],
    assertions: &["assert", "expect", "ASSERT", "EXPECT", "CHECK(", "REQUIRE("],
    inner_tests: &[],
};

impl Language {
    pub(super) fn of(path: &str) -> &'static Self {
        let name = path.rsplit('/').next().unwrap_or(path);
        match name.rsplit_once('.').map(|(_, ending)| ending) {
            Some("rs") => &RUST,
            Some("py" | "pyi") => &PYTHON,
            Some("js" | "jsx" | "ts" | "tsx" | "mjs" | "cjs" | "mts" | "cts" | "vue" | "svelte") => &SCRIPT,
            Some("go") => &GO,
            Some("java" | "kt" | "kts" | "scala" | "groovy") => &JAVA,
            Some("cs" | "fs" | "vb") => &CSHARP,
            Some("rb") => &RUBY,
            Some("php") => &PHP,
            Some("sh" | "bash" | "bats" | "zsh") | None => &SHELL,
            Some(_) => &OTHER,
        }
    }
}
