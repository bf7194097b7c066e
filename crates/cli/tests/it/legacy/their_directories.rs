//! Directories the original left half-done, built as it builds them, cut off at each row of the resume table.

use crate::scene::{Played, Scene, TASK};
use serde_json::{Value, json};
use std::path::PathBuf;
use windlass_test_support::{Output, Script, When};

/// A run directory of the original in the world's repository.
struct Original {
    scene: Scene,
    run_dir: PathBuf,
}

const STAMP: &str = "20250102-030405";
const WRITABLE: &str = "the world can be written";

impl Original {
    /// Everything up to the first round's prompt.
    fn begin() -> Self {
        let scene = Scene::new();
        let run_dir = scene.repository.path().join(".orchestrator/runs").join(format!("{TASK}-{STAMP}"));
        std::fs::create_dir_all(run_dir.join("rounds")).expect(WRITABLE);
        std::fs::write(run_dir.join("task.txt"), "Add done.txt\n").expect(WRITABLE);
        let original = Self { scene, run_dir };
        for name in ["doer", "judge"] {
            let branch = format!("codex/loop-{STAMP}-{name}");
            let path = original.worktree(name);
            original.scene.repository.git(&["worktree", "add", "--quiet", "-B", &branch, &path, "HEAD"]);
        }
        let env = format!(
            "REPO={}\nBASE_REF=HEAD\nDOER_BRANCH=codex/loop-{STAMP}-doer\n\
             JUDGE_BRANCH=codex/loop-{STAMP}-judge\nDOER_DIR={}\nJUDGE_DIR={}\nJUDGE_READONLY=1\n",
            original.scene.repository.text(),
            original.worktree("doer"),
            original.worktree("judge"),
        );
        std::fs::write(original.run_dir.join("worktrees.env"), env).expect(WRITABLE);
        original.strip_write_bits();
        original
    }

    fn worktree(&self, name: &str) -> String {
        self.run_dir.join("worktrees").join(name).to_str().expect("a plain path").to_owned()
    }

    fn strip_write_bits(&self) {
        let judge = self.worktree("judge");
        self.scene.repository.git(&["-c", &format!("alias.bits=!chmod -R a-w '{judge}'"), "bits"]);
    }

    fn write(&self, round: u32, name: &str, text: &str) -> &Self {
        let directory = self.run_dir.join(format!("rounds/round-{round}"));
        std::fs::create_dir_all(&directory).expect(WRITABLE);
        std::fs::write(directory.join(name), text).expect(WRITABLE);
        self
    }

    fn artifact(&self, round: u32, name: &str, value: &Value) -> &Self {
        self.write(round, name, &serde_json::to_string_pretty(value).expect("a value has a text"))
    }

    /// The prompt, and what the doer changed so far.
    fn prompted(&self, round: u32) -> &Self {
        std::fs::write(self.run_dir.join(format!("worktrees/doer/done-{round}.txt")), "done\n")
            .expect(WRITABLE);
        self.write(round, "doer.prompt.md", "Do it.\n")
    }

    /// Hand-off and patch as the doer made them, and the judge's tree with the patch on it.
    fn delivered(&self, round: u32) -> &Self {
        self.prompted(round).write(round, "doer.last.md", "Done.\n").artifact(
            round,
            "handoff.json",
            &handoff(),
        );
        let git = &self.scene.repository;
        let (doer, judge) = (self.worktree("doer"), self.worktree("judge"));
        git.git(&["-C", &doer, "add", "-N", "."]);
        let patch = git.git(&["-C", &doer, "diff", "--binary"]) + "\n";
        self.write(round, "patch.diff", &patch);
        let file = self.run_dir.join(format!("rounds/round-{round}/patch.diff"));
        git.git(&["-c", &format!("alias.bits=!chmod -R u+w '{judge}'"), "bits"]);
        git.git(&["-C", &judge, "reset", "--quiet", "--hard", "HEAD"]);
        git.git(&["-C", &judge, "clean", "-fdq"]);
        git.git(&["-C", &judge, "apply", file.to_str().expect("a plain path")]);
        self.strip_write_bits();
        self.write(round, "judge.prompt.md", "Judge it.\n")
    }

    fn judged(&self, round: u32, word: &str) -> &Self {
        self.delivered(round).write(round, "judge.last.md", "Judged.\n").artifact(
            round,
            "verdict.json",
            &verdict(word),
        )
    }

    fn audited(&self, round: u32, gate: &str) -> &Self {
        self.judged(round, "pass")
            .write(round, "audit.prompt.md", "Gate it.\n")
            .write(round, "audit.last.md", "Gated.\n")
            .artifact(round, "audit.json", &audit(gate))
    }

    fn resume(&self, flags: &[&str]) -> Output {
        let script = Script::new()
            .doer(When::Always, &["{ write = 'new-{round}.txt', text = 'x' }", "{ handoff = 'goes on' }"])
            .judge(When::Always, &["{ verdict = 'pass' }"])
            .auditor(When::Always, &["{ audit = 'pass' }"]);
        let agent = self.scene.world.agent("script.toml", &script);
        let words = ["resume", self.run_dir.to_str().expect("a plain path"), "--json", "--agent", &agent];
        self.scene.world.windlass(&[&words[..], flags].concat())
    }

