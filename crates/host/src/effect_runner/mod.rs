//! Carries effects out. The engine only queues them here; `launch` starts what is queued once the files that show the
//! facts are written, so that nobody is started before what it will read is there.

mod agent;
mod agent_end;
pub(crate) mod answer;
pub(crate) mod by_hand;
mod capture;
mod checks;
mod close;
mod control_loop;
mod criteria;
mod gate;
mod goal_loop;
mod land;
mod listen;
mod loop_branch;
mod prepare;
mod prompt;
mod roadmap_loop;
mod step;
mod wait;

pub(crate) use checks::{on as checks_on, printed_by};
pub(crate) use control_loop::{INTERRUPTED, figure};
pub(crate) use criteria::{found_at as found_in_tree, found_somewhere as found_somewhere_in_tree};
pub(crate) use gate::tools::FILE_NAME as TOOLS;
pub(crate) use gate::tools::search_path as search_path_of_checks;
pub(crate) use goal_loop::capture::proposed_and_found as goal_contents;
pub(crate) use goal_loop::plant as goal_plant;
pub(crate) use land::{author, in_the_way};
pub(crate) use loop_branch::{branch_back, kept_aside};
pub(crate) use prepare::{exclude as exclude_run_directory, restore as restore_worktrees};
pub(crate) use prompt::{dry_run_prompts, ending, file_name as prompt_file_name};
pub(crate) use roadmap_loop::{LAST_GOOD_STATE, index_key as round_index_key};

use crate::clock::Stopwatch;
use crate::context::RunContext;
use crate::fault::{bug, file_fault, supervisor_fault};
use crate::foreign::ForeignShelf;
use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::{Arc, Mutex};
use tokio::sync::{mpsc, watch};
use windlass_control_api::Fault;
use windlass_control_api::money::Spent;
use windlass_engine::EffectRunner;
use windlass_process_supervisor::Found;
use windlass_protocols::outcome::Usage;
use windlass_protocols::protocol::Spec;
use windlass_protocols::{Effect, EffectId, Outcome, Run};

/// How an effect ended: a result for the journal, or a fault of ours that leaves it unsettled.
pub(crate) struct Answered {
    pub(crate) effect: EffectId,
    pub(crate) result: Result<Outcome, Fault>,
}

pub(crate) struct HostRunner {
    context: Arc<RunContext>,
    queued: Vec<(EffectId, Effect, Arc<Run>)>,
    under_way: BTreeMap<EffectId, UnderWay>,
    answers: mpsc::UnboundedSender<Answered>,
    /// Heard by every step, also by one that is only about to start its child.
    telling: watch::Sender<Option<Telling>>,
}

pub(crate) struct UnderWay {
    pub(crate) effect: Effect,
    pub(crate) since: Stopwatch,
    live: LiveSpend,
}

impl UnderWay {
    fn of(effect: Effect) -> Self {
        Self { effect, since: Stopwatch::start(), live: LiveSpend::default() }
    }

    /// What its agent said it used so far.
    pub(crate) fn spent(&self) -> Spent {
        self.live.lock().map(|spent| *spent).unwrap_or_default()
    }
}

/// Written by whoever listens to an agent, read by whoever shows it.
type LiveSpend = Arc<Mutex<Spent>>;

impl EffectRunner for HostRunner {
    fn start(&mut self, run: &Run, effect: EffectId, request: &Effect) {
        self.queued.push((effect, request.clone(), Arc::new(run.clone())));
    }
}

impl HostRunner {
    pub(crate) fn new(context: Arc<RunContext>) -> (Self, mpsc::UnboundedReceiver<Answered>) {
        let (answers, answered) = mpsc::unbounded_channel();
        let telling = watch::Sender::new(None);
        (Self { context, queued: Vec::new(), under_way: BTreeMap::new(), answers, telling }, answered)
    }

