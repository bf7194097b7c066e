//! What is taken away is kept first, proven to read back, and can be given back with every byte.
#![expect(clippy::unwrap_used, reason = "a helper of a test fails by panicking")]

mod support;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::time::Duration;

use support::{NOON, World, chmod, contents, write};
use windlass_git_workspaces::{
    Checkout, Commit, GitError, GivenBack, Hazard, IgnoredFiles, Keeping, KeptThing, KeptWhat, Removal,
    Repository, SnapshotLimits, Worktree,
};
use windlass_process_supervisor::QuickCommand;

const ROOMY: IgnoredFiles = IgnoredFiles::Recorded(SnapshotLimits { paths: 100, bytes: 1 << 20 });

fn keeping(name: &str) -> Keeping<'_> {
    Keeping { name, time: NOON, ignored: ROOMY }
}

/// Every kind of thing that somebody may leave in a worktree.
fn leave_everything(world: &World, doer: &Path) {
    write(&doer.join("committed"), "c");
    world.git(doer, &["add", "-A"]);
    world.git(doer, &["commit", "-q", "-m", "mine"]);
    write(&doer.join("staged"), "as it was staged\n");
    world.git(doer, &["add", "staged"]);
    write(&doer.join("staged"), "and then changed\n");
    write(&doer.join("untracked/deep/er"), b"\0\xff\r\n".as_slice());
    write(&doer.join("notes.ignored"), "only copy\n");
    write(&doer.join("target/build/out"), "output");
    fs::create_dir_all(doer.join("empty/one")).unwrap();
    fs::create_dir_all(doer.join("target/empty")).unwrap();
    fs::remove_file(doer.join("src/main.rs")).unwrap();
    write(&doer.join("run.sh"), "#!/bin/sh\n");
    chmod(&doer.join("run.sh"), 0o755);
    write(&doer.join("secret"), "s");
    chmod(&doer.join("secret"), 0o600);
    chmod(&doer.join("untracked"), 0o700);
    symlink("nowhere at all", doer.join("dangling")).unwrap();
    symlink("/etc/hostname", doer.join("absolute")).unwrap();
}

/// What git tells of a worktree, and where it stands.
fn told(world: &World, doer: &Path) -> [String; 4] {
    let git = |arguments: &[&str]| world.git(doer, arguments);
    [
        git(&["status", "--porcelain", "--ignored", "-uall"]),
        git(&["diff", "--cached"]),
        git(&["diff"]),
        git(&["rev-parse", "--symbolic-full-name", "HEAD"]),
    ]
}

fn removed(repository: &Repository, worktree: &Worktree, base: &Commit) {
    let removal = repository.remove_worktree(worktree, "doer", base, &keeping("run/doer")).unwrap();
    assert!(matches!(removal, Removal::Removed { kept: Some(_) }), "{removal:?}");
}

fn only_kept(repository: &Repository) -> KeptThing {
    let mut kept = repository.kept_things("").unwrap();
    assert_eq!(kept.len(), 1, "{kept:?}");
    kept.remove(0)
}

