//! Patches apply with plain git, whatever the user configured.
#![expect(clippy::unwrap_used, reason = "a helper of a test fails by panicking")]

mod support;

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;

use support::{World, chmod, contents, patch_text, take, write};
use windlass_git_workspaces::{Patch, SnapshotLimits};

fn change_everything(doer: &std::path::Path) {
    write(&doer.join("readme.txt"), "changed\r\nno newline at the end");
    write(&doer.join("binary"), (0..=255).cycle().take(3000).collect::<Vec<u8>>());
    write(&doer.join("src/deep/er/data.bin"), [0, 9, 0]);
    write(&doer.join("empty"), "");
    fs::rename(doer.join("src/main.rs"), doer.join("main with space.rs")).unwrap();
    chmod(&doer.join("main with space.rs"), 0o755);
    chmod(&doer.join("tool.sh"), 0o644);
    fs::remove_file(doer.join("link")).unwrap();
    symlink("src", doer.join("link")).unwrap();
    fs::write(doer.join(OsStr::from_bytes(b"latin-\xe9\n\"")), "x").unwrap();
}

#[test]
fn a_patch_of_every_kind_of_change_applies_with_plain_git() {
    let world = World::new();
    let (repository, base, doer) = world.with_doer();
    change_everything(&doer);
    let snapshot = take(&repository, &doer, &base);
    let patch = world.path("patch.diff");
    write(&patch, patch_text(&repository, &base.tree, &snapshot.tree));
    world.git(&world.repo, &["apply", "--binary", patch.to_str().unwrap()]);
    assert_eq!(contents(&world.repo), contents(&doer));
}

#[test]
fn user_settings_change_neither_patch_nor_tree() {
    let world = World::new();
    let (repository, base, doer) = world.with_doer();
    change_everything(&doer);
    let snapshot = take(&repository, &doer, &base);
    let patch = patch_text(&repository, &base.tree, &snapshot.tree);
    for (key, value) in [
        ("diff.noprefix", "true"),
        ("diff.mnemonicPrefix", "true"),
        ("color.ui", "always"),
        ("color.diff", "always"),
        ("core.autocrlf", "true"),
        ("core.eol", "crlf"),
        ("core.fileMode", "false"),
        ("core.quotePath", "false"),
        ("core.abbrev", "4"),
        ("diff.renames", "copies"),
        ("diff.context", "0"),
        ("diff.algorithm", "patience"),
        ("diff.orderFile", "/dev/null"),
        ("diff.submodule", "log"),
        ("core.excludesFile", "/dev/null"),
    ] {
        world.git(&world.repo, &["config", key, value]);
        fs::copy(world.repo.join(".git/config"), world.root.path().join(".gitconfig")).unwrap();
        let again = repository.snapshot(&doer, key, &base.tree, SnapshotLimits::default()).unwrap();
        assert_eq!(again.tree, snapshot.tree, "{key}");
        assert!(patch_text(&repository, &base.tree, &again.tree) == patch, "{key} changed the patch");
    }
}

#[test]
fn a_patch_beyond_its_limit_is_reported_as_such() {
    let world = World::new();
    let (repository, base, doer) = world.with_doer();
    write(&doer.join("readme.txt"), "x\n".repeat(5000));
    let snapshot = take(&repository, &doer, &base);
    let length = patch_text(&repository, &base.tree, &snapshot.tree).len();
    assert_eq!(repository.patch(&base.tree, &snapshot.tree, 1000).unwrap(), Patch::TooLarge { limit: 1000 });
    assert!(matches!(repository.patch(&base.tree, &snapshot.tree, length).unwrap(), Patch::Complete(_)));
    assert_eq!(repository.patch(&base.tree, &base.tree, 1000).unwrap(), Patch::Complete(Vec::new()));
}
