//! Figures in the output of the usual tools and by a user's own rules.

use windlass_artifact_formats::control_loop::{Better, MetricLabel, MetricRule, MetricRuleError};

fn auto(output: &str) -> String {
    let figures = MetricRule::Auto.read(output);
    figures.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

fn label(name: &str) -> MetricLabel {
    MetricLabel { name: name.to_owned(), unit: "ms".to_owned(), better: Better::Lower }
}

#[test]
fn test_counts_are_read() {
    let cargo = "running 3 tests\ntest a ... ok\ntest result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s\n\
                 test result: FAILED. 5 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n";
    for (tool, output, expected) in [
        ("cargo test", cargo, "tests-passed: 8 tests; tests-failed: 2 tests"),
        (
            "nextest",
            "     Summary [   0.874s] 12 tests run: 11 passed, 1 failed, 41 skipped\n",
            "tests-passed: 11 tests; tests-failed: 1 tests",
        ),
        (
            "nextest, green",
            "     Summary [   0.717s] 5 tests run: 5 passed, 63 skipped\n",
            "tests-passed: 5 tests; tests-failed: 0 tests",
        ),
        (
            "pytest",
            "==== 3 failed, 10 passed, 1 error, 2 warnings in 0.12s ====\n",
            "tests-passed: 10 tests; tests-failed: 4 tests",
        ),
        ("pytest -q", "10 passed in 1.50s\n", "tests-passed: 10 tests; tests-failed: 0 tests"),
        (
            "jest",
            "Test Suites: 1 failed, 1 total\nTests:       1 failed, 10 passed, 11 total\n",
            "tests-passed: 10 tests; tests-failed: 1 tests",
        ),
        ("vitest", "      Tests  2 failed | 7 passed (9)\n", "tests-passed: 7 tests; tests-failed: 2 tests"),
        (
            "go test -v",
            "=== RUN   TestA\n--- PASS: TestA (0.00s)\n    --- PASS: TestA/sub (0.00s)\n--- FAIL: TestB (0.01s)\nFAIL\n",
            "tests-passed: 2 tests; tests-failed: 1 tests",
        ),
        ("mocha", "\n  10 passing (20ms)\n  2 failing\n", "tests-passed: 10 tests; tests-failed: 2 tests"),
        (
            "TAP",
            "TAP version 13\n1..3\nok 1 - a\nnot ok 2 - b\nnot ok 3 - c # TODO later\n",
            "tests-passed: 1 tests; tests-failed: 1 tests",
        ),
        (
            "maven",
            "[INFO] Tests run: 2, Failures: 0, Errors: 0, Skipped: 0\n[ERROR] Tests run: 9, Failures: 1, Errors: 1, Skipped: 2\n",
            "tests-passed: 5 tests; tests-failed: 2 tests",
        ),
    ] {
        assert_eq!(auto(output), expected, "{tool}");
    }
}

#[test]
fn coverage_is_read() {
    for (tool, output, expected) in [
        ("pytest-cov", "src/a.py   10   1   90%\nTOTAL      120   18   85%\n", "coverage: 85 percent"),
        ("llvm-cov", "TOTAL   100 20 80.00%   10 1 90.00%   200 15 92.50%\n", "coverage: 92.5 percent"),
        ("istanbul", "All files      |   85.5 |    70 |   80 |   86.2 |\n", "coverage: 86.2 percent"),
        ("go", "ok  \tpkg\t0.1s\tcoverage: 85.7% of statements\n", "coverage: 85.7 percent"),
        ("go cover", "total:\t(statements)\t71.4%\n", "coverage: 71.4 percent"),
        ("tarpaulin", "85.71% coverage, 12/14 lines covered\n", "coverage: 85.71 percent"),
    ] {
        assert_eq!(auto(output), expected, "{tool}");
    }
    assert_eq!(auto("battery at 85%\ncoverage 985%\n"), "");
}

#[test]
fn errors_and_warnings_are_read() {
    for (tool, output, expected) in [
        (
            "rustc",
            "warning: unused\n  --> src/a.rs:1:1\nwarning: `a` (lib) generated 3 warnings (run `cargo fix`)\nwarning: `b` (bin \"b\") generated 1 warning\n",
            "warnings: 4 warnings",
        ),
        (
            "rustc, broken",
            "error[E0308]: mismatched\nerror: could not compile `a` (lib) due to 2 previous errors; 1 warning emitted\n",
            "errors: 2 errors",
        ),
        ("eslint", "✖ 5 problems (2 errors, 3 warnings)\n", "errors: 2 errors; warnings: 3 warnings"),
        ("tsc", "src/a.ts(1,2): error TS2304: no\nsrc/b.ts:3:4 - error TS2305: no\n", "errors: 2 errors"),
        (
            "tsc with summary",
            "src/a.ts:1:2 - error TS2304: no\nFound 3 errors in 2 files.\n",
            "errors: 3 errors",
        ),
        (
            "gcc",
            "a.c:1:2: warning: unused\na.c:3: error: no\nin file b.h:\nb.h:3:4: warning: old\n",
            "errors: 1 errors; warnings: 2 warnings",
        ),
        (
            "clang",
            "a.c:1:2: warning: unused\n2 warnings and 1 error generated.\n",
            "errors: 1 errors; warnings: 2 warnings",
        ),
    ] {
        assert_eq!(auto(output), expected, "{tool}");
    }
}

/// Red before: a script of one's own had no figures unless it imitated a well-known tool.
#[test]
fn plain_counts_are_read() {
    for (output, expected) in [
        ("2 errors\n", "errors: 2 errors"),
        ("1 error\n0 warnings\n", "errors: 1 errors; warnings: 0 warnings"),
        ("0 warnings\n", "warnings: 0 warnings"),
        ("No errors.\n", "errors: 0 errors"),
        ("5 passed, 1 failed\n", "tests-passed: 5 tests; tests-failed: 1 tests"),
        ("Results: 5 passed; 0 failed; 2 skipped\n", "tests-passed: 5 tests; tests-failed: 0 tests"),
        ("3 problems (2 errors, 1 warning)\n", "errors: 2 errors; warnings: 1 warnings"),
        ("Found 3 problems (2 errors, 1 warning)\n", "errors: 2 errors; warnings: 1 warnings"),
        ("2 errors and 3 warnings found\n", "errors: 2 errors; warnings: 3 warnings"),
        (" 5 pass\n 1 fail\n", "tests-passed: 5 tests; tests-failed: 1 tests"),
        ("6 examples, 1 failure, 2 pending\n", "tests-passed: 3 tests; tests-failed: 1 tests"),
        (
            "9 runs, 12 assertions, 1 failures, 2 errors, 0 skips\n",
            "tests-passed: 6 tests; tests-failed: 3 tests",
        ),
        ("Ran 5 tests\n", "tests-run: 5 tests"),
        ("Ran 5 tests in 0.001s\n\nOK\n", "tests-passed: 5 tests; tests-failed: 0 tests"),
        ("Ran 1 test in 0.1s\n\nOK (skipped=1)\n", "tests-passed: 0 tests; tests-failed: 0 tests"),
        (
            "Ran 9 tests in 0.1s\n\nFAILED (failures=1, errors=2, skipped=1)\n",
            "tests-passed: 5 tests; tests-failed: 3 tests",
        ),
        // The last of them is the sum.
        ("a.sh\n1 error\nb.sh\n2 errors\nall\n3 errors\n", "errors: 3 errors"),
        // A summary outweighs single lines, a well-known tool's outweighs plain words.
        ("a.c:1:2: error: no\n2 errors\n", "errors: 2 errors"),
        ("1 passed\ntest result: ok. 3 passed; 0 failed;\n", "tests-passed: 3 tests; tests-failed: 0 tests"),
    ] {
        assert_eq!(auto(output), expected, "{output:?}");
    }
}

#[test]
fn words_that_merely_look_alike_are_no_figures() {
    for output in [
        "",
        "3 files passed review\n",
        "ok then\n",
        "not ok\n",
        "the tests passed\n",
        "error: nothing\n",
        "TOTAL 12\n",
        "2 errors were mended yesterday\n",
        "exit code 2\n",
        "errors 2\n",
        "5 tests\n",
        "12 files\n",
        "OK\n",
        "Ran out of memory\n",
    ] {
        assert_eq!(auto(output), "", "{output:?}");
    }
}

#[test]
fn a_pattern_takes_its_last_match() {
    let rule = MetricRule::pattern(r"^mean: ([\d.,e+-]+) ms", label("mean")).unwrap();
    assert_eq!(rule.read("mean: 10 ms\nmean: 1,234.5678 ms\n")[0].to_string(), "mean: 1234.5678 ms");
    assert_eq!(rule.read("mean: 1.5e3 ms")[0].value, 1_500_000);
    assert_eq!(rule.read("mean: 1e300 ms"), []);
    assert_eq!(rule.read("nothing"), []);
    assert_eq!(MetricRule::pattern("no group", label("x")), Err(MetricRuleError::Groups(0)));
    assert_eq!(MetricRule::pattern("(a)(b)", label("x")), Err(MetricRuleError::Groups(2)));
    assert!(matches!(MetricRule::pattern("(", label("x")), Err(MetricRuleError::Pattern(_))));
    assert!(
        MetricRule::pattern("((?:a{60}){60})", label("x")).is_err(),
        "an expression must not eat the memory"
    );
}

/// A benchmark in seconds gets better far below the thousandths.
#[test]
fn small_figures_are_kept_apart_and_none_is_taken_for_zero() {
    let rule = MetricRule::pattern(r"^mean: ([\d.,e+-]+)", MetricLabel::default()).unwrap();
    let written = |output: &str| rule.read(output).first().map(ToString::to_string);
    for (output, expected) in [
        ("mean: 0.0009", Some("value: 0.0009")),
        ("mean: -0.000001", Some("value: -0.000001")),
        ("mean: 2.5e-7", Some("value: 0.00000025")),
        ("mean: -1234.5000004", Some("value: -1234.5000004")),
        ("mean: 0.000", Some("value: 0")),
        ("mean: 0e5", Some("value: 0")),
        ("mean: 123456789012.25", Some("value: 123456789012.25")),
        ("mean: 0.0000000001", None),
        ("mean: 1e-300", None),
    ] {
        assert_eq!(written(output).as_deref(), expected, "{output}");
    }
    let pointer = MetricRule::pointer("/mean", MetricLabel::default()).unwrap();
    assert_eq!(pointer.read(r#"{"mean": 0.00042}"#)[0].to_string(), "value: 0.00042");
}

#[test]
fn a_pointer_finds_its_place_also_below_other_words() {
    let rule = MetricRule::pointer("/result/0/mean", label("mean")).unwrap();
    let json = r#"{"result":[{"mean":-2.25}]}"#;
    for output in [
        json.to_owned(),
        format!("Benchmark\n{json}\n"),
        "words\n{\n \"result\": [{\"mean\": -2.25}]\n}\nmore".to_owned(),
    ] {
        assert_eq!(rule.read(&output)[0].value, -2250, "{output}");
    }
    for output in ["", "{", "{\"result\":[]}", &"[".repeat(100_000)] {
        assert_eq!(rule.read(output), []);
    }
    assert_eq!(MetricRule::pointer("/errors", label("n")).unwrap().read("{\"errors\":[1,2]}")[0].value, 2000);
    assert_eq!(MetricRule::pointer("a", label("x")), Err(MetricRuleError::Pointer));
}

#[test]
fn a_huge_log_costs_no_more_than_its_end() {
    let mut log = "x".repeat(30_000_000);
    log.push_str(&"\ntest result: ok. 1 passed; 0 failed;".repeat(3));
    assert_eq!(auto(&log), "tests-passed: 3 tests; tests-failed: 0 tests");
    let rule = MetricRule::pattern(r"(\d+) passed", label("n")).unwrap();
    assert_eq!(rule.read(&log)[0].value, 1000);
}
