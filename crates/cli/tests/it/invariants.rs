//! What must hold after every case of every campaign, whatever was done to it, in one place. Of the eight: (1) the journal only
//! grows and can be verified, (2) no agent is started twice or unasked, (3) what landed is what was judged and audited, (4) no
//! process is left, (5) no lock, worktree, branch, temporary file or mount is left, (6) the user's own things are untouched,
//! (7) caps never go back. The eighth, that it ends as undisturbed, each story compares itself. Must not know what was done.

use crate::disturbed::{Books, Remains, Steps};
use crate::scene::Scene;
use std::collections::BTreeSet;
use std::path::Path;
use windlass_test_support::{Repository, Untouched, World, wait_until};

/// A story that is looked after from its beginning.
pub(crate) struct Watched {
    before: Untouched,
    books: Books,
}

/// What is left at its end.
pub(crate) struct Left {
    books: Books,
    remains: Remains,
}

impl Watched {
    pub(crate) fn begin(repository: &Repository) -> Self {
        Self { before: repository.record(), books: Books::default() }
    }

    /// Everything of the user's is as it was.
    #[track_caller]
    pub(crate) fn assert_untouched(&self, repository: &Repository) {
        self.before.assert_holds(repository);
    }

    /// A command has ended, and nobody writes: what is on record may only have grown.
    pub(crate) fn look(&mut self, world: &World, command: &str) {
        let now = Books::read(world);
        assert_eq!(now.since(&self.books), Vec::<String>::new(), "after {command}");
        self.books = now;
    }

    /// The story is over. `own` is what of the user's it changes itself, by the words of [`Untouched::changes`].
    pub(crate) fn end(&self, world: &World, repository: &Repository, own: &[&str]) -> Left {
        // A keeper whose result is taken up already may need a moment to be gone.
        wait_until("the last process to end", || world.processes().is_empty().then_some(()));
        let mut touched = self.before.changes(repository);
        touched.retain(|change| !own.iter().any(|own| change.starts_with(own)));
        assert_eq!(touched, Vec::<String>::new(), "things of the user's");
        assert_eq!(mounts_of_steps(world), Vec::<String>::new(), "mounts");
        let books = Books::read(world);
        assert_eq!(books.since(&self.books), Vec::<String>::new(), "at the end");
        assert_eq!(books.landed_unseen(), Vec::<String>::new());
        for run in books.runs() {
            let _ = world.windlass(&["verify", run]).exits_with(0);
        }
        let remains = Remains::of(world, repository, &books);
        Left { books, remains }
    }
}

impl Left {
    /// What there is too much or too little of, against an undisturbed story.
    pub(crate) fn beyond(&self, undisturbed: &Self, steps: Steps) -> Vec<String> {
        let books = self.books.beyond(&undisturbed.books, steps);
        [books, self.remains.beyond(&undisturbed.remains, steps)].concat()
    }
}

/// Mounts below the world that no test made: those of a step's sandbox or overlay, whoever on this machine still sees them. They
/// are made in namespaces of their own, which live as long as any process that is in one, ours or not.
fn mounts_of_steps(world: &World) -> Vec<String> {
    let root = world.path().to_str().expect("a readable place");
    // What a test lays under a world stands right below it.
    let deep = |place: &&str| place.strip_prefix(root).is_some_and(|inside| inside.matches('/').count() > 1);
    let processes = std::fs::read_dir("/proc").expect("there are processes").flatten();
    // One that ends meanwhile sees nothing any more.
    let seen = processes.filter_map(|process| std::fs::read_to_string(process.path().join("mounts")).ok());
    let places = |mounts: String| -> Vec<String> {
        mounts.lines().filter_map(|line| line.split(' ').nth(1)).filter(deep).map(str::to_owned).collect()
    };
    let all: BTreeSet<String> = seen.flat_map(places).collect();
    all.into_iter().collect()
}

#[test]
fn a_mount_that_only_another_process_sees_is_found() {
    let world = Scene::new().world;
    let (place, made) = (world.path().join("left/place"), world.shared("made"));
    std::fs::create_dir_all(&place).unwrap();
    std::fs::create_dir_all(made.parent().unwrap()).unwrap();
    let line = format!("mount -t tmpfs none {} && : > {} && exec sleep 600", place.display(), made.display());
    let own = if rustix::process::geteuid().is_root() { "-m" } else { "-Urm" };
    let process = world.start(Path::new("/usr/bin/unshare"), &[own, "sh", "-c", &line]);
    wait_until("the mount", || made.exists().then_some(()));
    assert_eq!(mounts_of_steps(&world), [place.to_str().unwrap()]);
    let _ = process.kill();
    wait_until("its end", || mounts_of_steps(&world).is_empty().then_some(()));
}
