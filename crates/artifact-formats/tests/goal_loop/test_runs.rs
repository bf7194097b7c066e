//! W17 and W19: tests by name from what the usual tools print, and what became of a baseline.

use windlass_artifact_formats::goal_loop::{ComparedBy, TestsExit, TestsRun};

fn run(output: &str, exit: TestsExit) -> TestsRun {
    TestsRun::read(output, exit)
}

fn names(output: &str) -> (Vec<String>, Vec<String>) {
    let run = run(output, TestsExit::Failure);
    (run.passed.into_iter().collect(), run.failed.into_iter().collect())
}

fn assert_names(output: &str, passed: &[&str], failed: &[&str]) {
    let found = names(output);
    assert_eq!(
        (
            found.0.iter().map(String::as_str).collect::<Vec<_>>(),
            found.1.iter().map(String::as_str).collect::<Vec<_>>()
        ),
        (passed.to_vec(), failed.to_vec()),
        "{output}"
    );
}

#[test]
fn cargo_tests_are_named_with_their_binary() {
    let output = "   Compiling x\n     Running unittests src/lib.rs (target/debug/deps/my_lib-0123456789abcdef)\n\n\
        running 3 tests\ntest a::ok ... ok\ntest a::skipped ... ignored, later\ntest a::red ... FAILED\n\n\
        ---- a::red stdout ----\ntest body says ... whatever\n\ntest result: FAILED. 1 passed; 1 failed; 1 ignored\n\
        \u{20}    Running tests/it.rs (target/debug/deps/it-fedcba9876543210)\ntest a::ok ... ok\n\
        test panics - should panic ... ok\ntest result: ok. 2 passed; 0 failed\n   Doc-tests my_lib\n\
        test src/lib.rs - f (line 12) ... ok\ntest result: ok. 1 passed; 0 failed\n";
    assert_names(
        output,
        &["doc my_lib src/lib.rs - f", "it a::ok", "it panics", "my_lib a::ok"],
        &["my_lib a::red"],
    );
    assert_eq!(run(output, TestsExit::Failure).tally(), Some((4, 5)));
}

#[test]
fn nextest_names_retries_and_signals() {
    let output = "        PASS [   0.032s] (1/5) pkg::it a::one\n        FAIL [   1.002s] (2/5) pkg::it a::two\n\
        \u{20}   TRY 1 FAIL [   0.1s] pkg::it a::flaky\n    TRY 2 PASS [   0.1s] pkg::it a::flaky\n\
        \u{20}    SIGABRT [   0.1s] pkg a::three\n  TIMEOUT [  60.0s] pkg a::four\n────────────\n\
        \u{20}    Summary [   9.654s] 5 tests run: 2 passed, 3 failed, 0 skipped\n        FAIL [   1.002s] (2/5) pkg::it a::two\n";
    assert_names(
        output,
        &["pkg::it a::flaky", "pkg::it a::one"],
        &["pkg a::four", "pkg a::three", "pkg::it a::two"],
    );
}

#[test]
fn pytest_names_in_both_moods() {
    let output = "tests/test_a.py::test_one PASSED      [ 25%]\ntests/test_a.py::test_p[a b] FAILED [ 50%]\n\
        tests/test_a.py::test_s SKIPPED (no db) [ 75%]\n[gw0] [100%] PASSED tests/test_b.py::T::test_x\n\
        ==== short test summary info ====\nFAILED tests/test_a.py::test_p[a b] - AssertionError: x - y\n\
        ERROR tests/test_c.py - ImportError\n=== 1 failed, 2 passed, 1 skipped, 1 error in 0.12s ===\n";
    assert_names(
        output,
        &["tests/test_a.py::test_one", "tests/test_b.py::T::test_x"],
        &["tests/test_a.py::test_p[a b]", "tests/test_c.py"],
    );
    let quiet =
        run("..F\nFAILED tests/test_a.py::test_x - boom\n1 failed, 2 passed in 0.03s\n", TestsExit::Failure);
    assert!(quiet.passed.is_empty());
    assert_eq!((quiet.failed.len(), quiet.tally()), (1, Some((2, 3))));
}

#[test]
fn go_tests_are_named_with_their_package_in_both_forms() {
    let output = "=== RUN   TestA\n--- PASS: TestA (0.00s)\n    --- FAIL: TestB/sub (0.00s)\n--- FAIL: TestB (0.00s)\n\
        FAIL\nFAIL\texample.com/x\t0.01s\nok  \texample.com/y\t(cached)\n?   \texample.com/z\t[no test files]\nFAIL\n";
    assert_names(
        output,
        &["example.com/x TestA", "example.com/y"],
        &["example.com/x", "example.com/x TestB", "example.com/x TestB/sub"],
    );
    let events = "{\"Action\":\"run\",\"Package\":\"p\",\"Test\":\"TestA\"}\n{\"Action\":\"pass\",\"Package\":\"p\",\"Test\":\"TestA\"}\n\
        {\"Action\":\"fail\",\"Package\":\"p\",\"Test\":\"TestB\"}\n{\"Action\":\"output\",\"Package\":\"p\",\"Output\":\"ok 1 - no\"}\n\
        {\"Action\":\"fail\",\"Package\":\"p\"}\n{\"Action\":\"skip\",\"Package\":\"q\"}\n";
    assert_names(events, &["p TestA"], &["p", "p TestB"]);
}

