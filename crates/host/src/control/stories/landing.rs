//! Brings a judged change home. The branch may have moved since the work began: then the two are merged on trees, and what
//! comes out is checked before anybody sees it. A commit says which attempt it is of, so that none lands twice.

use super::office::{Office, Place};
use super::plan::Story;
use crate::context::RunContext;
use crate::control::task_spec::Wanted;
use crate::effect_runner::{author, checks_on, in_the_way};
use crate::fault::{bug, git_fault};
use crate::holder::{IfHeld, Owner, hold_repository};
use std::sync::Arc;
use windlass_control_api::commands::StartRun;
use windlass_control_api::{Code, Fault};
use windlass_git_workspaces::{
    Commit, CommitId, CommitRequest, FastForward, GitError, Moment, ReferenceUpdate, Repository, Side, TreeId,
};
use windlass_protocols::effect::{Purpose, RunChecks, StepLimits};
use windlass_protocols::outcome::CheckResult;
use windlass_protocols::protocol::Spec;
use windlass_protocols::protocol::judged_task::spec::Adopted;
use windlass_protocols::{EffectId, RunId};

/// Stand under every commit of a story: the story's id, a slash and the attempt; and the run that made it.
const STORY: &str = "Windlass-Story";
const RUN: &str = "Windlass-Run";
/// How often a branch that moves under our hands is followed.
const FOLLOWED: u32 = 5;

pub(super) enum Landed {
    At(Commit),
    /// It does not fit what the branch became; somebody has to do it again.
    SentBack(String),
    /// Only a person can make room.
    InTheWay(String),
    Interrupted,
}

/// What the checks said about a tree.
pub(super) enum Colour {
    Green,
    Red(String),
    Interrupted,
}

pub(super) struct Judged<'a> {
    pub(super) story: &'a Story,
    pub(super) attempt: u32,
    pub(super) run: &'a str,
    /// Where the run began, by its own account, and what it made of that: what lands is the difference, never the tree as such.
    pub(super) base: &'a Commit,
    pub(super) commit: &'a Commit,
    pub(super) review: &'a str,
}

impl Judged<'_> {
    pub(super) fn mark(&self) -> String {
        format!("{}/{}", self.story.id, self.attempt)
    }
}

