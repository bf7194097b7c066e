//! The work on one attempt: a task loop in a copy of the repository, begun, resumed or read back from the journal.

use super::attempt::Attempt;
use super::checkpoint::Hand;
use super::evidence;
use super::identities::Identity;
use super::office::Office;
use crate::control::{find, resume, start};
use crate::durable_file::ensure;
use crate::fault::{bug, git_fault, journal_fault};
use crate::headline;
use crate::state_dir::make_private;
use std::path::PathBuf;
use windlass_artifact_formats::Reading;
use windlass_artifact_formats::story_queue::{Criterion, StoryBrief, StoryReview, reviewer_prompt};
use windlass_artifact_formats::task_loop::VerdictReport;
use windlass_control_api::Fault;
use windlass_control_api::commands::{JudgedCriterion, ResumeRun, SettingValue, StartRun, StopRun};
use windlass_control_api::events::{Event, Tone, Watcher};
use windlass_control_api::views::Status;
use windlass_engine::{Journal, RunHead};
use windlass_git_workspaces::{Checkout, Commit, Repository};
use windlass_protocols::protocol::Protocol;
use windlass_protocols::protocol::judged_task::state::State;

/// The fact of a task loop that its change lies on a branch.
const LANDED_KIND: &str = "landed";

pub(super) enum Worked {
    Made(Box<Made>),
    /// Nothing came of it; the agents or their limits gave out.
    Failed {
        why: String,
        run: String,
    },
    Waits {
        why: String,
        run: String,
    },
    Interrupted,
}

/// A change that was made and judged, for better or worse.
pub(super) struct Made {
    pub(super) run: String,
    pub(super) copy: Repository,
    /// Where the run itself began, and what it made of that.
    pub(super) base: Commit,
    pub(super) commit: Commit,
    pub(super) review: StoryReview,
    /// Findings of earlier rounds, all fixed by the last one.
    pub(super) fixed: u32,
}