    /// Steps asked for just now have no places yet. What stands where they will be was put there by somebody who
    /// guessed: an end or an answer forged in advance. Not for steps that may have begun before a restart.
    pub(crate) fn clear_the_way(&mut self) -> Result<Vec<String>, Fault> {
        let aside = ForeignShelf::of(&self.context);
        let places = self.queued.iter().map(|(effect, ..)| *effect);
        let guessed = places.filter(|effect| {
            self.context.state.effect(&self.context.run, *effect).symlink_metadata().is_ok()
        });
        guessed
            .map(|effect| {
                let place = self.context.state.effect(&self.context.run, effect);
                aside.take(&place, &Path::new("effects").join(effect.to_string()))
            })
            .collect()
    }

    pub(crate) fn launch(&mut self) {
        for (effect, request, run) in self.queued.drain(..) {
            let context = Arc::clone(&self.context);
            let answers = self.answers.clone();
            let told = self.telling.subscribe();
            let under_way = UnderWay::of(request.clone());
            let live = Arc::clone(&under_way.live);
            self.under_way.insert(effect, under_way);
            tokio::spawn(async move {
                let leaves_files = leaves_files(&request);
                let at = Arc::clone(&context);
                let mut result = carry_out(context, effect, request, run, (told, live)).await;
                if result.is_ok()
                    && leaves_files
                    && let Err(fault) = step::blocking(move || flush_disks(&at)).await
                {
                    result = Err(fault);
                }
                // Nobody listens any more when the process is ending; the effect stays unsettled.
                let _ = answers.send(Answered { effect, result });
            });
        }
    }

    /// For a run that is to be stopped: a step that never began is answered as interrupted instead of being begun.
    pub(crate) fn launch_only_what_began(&mut self) -> Result<(), Fault> {
        let mut began = Vec::new();
        for (effect, request, run) in self.queued.drain(..) {
            let answer = match &request {
                Effect::RunAgent(_)
                | Effect::RunChecks(_)
                | Effect::InspectGate(_)
                | Effect::Measure(_)
                | Effect::RunSuite(_) => {
                    let mut started = false;
                    for directory in step::directories(&self.context, effect) {
                        let found =
                            windlass_process_supervisor::find(&directory).map_err(supervisor_fault)?;
                        started |= !matches!(found, Found::NotStarted);
                    }
                    (!started).then(|| Outcome::Interrupted { usage: Usage::default() })
                }
                Effect::PrepareWorkspaces | Effect::CaptureChange { .. } | Effect::ReadQueue { .. } => {
                    Some(Outcome::Interrupted { usage: Usage::default() })
                }
                // The change stays accepted; who stops a run does not want their branch moved by that.
                Effect::LandChange(_) => (!land::has_begun(&self.context, effect))
                    .then(|| Outcome::Refused { reason: "the run was stopped before it landed".to_owned() }),
                Effect::Wait(_) => Some(Outcome::Interrupted { usage: Usage::default() }),
                // Committing what was done loses nothing, and leaves an iteration whole.
                Effect::CommitIteration(_)
                | Effect::CommitItem(_)
                | Effect::Plane(_)
                | Effect::CloseRun(_) => None,
            };
            if let Some(outcome) = answer {
                self.under_way.insert(effect, UnderWay::of(request));
                let _ = self.answers.send(Answered { effect, result: Ok(outcome) });
            } else {
                began.push((effect, request, run));
            }
        }
        self.queued = began;
        self.launch();
        Ok(())
    }

    pub(crate) fn forget(&mut self, effect: EffectId) {
        self.under_way.remove(&effect);
    }

    pub(crate) fn under_way(&self) -> impl Iterator<Item = (&EffectId, &UnderWay)> {
        self.under_way.iter()
    }

    pub(crate) fn is_idle(&self) -> bool {
        self.under_way.is_empty()
    }

    /// From now on no child is started, and those at work are told to end; their end comes back as an answer.
    pub(crate) fn tell_children(&self, how: Telling) {
        self.telling.send_replace(Some(how));
    }

