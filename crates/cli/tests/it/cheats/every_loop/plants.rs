//! A maker that plants programs for somebody else's git to run, in every way there is, or puts another repository in the place
//! of its own. Nothing of it ever runs, and what it made is judged as if it had not.

use super::{honest_files, in_every_loop, noted, shell};
use crate::under_attack::{Attacked, Loop};
use std::os::unix::fs::PermissionsExt;

/// `MARK` is a program that leaves a mark where it ran.
const EVERYTHING: &str = "G=$(git rev-parse --git-common-dir); mkdir -p $G/info $G/hooks $G/more; \
    for h in pre-commit post-commit post-checkout post-index-change reference-transaction pre-auto-gc post-rewrite \
    post-merge; do cp MARK $G/hooks/$h; cp MARK $G/more/$h; done; \
    for f in clean smudge process; do git config filter.x.$f MARK; done; \
    for d in textconv command; do git config diff.x.$d MARK; done; \
    echo \"* filter=x diff=x\" > $G/info/attributes; git config diff.external MARK; git config core.pager MARK; \
    for a in diff add commit status write-tree read-tree checkout-index update-ref; do git config alias.$a !MARK; done; \
    git config core.editor MARK; git config gpg.program MARK; git config commit.gpgSign true; \
    printf \"[core]\\n\\tfsmonitor = MARK\\n\" > $G/more/config; git config include.path $G/more/config; \
    git config core.hooksPath $G/more; git config core.fsmonitor MARK";
/// Those that it plants.
const HOOKS: [&str; 8] = [
    "pre-commit",
    "post-commit",
    "post-checkout",
    "post-index-change",
    "reference-transaction",
    "pre-auto-gc",
    "post-rewrite",
    "post-merge",
];
const ANOTHER_REPOSITORY: &str = "rm -rf .git; git init -q .; git config core.fsmonitor MARK";

fn with_a_mark(attacked: &Attacked) -> String {
    let (mark, marked) = (attacked.world.shared("mark.sh"), attacked.world.shared("marked"));
    let program = format!("#!/bin/sh\necho \"$0 $*\" >> {}\ncat\n", marked.display());
    std::fs::write(&mark, program).unwrap();
    std::fs::set_permissions(&mark, std::fs::Permissions::from_mode(0o755)).unwrap();
    mark.display().to_string()
}

/// What of the repository's an agent without a fence can write into.
struct Configured(std::path::PathBuf, Vec<u8>);

impl Configured {
    fn of(attacked: &Attacked) -> Self {
        let git = attacked.repository.path().join(".git");
        let config = std::fs::read(git.join("config")).unwrap();
        Self(git, config)
    }

    /// Before the test's own git runs there: it would run what was planted.
    fn put_back(&self) {
        std::fs::write(self.0.join("config"), &self.1).unwrap();
        let _ = std::fs::remove_dir_all(self.0.join("more"));
        for name in HOOKS {
            let _ = std::fs::remove_file(self.0.join("hooks").join(name));
        }
        let _ = std::fs::remove_file(self.0.join("info/attributes"));
    }
}

fn never_runs(one: Loop) {
    let honest = honest_files(one);
    for (plant, fenced) in
        [(EVERYTHING, true), (EVERYTHING, false), (ANOTHER_REPOSITORY, true), (ANOTHER_REPOSITORY, false)]
    {
        let mut attacked = Attacked::about(one.of_the_maker());
        if !fenced {
            attacked.world.without_sandbox("the attack must be carried out to come to nothing");
        }
        let before = Configured::of(&attacked);
        let plant = plant.replace("MARK", &with_a_mark(&attacked));
        // What the maker's own git set off while planting is the maker's own business.
        let noting = "git config core.fsmonitor > $N/planted || true; rm -f $N/marked";
        let plants = shell(&attacked, &format!("{plant}; {noting}"));
        attacked.before(one.of_the_maker(), &[plants]);
        let ended = attacked.run();
        let run = attacked.world.windlass(&["ls", "--json"]).json()[0]["run"].as_str().unwrap().to_owned();
        for command in ["show", "diff", "verify", "explain"] {
            let _ = attacked.world.windlass(&[command, &run, "--json"]);
        }
        let ran = noted(&attacked, "marked");
        before.put_back();
        let how = format!("{plant}, fenced: {fenced}");
        assert_eq!(ran, "", "the planted program ran: {how}");
        assert!(noted(&attacked, "planted").contains("mark.sh"), "nothing was planted: {how}");
        assert_eq!(ended.code, 0, "{how}: {:#}", ended.outcome);
        assert_eq!(attacked.files(), honest, "{how}");
        let _ = attacked.end(&[]);
    }
}

in_every_loop!(never_runs);
