//! Whatever an agent plants in the repository's configuration, hooks and attributes, none of it runs in our calls.
#![expect(clippy::unwrap_used, reason = "a helper of a test fails by panicking")]

mod support;

use std::fs;
use std::path::Path;

use support::{NOON, World, chmod, keeping, patch_text, take, text, write};
use windlass_git_workspaces::{
    Checkout, Commit, CommitRequest, FastForward, Identity, Removal, Repository, SnapshotLimits,
};

/// Plants a program in every place git is known to start one from.
fn plant(world: &World, marker: &Path) {
    let program = world.path("planted program");
    write(&program, format!("#!/bin/sh\necho \"$0 $*\" >> '{}'\ncat\n", marker.display()));
    chmod(&program, 0o755);
    let command = format!("'{}'", program.display());
    let hooks = world.path("planted-hooks");
    let events = [
        "post-checkout",
        "reference-transaction",
        "post-index-change",
        "pre-commit",
        "post-commit",
        "commit-msg",
        "post-merge",
        "pre-push",
        "fsmonitor-watchman",
        "pre-auto-gc",
        "post-rewrite",
        "prepare-commit-msg",
    ];
    for event in events {
        for directory in [&hooks, &world.repo.join(".git/hooks")] {
            fs::create_dir_all(directory).unwrap();
            fs::copy(&program, directory.join(event)).unwrap();
            chmod(&directory.join(event), 0o755);
        }
    }
    let included = world.path("included-config");
    write(&included, format!("[core]\n\tfsmonitor = {command}\n[filter \"evil\"]\n\tsmudge = {command}\n"));
    for (key, value) in [
        ("core.fsmonitor", command.as_str()),
        ("core.hooksPath", hooks.to_str().unwrap()),
        ("filter.evil.clean", &command),
        ("filter.evil.smudge", &command),
        ("filter.evil.process", &command),
        ("filter.evil.required", "true"),
        ("diff.evil.textconv", &command),
        ("diff.evil.command", &command),
        ("diff.external", &command),
        ("merge.evil.driver", &command),
        ("include.path", included.to_str().unwrap()),
        ("alias.add", &format!("!{command}")),
        ("alias.read-tree", &format!("!{command}")),
        ("core.sshCommand", &command),
        ("core.pager", &command),
        ("core.editor", &command),
        ("core.askPass", &command),
        ("credential.helper", &command),
        ("gpg.program", &command),
        ("commit.gpgSign", "true"),
        ("core.alternateRefsCommand", &command),
        ("uploadpack.packObjectsHook", &command),
        ("hook.evil.command", &command),
        ("hook.evil.event", "reference-transaction"),
        ("extensions.partialClone", "origin"),
        ("remote.origin.promisor", "true"),
        ("remote.origin.url", &format!("ext::{command}")),
        ("protocol.ext.allow", "always"),
    ] {
        world.git(&world.repo, &["config", "--file", ".git/config", "--add", key, value]);
    }
    write(&world.repo.join(".git/info/attributes"), "* filter=evil diff=evil merge=evil text eol=crlf\n");
}

