//! What a played script leaves behind: files, artifacts, words and exit codes.

mod stage;

use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};

use serde_json::json;
use stage::{Stage, stderr_of, stdout_of};
use windlass_agent_drivers::Role;

fn assert_success(output: &std::process::Output) {
    assert!(output.status.success(), "{:?}: {}", output.status, stderr_of(output));
}

#[test]
fn files_are_written_appended_renamed_and_deleted() {
    let stage = Stage::with_actions(
        r#"
        { write = "src/deep/lib.rs", text = "one\n" },
        { append = "src/deep/lib.rs", text = "two\n" },
        { append = "new.log", hex = "ff 00" },
        { write = "bytes.bin", hex = "00ff0a" },
        { write = "big.txt", size = 100_000 },
        { write = "tool.sh", text = "", mode = 0o750 },
        { write = "gone.txt", text = "" },
        { delete = "gone.txt" },
        { write = "tree/a/b", text = "" },
        { delete = "tree" },
        { write = "old", text = "moved" },
        { rename = "old", to = "sub/new" },
        { symlink = "link", target = "../outside" },
        { mkdir = "empty/dir" },
        { write = "plain", text = "" },
        { chmod = "plain", mode = 0o444 },
        { write = "{role}-{round}-{attempt}.txt", text = "{role}" },
        { write = "{outbox}/note", text = "by path" },
        "#,
    );
    assert_success(&stage.play());
    assert_eq!(fs::read(stage.work("src/deep/lib.rs")).unwrap(), b"one\ntwo\n");
    assert_eq!(fs::read(stage.work("new.log")).unwrap(), [0xff, 0]);
    assert_eq!(fs::read(stage.work("bytes.bin")).unwrap(), [0, 0xff, 0x0a]);
    assert_eq!(fs::metadata(stage.work("big.txt")).unwrap().len(), 100_000);
    assert_eq!(fs::metadata(stage.work("tool.sh")).unwrap().permissions().mode() & 0o7777, 0o750);
    assert!(!stage.work("gone.txt").exists());
    assert!(!stage.work("tree").exists());
    assert!(!stage.work("old").exists());
    assert_eq!(fs::read(stage.work("sub/new")).unwrap(), b"moved");
    assert_eq!(fs::read_link(stage.work("link")).unwrap().to_str(), Some("../outside"));
    assert!(stage.work("empty/dir").is_dir());
    assert_eq!(fs::metadata(stage.work("plain")).unwrap().permissions().mode() & 0o7777, 0o444);
    assert_eq!(fs::read(stage.work("doer-1-1.txt")).unwrap(), b"{role}", "text is never filled in");
    assert_eq!(fs::read(stage.outbox("note")).unwrap(), b"by path");
}

#[test]
fn claims_are_complete_and_take_what_the_script_says() {
    let stage = Stage::with_actions(
        r#"
        { write = "a.rs", text = "" },
        { write = "b.rs", text = "" },
        { rename = "b.rs", to = "c.rs" },
        { handoff = { summary = "did it", requirements_touched = ["RQ-001"] } },
        { verdict = "reject", without = ["notes"] },
        { audit = { gate = "fail", risk = { level = "high" } } },
        "#,
    );
    assert_success(&stage.play());
    assert_eq!(
        stage.json("handoff.json"),
        json!({
            "task_id": "TASK-1",
            "summary": "did it",
            "requirements_touched": ["RQ-001"],
            "files_touched": ["a.rs", "b.rs", "c.rs"],
            "assumptions": [],
            "smoke_checks": [],
            "notes": "",
        })
    );
    let verdict = stage.json("verdict.json");
    assert_eq!(verdict["verdict"], "reject");
    assert_eq!(verdict["reasons"][0]["check"], "scripted");
    assert_eq!(verdict.get("notes"), None);
    let audit = stage.json("audit.json");
    assert_eq!((&audit["gate"], &audit["risk"]["level"]), (&json!("fail"), &json!("high")));
    assert_eq!(audit["policy"]["eval_commands"], "pass");
}