#[test]
fn ticks_of_vitest_jest_and_mocha_are_named_with_their_suites() {
    let jest = "PASS src/a.test.js\n  Cart\n    total\n      ✓ adds up (3 ms)\n      ✕ rounds (1 ms)\n    ✓ is empty\n\
        \n  ● Cart › total › rounds\n\n    ✓ not a test\n\nFAIL src/b.test.js\n  ✕ breaks\n\nTests:       2 failed, 2 passed, 4 total\n";
    assert_names(
        jest,
        &["src/a.test.js > Cart > is empty", "src/a.test.js > Cart > total > adds up"],
        &["src/a.test.js > Cart > total > rounds", "src/b.test.js > breaks"],
    );
    let vitest = " ✓ src/a.test.ts > sum > adds 3ms\n × src/a.test.ts > sum > fails 12ms\n ✓ src/b.test.ts (4 tests) 5ms\n\
        \n FAIL  src/a.test.ts > sum > fails\n\n Tests  1 failed | 5 passed (6)\n";
    assert_names(vitest, &["src/a.test.ts > sum > adds", "src/b.test.ts"], &["src/a.test.ts > sum > fails"]);
    let mocha = "\n  Cart\n    ✔ adds (12ms)\n    1) rounds\n\n  1 passing (20ms)\n  1 failing\n\n  1) Cart\n       rounds:\n     Error\n";
    assert_names(mocha, &["Cart > adds"], &["Cart > rounds"]);
}

#[test]
fn tap_and_gradle_lines_are_named() {
    let tap = "TAP version 13\nok 1 - adds\nnot ok 2 - rounds\nnot ok 3 - later # TODO write it\nok 4 - gone # SKIP\n1..4\n";
    assert_names(tap, &["adds"], &["rounds"]);
    let gradle = "com.x.CartTest > adds() PASSED\ncom.x.CartTest > rounds() FAILED\n    AssertionError\n";
    assert_names(gradle, &["com.x.CartTest > adds()"], &["com.x.CartTest > rounds()"]);
}

#[test]
fn w19_a_regression_is_told_from_a_new_failing_test() {
    let before = run("test a ... ok\ntest b ... ok\ntest c ... FAILED\ntest d ... ok\n", TestsExit::Failure);
    let after =
        run("test a ... ok\ntest b ... FAILED\ntest c ... FAILED\ntest new ... FAILED\n", TestsExit::Failure);
    let compared = before.compared_with(&after);
    assert_eq!(compared.by, ComparedBy::Names);
    assert_eq!(compared.regressions, ["b", "d"], "red and gone");
    assert_eq!(compared.new_failures, ["new"]);
    assert_eq!(compared.removed, ["d"]);
    assert!(!compared.is_sound());
    let mended = run(
        "test a ... ok\ntest b ... ok\ntest c ... ok\ntest d ... ok\ntest e ... ok\n",
        TestsExit::Success,
    );
    assert!(before.compared_with(&mended).is_sound() && mended.is_green());
}

#[test]
fn tests_that_vanish_are_regressions_even_when_the_command_succeeds() {
    let before =
        run("test a ... ok\ntest b ... ok\ntest result: ok. 2 passed; 0 failed\n", TestsExit::Success);
    let emptied = run("running 0 tests\n\ntest result: ok. 0 passed; 0 failed\n", TestsExit::Success);
    assert_eq!(before.compared_with(&emptied).regressions.len(), 1);
    let silenced = run("", TestsExit::Success);
    assert!(before.compared_with(&silenced).regressions[0].contains("names and counts none now"));
    let broken = before.compared_with(&run("error[E0308]: mismatched types\n", TestsExit::Failure));
    assert_eq!((broken.regressions, broken.removed.len()), (vec!["a".to_owned(), "b".to_owned()], 2));
}

#[test]
fn without_names_counts_decide_and_without_counts_the_exit() {
    let before = run("10 passed in 0.1s\n", TestsExit::Success);
    let fewer = run("1 failed, 8 passed in 0.1s\n", TestsExit::Failure);
    let compared = before.compared_with(&fewer);
    assert_eq!(compared.by, ComparedBy::Counts);
    assert_eq!(compared.regressions, ["2 fewer tests pass than at the baseline (8 of 9, 10 of 10 before)"]);
    assert!(before.compared_with(&run("12 passed in 1s\n", TestsExit::Success)).is_sound());
    let silent = run("", TestsExit::Success);
    assert!(silent.is_green() && silent.tally().is_none());
    let compared = silent.compared_with(&run("", TestsExit::Failure));
    assert_eq!((compared.by, compared.regressions.len()), (ComparedBy::ExitOnly, 1));
}

#[test]
fn green_needs_the_exit_and_every_test() {
    assert!(!run("test a ... FAILED\n", TestsExit::Success).is_green(), "a hidden failure is none");
    assert!(!run("test a ... ok\n", TestsExit::Failure).is_green());
    assert!(!run("2 failed, 8 passed in 0.1s\n", TestsExit::Success).is_green());
}

#[test]
fn a_flaky_baseline_is_named() {
    let one = run("test a ... ok\ntest b ... FAILED\n", TestsExit::Failure);
    let two = run("test a ... ok\ntest b ... ok\ntest c ... ok\n", TestsExit::Success);
    assert_eq!(one.flaky(&two), ["b", "c"]);
    assert!(two.flaky(&two.clone()).is_empty());
    assert_eq!(run("", TestsExit::Success).flaky(&run("", TestsExit::Failure)).len(), 1);
}

proptest::proptest! {
    #[test]
    fn no_output_is_too_odd_to_read(output in "([ \t]{0,3}(test|ok|PASS|✓|---|FAILED|\\[gw|\\.\\.\\.|::|\\(|\\)|\\[|\\]|%|1|>|-|é|\n| ){0,12}){0,6}") {
        let run = run(&output, TestsExit::Success);
        proptest::prop_assert!(run.passed.is_disjoint(&run.failed));
        proptest::prop_assert!(run.flaky(&run.clone()).is_empty());
        proptest::prop_assert!(run.compared_with(&run.clone()).regressions.is_empty());
    }
}