#[test]
fn a_worktree_comes_back_with_every_byte_and_everything_git_knew_of_it() {
    let world = World::new();
    let (repository, base, doer) = world.with_doer();
    leave_everything(&world, &doer);
    let (before, said) = (contents(&doer), told(&world, &doer));
    let worktree = repository.worktree_at(&doer).unwrap();
    removed(&repository, &worktree, &base);
    let tip = repository.resolve_commit("work").unwrap().id;
    let branch = Keeping { name: "run/doer-branch", ..keeping("") };
    repository.keep_branch("work", &tip, &branch).unwrap();
    repository.delete_branch_if("work", &tip).unwrap();
    assert!(!doer.exists());
    world.git(&world.repo, &["gc", "-q", "--prune=now"]);
    // Another control directory knows nothing; the user's repository has all of it.
    fs::remove_dir_all(world.path("control")).unwrap();
    let repository = world.open();
    let kept = repository.kept_things("run").unwrap();
    let names: Vec<&str> = kept.iter().map(|kept| kept.name.as_str()).collect();
    assert_eq!(names, ["run/doer", "run/doer-branch"]);
    assert_eq!(kept[0].at, NOON.seconds);
    assert_eq!(kept[1].what, KeptWhat::Branch { name: "work".to_owned(), tip: tip.clone() });
    for kept in kept.iter().rev() {
        assert_eq!(repository.give_back(kept).unwrap(), GivenBack::Done);
    }
    assert_eq!(contents(&doer), before);
    assert_eq!(told(&world, &doer), said);
    assert_eq!(fs::symlink_metadata(doer.join("untracked")).unwrap().permissions_mode(), 0o700);
    assert_eq!(world.git(&world.repo, &["rev-parse", "work"]), tip.as_str());
    for kept in &kept {
        assert_eq!(repository.give_back(kept).unwrap(), GivenBack::Stands);
    }
    world.git(&world.repo, &["fsck", "--strict"]);
}

trait Permissions {
    fn permissions_mode(&self) -> u32;
}

impl Permissions for fs::Metadata {
    fn permissions_mode(&self) -> u32 {
        std::os::unix::fs::PermissionsExt::mode(&self.permissions()) & 0o7777
    }
}

#[test]
fn what_does_not_read_back_is_not_deleted() {
    let world = World::new();
    let (repository, base, doer) = world.with_doer();
    write(&doer.join("new"), "work\n");
    // Somebody emptied an object of the user's repository that the kept tree needs and that is there already.
    let blob = world.git(&world.repo, &["rev-parse", "HEAD:readme.txt"]);
    let object = world.repo.join(".git/objects").join(&blob[..2]).join(&blob[2..]);
    let whole = fs::read(&object).unwrap();
    chmod(&object, 0o644);
    for damage in [&b""[..], &whole[..whole.len() / 2], b"not an object"] {
        write(&object, damage);
        let worktree = repository.worktree_at(&doer).unwrap();
        let error = repository.remove_worktree(&worktree, "doer", &base, &keeping("w")).unwrap_err();
        assert!(matches!(error, GitError::NotReadBack { .. }), "{error}");
        assert!(doer.join("new").exists());
    }
    // Another content under its name: git reads it, only its hash tells.
    let other = world.path("other");
    write(&other, "forged\n");
    let forged = world.git(&world.repo, &["hash-object", "-w", other.to_str().unwrap()]);
    fs::copy(world.repo.join(".git/objects").join(&forged[..2]).join(&forged[2..]), &object).unwrap();
    let worktree = repository.worktree_at(&doer).unwrap();
    let error = repository.remove_worktree(&worktree, "doer", &base, &keeping("w")).unwrap_err();
    assert!(matches!(error, GitError::NotReadBack { .. }), "{error}");
    chmod(&object, 0o644);
    write(&object, &whole);
    let removal = repository.remove_worktree(&worktree, "doer", &base, &keeping("w")).unwrap();
    assert!(matches!(removal, Removal::Removed { kept: Some(_) }), "{removal:?}");
    // The same is asked before anything is given back.
    let kept = only_kept(&repository);
    write(&object, b"");
    assert!(matches!(repository.give_back(&kept), Err(GitError::NotReadBack { .. })));
    assert!(!doer.exists());
}