#[test]
fn the_outbox_can_be_filled_with_traps() {
    let stage = Stage::with_actions(
        r#"
        { write = "kept", text = "same" },
        { artifact = "handoff.json", text = "{ not json" },
        { artifact = "verdict.json", hex = "fffe00" },
        { artifact = "huge.json", size = 2_000_000 },
        { artifact = "link.json", symlink_to = "/etc/hostname" },
        { artifact = "hard.json", hardlink_to = "kept" },
        { artifact = "pipe.json", fifo = true },
        { artifact = "dir.json", directory = true },
        { artifact = "locked.json", text = "{}", mode = 0o000 },
        "#,
    );
    assert_success(&stage.play());
    assert_eq!(fs::read(stage.outbox("handoff.json")).unwrap(), b"{ not json");
    assert_eq!(fs::read(stage.outbox("verdict.json")).unwrap(), [0xff, 0xfe, 0]);
    assert_eq!(fs::metadata(stage.outbox("huge.json")).unwrap().len(), 2_000_000);
    assert_eq!(fs::read_link(stage.outbox("link.json")).unwrap().to_str(), Some("/etc/hostname"));
    let inode = |path: std::path::PathBuf| fs::metadata(path).unwrap().ino();
    assert_eq!(inode(stage.outbox("hard.json")), inode(stage.work("kept")));
    assert!(fs::metadata(stage.outbox("pipe.json")).unwrap().file_type().is_fifo());
    assert!(stage.outbox("dir.json").is_dir());
    assert_eq!(fs::metadata(stage.outbox("locked.json")).unwrap().permissions().mode() & 0o7777, 0);
}

#[test]
fn words_go_to_the_right_stream_byte_for_byte() {
    let stage = Stage::with_actions(
        r#"
        { say = "working" },
        { say = { text = "no line" } },
        { say = { hex = "ff0a" } },
        { complain = "oh" },
        { complain = { hex = "00" } },
        "#,
    );
    let output = stage.play();
    assert_success(&output);
    assert_eq!(output.stdout, b"working\nno line\xff\n");
    assert_eq!(output.stderr, b"oh\n\0");
}

#[test]
fn floods_have_the_size_and_shape_asked_for() {
    let stage = Stage::with_actions(
        r#"
        { flood = { bytes = 300_000 } },
        { flood = { bytes = 200_000, stream = "stderr", newline = false } },
        "#,
    );
    let output = stage.play();
    assert_success(&output);
    assert_eq!(output.stdout.len(), 300_000);
    assert!(output.stdout.split(|byte| *byte == b'\n').all(|line| line.len() <= 79));
    assert_eq!(output.stderr, vec![b'x'; 200_000]);
}

#[test]
fn programs_run_in_the_workspace_with_the_agents_environment() {
    let stage = Stage::with_actions(
        r#"
        { run = ["git", "init", "-q", "."] },
        { write = "a b.txt", text = "x" },
        { run = ["git", "add", "-A"] },
        { run = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "it's {role}"] },
        { run = ["git", "log", "--format=%s"] },
        { run = ["sh", "-c", "echo $WINDLASS_RUN $WINDLASS_TASK $WINDLASS_ROLE $WINDLASS_ROUND $WINDLASS_ATTEMPT"] },
        { run = ["sh", "-c", "echo \"$WINDLASS_OUTBOX\"; exit 4"], may_fail = true },
        "#,
    );
    let output = stage.play();
    assert_success(&output);
    let expected = format!("it's doer\nrun-1 TASK-1 doer 1 1\n{}\n", stage.outbox("").display());
    assert_eq!(stdout_of(&output), expected);
}

#[test]
fn a_program_that_fails_ends_the_script() {
    let stage = Stage::with_actions("{ run = ['sh', '-c', 'exit 4'] },\n{ write = 'after', text = '' },");
    let output = stage.play();
    assert_eq!(output.status.code(), Some(3));
    assert!(
        stderr_of(&output).contains("`sh -c exit 4` ended with exit status: 4"),
        "{}",
        stderr_of(&output)
    );
    assert!(!stage.work("after").exists());
}

