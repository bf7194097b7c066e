//! A repository with a control plane of either generation, as a person would have made it, and steps asked of it.

use super::super::site::{Site, Step, Stop};
use super::super::{capture, combine, finalize, publish, set_aside, worktrees};
use super::texts;
use std::fs;
use std::path::{Path, PathBuf};
use windlass_artifact_formats::roadmap_loop::round::sha256_hex;
use windlass_git_workspaces::{Checkout, Git, Repository};
use windlass_process_supervisor::QuickCommand;
use windlass_protocols::protocol::roadmap_rounds::plane::{
    ControllerStage, Evidence, Generation, Plane, RoundSeen, RoundStage, UpdateSeen, UpdateStatus,
    UpdateTrigger,
};
use windlass_protocols::protocol::roadmap_rounds::spec::RoundLimits;
use windlass_protocols::protocol::roadmap_rounds::steps::{
    CaptureWork, CombineWork, FinalizeRound, Held, OpenWorktree, PlaneOutcome, PublishUpdate, RoundWork,
    SetAside, UpdateOpened, WorkCaptured, WorkKind, WorktreePurpose,
};
use windlass_protocols::{CommitId, Digest, Millis, TreeId};

const SEARCH_PATH: &str = "/usr/local/bin:/usr/bin:/bin:/opt/homebrew/bin";
pub(super) const ROUND: &str = "round-004";
pub(super) const BRANCH: &str = "orchestrator/round-004-x";
pub(super) const WORKTREE: &str = "orchestrator/worktrees/round-004";
pub(super) const UPDATE_BRANCH: &str = "orchestrator/roadmap-update-round-004-x";
pub(super) const UPDATE_WORKTREE: &str = "orchestrator/worktrees/roadmap-update-round-004";
pub(super) const STATE: &str = "orchestrator/state.json";

pub(super) struct World {
    root: tempfile::TempDir,
    pub(super) repo: PathBuf,
    pub(super) repository: Repository,
    pub(super) generation: Generation,
}

impl World {
    pub(super) fn new(generation: Generation) -> Self {
        let root = tempfile::tempdir().unwrap();
        let repo = root.path().canonicalize().unwrap().join("repo");
        fs::create_dir_all(&repo).unwrap();
        git(root.path(), &repo, &["init", "-q", "-b", "main"]);
        for (path, text) in texts::plane(generation) {
            write(&repo.join(path), &text);
        }
        write(&repo.join("src/main.rs"), "fn main() {}\n");
        write(&repo.join(".gitignore"), "/orchestrator/worktrees/\n*.log\n");
        git(root.path(), &repo, &["add", "-A"]);
        git(root.path(), &repo, &["commit", "-q", "-m", "first"]);
        let located = Git::locate(SEARCH_PATH.as_ref()).unwrap();
        let checkout = Checkout::discover(&repo).unwrap();
        let repository = Repository::open(located, checkout, &root.path().join("control")).unwrap();
        Self { root, repo, repository, generation }
    }

    /// With a round that is open.
    pub(super) fn with_round(generation: Generation) -> Self {
        let world = Self::new(generation);
        world.open(WorktreePurpose::Round { round: ROUND.to_owned() }).unwrap();
        world
    }

    /// As another process would find it: nothing is remembered.
    pub(super) fn reopened(&self) -> Repository {
        let located = Git::locate(SEARCH_PATH.as_ref()).unwrap();
        let checkout = Checkout::discover(&self.repo).unwrap();
        Repository::open(located, checkout, &self.root.path().join("control")).unwrap()
    }

    pub(super) fn git(&self, arguments: &[&str]) -> String {
        git(self.root.path(), &self.repo, arguments)
    }

    pub(super) fn git_in(&self, place: &str, arguments: &[&str]) -> String {
        git(self.root.path(), &self.repo.join(place), arguments)
    }