#[test]
fn nothing_is_written_over_what_stands_there_now() {
    let world = World::new();
    let (repository, base, doer) = world.with_doer();
    write(&doer.join("new"), "work\n");
    let worktree = repository.worktree_at(&doer).unwrap();
    removed(&repository, &worktree, &base);
    let kept = only_kept(&repository);
    write(&doer.join("somebody elses"), "x");
    assert!(matches!(repository.give_back(&kept).unwrap(), GivenBack::Taken(_)));
    assert_eq!(contents(&doer).len(), 1);
    fs::remove_dir_all(&doer).unwrap();
    // The branch went on: the worktree stands where it stood, on no branch.
    world.git(&world.repo, &["branch", "-f", "work", "HEAD"]);
    world.git(&world.repo, &["commit", "-q", "--allow-empty", "-m", "on"]);
    world.git(&world.repo, &["branch", "-f", "work", "HEAD"]);
    assert_eq!(repository.give_back(&kept).unwrap(), GivenBack::Done);
    assert_eq!(world.git(&doer, &["rev-parse", "HEAD"]), base.id.as_str());
    assert_eq!(world.git(&doer, &["status", "--porcelain"]), "?? new");
}

#[test]
fn a_second_removal_keeps_what_changed_since_and_the_first_stays_reachable() {
    let world = World::new();
    let (repository, base, doer) = world.with_doer();
    write(&doer.join("new"), "one\n");
    let worktree = repository.worktree_at(&doer).unwrap();
    removed(&repository, &worktree, &base);
    let first = only_kept(&repository);
    repository.give_back(&first).unwrap();
    removed(&repository, &worktree, &base);
    assert_eq!(only_kept(&repository), first, "nothing changed, so nothing new is kept");
    repository.give_back(&first).unwrap();
    // Only the index differs: the same files, staged.
    world.git(&doer, &["add", "new"]);
    removed(&repository, &worktree, &base);
    let second = only_kept(&repository);
    assert_ne!(second.commit, first.commit);
    world.git(&world.repo, &["merge-base", "--is-ancestor", first.commit.as_str(), second.commit.as_str()]);
    repository.give_back(&second).unwrap();
    assert_eq!(world.git(&doer, &["status", "--porcelain"]), "A  new");
}

#[test]
fn caches_are_kept_while_they_are_small_and_left_out_by_name_when_they_are_not() {
    let world = World::new();
    let (repository, base, doer) = world.with_doer();
    write(&doer.join("notes.ignored"), "only copy\n");
    write(&doer.join("target/CACHEDIR.TAG"), "Signature: 8a477f597d28d172789f06886806bc55\n");
    write(&doer.join("target/debug/big"), "x".repeat(4_000));
    write(&doer.join(".gitignore"), "*.ignored\n/target/\nnode_modules/\n");
    write(&doer.join("web/node_modules/x/index.js"), "y".repeat(4_000));
    let worktree = repository.worktree_at(&doer).unwrap();
    let with = |bytes| IgnoredFiles::Recorded(SnapshotLimits { paths: 100, bytes });
    let obstacle = |ignored| repository.obstacle_to_removal(&worktree, "doer", &base, ignored).unwrap();
    assert_eq!(obstacle(with(100_000)), None);
    let keep =
        |ignored| repository.keep(&worktree, "doer", &base, &Keeping { ignored, ..keeping("w") }).unwrap();
    let files = || world.git(&world.repo, &["ls-tree", "-r", "--name-only", "refs/windlass/kept/w"]);
    assert_eq!(keep(with(100_000)).left_out, None);
    assert!(files().contains("target/debug/big") && files().contains("node_modules"));
    let left_out = keep(with(5_000)).left_out.unwrap();
    assert_eq!((left_out.files, left_out.caches.len()), (3, 2), "{left_out:?}");
    assert!(!files().contains("target") && !files().contains("node_modules"), "{}", files());
    assert!(files().contains("notes.ignored"));
    // What cannot be made again and is too much keeps the whole worktree from going, unless others vouch for it.
    let kept = keep(with(5));
    assert!(matches!(kept.hazards.as_slice(), [Hazard::TooMuchIgnored { files: 1, .. }]), "{kept:?}");
    let kept = keep(IgnoredFiles::RecordedIfFew(SnapshotLimits { paths: 100, bytes: 5 }));
    assert!(kept.hazards.is_empty() && kept.left_out.unwrap().files == 4);
}