    pub(crate) fn last_line(&self, effect: EffectId) -> Option<String> {
        let directories = step::directories(&self.context, effect);
        directories.iter().rev().find_map(|directory| windlass_process_supervisor::last_line(directory))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Telling {
    Stop,
    Kill,
}

/// Whether what follows rests on files that nobody has flushed. What an agent leaves is flushed by its keeper, what a check
/// says is sealed, and the worktrees of readers are made anew.
const fn leaves_files(request: &Effect) -> bool {
    match request {
        Effect::PrepareWorkspaces
        | Effect::CommitIteration(_)
        | Effect::CommitItem(_)
        | Effect::Plane(_)
        | Effect::LandChange(_)
        | Effect::CloseRun(_) => true,
        Effect::CaptureChange { .. }
        | Effect::InspectGate(_)
        | Effect::Measure(_)
        | Effect::ReadQueue { .. }
        | Effect::RunAgent(_)
        | Effect::RunChecks(_)
        | Effect::RunSuite(_)
        | Effect::Wait(_) => false,
    }
}

/// Before the journal says that it is done, it is done for good: a power cut would else leave the facts without the files.
/// Whole disks, because only the kernel knows which files a maker wrote.
fn flush_disks(context: &RunContext) -> Result<(), Fault> {
    let mut flushed = Vec::new();
    for place in [context.run_dir(), Path::new(&context.spec.place().repository), context.state.path()] {
        let open = std::fs::File::open(place).map_err(|error| file_fault("open", place, &error))?;
        let disk = open.metadata().map_err(|error| file_fault("look at", place, &error))?.dev();
        if !flushed.contains(&disk) {
            rustix::fs::syncfs(&open).map_err(|error| file_fault("flush", place, &error.into()))?;
            flushed.push(disk);
        }
    }
    Ok(())
}

async fn carry_out(
    context: Arc<RunContext>,
    effect: EffectId,
    request: Effect,
    run: Arc<Run>,
    (told, live): (watch::Receiver<Option<Telling>>, LiveSpend),
) -> Result<Outcome, Fault> {
    match request {
        Effect::PrepareWorkspaces => {
            step::blocking(move || match &context.spec {
                Spec::JudgedTask(_) => prepare::run(&context),
                Spec::FeedbackControl(_) => control_loop::prepare::run(&context),
                Spec::GoalContract(_) => goal_loop::prepare::run(&context),
                Spec::RoadmapRounds(_) => roadmap_loop::prepare::run(&context),
            })
            .await
        }
        Effect::Measure(asked) => control_loop::measure::run(context, effect, asked, run, told).await,
        Effect::CommitIteration(asked) => {
            step::blocking(move || control_loop::commit::run(&context, &asked, &run)).await
        }
        Effect::ReadQueue { .. } => step::blocking(move || goal_loop::queue::run(&context, &run)).await,
        Effect::RunSuite(asked) => goal_loop::suite::run(context, effect, asked, run, told).await,
        Effect::CommitItem(asked) => {
            step::blocking(move || goal_loop::commit::run(&context, &asked, &run)).await
        }
        Effect::Plane(step) => step::blocking(move || roadmap_loop::run(&context, effect, &step, &run)).await,
        Effect::RunChecks(asked) => checks::run(context, effect, asked, run, told).await,
        Effect::InspectGate(asked) => gate::inspect::run(context, effect, asked, run, told).await,
        Effect::RunAgent(asked) => agent::run(context, effect, asked, run, (told, live)).await,
        Effect::CaptureChange { round } => {
            step::blocking(move || match &context.spec {
                Spec::JudgedTask(_) => capture::run(&context, round, &run),
                Spec::FeedbackControl(_) => control_loop::capture::run(&context, round, &run),
                Spec::GoalContract(_) => goal_loop::capture::run(&context, round, &run),
                Spec::RoadmapRounds(_) => Err(bug("a roadmap loop captures by its rounds")),
            })
            .await
        }
        Effect::LandChange(asked) => step::blocking(move || land::run(&context, effect, &asked, &run)).await,
        Effect::Wait(asked) => Ok(wait::run(&asked, told).await),
        Effect::CloseRun(asked) => {
            step::blocking(move || match &context.spec {
                Spec::JudgedTask(_) => close::run(&context, &asked),
                Spec::FeedbackControl(_) => control_loop::close::run(&context, &run),
                Spec::GoalContract(_) => goal_loop::close::run(&context, &run),
                Spec::RoadmapRounds(_) => roadmap_loop::close::run(&context, &run),
            })
            .await
        }
    }
}