impl Office<'_> {
    /// Where the next story begins.
    pub(super) fn tip(&self) -> Result<Commit, Fault> {
        let start = || match self.repository.head() {
            Err(GitError::UnknownRevision { .. }) => Err(crate::control::task_spec::no_commit_yet()),
            other => other.map_err(git_fault),
        };
        let tip = match &self.place {
            Place::Current => start()?,
            Place::Branch(branch) => {
                let reference = format!("refs/heads/{branch}");
                match self.repository.read_reference(&reference).map_err(git_fault)? {
                    Some(id) => self.repository.commit_of(&id).map_err(git_fault)?,
                    None => start()?,
                }
            }
        };
        self.repository.import(&tip).map_err(git_fault)?;
        Ok(tip)
    }

    /// The commit of this run, if it landed before. Numbers can come twice; a run cannot.
    pub(super) fn landed_before(&self, judged: &Judged<'_>) -> Result<Option<Commit>, Fault> {
        let tip = self.tip()?;
        let known = self.repository.trailers(RUN, &tip.id, &judged.base.id).map_err(git_fault)?;
        let ours = known.into_iter().find(|(_, run)| run == judged.run);
        ours.map(|(id, _)| self.repository.commit_of(&id).map_err(git_fault)).transpose()
    }

    pub(super) async fn land(&self, judged: &Judged<'_>) -> Result<Landed, Fault> {
        let _one_at_a_time = self.landing.lock().await;
        let owner = Owner::this_process("", "windlass orchestrate")?;
        let common_dir = self.checkout.common_dir().to_string_lossy().into_owned();
        let held = hold_repository(self.host, &common_dir, &owner, IfHeld::Wait, self.watcher).await?;
        let landed = self.land_held(judged).await;
        held.release(self.host, landed).await
    }

    async fn land_held(&self, judged: &Judged<'_>) -> Result<Landed, Fault> {
        for _ in 0..FOLLOWED {
            if let Some(commit) = self.landed_before(judged)? {
                return Ok(Landed::At(commit));
            }
            let tip = self.tip()?;
            let tree = match self.merged(judged, &tip).await? {
                Ok(tree) => tree,
                Err(landed) => return Ok(landed),
            };
            let commit = self.commit(judged, &tip, &tree)?;
            windlass_crash_points::reach("story.land");
            if let Some(landed) = self.move_to(&tip, &commit)? {
                windlass_crash_points::reach("story.landed");
                return Ok(landed);
            }
        }
        Ok(Landed::InTheWay("the branch does not stand still; somebody else keeps moving it".to_owned()))
    }

    /// The judged tree where nothing moved; else what git makes of both, once the checks have passed on it.
    async fn merged(&self, judged: &Judged<'_>, tip: &Commit) -> Result<Result<TreeId, Landed>, Fault> {
        let ours = Side { tree: &tip.tree, name: "the branch" };
        let theirs = Side { tree: &judged.commit.tree, name: "the story" };
        let merged = self.repository.merge_trees(&judged.base.tree, ours, theirs).map_err(git_fault)?;
        if !merged.conflicts.is_empty() {
            let paths: Vec<String> = merged.conflicts.iter().map(ToString::to_string).collect();
            let why = format!("it does not fit what landed meanwhile; both changed {}", paths.join(", "));
            return Ok(Err(Landed::SentBack(why)));
        }
        if merged.tree == judged.commit.tree {
            return Ok(Ok(merged.tree));
        }
        Ok(match self.colour(&merged.tree).await? {
            Colour::Green => Ok(merged.tree),
            Colour::Red(why) => Err(Landed::SentBack(format!(
                "together with what landed meanwhile the checks are red: {why}"
            ))),
            Colour::Interrupted => Err(Landed::Interrupted),
        })
    }

    fn commit(&self, judged: &Judged<'_>, tip: &Commit, tree: &TreeId) -> Result<Commit, Fault> {
        let author = author(self.settings.text("author").unwrap_or_default()).map_err(git_fault)?;
        let request = CommitRequest {
            tree,
            parents: std::slice::from_ref(&tip.id),
            message: &self.message(judged),
            author: &author,
            committer: &author,
            time: Moment { seconds: crate::clock::timestamp().as_second(), offset_minutes: 0 },
        };
        self.repository.publish_new(&request, &tip.tree).map_err(git_fault)
    }

    fn message(&self, judged: &Judged<'_>) -> String {
        let plain = |text: &str| text.chars().filter(|letter| !letter.is_control()).collect::<String>();
        let story = judged.story;
        format!(
            "{}: {}\n\n{}\n\n{STORY}: {}\nWindlass-Project: {}\n{RUN}: {}\nWindlass-Tree: {}\n",
            story.name(),
            plain(&story.title),
            plain(judged.review),
            judged.mark(),
            plain(&self.project.slug),
            judged.run,
            judged.commit.tree,
        )
    }

    /// Nothing where the branch moved in the last moment.
    fn move_to(&self, tip: &Commit, commit: &Commit) -> Result<Option<Landed>, Fault> {
        match &self.place {
            Place::Branch(branch) => {
                let reference = format!("refs/heads/{branch}");
                let standing = self.repository.read_reference(&reference).map_err(git_fault)?;
                if standing.as_ref().is_some_and(|standing| *standing != tip.id) {
                    return Ok(None);
                }
                match self.repository.update_reference(&reference, &commit.id, standing.as_ref()) {
                    Ok(ReferenceUpdate::Updated) => Ok(Some(Landed::At(commit.clone()))),
                    Ok(ReferenceUpdate::Conflict { .. }) => Ok(None),
                    Err(error @ (GitError::ReferenceBlocked { .. } | GitError::ReferenceLocked { .. })) => {
                        Ok(Some(Landed::InTheWay(error.to_string())))
                    }
                    Err(error) => Err(git_fault(error)),
                }
            }
            Place::Current => match self.repository.fast_forward_current(tip, commit).map_err(git_fault)? {
                FastForward::Done => Ok(Some(Landed::At(commit.clone()))),
                FastForward::Refused(
                    windlass_git_workspaces::NotFastForwarded::HeadMoved { .. }
                    | windlass_git_workspaces::NotFastForwarded::BranchMoved,
                ) => Ok(None),
                FastForward::Refused(reason) => Ok(Some(Landed::InTheWay(in_the_way(&reason)))),
            },
        }
    }

    /// Keeps what was judged under a name of our own, whatever becomes of the copy it was made in.
    pub(super) fn keep(&self, copy: &Repository, judged: &Judged<'_>) -> Result<String, Fault> {
        self.repository.take_from(copy, judged.commit).map_err(git_fault)?;
        self.repository.publish(judged.commit, &judged.base.tree).map_err(git_fault)?;
        let name = kept_as(&judged.story.id, judged.attempt);
        if self.repository.read_reference(&name).map_err(git_fault)?.as_ref() == Some(&judged.commit.id) {
            return Ok(name);
        }
        match self.repository.update_reference(&name, &judged.commit.id, None).map_err(git_fault)? {
            ReferenceUpdate::Updated => Ok(name),
            ReferenceUpdate::Conflict { .. } => {
                let message = format!("{name} is another commit than {}, which was judged", judged.commit.id);
                Err(Fault::new(Code::NotAllowedNow, message).hint(format!(
                    "`git update-ref -d {name}` takes it away; then give the same command again"
                )))
            }
        }
    }

    /// Whether something was judged in this attempt before.
    pub(super) fn is_kept(&self, story: &str, attempt: u32) -> Result<bool, Fault> {
        let kept = self.repository.read_reference(&kept_as(story, attempt)).map_err(git_fault)?;
        Ok(kept.is_some())
    }

    /// Runs the checks on a tree, unless they are known to have passed on it.
    pub(super) async fn colour(&self, tree: &TreeId) -> Result<Colour, Fault> {
        let commands = self.settings.list("checks");
        let known = self.notes.read(|note| note.green_trees.iter().any(|known| known == tree.as_str()));
        if known || commands.is_empty() {
            return Ok(Colour::Green);
        }
        let Some(results) = self.check(tree, commands).await? else { return Ok(Colour::Interrupted) };
        let red: Vec<String> = results.iter().filter(|result| !result.passed()).map(in_words).collect();
        if red.is_empty() {
            self.notes.write(|note| note.note_green(tree.as_str())).await?;
            return Ok(Colour::Green);
        }
        Ok(Colour::Red(red.join("; ")))
    }

    async fn check(&self, tree: &TreeId, commands: Vec<String>) -> Result<Option<Vec<CheckResult>>, Fault> {
        let context = Arc::new(self.context_for_checks()?);
        let digits = tree.as_str().get(..15).unwrap_or_default();
        let effect = EffectId(u64::from_str_radix(digits, 16).map_err(|error| bug(error.to_string()))?);
        let caps = crate::control::task_spec::caps(&self.settings);
        let limits = StepLimits {
            total: caps.step_time,
            idle: caps.step_idle,
            output_bytes: caps.output_bytes,
            tokens: None,
            cost_micros: None,
        };
        let tree = windlass_protocols::TreeId::new(tree.as_str());
        let asked = RunChecks { purpose: Purpose::Baseline, round: 1, tree, commands, limits };
        checks_on(self.host, context, effect, asked).await
    }

    /// As for a task of this repository that nobody works on.
    pub(super) fn context_for_checks(&self) -> Result<RunContext, Fault> {
        let command = StartRun {
            repository: self.command.repository.clone(),
            directory: self.command.directory.clone(),
            task: "checks".to_owned(),
            ..StartRun::default()
        };
        let wanted = Wanted {
            command: &command,
            settings: &self.settings,
            checkout: &self.checkout,
            repository: &self.repository,
        };
        let mut spec = wanted.spec()?;
        spec.place.run_dir = self.directory.join("checks").to_string_lossy().into_owned();
        // There is no worktree of a run to be put back: the directory is ours alone.
        spec.adopted = Some(Adopted { round: 1, tree: None, handoff: None, verdict: None, audit: None });
        let run = RunId::new(format!("checks-of-{}", self.project.id));
        self.host.run_context(run, Spec::JudgedTask(Box::new(spec)), self.repository.clone(), &self.settings)
    }

    pub(super) fn commit_named(&self, id: &str) -> Result<Commit, Fault> {
        let id = CommitId::parse(id).map_err(git_fault)?;
        let commit = self.repository.commit_of(&id).map_err(git_fault)?;
        self.repository.import(&commit).map_err(git_fault)?;
        Ok(commit)
    }
}

fn kept_as(story: &str, attempt: u32) -> String {
    format!("refs/windlass/stories/{story}/{attempt}")
}

fn in_words(result: &CheckResult) -> String {
    let last = result.tail.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("no output");
    format!("`{}` failed ({})", result.command, last.trim())
}

/// For landing places that can never work.
pub(super) fn refuse_none() -> Fault {
    Fault::new(Code::BadArgument, "stories that land nowhere cannot build on each other")
        .hint("`--land branch` or `--land current`")
}
