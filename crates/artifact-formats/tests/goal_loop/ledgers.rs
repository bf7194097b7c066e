//! Sections 2.4 and 2.5: the run log and the progress log, appended to and read back.

use proptest::prelude::*;
use windlass_artifact_formats::goal_loop::{
    DesignApproval, DesignEntry, ItemId, IterationEntry, LoggedAction, LoggedVerdict, LoggedWork,
    LoopSummary, Of, Recognised, RunEnd, RunLog, SessionEntry, StartSnapshot, append_progress,
    has_summary_since, progress_headings,
};

use crate::id;

fn log(text: &str) -> RunLog {
    match RunLog::recognise(text) {
        Recognised::Ours(log) => log,
        other => panic!("{other:?}"),
    }
}

fn entry(item: &ItemId, verdict: LoggedVerdict) -> IterationEntry<'_> {
    IterationEntry {
        number: 3,
        time: "2026-11-16T10:20:00Z",
        id: item,
        name: "Invoices",
        work: LoggedWork::Build,
        action: if verdict == LoggedVerdict::Pass { LoggedAction::Commit } else { LoggedAction::Rework },
        commit: (verdict == LoggedVerdict::Pass).then_some(("abc1234", "feat(F002): Invoices")),
        verdict,
        tests: Some((41, 42)),
        iterations: Of { used: 3, cap: 10 },
        commits: Of { used: 1, cap: 15 },
        rework: Of { used: 0, cap: 2 },
        notes: "",
    }
}

#[test]
fn an_iteration_is_written_in_the_form_of_2_4() {
    let item = id("F002");
    assert_eq!(
        entry(&item, LoggedVerdict::Pass).render(),
        "### Iteration 3 — 2026-11-16T10:20:00Z\n- **Feature**: F002 — Invoices\n\
         - **Action**: build → verify → commit\n- **Evaluator verdict**: PASS\n- **Tests**: 41/42\n\
         - **Commit**: abc1234 feat(F002): Invoices\n- **Budget**: iter 3/10 · commits 1/15 · rework 0/2\n\
         - **Notes**: none\n"
    );
    let failed = entry(&item, LoggedVerdict::Fail("no\n## heading".to_owned())).render();
    assert!(failed.contains("- **Evaluator verdict**: FAIL — no ## heading\n"), "{failed}");
    assert!(failed.contains("- **Commit**: (none)\n"), "{failed}");
}

#[test]
fn the_log_is_appended_to_and_read_back() {
    let (one, two) = (id("F001"), id("F002"));
    let start = StartSnapshot {
        started: "2026-11-16T10:00:00Z",
        branch: "main",
        head: "0123abc",
        baseline: "42/42 green",
    };
    let text = RunLog::new().with(&start.render());
    let text = log(&text).with(&entry(&one, LoggedVerdict::Fail("tests".to_owned())).render());
    let text = log(&text).with(&entry(&two, LoggedVerdict::Pass).render());
    let read = log(&text);
    assert_eq!(read.starts, [("2026-11-16T10:00:00Z".to_owned(), 0)]);
    assert_eq!(read.iterations.len(), 2);
    assert_eq!(read.iterations[0].verdict, Some(LoggedVerdict::Fail("tests".to_owned())));
    assert_eq!(read.iterations[1].commit.as_deref(), Some("abc1234"));
    assert_eq!(read.iterations[1].tests, Some((41, 42)));
    assert_eq!(read.passes(&two).count(), 1);
    assert_eq!(read.passes(&one).count(), 0);
}

#[test]
fn blocks_of_other_writers_are_read_as_far_as_they_go_and_no_template_passes() {
    let text = "# Loop run log\n\n### Iteration 1 - today\n* Feature: F007 - x\n* Evaluator verdict: PASS\n\n\
                ### Iteration 2\n- **Feature**: F008 — y\n- **Evaluator verdict**: PASS | FAIL — [root cause]\n\
                ```\n### Iteration 9 — code\n```\n";
    let read = log(text);
    assert_eq!(read.iterations.iter().map(|block| block.number).collect::<Vec<_>>(), [1, 2]);
    assert_eq!(read.passes(&id("F007")).count(), 1);
    assert_eq!(read.iterations[1].verdict, None);
    let windows = log(&text.replace('\n', "\r\n")).with("### Iteration 3 — t\n- x\n");
    assert!(windows.ends_with("```\r\n\r\n### Iteration 3 — t\r\n- x\r\n"), "{windows:?}");
}