    #[track_caller]
    fn goes_on(&self, flags: &[&str], steps: &[&str]) -> Played {
        let played = Played::of(&self.resume(flags));
        assert_eq!(self.scene.world.steps(), steps);
        assert_eq!(played.run_dir, self.run_dir);
        played.assert_strict_layout();
        played
    }
}

fn handoff() -> Value {
    json!({
        "task_id": TASK, "summary": "adds a file", "requirements_touched": [], "files_touched": ["done-1.txt"],
        "assumptions": [], "smoke_checks": [{ "command": "true", "status": "pass" }], "notes": "",
    })
}

fn verdict(word: &str) -> Value {
    json!({
        "task_id": TASK, "verdict": word, "reasons": [{ "check": "unit", "details": "as the original said" }],
        "required_changes": [], "suggested_tests": [], "requirements_checked": [],
        "requirements_missing": [], "notes": "",
    })
}

/// With the keys its built-in prompt asks for: neither risk nor policy.
fn audit(gate: &str) -> Value {
    json!({
        "task_id": TASK, "gate": gate, "findings": [{ "category": "policy", "details": "as the original said" }],
        "traceability": { "task_id_match": "pass", "requirements_coverage": "unknown", "issues": [] },
        "required_actions": [], "notes": "",
    })
}

#[test]
fn with_a_prompt_only_the_doer_works_again_in_the_same_tree() {
    let original = Original::begin();
    original.prompted(1);
    let played =
        original.goes_on(&["--rounds", "1"], &["doer 1 1", "judge 1 1", "auditor 1 1"]).exits_with(0);
    assert_eq!(played.words(), "pass pass pass 1");
    assert_eq!(original.scene.landed_changes(), ["A\tdone-1.txt", "A\tnew-1.txt"]);
}

#[test]
fn before_any_round_the_doer_begins_with_round_1() {
    let original = Original::begin();
    let played =
        original.goes_on(&["--rounds", "1"], &["doer 1 1", "judge 1 1", "auditor 1 1"]).exits_with(0);
    assert_eq!(played.words(), "pass pass pass 1");
}

#[test]
fn with_a_handoff_but_no_patch_the_doer_works_again() {
    let original = Original::begin();
    original.prompted(1).artifact(1, "handoff.json", &handoff());
    original.goes_on(&["--rounds", "1"], &["doer 1 1", "judge 1 1", "auditor 1 1"]).exits_with(0);
}

#[test]
fn with_a_patch_but_an_unreadable_handoff_the_doer_works_again() {
    let original = Original::begin();
    original.delivered(1).write(1, "handoff.json", "{ cut o");
    original.goes_on(&["--rounds", "1"], &["doer 1 1", "judge 1 1", "auditor 1 1"]).exits_with(0);
}

#[test]
fn with_patch_and_handoff_the_judge_is_asked() {
    let original = Original::begin();
    original.delivered(1);
    let played = original.goes_on(&["--rounds", "1"], &["judge 1 1", "auditor 1 1"]).exits_with(0);
    assert_eq!(played.words(), "pass pass pass 1");
    assert_eq!(original.scene.landed_changes(), ["A\tdone-1.txt"]);
    assert_eq!(played.artifact(1, "handoff.json")["summary"], "adds a file");
}

#[test]
fn with_an_unreadable_verdict_the_judge_is_asked_and_the_file_is_kept() {
    let original = Original::begin();
    original.delivered(1).write(1, "verdict.json", "{ cut o");
    let played = original.goes_on(&["--rounds", "1"], &["judge 1 1", "auditor 1 1"]).exits_with(0);
    let run = played.run();
    let kept = original.scene.world.state_dir().join("runs").join(run).join("foreign/round-1/verdict.json");
    assert_eq!(std::fs::read_to_string(kept).unwrap(), "{ cut o");
}

#[test]
fn with_a_rejection_and_rounds_left_the_next_doer_gets_the_feedback() {
    let original = Original::begin();
    original.judged(1, "reject");
    let played =
        original.goes_on(&["--rounds", "2"], &["doer 2 1", "judge 2 1", "auditor 2 1"]).exits_with(0);
    assert_eq!(played.words(), "pass pass pass 2");
    assert!(played.text(2, "doer.prompt.md").contains("- [unit] as the original said"));
    assert_eq!(original.scene.landed_changes(), ["A\tdone-1.txt", "A\tnew-2.txt"]);
}

#[test]
fn with_a_rejection_in_the_last_round_only_the_summary_is_written() {
    let original = Original::begin();
    original.judged(1, "reject");
    let played = original.goes_on(&["--rounds", "1"], &[]).exits_with(10);
    assert_eq!(played.words(), "reject reject not-run 1");
}

#[test]
fn with_needs_human_only_the_summary_is_written_unless_told_to_go_on() {
    let original = Original::begin();
    original.judged(1, "needs-human");
    let played = original.goes_on(&["--rounds", "2"], &[]).exits_with(11);
    assert_eq!(played.words(), "needs-human needs-human not-run 1");
    let going_on = Original::begin();
    going_on.judged(1, "needs-human");
    let flags = ["--rounds", "2", "--on-needs-human", "continue"];
    going_on.goes_on(&flags, &["doer 2 1", "judge 2 1", "auditor 2 1"]).exits_with(0);
}