impl Attempt<'_> {
    pub(super) async fn work(&self, implementer: &Identity) -> Result<Worked, Fault> {
        let office = self.office;
        let base = office.commit_named(&self.hand.base)?;
        let place = self.place(implementer);
        make_private(&place)?;
        office.repository.copy_to(&place, &base).map_err(git_fault)?;
        let checkout = Checkout::discover(&place).map_err(git_fault)?;
        let common_dir = checkout.common_dir().to_string_lossy().into_owned();
        let watcher = Prefixed { name: self.story.name(), inner: office.watcher };
        let status = match run_in(office, &common_dir).await? {
            None => {
                let command = self.command(place).await?;
                let began = start::start_for(office.host, command, Some(&office.checkout), &watcher).await?;
                began.status
            }
            Some(head) => {
                let line = headline::line(&head, false);
                // A person who says "again" says it to the run that waits as well: its reviewer is asked once more.
                let again = line.status == Status::NeedsHuman && self.is_asked_again();
                if line.status == Status::Interrupted || again {
                    let command = ResumeRun { run: head.run.to_string(), wait: true, ..ResumeRun::default() };
                    resume::resume(office.host, command, &watcher).await?.status
                } else {
                    line.status
                }
            }
        };
        let Some(head) = run_in(office, &common_dir).await? else {
            return Err(bug("a run was driven and is not in the journal"));
        };
        let copy = office.host.repository(checkout)?;
        self.read(status, &head, copy).await
    }

    /// The story is no longer ours: whoever still works on it is told to end.
    pub(super) async fn abandon(&self) -> Result<(), Fault> {
        let Some(implementer) = self.office.identities.known(&self.part()) else { return Ok(()) };
        let Ok(checkout) = Checkout::discover(&self.place(&implementer)) else { return Ok(()) };
        let common_dir = checkout.common_dir().to_string_lossy().into_owned();
        let Some(head) = run_in(self.office, &common_dir).await? else { return Ok(()) };
        if headline::line(&head, false).status != Status::Interrupted {
            return Ok(());
        }
        let reason = "the story was taken back".to_owned();
        resume::stop(self.office.host, StopRun { run: head.run.to_string(), reason }).await.map(drop)
    }

    /// The run in which this implementer worked, if there is one.
    pub(super) async fn run_of(&self, implementer: &Identity) -> Result<Option<String>, Fault> {
        let Ok(checkout) = Checkout::discover(&self.place(implementer)) else { return Ok(None) };
        let common_dir = checkout.common_dir().to_string_lossy().into_owned();
        Ok(run_in(self.office, &common_dir).await?.map(|head| head.run.to_string()))
    }

    fn is_asked_again(&self) -> bool {
        let (id, name, number) = (&self.story.id, self.story.name(), &self.story.number);
        let named = |word: &&String| *word == id || **word == *number || word.eq_ignore_ascii_case(&name);
        self.office.command.retry.iter().any(|word| named(&word))
    }

    /// Of this very claim: who made it, of which words, from which commit on. A run that lies in it is of nothing else.
    fn place(&self, implementer: &Identity) -> PathBuf {
        let Hand { attempt, base, wording, .. } = &self.hand;
        let claim = crate::evidence::digest(format!("{} {base} {wording}", implementer.agent).as_bytes());
        let claim = claim.as_str().get(..12).unwrap_or_default();
        self.office.copies().join(format!("{}-{attempt}-{claim}", self.story.id))
    }

    fn task_id(&self) -> String {
        format!("{}-{}", self.story.name(), self.hand.attempt)
    }

    async fn command(&self, place: PathBuf) -> Result<StartRun, Fault> {
        let office = self.office;
        let story = &self.story;
        let brief = StoryBrief {
            number: story.name(),
            title: story.title.clone(),
            description: story.description.clone(),
            mission: office.project.mission.clone(),
            criteria: story.criteria.clone(),
            sent_back: office.sent_back(&story.id).await?,
        };
        let mut settings = office.command.settings.clone();
        let given = |name: &str| office.command.settings.iter().any(|(key, _)| key == name);
        if !given("rounds") {
            settings.push(("rounds".to_owned(), SettingValue::Number(1)));
        }
        if let Some(until) = office.until.filter(|_| !given("max-minutes")) {
            let left = until.left().as_secs().div_ceil(60).max(1);
            settings.push(("max-minutes".to_owned(), SettingValue::Number(left)));
        }
        if office.settings.text("judge-prompt").is_none() {
            let file =
                office.directory.join("prompts").join(format!("{}-{}.md", story.id, self.hand.attempt));
            make_private(file.parent().unwrap_or(&office.directory))?;
            ensure(&file, reviewer_prompt(&self.task_id(), &story.criteria).as_bytes())?;
            settings
                .push(("judge-prompt".to_owned(), SettingValue::Text(file.to_string_lossy().into_owned())));
        }
        settings.retain(|(key, _)| key != "land");
        settings.push(("land".to_owned(), SettingValue::Text("branch".to_owned())));
        Ok(StartRun {
            repository: place,
            directory: office.command.directory.clone(),
            task: brief.task_text(),
            task_id: Some(self.task_id()),
            base: Some("main".to_owned()),
            criteria: story.criteria.iter().map(to_judge).collect(),
            settings,
            yes: office.command.yes,
            wait: true,
            ..StartRun::default()
        })
    }

    async fn read(&self, status: Status, head: &RunHead, copy: Repository) -> Result<Worked, Fault> {
        let run = head.run.to_string();
        let (_, _, state) = find::run(self.office.host, &run).await?;
        let Protocol::JudgedTask(task) = find::protocol(&state)? else {
            return Err(bug("another loop's run lies in the copy"));
        };
        let base = self.office.commit_named(task.spec.place.base.as_str())?;
        let explained = windlass_protocols::explain::explain(&state);
        let because = || {
            let mut words = vec![explained.now.clone()];
            words.extend(explained.because.iter().cloned());
            words.join("; ")
        };
        match status {
            Status::Accepted => {
                let Some((id, _)) = &task.landed else {
                    return Ok(Worked::Waits { why: because(), run });
                };
                let id = crate::context::git_commit(id)?;
                let commit = copy.commit_of(&id).map_err(git_fault)?;
                if task.change.as_ref().is_none_or(|change| change.tree.as_str() != commit.tree.as_str()) {
                    return Ok(Worked::Failed {
                        why: "the commit is not the tree that was judged".to_owned(),
                        run,
                    });
                }
                let review = self.review(task)?;
                let fixed = u32::try_from(task.rejected_trees.len()).unwrap_or(u32::MAX);
                Ok(Worked::Made(Box::new(Made { run, copy, base, commit, review, fixed })))
            }
            Status::Rejected => match &task.change {
                None => Ok(Worked::Failed { why: because(), run }),
                Some(change) => {
                    let commit = self.commit_rejected(&copy, &base, change.tree.as_str())?;
                    let mut review = self.review(task)?;
                    if review.passed() || task.verdict.as_ref().is_none_or(|(_, answer)| answer.is_none()) {
                        let words = task.feedback.join("; ");
                        let found = if words.trim().is_empty() { because() } else { words };
                        review = StoryReview::by_engine(&self.story.name(), self.hand.attempt, &found);
                    }
                    Ok(Worked::Made(Box::new(Made { run, copy, base, commit, review, fixed: 0 })))
                }
            },
            Status::NeedsHuman => Ok(Worked::Waits { why: because(), run }),
            Status::Interrupted | Status::Running => Ok(Worked::Interrupted),
            Status::Exhausted | Status::Stopped | Status::Failed | Status::RedBaseline | Status::DryRun => {
                Ok(Worked::Failed { why: because(), run })
            }
        }
    }

    /// What was rejected is kept as a commit as well: whoever reads the queue can look at it.
    fn commit_rejected(&self, copy: &Repository, base: &Commit, tree: &str) -> Result<Commit, Fault> {
        use windlass_git_workspaces::{CommitRequest, Moment, TreeId};
        let tree = TreeId::parse(tree).map_err(git_fault)?;
        let author = crate::effect_runner::author("windlass").map_err(git_fault)?;
        let request = CommitRequest {
            tree: &tree,
            parents: std::slice::from_ref(&base.id),
            message: &format!("{}, attempt {}, as it was sent back", self.story.name(), self.hand.attempt),
            author: &author,
            committer: &author,
            time: Moment { seconds: 0, offset_minutes: 0 },
        };
        let id = copy.commit(&request).map_err(git_fault)?;
        Ok(Commit { id, tree })
    }

    /// What the reviewer said, from the sealed verdict.
    fn review(&self, task: &State) -> Result<StoryReview, Fault> {
        let name = self.story.name();
        let Some((_, Some(answer))) = &task.verdict else {
            return Ok(StoryReview::by_engine(&name, self.hand.attempt, "no reviewer has looked at it"));
        };
        let bytes = self.office.host.evidence.read(answer)?;
        Ok(match VerdictReport::parse(&bytes, &Reading::legacy()) {
            Ok(verdict) => StoryReview::of(&name, self.hand.attempt, &verdict, &self.story.criteria),
            Err(faults) => StoryReview::by_engine(
                &name,
                self.hand.attempt,
                &format!("the verdict cannot be read: {faults}"),
            ),
        })
    }
}