    pub(super) fn commit_all(&self, message: &str) {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "-m", message]);
    }

    pub(super) fn write(&self, path: &str, text: &str) {
        write(&self.repo.join(path), text);
    }

    /// In the round's worktree.
    pub(super) fn leave(&self, path: &str, text: &str) {
        self.write(&format!("{WORKTREE}/{path}"), text);
    }

    pub(super) fn read(&self, path: &str) -> String {
        fs::read_to_string(self.repo.join(path)).unwrap()
    }

    pub(super) fn at(&self, revision: &str) -> CommitId {
        CommitId::new(self.git(&["rev-parse", revision]))
    }

    pub(super) fn tree_at(&self, revision: &str) -> TreeId {
        TreeId::new(self.git(&["rev-parse", &format!("{revision}^{{tree}}")]))
    }

    pub(super) fn file_at(&self, revision: &str, path: &str) -> String {
        self.git(&["show", &format!("{revision}:{path}")])
    }

    pub(super) fn names_of(&self, revision: &str) -> Vec<String> {
        let listed = self.git(&["diff-tree", "-r", "--name-only", "--no-commit-id", revision]);
        listed.lines().map(str::to_owned).collect()
    }

    pub(super) fn plane(&self) -> Plane {
        let head = |branch: &str| {
            let found = try_git(self.root.path(), &self.repo, &["rev-parse", "--verify", "-q", branch]);
            found.ok().map(CommitId::new)
        };
        Plane {
            generation: self.generation,
            state: Digest::new("0"),
            bundle: Digest::new("0"),
            stage: ControllerStage::DispatchRounds,
            base_branch: "main".to_owned(),
            base: self.at("main"),
            roadmap_id: texts::FAMILY.to_owned(),
            revision: "rev-001".to_owned(),
            max_parallel: 1,
            rounds: vec![RoundSeen {
                id: ROUND.to_owned(),
                stage: RoundStage::Plan,
                branch: BRANCH.to_owned(),
                worktree: WORKTREE.to_owned(),
                resume_error: None,
                head: head(BRANCH),
                fork: None,
                code_drifted: false,
                roadmap_drifted: false,
                worktree_stands: true,
                evidence: Evidence::default(),
            }],
            update: Some(UpdateSeen {
                trigger: UpdateTrigger::PlannerRequest,
                source_round: ROUND.to_owned(),
                branch: UPDATE_BRANCH.to_owned(),
                worktree: UPDATE_WORKTREE.to_owned(),
                prior_revision: "rev-001".to_owned(),
                proposed_revision: "rev-002".to_owned(),
                status: UpdateStatus::Authoring,
                attempt: 1,
                resume_error: None,
                head: head(UPDATE_BRANCH),
                fork: None,
                worktree_stands: true,
                authored: false,
                author_faults: Vec::new(),
                review: None,
                review_faults: Vec::new(),
                merged: false,
            }),
            errors: std::collections::BTreeMap::new(),
            retry_noted: false,
            milestones: Vec::new(),
            directions: Vec::new(),
            merged_rounds: Vec::new(),
            merged_items: Vec::new(),
            next_number: 5,
            limits: RoundLimits::default(),
            oddities: Vec::new(),
        }
    }

    pub(super) fn site<'a>(&self, repository: &'a Repository, effect: &str) -> Site<'a> {
        Site::for_test(repository, self.root.path().join("effects").join(effect))
    }

    pub(super) fn open(&self, purpose: WorktreePurpose) -> Result<CommitId, String> {
        let (branch, worktree) = match &purpose {
            WorktreePurpose::Update(opened) => (opened.branch.clone(), opened.worktree.clone()),
            WorktreePurpose::Worker { worker, .. } => {
                (format!("orchestrator/{ROUND}-{worker}"), format!("orchestrator/worktrees/{ROUND}-{worker}"))
            }
            WorktreePurpose::Round { .. } | WorktreePurpose::Reopen { .. } => {
                (BRANCH.to_owned(), WORKTREE.to_owned())
            }
        };
        let from = match &purpose {
            WorktreePurpose::Worker { .. } => self.at(BRANCH),
            _ => self.at("main"),
        };
        let asked = OpenWorktree { branch, worktree, from, purpose, decided_at: Millis(1_800_000_000_000) };
        match worktrees::open(&self.site(&self.repository, "open"), &asked, &self.plane()) {
            Ok(PlaneOutcome::WorktreeOpened { head }) => Ok(head),
            Ok(other) => panic!("{other:?}"),
            Err(stop) => Err(words(stop)),
        }
    }

    pub(super) fn update_opened(trigger: UpdateTrigger) -> WorktreePurpose {
        WorktreePurpose::Update(UpdateOpened {
            trigger,
            source_round: ROUND.to_owned(),
            branch: UPDATE_BRANCH.to_owned(),
            worktree: UPDATE_WORKTREE.to_owned(),
            prior_revision: "rev-001".to_owned(),
            proposed_revision: "rev-002".to_owned(),
        })
    }

    pub(super) fn to_capture(&self, kind: WorkKind) -> CaptureWork {
        let (branch, worktree) = match &kind {
            WorkKind::Worker { worker } => {
                (format!("orchestrator/{ROUND}-{worker}"), format!("orchestrator/worktrees/{ROUND}-{worker}"))
            }
            kind if kind.is_of_update() => (UPDATE_BRANCH.to_owned(), UPDATE_WORKTREE.to_owned()),
            _ => (BRANCH.to_owned(), WORKTREE.to_owned()),
        };
        let parent = self.at(&branch);
        let work = RoundWork { round: ROUND.to_owned(), kind };
        CaptureWork { work, branch, worktree, parent, decided_at: Millis(1_800_000_001_000) }
    }

    /// Under the name of an effect, so that it can be asked again.
    pub(super) fn capture_as(&self, asked: &CaptureWork, effect: &str) -> Step<WorkCaptured> {
        let repository = self.reopened();
        match capture::run(&self.site(&repository, effect), asked, &self.plane())? {
            PlaneOutcome::WorkCaptured(captured) => Ok(*captured),
            other => panic!("{other:?}"),
        }
    }

    /// What an agent of that kind left just now.
    pub(super) fn capture(&self, kind: WorkKind) -> WorkCaptured {
        let asked = self.to_capture(kind);
        self.capture_as(&asked, &format!("capture-{}", asked.parent)).unwrap()
    }

    /// Before a reviewer of that kind is asked; `parent` is what was taken down.
    pub(super) fn set_aside(&self, kind: WorkKind, parent: &CommitId) -> CommitId {
        let CaptureWork { work, branch, worktree, decided_at, .. } = self.to_capture(kind);
        let asked = SetAside { work, branch, worktree, parent: parent.clone(), decided_at };
        let repository = self.reopened();
        match set_aside::run(&self.site(&repository, "set-aside"), &asked, &self.plane()) {
            Ok(PlaneOutcome::SetAside { head, .. }) => head,
            other => panic!("{other:?}"),
        }
    }

    pub(super) fn combine(&self, with: &[&str]) -> Step<(CommitId, Vec<String>)> {
        let asked = CombineWork {
            round: ROUND.to_owned(),
            branch: BRANCH.to_owned(),
            worktree: WORKTREE.to_owned(),
            head: self.at(BRANCH),
            with: with.iter().map(|name| self.at(name)).collect(),
            decided_at: Millis(1_800_000_002_000),
        };
        self.combine_as(&asked)
    }

    pub(super) fn combine_as(&self, asked: &CombineWork) -> Step<(CommitId, Vec<String>)> {
        match combine::run(&self.site(&self.repository, "combine"), asked)? {
            PlaneOutcome::WorkCombined { head, conflicts, .. } => Ok((head, conflicts)),
            other => panic!("{other:?}"),
        }
    }

    /// A round in the user's repository that is planned, implemented and approved by this closeout.
    pub(super) fn approved(generation: Generation, closeout: &texts::Closeout) -> Self {
        let world = Self::with_round(generation);
        for (path, text) in texts::planned(generation) {
            world.leave(&path, &text);
        }
        world.capture(WorkKind::Plan);
        world.leave("src/main.rs", "fn main() { work(); }\n");
        world.leave("src/work.rs", "pub fn work() {}\n");
        world.leave(&texts::notes_path(), texts::NOTES);
        world.capture(WorkKind::Implement);
        for (path, text) in texts::reviewed(generation, closeout) {
            world.leave(&path, &text);
        }
        let captured = world.capture(WorkKind::Review);
        assert_eq!(captured.put_back, [""; 0]);
        world
    }

    pub(super) fn to_finalize(&self) -> FinalizeRound {
        let review = texts::approving(self.generation);
        let base = self.at("main");
        FinalizeRound {
            round: ROUND.to_owned(),
            branch: BRANCH.to_owned(),
            worktree: WORKTREE.to_owned(),
            head: self.at(BRANCH),
            refreshed: self.git(&["merge-base", BRANCH, "main"]) != base.as_str(),
            base,
            approval: Digest::new(sha256_hex(self.read(&format!("{WORKTREE}/{review}")).as_bytes())),
            judged: None,
            decided_at: Millis(1_800_000_003_000),
        }
    }

    pub(super) fn finalize(&self, asked: &FinalizeRound) -> Result<CommitId, Held> {
        let repository = self.reopened();
        merged(finalize::run(&self.site(&repository, "finalize"), asked, &self.plane()))
    }

    pub(super) fn to_publish(&self) -> PublishUpdate {
        let review = texts::update_review_path();
        PublishUpdate {
            source_round: ROUND.to_owned(),
            branch: UPDATE_BRANCH.to_owned(),
            worktree: UPDATE_WORKTREE.to_owned(),
            head: self.at(UPDATE_BRANCH),
            base: self.at("main"),
            revision: "rev-002".to_owned(),
            approval: Digest::new(sha256_hex(self.read(&format!("{UPDATE_WORKTREE}/{review}")).as_bytes())),
            decided_at: Millis(1_800_000_004_000),
        }
    }

    pub(super) fn publish(&self, asked: &PublishUpdate) -> Result<CommitId, Held> {
        let repository = self.reopened();
        merged(publish::run(&self.site(&repository, "publish"), asked, &self.plane()))
    }

    /// Git in the worktree shows nothing to commit, on its branch.
    pub(super) fn is_settled(&self, worktree: &str, branch: &str) {
        assert_eq!(self.git_in(worktree, &["status", "--porcelain"]), "");
        assert_eq!(self.git_in(worktree, &["symbolic-ref", "--short", "HEAD"]), branch);
    }
}