#[test]
fn with_a_pass_and_the_audit_on_the_auditor_is_asked() {
    let original = Original::begin();
    original.judged(1, "pass");
    let played = original.goes_on(&["--rounds", "1"], &["auditor 1 1"]).exits_with(0);
    assert_eq!(played.words(), "pass pass pass 1");
    assert_eq!(original.scene.landed_changes(), ["A\tdone-1.txt"]);
}

#[test]
fn with_a_pass_and_the_audit_off_only_the_summary_is_written() {
    let original = Original::begin();
    original.judged(1, "pass");
    let played = original.goes_on(&["--rounds", "1", "--no-audit"], &[]).exits_with(0);
    assert_eq!(played.words(), "pass pass not-run 1");
}

#[test]
fn with_a_passed_gate_only_the_summary_is_written() {
    let original = Original::begin();
    original.audited(1, "pass");
    let played = original.goes_on(&["--rounds", "1"], &[]).exits_with(0);
    assert_eq!(played.words(), "pass pass pass 1");
    assert_eq!(original.scene.landed_changes(), ["A\tdone-1.txt"]);
}

#[test]
fn with_a_failed_gate_and_rounds_left_the_next_doer_gets_the_feedback() {
    let original = Original::begin();
    original.audited(1, "fail");
    let played =
        original.goes_on(&["--rounds", "2"], &["doer 2 1", "judge 2 1", "auditor 2 1"]).exits_with(0);
    assert!(played.text(2, "doer.prompt.md").contains("- [policy] as the original said"));
}

#[test]
fn with_a_failed_gate_in_the_last_round_only_the_summary_is_written() {
    let original = Original::begin();
    original.audited(1, "fail");
    let played = original.goes_on(&["--rounds", "1"], &[]).exits_with(10);
    assert_eq!(played.words(), "reject pass fail 1");
}

#[test]
fn a_later_round_is_resumed_with_the_whole_change_so_far() {
    let original = Original::begin();
    original.judged(1, "reject").delivered(2);
    let played = original.goes_on(&["--rounds", "2"], &["judge 2 1", "auditor 2 1"]).exits_with(0);
    assert_eq!(played.words(), "pass pass pass 2");
    assert_eq!(original.scene.landed_changes(), ["A\tdone-1.txt", "A\tdone-2.txt"]);
    assert_eq!(played.artifact(1, "verdict.json"), verdict("reject"), "an earlier round stays as it was");
}

#[test]
fn checks_given_again_are_run_on_what_was_passed_over() {
    let original = Original::begin();
    original.audited(1, "pass");
    // The original's own prompt for the auditor stays, so this directory is not what a strict reader expects of ours.
    let played =
        Played::of(&original.resume(&["--rounds", "1", "--check", "test ! -f done-1.txt"])).exits_with(10);
    assert_eq!(played.summary()["final_verdict"], "reject");
    assert_eq!(original.scene.world.steps(), Vec::<String>::new());
    original.scene.assert_nothing_landed();
}

#[test]
fn without_the_flags_it_is_refused_and_left_as_it_was() {
    let original = Original::begin();
    original.delivered(1);
    let before = windlass_test_support::tree_hash(&original.run_dir, &[]);
    let output = original.resume(&[]).exits_with(2);
    let fault = output.json();
    assert!(output.stdout.contains("WL-LEGACY-001"), "{}", output.stdout);
    assert!(fault.to_string().contains("--rounds"), "{fault}");
    assert!(fault.to_string().contains("does not record its flags"), "{fault}");
    assert_eq!(original.scene.world.steps(), Vec::<String>::new());
    assert_eq!(windlass_test_support::tree_hash(&original.run_dir, &[]), before);
}

#[test]
fn a_finished_or_never_begun_directory_is_refused() {
    let finished = Original::begin();
    finished.audited(1, "pass");
    std::fs::write(finished.run_dir.join("summary.json"), "{}").unwrap();
    assert!(finished.resume(&["--rounds", "1"]).exits_with(2).stdout.contains("has ended"));
    let unbegun = Original::begin();
    std::fs::remove_file(unbegun.run_dir.join("worktrees.env")).unwrap();
    assert!(unbegun.resume(&["--rounds", "1"]).exits_with(2).stdout.contains("worktrees.env"));
}

#[test]
fn a_worktrees_env_that_a_shell_would_run_is_only_read() {
    let original = Original::begin();
    original.delivered(1);
    let env = original.run_dir.join("worktrees.env");
    let marked = original.scene.world.shared("marked");
    let text = std::fs::read_to_string(&env).unwrap();
    std::fs::write(&env, text.replace("BASE_REF=HEAD", &format!("BASE_REF=$(touch {})", marked.display())))
        .unwrap();
    original.goes_on(&["--rounds", "1"], &["judge 1 1", "auditor 1 1"]).exits_with(0);
    assert!(!marked.exists());
}