#[test]
fn a_program_that_is_not_there_is_named() {
    let stage = Stage::with_actions("{ run = ['no-such-program-here'], may_fail = true },");
    let output = stage.play();
    assert_eq!(output.status.code(), Some(3));
    assert!(stderr_of(&output).contains("no-such-program-here"), "{}", stderr_of(&output));
}

#[test]
fn the_step_for_role_round_and_attempt_is_played_and_counted() {
    let mut stage = Stage::with_script(
        r#"
        [[step]]
        role = "doer"
        do = [{ count = "steps" }, { say = "doer" }]
        [[step]]
        role = "doer"
        round = 2
        do = [{ count = "steps" }, { say = "doer again" }]
        [[step]]
        role = "judge"
        attempt = 2
        do = [{ count = "steps" }, { say = "repaired" }]
        "#,
    );
    assert_eq!(stdout_of(&stage.play_as(Role::Doer, 1, 1)), "doer\n");
    assert_eq!(stdout_of(&stage.play_as(Role::Doer, 2, 1)), "doer again\n");
    assert_eq!(stdout_of(&stage.play_as(Role::Judge, 3, 2)), "repaired\n");
    assert_eq!(fs::read_to_string(stage.note("steps")).unwrap(), "doer 1 1\ndoer 2 1\njudge 3 2\n");

    let output = stage.play_as(Role::Auditor, 7, 1);
    assert_eq!(output.status.code(), Some(2));
    let complaint = stderr_of(&output);
    assert!(complaint.contains("has no step for role auditor, round 7, attempt 1"), "{complaint}");
}

#[test]
fn exit_codes_are_the_scripts_own_and_end_it() {
    let stage = Stage::with_actions("{ exit = 41 },\n{ write = 'after', text = '' },");
    assert_eq!(stage.play().status.code(), Some(41));
    assert!(!stage.work("after").exists());
}

#[test]
fn an_action_that_cannot_be_done_names_its_file() {
    let stage = Stage::with_actions("{ delete = 'nothing-here' },");
    let output = stage.play();
    assert_eq!(output.status.code(), Some(3));
    let complaint = stderr_of(&output);
    assert!(
        complaint.starts_with("scripted agent: cannot delete ") && complaint.contains("nothing-here"),
        "{complaint}"
    );
}

#[test]
fn a_script_with_a_slip_is_refused_before_anything_is_done() {
    let stage = Stage::with_actions("{ write = 'a', text = '' },\n{ sya = 'x' },");
    let output = stage.play();
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr_of(&output).contains("line 4: unknown key `sya` in an action: did you mean `say`?"));
    assert!(!stage.work("a").exists());
}

#[test]
fn a_script_that_is_not_there_is_named() {
    let stage = Stage::with_actions("");
    fs::remove_file(stage.note("agent.toml")).unwrap();
    let output = stage.play();
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr_of(&output).contains("cannot read the script"), "{}", stderr_of(&output));
}

#[test]
fn outside_of_windlass_it_says_what_is_missing() {
    let stage = Stage::with_actions("");
    for (name, complaint) in
        [("WINDLASS_ROLE", "WINDLASS_ROLE is not set"), ("WINDLASS_OUTBOX", "WINDLASS_OUTBOX is not set")]
    {
        let output = stage.command().env_remove(name).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{name}");
        assert!(stderr_of(&output).contains(complaint), "{}", stderr_of(&output));
    }
    let output = stage.command().env("WINDLASS_ROLE", "juge").output().unwrap();
    assert!(stderr_of(&output).contains("did you mean `judge`?"), "{}", stderr_of(&output));
    let output = stage.command().env("WINDLASS_ROUND", "first").output().unwrap();
    assert!(stderr_of(&output).contains("WINDLASS_ROUND is `first`"), "{}", stderr_of(&output));
    let output = stage.command().arg("more").output().unwrap();
    assert!(stderr_of(&output).contains("usage: windlass __play FILE"), "{}", stderr_of(&output));
}
