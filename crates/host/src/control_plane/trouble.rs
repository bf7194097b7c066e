//! Why a control plane cannot be run, in words: which file, which place, which rule, and what can be done about it.

use super::words;
use windlass_artifact_formats::roadmap_loop::plane::{ActiveBundle, Generation, Problem, STATE_FILE};
use windlass_artifact_formats::roadmap_loop::round::Faults;
use windlass_control_api::Code;

/// What kind of thing is wrong, for whoever treats them differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TroubleKind {
    /// There is no control plane here.
    Absent,
    /// A folder of the same name that belongs to another tool.
    Foreign,
    /// The state is meant to be ours and cannot be read.
    Unreadable,
    /// Of the contract before records.
    Legacy,
    MigrationNeeded,
    /// Read, and against a rule.
    Invalid,
    /// Files of the bundle differ from what is committed.
    Uncommitted,
    /// The base branch has a later revision or family than the state knows of.
    Outdated,
    /// Another branch than the base is checked out.
    WrongBranch,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Trouble {
    pub(crate) kind: TroubleKind,
    pub(crate) generation: Option<Generation>,
    /// Each with its file and, where there is one, place and rule.
    pub(crate) sentences: Vec<String>,
    pub(crate) hint: String,
}

impl TroubleKind {
    /// Files that cannot be understood, or a plane that is understood and may not be run as things stand.
    pub(crate) const fn code(self) -> Code {
        match self {
            Self::Absent | Self::Foreign | Self::Unreadable | Self::Invalid => Code::PlaneUnusable,
            Self::Legacy | Self::MigrationNeeded | Self::Uncommitted | Self::Outdated | Self::WrongBranch => {
                Code::NotAllowedNow
            }
        }
    }
}

impl Trouble {
    fn new(kind: TroubleKind, generation: Option<Generation>, sentences: Vec<String>, hint: &str) -> Self {
        Self { kind, generation, sentences, hint: hint.to_owned() }
    }

    pub(super) fn no_plane() -> Self {
        let why = format!("{STATE_FILE}: there is none, so this repository has no control plane");
        Self::new(TroubleKind::Absent, None, vec![why], "`windlass roadmap init` makes one")
    }

    pub(super) fn foreign(why: &str) -> Self {
        let why = format!("{STATE_FILE}: not an orchestrator loop: {why}");
        Self::new(TroubleKind::Foreign, None, vec![why], "the folder is left alone")
    }

    pub(super) fn unreadable(sentences: &[String]) -> Self {
        let hint = "mend the file by hand; nothing was written into it";
        Self::new(TroubleKind::Unreadable, None, sentences.to_vec(), hint)
    }

    pub(super) fn of_faults(kind: TroubleKind, generation: Option<Generation>, faults: &Faults) -> Self {
        let sentences = faults.sentences().iter().map(|sentence| format!("{}: {sentence}", faults.file()));
        let hint = "mend the file by hand; nothing was written into it";
        Self::new(kind, generation, sentences.collect(), hint)
    }

    pub(super) fn of_problems(generation: Generation, problems: &[Problem]) -> Self {
        let sentences = problems.iter().map(ToString::to_string).collect();
        let hint = "mend the files and commit them; nothing was written into them";
        Self::new(TroubleKind::Invalid, Some(generation), sentences, hint)
    }

    pub(super) fn legacy(why: &[String]) -> Self {
        let sentences = why.iter().map(|why| format!("{why} (rule 17.3)")).collect();
        let hint = "`windlass roadmap migrate --dry-run` shows what a migration would write";
        Self::new(TroubleKind::Legacy, None, sentences, hint)
    }

    pub(super) fn migration_needed(why: &[String]) -> Self {
        let sentences = why.iter().map(|why| format!("migration needed: {why} (rule 17.3)")).collect();
        let hint = "`windlass roadmap migrate --dry-run` shows what a migration would write";
        Self::new(TroubleKind::MigrationNeeded, None, sentences, hint)
    }

    pub(super) fn uncommitted(generation: Generation, files: &[String]) -> Self {
        let sentence = |file: &String| format!("{file}: it is not what is committed on the base branch");
        let hint = "commit or undo these edits: rounds are cut from what is committed";
        Self::new(TroubleKind::Uncommitted, Some(generation), files.iter().map(sentence).collect(), hint)
    }

    pub(super) fn not_committed(generation: Generation, files: &[String]) -> Self {
        let sentence =
            |file: &String| format!("{file}: it lies here and is not committed on the base branch");
        let hint = "if `windlass roadmap init` or `migrate` was interrupted, run it again: it finishes what it began; \
            otherwise commit these files";
        Self::new(TroubleKind::Uncommitted, Some(generation), files.iter().map(sentence).collect(), hint)
    }

    pub(super) fn kept_out(generation: Generation, found: &[(String, String)]) -> Self {
        let sentence = |(path, source): &(String, String)| {
            format!("{source}: a rule in it keeps {path} out of git, so no round could be committed")
        };
        let hint = "take the rule away, or let the plane in again by two lines below it: `!/orchestrator/` and \
            `!/orchestrator/**`; only `orchestrator/worktrees` is to be ignored";
        Self::new(TroubleKind::Invalid, Some(generation), found.iter().map(sentence).collect(), hint)
    }

    pub(super) fn strange_places(generation: Generation, sentences: Vec<String>) -> Self {
        let hint = "name a place in that folder, or make the worktree known with `git worktree add`";
        Self::new(TroubleKind::Invalid, Some(generation), sentences, hint)
    }

    pub(super) fn outdated(active: &ActiveBundle, (later, branch): (&str, &str), hint: &str) -> Self {
        let ActiveBundle { roadmap_id, revision, .. } = active;
        let why = format!(
            "{STATE_FILE}: it names {revision} of {roadmap_id}, but {later} is published on {branch} (rule 13.3)"
        );
        Self::new(TroubleKind::Outdated, None, vec![why], hint)
    }

    pub(super) fn wrong_branch(base: &str, stands: &str) -> Self {
        let why = format!("{STATE_FILE}: rounds are merged into {base}, but {stands} is checked out");
        let hint = format!("`git switch {base}`");
        Self::new(TroubleKind::WrongBranch, None, vec![why], &hint)
    }

    /// The base branch cannot be checked out in a round's worktree as long as the checkout around it has it.
    pub(super) fn in_a_worktree(self, around: &std::path::Path) -> Self {
        let around = around.display();
        let hint =
            format!("this is the worktree of a round; the control plane is in {around}: `cd {around}`");
        Self { hint, ..self }
    }

    /// Git lets no second checkout switch to it.
    pub(super) fn checked_out_in(self, base: &str, place: &std::path::Path) -> Self {
        let place = place.display();
        Self { hint: format!("{base} is checked out in {place}: `cd {place}`"), ..self }
    }

    pub(super) fn no_such_branch(base: &str) -> Self {
        let why = format!("{STATE_FILE}: rounds are merged into {base}, but there is no branch {base}");
        let hint = format!("name the branch you mean as `base_branch` in {STATE_FILE}");
        Self::new(TroubleKind::Invalid, None, vec![why], &hint)
    }

    /// All of it in one, for a refusal.
    pub(crate) fn sentence(&self) -> String {
        let generation = self.generation.map(words::generation_word);
        let of = generation.map(|word| format!(" ({word})")).unwrap_or_default();
        format!("the control plane{of} cannot be run: {}; {}", self.sentences.join("; "), self.hint)
    }
}
