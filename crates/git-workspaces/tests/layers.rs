//! Workspaces of layers against ordinary directories: whatever is done in one, the look at its upper layer comes to what a
//! snapshot of all of it comes to.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

mod support;

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use support::World;
use windlass_git_workspaces::{
    Hazard, Layers, Pristine, Repository, SnapshotLimits, Standing, TreeId, Unfolded, pristine_checkouts,
    remove_pristine,
};
use windlass_process_supervisor::QuickCommand;
use windlass_test_support::overlays_can_be_tried;

struct Place {
    world: World,
    repository: Repository,
    base: windlass_git_workspaces::Commit,
    pristine: Pristine,
    layers: Layers,
}

impl Place {
    fn new() -> Self {
        Self::of(World::new())
    }

    fn of(world: World) -> Self {
        let (repository, base) = world.ready();
        let pristine = repository.pristine(&world.path("pristine"), &base.tree).unwrap().unwrap();
        let layers = Layers::at(&world.path("layers"));
        layers.make().unwrap();
        fs::create_dir_all(world.path("place")).unwrap();
        Self { world, repository, base, pristine, layers }
    }

    fn place(&self) -> PathBuf {
        self.world.path("place")
    }

    /// Runs a script in the mounted workspace and copies what it then holds to `merged`. `None` where nothing can be mounted
    /// here, and xtask said so.
    #[track_caller]
    fn work(&self, script: &str) -> Option<String> {
        let lower: Vec<String> =
            self.layers.lower(&self.pristine).iter().map(|path| path.display().to_string()).collect();
        let merged = self.world.path("merged");
        let _ = fs::remove_dir_all(&merged);
        let whole = format!(
            "mount -t overlay overlay -o lowerdir={},upperdir={},workdir={},userxattr {place} || exit 99\n\
             cd {place} || exit 98\n{script}\ncd {place} && rm -rf {merged} && cp -a . {merged} && rm -f {merged}/.git\n",
            lower.join(":"),
            self.layers.upper().display(),
            self.layers.work().display(),
            place = self.place().display(),
            merged = merged.display(),
        );
        let own = if rustix::process::geteuid().is_root() { "-m" } else { "-Urm" };
        let output = QuickCommand::new("/usr/bin/unshare", "/")
            .args([own, "/bin/sh", "-c", &whole])
            .env("PATH", support::SEARCH_PATH)
            .env("HOME", self.world.path(""))
            .run();
        let why_missing = match &output {
            Ok(output) if output.status.code() != Some(99) => None,
            Ok(output) => Some(String::from_utf8_lossy(&output.stderr).into_owned()),
            Err(error) => Some(error.to_string()),
        };
        if !overlays_can_be_tried(why_missing) {
            return None;
        }
        let output = output.unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Some(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    fn look(&self, tree: &TreeId) -> windlass_git_workspaces::Snapshot {
        let limits = SnapshotLimits::default();
        self.repository.snapshot_layers((&self.layers, &self.pristine), "key", tree, limits).unwrap()
    }

    #[track_caller]
    fn both_agree(&self, tree: &TreeId, about: &str) -> TreeId {
        let limits = SnapshotLimits::default();
        let whole = self.repository.snapshot(&self.world.path("merged"), "whole", tree, limits).unwrap();
        self.repository.forget_index("whole");
        let upper = self.look(tree);
        assert_eq!(upper.changes, whole.changes, "{about}");
        assert_eq!(upper.tree, whole.tree, "{about}");
        assert_eq!(upper.hazards, whole.hazards, "{about}");
        upper.tree
    }
}

#[test]
fn each_kind_of_change_is_taken_down_as_in_an_ordinary_directory() {
    let scripts = [
        "true",
        "echo x >> readme.txt; touch src/main.rs",
        "rm readme.txt; rm -r src/deep",
        "rm -rf src; echo file > src",
        "rm readme.txt; mkdir readme.txt; echo x > readme.txt/inside",
        "mv src moved; mv tool.sh src.sh",
        "chmod -x tool.sh; chmod +x readme.txt",
        "ln -sf tool.sh link; ln -s ../outside escaping; rm readme.txt; ln -s link readme.txt",
        "echo x > a.ignored; mkdir target; echo x > target/out; echo new > new.txt",
        "echo '*.txt' > .gitignore; echo x > new.txt; echo y >> readme.txt; echo z > z.ignored",
        "rm .gitignore; echo x > now-taken.ignored",
        "echo '!keep.ignored' > src/.gitignore; echo x > src/keep.ignored; echo x > src/lost.ignored",
        "rm -r src; mkdir src; echo '*' > src/.gitignore; echo x > src/hidden; echo m > src/main.rs",
        "ln readme.txt hard; echo more >> hard",
        "mkfifo pipe; echo x > beside",
        "mkdir -p inner/.git; git init -q inner; echo x > inner/file",
        "mkdir empty; rm -r src/deep/er; mkdir -p src/deep/er",
        "printf 'a\\nb' > \"$(printf 'odd\\nname')\"; : > 'with space'",
        "chmod 600 readme.txt; rm tool.sh; cp readme.txt tool.sh",
    ];
    for script in scripts {
        let place = Place::new();
        if place.work(script).is_none() {
            return;
        }
        place.both_agree(&place.base.tree, script);
    }
}

/// Random edits over several rounds; the judged tree is then shown in other layers, where nothing must differ from it.
#[test]
fn whatever_is_edited_the_upper_layer_tells_the_same_tree_and_shows_it_again() {
    for seed in 1..=12_u64 {
        let place = Place::new();
        let mut random = seed;
        for round in 0..3 {
            let script = edits(&mut random);
            if place.work(&script).is_none() {
                return;
            }
            let tree = place.both_agree(&place.base.tree, &format!("seed {seed} round {round}:\n{script}"));
            let judge = Layers::at(&place.world.path("judge"));
            place.repository.show_in_layers(&judge, &place.pristine, &tree).unwrap();
            let judged = Place {
                world: World { root: tempfile::tempdir().unwrap(), repo: place.world.repo.clone() },
                repository: place.repository.clone(),
                base: place.base.clone(),
                pristine: place.pristine.clone(),
                layers: judge,
            };
            fs::create_dir_all(judged.place()).unwrap();
            judged.work("true").unwrap();
            assert_eq!(judged.both_agree(&tree, &script), tree);
            let merged = judged.world.path("merged");
            let found = place.repository.snapshot(&merged, "again", &tree, SnapshotLimits::NONE).unwrap();
            assert_eq!((found.tree, found.changes), (tree, Vec::new()), "seed {seed}:\n{script}");
        }
    }
}

fn edits(random: &mut u64) -> String {
    let mut next = |below: u64| {
        *random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (*random >> 33) % below
    };
    let names = [
        "a",
        "src",
        "src/main.rs",
        "src/deep",
        "src/deep/er",
        "readme.txt",
        "tool.sh",
        "b/c",
        "b",
        "link",
        "x.ignored",
    ];
    let mut script = String::new();
    for _ in 0..6 {
        let at = usize::try_from(next(names.len() as u64)).unwrap();
        let other = usize::try_from(next(names.len() as u64)).unwrap();
        let (one, two, content) = (names[at], names[other], next(1000));
        let step = match next(8) {
            0 => format!("rm -rf {one}"),
            1 | 2 => format!("mkdir -p $(dirname {one}) && echo {content} > {one}"),
            3 => format!("mkdir -p {one} && echo {content} > {one}/new{content}"),
            4 => format!("mv {one} {two}"),
            5 => format!("chmod +x {one}"),
            6 => format!("ln -s {two} {one}"),
            _ => format!("rm -rf {one} && mkdir -p {one} && echo {content} > {one}/again"),
        };
        writeln!(script, "{{ {step}; }} 2>/dev/null").unwrap();
    }
    script + "true"
}

#[test]
fn git_inside_works_and_shows_the_change_against_the_base() {
    let place = Place::new();
    let worktree = place.repository.worktree_at(&place.place()).unwrap();
    let folder = place.world.path("apart");
    fs::create_dir_all(&folder).unwrap();
    let stand = |standing: &Standing<'_>| {
        place.repository.set_apart_in_layers(&worktree, (&folder, &place.layers), standing).unwrap()
    };
    stand(&Standing::AsLeft { branch: "doer", pristine: &place.pristine });
    place.world.git(&place.world.repo, &["branch", "doer"]);
    stand(&Standing::AsLeft { branch: "doer", pristine: &place.pristine });
    let user = "-c user.name=a -c user.email=a@b";
    let script = format!(
        "echo x >> readme.txt; git status --porcelain; git add -A; git {user} commit -qm mine; git status --porcelain; \
         git log --format=%s; echo y > new.txt; rm tool.sh"
    );
    let Some(said) = place.work(&script) else { return };
    assert_eq!(said, " M readme.txt\nmine\nfirst\n");
    let places = stand(&Standing::AsLeft { branch: "doer", pristine: &place.pristine });
    assert_eq!(places, [folder.join("2")], "the commit stays readable in the place before");
    assert_eq!(place.work("git log --format=%s").unwrap(), "mine\nfirst\n");
    assert_eq!(place.world.git(&place.world.repo, &["log", "--format=%s", "doer"]), "first");
    let tree = place.both_agree(&place.base.tree, "after a commit");
    let judge = (place.world.path("judged"), Layers::at(&place.world.path("judge")));
    fs::create_dir_all(&judge.0).unwrap();
    place.repository.show_in_layers(&judge.1, &place.pristine, &tree).unwrap();
    let at = Standing::At { commit: &place.base.id, pristine: &place.pristine, tree: &tree };
    place.repository.set_apart_in_layers(&worktree, (&judge.0, &judge.1), &at).unwrap();
    assert!(place.repository.layers_stand_at(&worktree, (&judge.0, &judge.1), &place.base.id));
    let seen = Place { layers: judge.1.clone(), ..place };
    let said = seen
        .work("git status --porcelain; git diff HEAD --stat | tail -1; git diff; git ls-files | wc -l")
        .unwrap();
    assert_eq!(
        said,
        "A  new.txt\nM  readme.txt\nD  tool.sh\n 3 files changed, 2 insertions(+), 1 deletion(-)\n6\n"
    );
}

#[test]
fn unfolded_it_is_a_worktree_with_every_byte() {
    let place = Place::new();
    let folder = place.world.path("apart");
    fs::create_dir_all(&folder).unwrap();
    place.world.git(&place.world.repo, &["branch", "doer"]);
    let worktree = place.repository.worktree_at(&place.place()).unwrap();
    let standing = Standing::AsLeft { branch: "doer", pristine: &place.pristine };
    place.repository.set_apart_in_layers(&worktree, (&folder, &place.layers), &standing).unwrap();
    let script =
        "echo x > a.ignored; chmod 600 a.ignored; rm -r src; mkdir -p empty/deep; mkfifo pipe; git add -A";
    if place.work(script).is_none() {
        return;
    }
    fs::write(place.place().join("HOW.txt"), "").unwrap();
    let unfolded =
        Unfolded { layers: &place.layers, base: &place.base, branch: "doer", key: "doer", apart: &folder };
    for _ in 0..2 {
        let made = place.repository.unfold(&place.place(), &["HOW.txt"], &unfolded).unwrap();
        assert!(place.repository.stands(&made));
        let path = place.place();
        assert!(
            !path.join("HOW.txt").exists() && !path.join("src").exists() && path.join("empty/deep").is_dir()
        );
        assert_eq!(fs::read_to_string(path.join("a.ignored")).unwrap(), "x\n");
        assert!(path.join("pipe").symlink_metadata().is_ok());
        let status = place.world.git(&path, &["status", "--porcelain"]);
        assert!(status.lines().all(|line| line.starts_with("D  src/")) && !status.is_empty(), "{status}");
    }
}

/// Where the child finds its world.
const WORLD_VARIABLE: &str = "WINDLASS_TEST_WORLD";

/// As deep as no path is long enough for, by steps.
fn make_deep(directory: &Path) {
    let open = |at: std::os::fd::BorrowedFd<'_>, name: &str| {
        let flags = rustix::fs::OFlags::RDONLY | rustix::fs::OFlags::DIRECTORY;
        rustix::fs::openat(at, name, flags, rustix::fs::Mode::empty()).unwrap()
    };
    let name = "n".repeat(250);
    let mut at = open(rustix::fs::CWD, directory.to_str().unwrap());
    for _ in 0..20 {
        rustix::fs::mkdirat(&at, &name, rustix::fs::Mode::RWXU).unwrap();
        at = open(std::os::fd::AsFd::as_fd(&at), &name);
    }
    let flags = rustix::fs::OFlags::WRONLY | rustix::fs::OFlags::CREATE;
    drop(rustix::fs::openat(&at, "leaf", flags, rustix::fs::Mode::RUSR).unwrap());
}

