//! What a doer can do to a tree, landed exactly as it was judged.

use crate::scene::Scene;
use windlass_test_support::{Script, When};

/// A repository with something to change, worked on this way; what landed, as `mode path` with content looked at after.
#[track_caller]
fn landed(actions: &[&str]) -> (Scene, Vec<String>) {
    let scene = Scene::new();
    scene
        .repository
        .write("kept.txt", "kept\n")
        .write("tool.sh", "#!/bin/sh\n")
        .write("sub/old name.txt", "a file that moves\nwith two lines\n")
        .write(".gitignore", "*.log\n")
        .commit("something to change");
    let doer = [actions, &["{ handoff = 'changes things' }"]].concat();
    // The judge sees what the doer left, by hash of every file and link.
    let look = |name: &str| {
        format!(
            "{{ run = ['sh', '-c', 'find . -path ./.git -prune -o -name \"*.log\" -prune -o \\( -type f -o -type l \\) \
             -print0 | sort -z | xargs -0 stat -c \"%A %s %n\" > {{script_dir}}/{name}'] }}"
        )
    };
    let seen_by_doer = look("doer-tree");
    let seen_by_judge = look("judge-tree");
    let doer = [&doer[..], &[seen_by_doer.as_str()]].concat();
    let script = Script::new()
        .doer(When::Always, &doer)
        .judge(When::Always, &[&seen_by_judge, "{ verdict = 'pass' }"])
        .auditor(When::Always, &["{ audit = 'pass' }"]);
    let played = scene.play(&script, &[]).exits_with(0);
    played.assert_strict_layout();
    let tree = |name: &str| std::fs::read(scene.world.shared(name)).expect("both looked");
    assert_eq!(
        String::from_utf8_lossy(&tree("doer-tree")),
        String::from_utf8_lossy(&tree("judge-tree")),
        "the judge sees what the doer left"
    );
    let raw =
        scene.repository.git(&["diff", "--raw", "--no-renames", "windlass/TASK-1~1", "windlass/TASK-1"]);
    let line = |line: &str| {
        let (about, path) = line.split_once('\t').expect("git puts a tab before the path");
        let words: Vec<&str> = about.trim_start_matches(':').split(' ').collect();
        format!("{} {} {path}", words[4], words[1])
    };
    let lines = raw.lines().map(line).collect();
    (scene, lines)
}

#[test]
fn a_binary_file() {
    let (scene, changes) = landed(&["{ write = 'data.bin', hex = '00 01 fe ff 0a 00' }"]);
    assert_eq!(changes, ["A 100644 data.bin"]);
    assert_eq!(scene.repository.git(&["cat-file", "-s", "windlass/TASK-1:data.bin"]), "6");
}

#[test]
fn an_empty_file() {
    let (scene, changes) = landed(&["{ write = 'empty.txt', text = '' }"]);
    assert_eq!(changes, ["A 100644 empty.txt"]);
    assert_eq!(scene.landed_file("empty.txt"), "");
}

#[test]
fn a_renamed_file() {
    let (_, changes) = landed(&["{ rename = 'sub/old name.txt', to = 'sub/new name.txt' }"]);
    assert_eq!(changes, ["A 100644 sub/new name.txt", "D 000000 sub/old name.txt"]);
}

#[test]
fn a_changed_mode() {
    let (_, changes) = landed(&["{ chmod = 'tool.sh', mode = 0o755 }"]);
    assert_eq!(changes, ["M 100755 tool.sh"]);
}

#[test]
fn a_link_inside_the_tree() {
    let (scene, changes) = landed(&["{ symlink = 'alias.txt', target = 'kept.txt' }"]);
    assert_eq!(changes, ["A 120000 alias.txt"]);
    assert_eq!(scene.landed_file("alias.txt"), "kept.txt");
}

#[test]
fn a_file_that_becomes_a_directory_and_one_that_becomes_a_link() {
    let (_, changes) = landed(&[
        "{ delete = 'kept.txt' }",
        "{ write = 'kept.txt/inner.txt', text = 'x' }",
        "{ delete = 'tool.sh' }",
        "{ symlink = 'tool.sh', target = 'README.md' }",
    ]);
    assert_eq!(changes, ["D 000000 kept.txt", "A 100644 kept.txt/inner.txt", "T 120000 tool.sh"]);
}

#[test]
fn a_deleted_file() {
    let (_, changes) = landed(&["{ delete = 'kept.txt' }"]);
    assert_eq!(changes, ["D 000000 kept.txt"]);
}

#[test]
fn an_ignored_file_is_no_part_of_the_change() {
    let (_, changes) =
        landed(&["{ write = 'noise.log', text = 'x' }", "{ append = 'kept.txt', text = 'more' }"]);
    assert_eq!(changes, ["M 100644 kept.txt"]);
}

#[test]
fn names_that_are_no_utf_8_or_hold_quotes_and_line_breaks() {
    let (scene, changes) = landed(&[
        "{ run = ['sh', '-c', 'printf x > \"$(printf \"caf\\\\351.txt\")\"'] }",
        "{ write = \"line\\nbreak.txt\", text = 'x' }",
        "{ write = 'quote\".txt', text = 'x' }",
        "{ write = ' leading and trailing ', text = 'x' }",
        "{ write = '-dash', text = 'x' }",
    ]);
    assert_eq!(changes.len(), 5, "{changes:?}");
    let names = scene.repository.git(&["ls-tree", "-r", "--name-only", "windlass/TASK-1"]);
    for name in
        ["\"caf\\351.txt\"", "\"line\\nbreak.txt\"", "\"quote\\\".txt\"", " leading and trailing ", "-dash"]
    {
        assert!(names.lines().any(|line| line == name), "{name} in {names}");
    }
}

#[test]
fn line_ends_and_a_missing_last_one_are_kept_byte_for_byte() {
    let (scene, _) = landed(&["{ write = 'dos.txt', hex = '61 0d 0a 62 0d 0a 63' }"]);
    assert_eq!(scene.repository.git(&["cat-file", "-s", "windlass/TASK-1:dos.txt"]), "7");
}

#[test]
fn staging_committing_amending_and_switching_in_one_round() {
    let (_, changes) = landed(&[
        "{ write = 'staged.txt', text = '1' }",
        "{ run = ['git', 'add', 'staged.txt'] }",
        "{ run = ['git', '-c', 'user.name=x', '-c', 'user.email=x@x', 'commit', '-qm', 'one'] }",
        "{ write = 'amended.txt', text = '2' }",
        "{ run = ['git', 'add', 'amended.txt'] }",
        "{ run = ['git', '-c', 'user.name=x', '-c', 'user.email=x@x', 'commit', '-q', '--amend', '-m', 'two'] }",
        "{ run = ['git', 'checkout', '-q', '-b', 'elsewhere'] }",
        "{ write = 'loose.txt', text = '3' }",
    ]);
    assert_eq!(changes, ["A 100644 amended.txt", "A 100644 loose.txt", "A 100644 staged.txt"]);
}