/// Calls everything there is, on a repository in which the agent may have planted something.
fn whole_life(world: &World, plant_now: impl FnOnce()) {
    let (repository, base) = world.ready();
    plant_now();
    let reopened = Repository::open(
        support::locate_git(),
        Checkout::discover(&world.repo.join("src")).unwrap(),
        &world.path("control"),
    )
    .unwrap();
    assert_eq!(reopened.resolve_commit("main").unwrap(), base);
    assert_eq!(reopened.head().unwrap(), base);
    assert_eq!(reopened.current_branch().unwrap().as_deref(), Some("refs/heads/main"));
    repository.checkout().exclude("/.orchestrator/").unwrap();
    let doer = world.path("doer");
    let worktree = repository.add_worktree(&doer, "work", "doer", &base).unwrap();
    write(&doer.join(".gitattributes"), "* filter=evil diff=evil text eol=crlf ident\n");
    write(&doer.join("readme.txt"), "$Id$ line\r\nline\n");
    write(&doer.join("nested/file"), "x");
    let snapshot = take(&repository, &doer, &base);
    let patch = patch_text(&repository, &base.tree, &snapshot.tree);
    assert!(patch.windows(12).any(|window| window == b"+$Id$ line\r\n"), "bytes were converted");
    let judge = world.path("judge");
    repository.materialise(&judge, "judge", &snapshot.tree).unwrap();
    assert_eq!(fs::read(judge.join("readme.txt")).unwrap(), b"$Id$ line\r\nline\n");
    let before = repository.fingerprint(&judge, "judge").unwrap();
    write(&judge.join("tool.sh"), "#!/bin/sh\n");
    write(&judge.join("x.ignored"), "");
    let drift = repository.drift_since(&before).unwrap();
    assert_eq!((text(&drift.changed), text(&drift.added_ignored)), (vec![], vec!["x.ignored".to_owned()]));
    repository.materialise(&judge, "judge", &base.tree).unwrap();
    let landed = land(&repository, &base, &snapshot.tree);
    repository.publish(&landed, &base.tree).unwrap();
    repository.update_reference("refs/heads/landed", &landed.id, None).unwrap();
    assert_eq!(repository.fast_forward_current(&base, &landed).unwrap(), FastForward::Done);
    repository.restore_worktree(&worktree, "doer", &base.id).unwrap();
    let removal = repository.remove_worktree(&worktree, "doer", &base, &keeping("w")).unwrap();
    assert!(matches!(removal, Removal::Removed { kept: Some(_) }), "{removal:?}");
    repository.delete_branch_if("work", &base.id).unwrap();
    let limits = SnapshotLimits::default();
    repository.snapshot(&judge, "judge", &base.tree, limits).unwrap();
}

fn land(repository: &Repository, base: &Commit, tree: &windlass_git_workspaces::TreeId) -> Commit {
    let me = Identity::new("Landing", "landing@example.com").unwrap();
    let parents = [base.id.clone()];
    let request =
        CommitRequest { tree, parents: &parents, message: "Land", author: &me, committer: &me, time: NOON };
    Commit { id: repository.commit(&request).unwrap(), tree: tree.clone() }
}

#[test]
fn nothing_planted_runs_during_any_call() {
    let world = World::new();
    let marker = world.path("marker");
    whole_life(&world, || plant(&world, &marker));
    assert!(!marker.exists(), "a planted program ran: {}", fs::read_to_string(&marker).unwrap());
    // The trap works: plain git falls into it.
    let _ = world.try_git(&world.repo, &["status"]);
    assert!(marker.exists(), "the planted programs would not have been noticed");
}

#[test]
fn a_configuration_git_cannot_even_read_stops_nothing() {
    let world = World::new();
    whole_life(&world, || write(&world.repo.join(".git/config"), "[this is not a configuration"));
}

#[test]
fn a_repository_nested_by_an_agent_runs_nothing_either() {
    let world = World::new();
    let link = format!("160000,{},sub", world.git(&world.repo, &["rev-parse", "HEAD"]));
    world.git(&world.repo, &["update-index", "--add", "--cacheinfo", &link]);
    world.git(&world.repo, &["commit", "-q", "-m", "submodule"]);
    let (repository, base, doer) = world.with_doer();
    let marker = world.path("marker");
    let program = world.path("planted");
    write(&program, format!("#!/bin/sh\ntouch '{}'\n", marker.display()));
    chmod(&program, 0o755);
    for nested in ["sub", "fresh"] {
        let nested = doer.join(nested);
        fs::create_dir_all(&nested).unwrap();
        world.git(&nested, &["init", "-q"]);
        write(&nested.join("file"), "x");
        world.git(&nested, &["add", "-A"]);
        world.git(&nested, &["commit", "-q", "-m", "x"]);
        world.git(&nested, &["config", "core.fsmonitor", program.to_str().unwrap()]);
        write(&nested.join("file"), "y");
    }
    for _ in 0..2 {
        assert_eq!(take(&repository, &doer, &base).hazards.len(), 2);
    }
    repository.materialise(&doer, "doer", &base.tree).unwrap();
    assert!(!marker.exists(), "the nested repository's program ran");
    assert!(!doer.join("fresh").exists() && fs::read_dir(doer.join("sub")).unwrap().next().is_none());
}