#[test]
fn a_page_about_another_ledger_is_foreign() {
    let page = "# The loop run log\n\nEach line is JSON:\n\n```\n{\"step\": 1}\n```\n";
    assert!(matches!(RunLog::recognise(page), Recognised::Foreign(_)));
    assert!(matches!(RunLog::recognise("# Notes\n"), Recognised::Foreign(_)));
    for ours in ["", "# Loop Run Log\n\nWhat happened.\n"] {
        assert!(matches!(RunLog::recognise(ours), Recognised::Ours(_)), "{ours}");
    }
}

fn summary(time: &str) -> String {
    LoopSummary {
        time,
        end: RunEnd::HardKill("iterations 10/10".to_owned()),
        iterations: 10,
        commits: 4,
        completed: &[id("F001"), id("F002")],
        unfinished: &[(id("F003"), "tests:src/a.rs".to_owned())],
        budget: "iterations 10/10 · commits 4/15 · wall-clock 20/60",
        to_read: &["abc".to_owned(), "def".to_owned()],
        next: "raise the cap",
    }
    .render()
}

#[test]
fn the_summary_has_the_labels_of_2_5() {
    assert_eq!(
        summary("2026-11-16T12:00:00Z"),
        "## Loop Run Summary — 2026-11-16T12:00:00Z\n- **Outcome**: HARD KILL (iterations 10/10)\n\
         - **Iterations**: 10   **Commits**: 4\n- **Completed this run**: F001, F002\n\
         - **Needs-rework / escalated**: F003 — tests:src/a.rs\n\
         - **Budget**: iterations 10/10 · commits 4/15 · wall-clock 20/60\n\
         - **Comprehension debt**: read these diffs → abc, def\n- **Next**: raise the cap\n"
    );
    assert_eq!(RunEnd::Success.words(), "SUCCESS");
    assert_eq!(RunEnd::Escalated(String::new()).words(), "ESCALATED");
}

#[test]
fn a_run_is_over_when_a_summary_is_not_earlier_than_its_start() {
    let log = append_progress(None, &summary("2026-11-16T12:00:00Z"));
    assert!(log.starts_with("# Progress Log\n\n## Loop Run Summary"), "{log}");
    for (started, over) in [
        ("2026-11-16T11:59:59Z", true),
        ("2026-11-16T12:00:01Z", false),
        ("2026-11-17T00:00:00Z", false),
        ("2026-11-15", true),
    ] {
        assert_eq!(has_summary_since(&log, started), over, "{started}");
    }
    let dated = append_progress(None, &summary("2026-11-16"));
    assert!(
        has_summary_since(&dated, "2026-11-16T15:00:00Z")
            && !has_summary_since(&dated, "2026-11-17T01:00:00Z")
    );
    assert!(!has_summary_since("# Progress Log\n", "2026-11-16"));
}

#[test]
fn headings_of_every_form_are_told_apart() {
    let log = "# Progress Log\n## Project Initialized — 2026-01-01\n## Session 2026-01-02\n## Session — 2026-01-02 10:00\n## Odd\n";
    let found = progress_headings(log);
    let pairs: Vec<(&str, &str)> =
        found.iter().map(|(title, time)| (title.as_str(), time.as_str())).collect();
    assert_eq!(
        pairs,
        [
            ("Project Initialized", "2026-01-01"),
            ("Session", "2026-01-02"),
            ("Session", "2026-01-02 10:00"),
            ("Odd", "")
        ]
    );
}

#[test]
fn sessions_and_designs_are_one_entry_each() {
    let item = id("F002");
    let session = SessionEntry {
        time: "2026-11-16T10:00:00Z",
        id: &item,
        name: "Invoices",
        status: "complete",
        built: "PDF\n## Loop Run Summary — 2099-01-01",
        tests: "42/42",
        issues: "",
        next: "F003",
    };
    let design = DesignEntry {
        date: "2026-11-16",
        id: &item,
        name: "Invoices",
        document: "docs/designs/F002-design.md",
        approval: DesignApproval::UsedUnapproved,
    };
    let log = append_progress(Some("# Progress Log"), &session.render());
    let log = append_progress(Some(&log), &design.render());
    assert_eq!(progress_headings(&log).len(), 2, "{log}");
    assert!(log.contains("- **Issues**: none\n") && log.contains("used without approval"), "{log}");
}

proptest! {
    #[test]
    fn whatever_is_appended_leaves_the_text_above(before in "[#a-z \r\n-]{0,40}", cause in "\\PC{0,40}|[\n#*-]{0,20}") {
        let item = id("F001");
        let block = entry(&item, LoggedVerdict::Fail(cause)).render();
        prop_assert!(append_progress(Some(&before), &block).starts_with(&before) || before.trim().is_empty());
        let text = RunLog::new().with(&block);
        prop_assert_eq!(log(&text).iterations.len(), 1);
        prop_assert_eq!(log(&text).passes(&item).count(), 0);
    }
}