/// A git that does this once everything was kept, when it is asked to read that back.
fn with_git_that_also(world: &World, script: &str) -> (Repository, Commit) {
    let (repository, git) = world.with_removable_git();
    let real = git.read_link().unwrap();
    fs::remove_file(&git).unwrap();
    let lines =
        format!("case \"$*\" in *verify-objects*) {script} ;; esac\nexec {} \"$@\"\n", real.display());
    write(&git, format!("#!/bin/sh\n{lines}"));
    chmod(&git, 0o755);
    let base = repository.head().unwrap();
    repository.import(&base).unwrap();
    repository.add_worktree(&world.path("doer"), "work", "doer", &base).unwrap();
    (repository, base)
}

#[test]
fn what_is_written_after_the_last_look_is_kept_before_it_goes() {
    for (late, content) in [("late.txt", "late\n"), ("readme.txt", "late\n"), ("a.ignored", "late\n")] {
        let world = World::new();
        let doer = world.path("doer");
        let file = doer.join(late);
        let (repository, base) = with_git_that_also(&world, &format!("echo late > {}", file.display()));
        removed(&repository, &repository.worktree_at(&doer).unwrap(), &base);
        assert!(!doer.exists());
        assert!(matches!(repository.give_back(&only_kept(&repository)).unwrap(), GivenBack::Done));
        assert_eq!(fs::read_to_string(&file).unwrap(), content);
    }
}

#[test]
fn a_worktree_in_which_somebody_never_stops_writing_stays() {
    let world = World::new();
    let doer = world.path("doer");
    let script = format!("echo more >> {}", doer.join("late.txt").display());
    let (repository, base) = with_git_that_also(&world, &script);
    let worktree = repository.worktree_at(&doer).unwrap();
    let removal = repository.remove_worktree(&worktree, "doer", &base, &keeping("run/doer")).unwrap();
    assert!(matches!(removal, Removal::WrittenInMeanwhile { .. }), "{removal:?}");
    assert_eq!(fs::read_to_string(doer.join("late.txt")).unwrap().lines().count(), 3);
    assert!(repository.stands(&worktree));
}

#[test]
fn what_was_only_staged_is_kept_of_an_index_in_two_parts_too() {
    let world = World::new();
    world.git(&world.repo, &["config", "core.splitIndex", "true"]);
    let (repository, base, doer) = world.with_doer();
    leave_everything(&world, &doer);
    let admin = world.git(&doer, &["rev-parse", "--absolute-git-dir"]);
    let shared = |entry: &fs::DirEntry| entry.file_name().to_string_lossy().starts_with("sharedindex.");
    assert!(fs::read_dir(&admin).unwrap().flatten().any(|entry| shared(&entry)), "it is split");
    let (before, said) = (contents(&doer), told(&world, &doer));
    removed(&repository, &repository.worktree_at(&doer).unwrap(), &base);
    world.git(&world.repo, &["prune", "--expire=now"]);
    assert!(matches!(repository.give_back(&only_kept(&repository)).unwrap(), GivenBack::Done));
    assert_eq!(contents(&doer), before);
    assert_eq!(told(&world, &doer), said);
    assert_eq!(world.git(&doer, &["show", ":staged"]), "as it was staged");
}

#[test]
fn a_repository_in_the_place_of_git_keeps_a_worktree_from_going() {
    let world = World::new();
    let (repository, base, doer) = world.with_doer();
    fs::remove_file(doer.join(".git")).unwrap();
    world.git(&doer, &["init", "-q"]);
    world.git(&doer, &["commit", "-q", "--allow-empty", "-m", "only here"]);
    let worktree = repository.worktree_at(&doer).unwrap();
    let removal = repository.remove_worktree(&worktree, "doer", &base, &keeping("run/doer")).unwrap();
    assert!(matches!(removal, Removal::NotEverythingCouldBeKept { .. }), "{removal:?}");
    assert_eq!(world.git(&doer, &["log", "--format=%s"]), "only here");
}

