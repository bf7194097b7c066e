//! A fingerprint tells whether tracked content is what it was.
#![expect(clippy::unwrap_used, reason = "a helper of a test fails by panicking")]

mod support;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use support::{World, chmod, text, write};
use windlass_git_workspaces::Drift;

/// What is reported after `tamper` worked on a materialised directory.
fn drift_after(tamper: impl FnOnce(&World, &Path)) -> Drift {
    let world = World::new();
    let (repository, base) = world.ready();
    let judge = world.path("judge");
    repository.materialise(&judge, "judge", &base.tree).unwrap();
    let before = repository.fingerprint(&judge, "judge").unwrap();
    tamper(&world, &judge);
    repository.drift_since(&before).unwrap()
}

#[test]
fn an_untouched_directory_has_not_drifted() {
    assert_eq!(drift_after(|_, _| {}), Drift::default());
}

#[test]
fn what_materialising_returns_is_a_fingerprint_whether_git_had_to_run_or_not() {
    let world = World::new();
    let (repository, base) = world.ready();
    let judge = world.path("judge");
    for content in ["HELLO\n", "OTHER\n"] {
        write(&judge.join("left behind"), "by somebody");
        let cleared = repository.materialise(&judge, "judge", &base.tree).unwrap();
        write(&judge.join("left behind"), "by somebody else");
        assert_eq!(text(&repository.drift_since(&cleared).unwrap().added), ["left behind"]);
        repository.materialise(&judge, "judge", &base.tree).unwrap();
        let again = repository.materialise(&judge, "judge", &base.tree).unwrap();
        assert_eq!(repository.drift_since(&again).unwrap(), Drift::default());
        write(&judge.join("readme.txt"), content);
        assert_eq!(text(&repository.drift_since(&again).unwrap().changed), ["readme.txt"]);
        let restored = repository.materialise(&judge, "judge", &base.tree).unwrap();
        assert_eq!(repository.drift_since(&restored).unwrap(), Drift::default());
        write(&judge.join("new.txt"), "new");
        write(&judge.join("readme.txt"), content);
        let drift = repository.drift_since(&restored).unwrap();
        assert_eq!(text(&drift.changed), ["readme.txt"]);
        assert_eq!(text(&drift.added), ["new.txt"]);
    }
}

#[test]
fn an_edit_of_the_same_size_with_restored_times_is_found() {
    let drift = drift_after(|_, judge| {
        let path = judge.join("readme.txt");
        let modified = fs::metadata(&path).unwrap().modified().unwrap();
        write(&path, "HELLO\n");
        fs::File::options().write(true).open(&path).unwrap().set_modified(modified).unwrap();
    });
    assert_eq!(text(&drift.changed), ["readme.txt"]);
    assert!(!drift.tracked_content_is_unchanged());
}

#[test]
fn touched_or_rewritten_files_with_the_same_content_are_fine() {
    let drift = drift_after(|_, judge| {
        write(&judge.join("readme.txt"), "hello\n");
        fs::remove_file(judge.join("src/main.rs")).unwrap();
        write(&judge.join("src/main.rs"), "fn main() {}\n");
        fs::remove_file(judge.join("link")).unwrap();
        symlink("readme.txt", judge.join("link")).unwrap();
    });
    assert_eq!(drift, Drift::default());
}

#[test]
fn deletions_type_changes_modes_and_link_targets_are_found() {
    let drift = drift_after(|_, judge| {
        fs::remove_file(judge.join(".gitignore")).unwrap();
        fs::remove_file(judge.join("readme.txt")).unwrap();
        symlink("tool.sh", judge.join("readme.txt")).unwrap();
        fs::remove_file(judge.join("link")).unwrap();
        symlink("tool.sh", judge.join("link")).unwrap();
        chmod(&judge.join("tool.sh"), 0o644);
        write(&judge.join("src/main.rs"), "longer than before\n");
    });
    assert_eq!(text(&drift.deleted), [".gitignore"]);
    assert_eq!(text(&drift.changed), ["link", "readme.txt", "src/main.rs", "tool.sh"]);
    assert_eq!(text(&drift.added), Vec::<String>::new());
}

#[test]
fn a_directory_swapped_for_a_link_to_the_same_files_is_found() {
    let drift = drift_after(|world, judge| {
        fs::rename(judge.join("src"), world.path("stolen")).unwrap();
        symlink(world.path("stolen"), judge.join("src")).unwrap();
    });
    assert_eq!(text(&drift.changed), ["src/deep/er/data.bin", "src/main.rs"]);
}

#[test]
fn new_files_are_sorted_into_ignored_and_not() {
    let drift = drift_after(|_, judge| {
        write(&judge.join("target/debug/output"), "x");
        write(&judge.join("src/x.ignored"), "x");
        write(&judge.join("src/new.rs"), "x");
        write(&judge.join("reports/result"), "x");
    });
    assert!(drift.tracked_content_is_unchanged());
    assert_eq!(text(&drift.added_ignored), ["src/x.ignored", "target"]);
    assert_eq!(text(&drift.added), ["reports", "src/new.rs"]);
}