fn merged(ended: Step<PlaneOutcome>) -> Result<CommitId, Held> {
    match ended {
        Ok(PlaneOutcome::Merged { commit, .. }) => Ok(commit),
        Err(Stop::Held(held)) => Err(held),
        other => panic!("{other:?}"),
    }
}

pub(super) fn words(stop: Stop) -> String {
    match stop {
        Stop::Refused(why) => why,
        Stop::Held(held) => panic!("{held:?}"),
        Stop::Fault(fault) => panic!("{fault:?}"),
    }
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn git(home: &Path, directory: &Path, arguments: &[&str]) -> String {
    try_git(home, directory, arguments).unwrap_or_else(|stderr| panic!("git {arguments:?}: {stderr}"))
}

fn try_git(home: &Path, directory: &Path, arguments: &[&str]) -> Result<String, String> {
    let command = QuickCommand::new("git", directory).args(arguments.iter().copied());
    let named = [("GIT_AUTHOR_NAME", "A"), ("GIT_AUTHOR_EMAIL", "a@x"), ("GIT_COMMITTER_NAME", "C")];
    let command = command.envs(named).env("GIT_COMMITTER_EMAIL", "c@x").env("GIT_CONFIG_NOSYSTEM", "1");
    let output = command.env("PATH", SEARCH_PATH).env("HOME", home).run().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim_end().to_owned();
    if output.status.success() { Ok(text(&output.stdout)) } else { Err(text(&output.stderr)) }
}