fn to_judge(criterion: &Criterion) -> JudgedCriterion {
    JudgedCriterion { id: criterion.id.clone(), seems_to_name: evidence::to_answer_for(criterion) }
}

/// The newest run of a copy; each has one.
async fn run_in(office: &Office<'_>, common_dir: &str) -> Result<Option<RunHead>, Fault> {
    let heads = office.host.journal.runs().await.map_err(journal_fault)?;
    Ok(heads.into_iter().find(|head| headline::common_dir(head).as_deref() == Some(common_dir)))
}

/// Several attempts are heard at once: each says whose words they are. Progress is left out, nobody could read it.
struct Prefixed<'a> {
    name: String,
    inner: &'a dyn Watcher,
}

impl Watcher for Prefixed<'_> {
    fn hear(&self, event: &Event) {
        match event {
            Event::Fact(entry) => {
                let mut entry = entry.clone();
                if entry.kind == LANDED_KIND {
                    // In the copy, where nobody looks. Whether the story lands is told when it does.
                    "accepted in its copy of the repository; it lands when it is verified"
                        .clone_into(&mut entry.text);
                    entry.tone = Tone::Plain;
                }
                if !entry.text.is_empty() {
                    entry.text = format!("{} · {}", self.name, entry.text);
                }
                self.inner.hear(&Event::Fact(entry));
            }
            Event::Notice { text } => {
                self.inner.hear(&Event::Notice { text: format!("{} · {text}", self.name) });
            }
            Event::News { text, tone } => {
                self.inner.hear(&Event::News { text: format!("{} · {text}", self.name), tone: *tone });
            }
            Event::Started { .. } => self.inner.hear(event),
            Event::Progress(_) => {}
        }
    }
}