/// What lies in them is taken along, and the worktree then stays, as any with something that git cannot keep.
fn unfolds_closed_directories(root: &Path, mode: u32, is_deep: bool) {
    let checkout = windlass_git_workspaces::Checkout::discover(&root.join("repo")).unwrap();
    let repository = Repository::open(support::locate_git(), checkout, &root.join("control")).unwrap();
    let base = repository.head().unwrap();
    repository.import(&base).unwrap();
    let layers = Layers::at(&root.join("layers"));
    layers.make().unwrap();
    let (place, folder) = (root.join("place"), root.join("apart"));
    for directory in [&place, &folder] {
        fs::create_dir_all(directory).unwrap();
    }
    let closed = layers.upper().join("d");
    support::write(&closed.join("deep/f"), "x");
    if is_deep {
        make_deep(&closed);
    }
    support::chmod(&closed.join("deep"), mode);
    support::chmod(&closed, mode);
    let unfolded = Unfolded { layers: &layers, base: &base, branch: "doer", key: "doer", apart: &folder };
    let worktree = repository.unfold(&place, &[], &unfolded).unwrap();
    let keeping = support::keeping("run/doer");
    let removal = repository.remove_worktree(&worktree, "doer", &base, &keeping).unwrap();
    let stays = matches!(removal, windlass_git_workspaces::Removal::NotEverythingCouldBeKept { .. });
    assert!(stays, "{removal:?}");
    for directory in [place.join("d"), closed] {
        let found = std::os::unix::fs::PermissionsExt::mode(&fs::metadata(&directory).unwrap().permissions());
        assert_eq!(found & 0o777, mode, "{}", directory.display());
        support::chmod(&directory, 0o700);
        support::chmod(&directory.join("deep"), 0o700);
        assert_eq!(fs::read_to_string(directory.join("deep/f")).unwrap(), "x");
        let names = fs::read_dir(&directory).unwrap().count();
        assert_eq!(names, 1 + usize::from(is_deep));
    }
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the parent test hands the world over in the environment")]
fn closed_directories_are_unfolded_by_whom_they_are_closed_to() {
    if let Some(root) = std::env::var_os(WORLD_VARIABLE) {
        assert!(!rustix::process::geteuid().is_root());
        let mode = std::env::var("WINDLASS_TEST_MODE").unwrap().parse().unwrap();
        unfolds_closed_directories(Path::new(&root), mode, false);
        return;
    }
    for mode in [0o000_u32, 0o100, 0o400, 0o444] {
        let world = World::new();
        world.git(&world.repo, &["branch", "doer"]);
        if !rustix::process::geteuid().is_root() {
            unfolds_closed_directories(&world.path(""), mode, false);
            continue;
        }
        world.shell(&world.path(""), "chown -R 65534:65534 .");
        let this = std::env::current_exe().unwrap();
        let test = "closed_directories_are_unfolded_by_whom_they_are_closed_to";
        let user = ["--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all", "--"];
        let output = QuickCommand::new("/usr/bin/setpriv", world.path(""))
            .args(user)
            .arg(&this)
            .args(["--exact", test])
            .env(WORLD_VARIABLE, world.path(""))
            .env("WINDLASS_TEST_MODE", mode.to_string())
            .env("PATH", support::SEARCH_PATH)
            .run()
            .unwrap();
        assert!(output.status.success(), "{mode:o}: {}", String::from_utf8_lossy(&output.stdout));
    }
}

#[test]
fn what_no_path_is_long_enough_for_is_unfolded_and_stays() {
    let world = World::new();
    world.git(&world.repo, &["branch", "doer"]);
    unfolds_closed_directories(&world.path(""), 0o755, true);
}

#[test]
fn one_checkout_serves_everybody_and_can_be_made_again() {
    let place = Place::new();
    let folder = place.world.path("pristine");
    let files = place.pristine.files();
    let inode = |path: &Path| std::os::unix::fs::MetadataExt::ino(&fs::metadata(path).unwrap());
    let before = inode(&files.join("readme.txt"));
    let again = place.repository.pristine(&folder, &place.base.tree).unwrap().unwrap();
    assert_eq!(inode(&again.files().join("readme.txt")), before, "nothing was checked out again");
    let found = pristine_checkouts(&folder);
    assert_eq!(found.len(), 1);
    remove_pristine(&found[0]).unwrap();
    assert!(pristine_checkouts(&folder).is_empty() && fs::read_dir(&folder).unwrap().next().is_none());
    place.repository.pristine(&folder, &place.base.tree).unwrap().unwrap();
    assert!(files.join("readme.txt").exists());
}

#[test]
fn a_link_that_leaves_the_tree_is_a_hazard() {
    let place = Place::new();
    if place.work("ln -s /etc/passwd out").is_none() {
        return;
    }
    let hazards = place.look(&place.base.tree).hazards;
    assert!(matches!(hazards.as_slice(), [Hazard::EscapingLink { .. }]), "{hazards:?}");
}