/// Where the child finds its world.
const WORLD_VARIABLE: &str = "WINDLASS_TEST_WORLD";

/// Takes the worktree and its branch away and gives both back, written so that it can be started again at any time.
fn scenario(root: &Path) {
    let checkout = Checkout::discover(&root.join("repo")).unwrap();
    let repository = Repository::open(support::locate_git(), checkout, &root.join("control")).unwrap();
    let base = repository.resolve_commit("refs/heads/base").unwrap();
    repository.import(&base).unwrap();
    let (doer, turned) = (root.join("doer"), root.join("turned"));
    let worktree = repository.worktree_at(&doer).unwrap();
    // The mark is the test's own memory of how far it came.
    if !turned.exists() {
        let removal = repository.remove_worktree(&worktree, "doer", &base, &keeping("run/doer")).unwrap();
        assert!(matches!(removal, Removal::Removed { .. }), "{removal:?}");
        if let Some(tip) = repository.read_reference("refs/heads/work").unwrap() {
            let branch = Keeping { name: "run/doer-branch", ..keeping("") };
            repository.keep_branch("work", &tip, &branch).unwrap();
            repository.delete_branch_if("work", &tip).unwrap();
        }
        fs::write(&turned, "").unwrap();
    }
    for kept in repository.kept_things("run").unwrap().iter().rev() {
        assert!(matches!(repository.give_back(kept).unwrap(), GivenBack::Done | GivenBack::Stands));
    }
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the parent test hands the world over in the environment")]
fn the_scenario_runs_through() {
    if let Some(root) = std::env::var_os(WORLD_VARIABLE) {
        scenario(Path::new(&root));
    }
}

fn prepared() -> World {
    let world = World::new();
    world.git(&world.repo, &["branch", "base"]);
    let (_, _, doer) = world.with_doer();
    leave_everything(&world, &doer);
    world
}

fn run_child(root: &Path, variable: (&str, &str)) -> bool {
    let command = QuickCommand::new(std::env::current_exe().unwrap(), root)
        .args(["--exact", "the_scenario_runs_through"])
        .env(WORLD_VARIABLE, root)
        .env("PATH", "/usr/bin:/bin")
        .env(variable.0, variable.1)
        .deadline(Duration::from_secs(50));
    let output = command.run().unwrap();
    let killed = output.status.code().is_none();
    assert!(killed || output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    killed
}

/// Whoever is killed while taking away or giving back, a second try gives back everything; and so does one that first
/// takes away again what was half given back.
fn check_crash_points(share: u32) {
    let world = prepared();
    let log = world.path("points");
    assert!(!run_child(&world.path(""), ("WINDLASS_CRASH_LOG", log.to_str().unwrap())));
    let points = fs::read_to_string(&log).unwrap().lines().count();
    assert!(points > 40, "only {points} crash points");
    for number in (1..=u32::try_from(points).unwrap()).filter(|number| number % 3 == share) {
        let world = prepared();
        let doer = world.path("doer");
        let (before, said) = (contents(&doer), told(&world, &doer));
        assert!(run_child(&world.path(""), ("WINDLASS_CRASH_AT", &number.to_string())), "point {number}");
        if number % 2 == 0 {
            let _ = fs::remove_file(world.path("turned"));
        }
        assert!(!run_child(&world.path(""), ("NOTHING", "")));
        assert_eq!(contents(&doer), before, "killed at point {number}");
        assert_eq!(told(&world, &doer), said, "killed at point {number}");
        world.git(&world.repo, &["fsck", "--strict"]);
    }
}

#[test]
fn a_kill_at_any_point_loses_nothing_first_third() {
    check_crash_points(0);
}

#[test]
fn a_kill_at_any_point_loses_nothing_second_third() {
    check_crash_points(1);
}

#[test]
fn a_kill_at_any_point_loses_nothing_last_third() {
    check_crash_points(2);
}
