//! Looking without touching: lists, one run, its log, its change, why it is where it is.

use super::control_loop::change;
use super::control_loop::report::Branch;
use super::find;
use super::held;
use super::roadmap_loop::superseded;
use crate::fault::journal_fault;
use crate::headline;
use crate::host::Host;
use crate::narrate::Narrator;
use crate::spending;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;
use windlass_artifact_formats::roadmap_loop::plane::names;
use windlass_control_api::commands::Pass;
use windlass_control_api::views::{
    ArtifactView, Diff, DriverView, ExplanationView, LandedView, Log, RunLine, RunView, SaidBy, Speaker,
    Status, Used,
};
use windlass_control_api::{Code, Fault};
use windlass_engine::{Journal, Stored};
use windlass_git_workspaces::Checkout;
use windlass_protocols::explain::{Explanation, explain as explanation_of, stand_in};
use windlass_protocols::kernel::fence::Workspaces;
use windlass_protocols::outcome::{Answer, CapturedChange, Outcome, Reading, VerdictWord};
use windlass_protocols::protocol::feedback_control::facts::Fact as ControlFact;
use windlass_protocols::protocol::goal_contract::facts::Fact as GoalFact;
use windlass_protocols::protocol::judged_task::facts::Fact as TaskFact;
use windlass_protocols::protocol::judged_task::spec::Adopted;
use windlass_protocols::protocol::judged_task::state::State;
use windlass_protocols::protocol::{Protocol, Spec};
use windlass_protocols::{ArtifactRef, Effect, EffectId, Fact, Role, Run, RunId};

/// How often a follower looks for something new. Only a follower waits for this, never a run.
const FOLLOW: Duration = Duration::from_millis(100);

pub(crate) async fn list(host: &Host, repository: Option<&Path>) -> Result<Vec<RunLine>, Fault> {
    let wanted = match repository {
        Some(path) => {
            let checkout = Checkout::discover(path).map_err(crate::fault::git_fault)?;
            Some(checkout.common_dir().to_string_lossy().into_owned())
        }
        None => None,
    };
    let heads = host.journal.runs().await.map_err(journal_fault)?;
    let mut lines = Vec::new();
    for head in &heads {
        if wanted.is_none() || headline::common_dir(head) == wanted {
            let mut line = find::line(host, head).await?;
            line.waits = line.waits && superseded::by(host, &heads, head).await?.is_none();
            lines.push(line);
        }
    }
    Ok(lines)
}

pub(crate) async fn interrupted(host: &Host) -> Result<Vec<RunLine>, Fault> {
    let heads = host.journal.runs().await.map_err(journal_fault)?;
    let mut lines = Vec::new();
    for head in &heads {
        let line = find::line(host, head).await?;
        // What another run went on with is not to be gone on with.
        if line.status == Status::Interrupted && superseded::by(host, &heads, head).await?.is_none() {
            lines.push(line);
        }
    }
    Ok(lines)
}

pub(crate) async fn show(host: &Host, name: &str, iteration: Option<&str>) -> Result<RunView, Fault> {
    let (head, stored, run) = find::run(host, name).await?;
    let protocol = find::protocol(&run)?;
    let change = match (protocol, iteration) {
        (Protocol::FeedbackControl(_), _) => change::view(host, (&head.run, &stored), &run, iteration)?,
        (Protocol::JudgedTask(_), None) | (Protocol::GoalContract(_) | Protocol::RoadmapRounds(_), _) => None,
        (Protocol::JudgedTask(_), Some(_)) => return Err(change::no_iterations()),
    };
    let of_pass = |round: u32| {
        let outermost = iteration.and_then(|label| label.split('.').next());
        outermost.is_none_or(|label| label == round.to_string())
    };
    let used = run.started.as_ref().map(|started| started.budget.used).unwrap_or_default();
    let place = protocol.place();
    let judged = Judged::of(protocol);
    Ok(RunView {
        line: find::line(host, &head).await?,
        task_text: protocol.text().to_owned(),
        base: place.base.to_string(),
        base_ref: place.base_ref.clone(),
        tree: judged.tree,
        landed: judged.landed,
        judge_verdict: judged.verdict,
        audit_gate: judged.gate,
        said_by: judged.said_by,
        checks: judged.checks,
        audit_checks: judged.audit_checks,
        agents: place.agents.iter().map(|(role, agent)| (role.to_string(), agent.clone())).collect(),
        stand_ins: stand_ins(&head.run, &stored)?,
        used: Used {
            milliseconds: used.duration.0,
            tokens: used.tokens,
            cost_micros: used.cost_micros,
            output_bytes: used.output_bytes,
            facts: run.version,
        },
        spent: spending::of_stored(&head.run, &stored)?.map(|spent| spent.spent()).unwrap_or_default(),
        sandbox: held::view(protocol, (&head.run, &stored))?,
        workspaces: match place.fence.workspaces {
            Workspaces::Worktrees => String::new(),
            Workspaces::Overlay => Workspaces::Overlay.word().to_owned(),
        },
        explanation: explanation(host, &run).await?,
        control: match protocol {
            Protocol::FeedbackControl(state) => {
                Some(super::control_loop::report::of(host, &run, state, Branch::now(host, state)))
            }
            Protocol::JudgedTask(_) | Protocol::GoalContract(_) | Protocol::RoadmapRounds(_) => None,
        },
        goal: match protocol {
            Protocol::GoalContract(state) => Some(super::goal_loop::report::of(&run, state)),
            Protocol::JudgedTask(_) | Protocol::FeedbackControl(_) | Protocol::RoadmapRounds(_) => None,
        },
        roadmap: match protocol {
            Protocol::RoadmapRounds(state) => Some(super::roadmap_loop::report::of(&run, state)),
            Protocol::JudgedTask(_) | Protocol::FeedbackControl(_) | Protocol::GoalContract(_) => None,
        },
        change,
        notifications: super::notify::standing(host.courier.deliveries(), Some(head.run.as_str())),
        artifacts: sealed(&head.run, &stored)?
            .into_iter()
            .filter(|(round, _)| of_pass(*round))
            .map(|(round, artifact)| ArtifactView {
                round,
                path: host.evidence.path_of(&artifact.digest).to_string_lossy().into_owned(),
                name: artifact.name,
                digest: artifact.digest.to_string(),
                bytes: artifact.bytes,
            })
            .collect(),
    })
}

/// What of a run's view each loop fills in its own way.
struct Judged {
    tree: Option<String>,
    landed: Option<LandedView>,
    verdict: String,
    gate: String,
    said_by: SaidBy,
    checks: Vec<String>,
    audit_checks: Vec<String>,
}

impl Judged {
    fn of(protocol: &Protocol) -> Self {
        match protocol {
            Protocol::JudgedTask(state) => Self {
                tree: state.change.as_ref().map(|change| change.tree.to_string()),
                landed: state.landed.as_ref().map(|(commit, reference)| LandedView {
                    commit: commit.to_string(),
                    reference: reference.clone(),
                }),
                verdict: state.verdict.as_ref().map_or("not-run", |(word, _)| word.word()).to_owned(),
                gate: state.gate.as_ref().map_or("not-run", |(word, _)| word.gate_word()).to_owned(),
                said_by: said_by(state),
                checks: state.spec.checks.clone(),
                audit_checks: state.spec.audit_checks.clone(),
            },
            Protocol::FeedbackControl(state) => {
                let nodes = || state.spec.root.chain();
                let sensors = nodes().flat_map(|node| &node.sensors);
                Self {
                    tree: state.plant.as_ref().map(ToString::to_string),
                    landed: None,
                    verdict: "not-run".to_owned(),
                    gate: "not-run".to_owned(),
                    said_by: SaidBy::default(),
                    checks: sensors.filter_map(|sensor| sensor.command.clone()).collect(),
                    audit_checks: Vec::new(),
                }
            }
            Protocol::GoalContract(state) => Self {
                tree: state.open.as_ref().map(|open| open.tree().to_string()),
                landed: None,
                verdict: "not-run".to_owned(),
                gate: "not-run".to_owned(),
                said_by: SaidBy::default(),
                checks: state.spec.suite.iter().cloned().collect(),
                audit_checks: state.spec.pre_commit.clone(),
            },
            Protocol::RoadmapRounds(state) => Self {
                tree: None,
                landed: state.merged.last().map(|merged| LandedView {
                    commit: merged.commit.to_string(),
                    reference: state.spec.place.doer_branch.clone(),
                }),
                verdict: "not-run".to_owned(),
                gate: "not-run".to_owned(),
                said_by: SaidBy::default(),
                checks: Vec::new(),
                audit_checks: Vec::new(),
            },
        }
    }
}

/// A word without an artifact is the engine's own.
pub(super) fn said_by(state: &State) -> SaidBy {
    let speaker = |word: &Option<(VerdictWord, Option<ArtifactRef>)>| {
        word.as_ref().map(|(_, artifact)| match artifact {
            Some(_) => Speaker::Agent,
            None => Speaker::Engine,
        })
    };
    SaidBy { judge: speaker(&state.verdict), audit: speaker(&state.gate) }
}

/// Who had the last word in each role, where that was a fallback.
fn stand_ins(id: &RunId, stored: &[Stored]) -> Result<Vec<(String, String)>, Fault> {
    let mut run = Run::default();
    let mut asked: BTreeMap<EffectId, (Role, Option<String>)> = BTreeMap::new();
    let mut last = BTreeMap::new();
    for row in stored {
        let fact = row.fact(id).map_err(journal_fault)?;
        run.evolve(&fact);
        match fact {
            Fact::EffectRequested { effect, request } => {
                if let Effect::RunAgent(agent) = &request {
                    asked.insert(effect, (agent.role, stand_in(&run, &request).map(str::to_owned)));
                }
            }
            Fact::EffectSettled { effect, outcome: Outcome::AgentEnded(report) } => {
                if let Some((role, agent)) = asked.remove(&effect)
                    && !matches!(report.answer, Answer::Missing)
                {
                    last.insert(role, agent);
                }
            }
            _ => {}
        }
    }
    Ok(last.into_iter().filter_map(|(role, agent)| Some((role.to_string(), agent?))).collect())
}

/// What the facts say, and for an unfinished run whether somebody drives it: only who knows that knows what to do now.
async fn explanation(host: &Host, run: &Run) -> Result<ExplanationView, Fault> {
    let Explanation { now, mut because, mut commands } = explanation_of(run);
    let mut driver = None;
    if let Some(started) = run.started.as_ref().filter(|_| !run.ended) {
        driver = find::driver_of(host, &started.id).await?.map(|driving| DriverView {
            pid: driving.owner.process.pid,
            doing: driving.owner.doing,
            since_ms: driving.since_ms,
        });
        if let Some(DriverView { pid, doing, since_ms }) = &driver {
            let since = crate::narrate::local_time(*since_ms);
            because.insert(0, format!("process {pid} ({doing}) drives it since {since}"));
            commands.retain(|command| !command.starts_with("windlass resume "));
            commands.insert(0, format!("windlass log {} -f", started.id));
        } else {
            because.insert(0, "it was interrupted: nobody drives it now".to_owned());
        }
    }
    if let Ok(Protocol::FeedbackControl(state)) = find::protocol(run) {
        commands = Branch::now(host, state).possible(state, commands);
    }
    Ok(ExplanationView { now, because, commands, driver })
}

pub(crate) async fn explain(host: &Host, name: &str) -> Result<ExplanationView, Fault> {
    let (head, stored, run) = find::run(host, name).await?;
    let mut told = explanation(host, &run).await?;
    let heads = host.journal.runs().await.map_err(journal_fault)?;
    if let Some(later) = superseded::by(host, &heads, &head).await? {
        told.because.insert(0, format!("superseded by run {later}, which went on with its roadmap"));
        told.commands = vec![format!("windlass explain {later}")];
    }
    let stand_ins = stand_ins(&head.run, &stored)?;
    told.because.extend(
        stand_ins.iter().map(|(role, agent)| format!("the {role}'s word is its fallback's, {agent}")),
    );
    told.because.extend(held::because(&held::view(find::protocol(&run)?, (&head.run, &stored))?));
    Ok(told)
}

pub(crate) async fn log(host: &Host, name: &str, from_version: u64) -> Result<Log, Fault> {
    let head = find::head(host, name).await?;
    // Before the facts: who drives a run lets go of it only when its last fact is there.
    let driven = find::driver_of(host, &head.run).await?.is_some();
    let stored = host.journal.read(&head.run, 0).await.map_err(journal_fault)?;
    let mut narrator = Narrator::new(head.run.clone());
    let mut entries = Vec::new();
    let mut run = Run::default();
    for row in &stored {
        run.evolve(&row.fact(&head.run).map_err(journal_fault)?);
        let entry = narrator.tell(row).map_err(journal_fault)?;
        if row.version >= from_version {
            entries.push(entry);
        }
    }
    let under_way = if driven { Status::Running } else { Status::Interrupted };
    let status = headline::status_of(&run).unwrap_or(under_way);
    Ok(Log { run: head.run.to_string(), entries, ended: run.ended, status })
}

pub(crate) async fn log_changed(host: &Host, name: &str, from_version: u64) -> Result<(), Fault> {
    let head = find::head(host, name).await?;
    loop {
        let driven = find::driver_of(host, &head.run).await?.is_some();
        let news = host.journal.read(&head.run, from_version).await.map_err(journal_fault)?;
        if !driven || !news.is_empty() {
            return Ok(());
        }
        tokio::time::sleep(FOLLOW).await;
    }
}

pub(crate) async fn diff(host: &Host, name: &str, pass: Option<Pass>) -> Result<Diff, Fault> {
    let (head, stored, run) = find::run(host, name).await?;
    let place = find::protocol(&run)?.place();
    let round = match (find::protocol(&run)?, pass) {
        (Protocol::FeedbackControl(_), Some(Pass::Round(_))) => {
            return Err(Fault::new(Code::BadArgument, "a control loop has iterations, not rounds")
                .hint("`--iteration N` shows one, no flag the whole run"));
        }
        (Protocol::FeedbackControl(_), pass) => {
            let iteration = pass.map(|pass| match pass {
                Pass::Iteration(label) => label,
                Pass::Round(round) => round.to_string(),
            });
            return change::diff(host, (&head.run, &stored), &run, iteration.as_deref());
        }
        (Protocol::JudgedTask(_), Some(Pass::Iteration(_))) => return Err(change::no_iterations()),
        (Protocol::RoadmapRounds(_), _) => {
            return Err(Fault::new(
                Code::BadArgument,
                "a roadmap loop's rounds are commits of its base branch",
            )
            .hint("`windlass log RUN` names them; `git show COMMIT` shows one"));
        }
        (Protocol::GoalContract(_), Some(Pass::Iteration(label))) => {
            let number = label.parse().map_err(|_| {
                Fault::new(Code::BadArgument, format!("{label} is no iteration of a goal loop"))
                    .hint("iterations are numbered from 1")
            });
            Some(number?)
        }
        (Protocol::JudgedTask(_) | Protocol::GoalContract(_), Some(Pass::Round(round))) => Some(round),
        (Protocol::JudgedTask(_) | Protocol::GoalContract(_), None) => None,
    };
    let mut changes: Vec<CapturedChange> = Vec::new();
    for row in &stored {
        if let Fact::JudgedTask(TaskFact::ChangeTaken { change })
        | Fact::GoalContract(GoalFact::ChangeTaken { change }) =
            row.fact(&head.run).map_err(journal_fault)?
        {
            changes.push(change);
        }
    }
    let wanted = match round {
        Some(round) => changes.into_iter().rev().find(|change| change.round == round),
        None => changes.pop(),
    };
    let Some(change) = wanted else {
        let which = round.map_or_else(|| "no round".to_owned(), |round| format!("round {round} has not"));
        return Err(Fault::new(Code::NotAllowedNow, format!("{which} handed over a change yet"))
            .hint(format!("`windlass explain {}` says where it stands", head.run)));
    };
    Ok(Diff {
        run: head.run.to_string(),
        round: change.round,
        iteration: None,
        base: place.base.to_string(),
        tree: change.tree.to_string(),
        patch: host.evidence.read(&change.patch)?,
    })
}

/// Every sealed artifact a run's facts speak of, with its round, each once.
pub(crate) fn sealed(id: &RunId, stored: &[Stored]) -> Result<Vec<(u32, ArtifactRef)>, Fault> {
    let mut round = 0;
    // Rounds of a roadmap live side by side: whose an answer is, is known by who was asked.
    let mut asked: BTreeMap<EffectId, u32> = BTreeMap::new();
    let mut found: Vec<(u32, ArtifactRef)> = Vec::new();
    let mut known: BTreeSet<(u32, ArtifactRef)> = BTreeSet::new();
    for row in stored {
        let fact = row.fact(id).map_err(journal_fault)?;
        let artifacts = match fact {
            Fact::FeedbackControl(ControlFact::IterationOpened { depth: 0, iteration })
            | Fact::GoalContract(GoalFact::IterationOpened { iteration, .. }) => {
                round = iteration;
                Vec::new()
            }
            Fact::JudgedTask(TaskFact::RoundOpened { round: opened }) => {
                round = opened;
                Vec::new()
            }
            Fact::RunStarted { spec: Spec::JudgedTask(spec), .. } => {
                spec.adopted.map(of_adopted).unwrap_or_default()
            }
            Fact::EffectRequested { effect, request: Effect::RunAgent(agent) } => {
                let number = agent.work.and_then(|place| names::round_number(&place.work.round));
                asked.extend(number.and_then(|number| Some((effect, u32::try_from(number).ok()?))));
                Vec::new()
            }
            Fact::EffectSettled { effect, outcome } => {
                round = asked.remove(&effect).unwrap_or(round);
                of_outcome(outcome)
            }
            Fact::JudgedTask(TaskFact::HandoffTaken { handoff }) => vec![handoff.artifact],
            Fact::JudgedTask(TaskFact::VerdictTaken {
                source: windlass_protocols::protocol::judged_task::facts::Source::Agent { artifact },
                ..
            }) => vec![artifact],
            _ => Vec::new(),
        };
        for artifact in artifacts {
            if known.insert((round, artifact.clone())) {
                found.push((round, artifact));
            }
        }
    }
    Ok(found)
}

fn of_adopted(adopted: Adopted) -> Vec<ArtifactRef> {
    let handoff = adopted.handoff.map(|handoff| handoff.artifact);
    let verdict = adopted.verdict.map(|verdict| verdict.artifact);
    let audit = adopted.audit.map(|audit| audit.artifact);
    [handoff, verdict, audit].into_iter().flatten().collect()
}

fn of_outcome(outcome: Outcome) -> Vec<ArtifactRef> {
    match outcome {
        Outcome::AgentEnded(report) => {
            // An answer that was overruled was sealed all the same.
            let answer = match report.answer {
                Answer::Handoff(handoff) => vec![handoff.artifact],
                Answer::Verdict(verdict) => vec![verdict.artifact],
                Answer::Audit(audit) => vec![audit.artifact],
                Answer::Decision(decision) => [decision.artifact].into_iter().chain(decision.plan).collect(),
                Answer::Action(action) => action.artifact.into_iter().collect(),
                Answer::Reading(reading) => of_reading(reading),
                Answer::Design(design) => vec![design.artifact],
                Answer::Build(build) => build.artifact.into_iter().collect(),
                Answer::Evaluation(evaluation) => vec![evaluation.artifact],
                Answer::Diagnosis(diagnosis) => vec![diagnosis.artifact],
                Answer::Missing | Answer::Malformed { .. } | Answer::InWorktree => Vec::new(),
            };
            report.evidence.into_iter().chain(answer).collect()
        }
        Outcome::ChecksRan(report) => report.evidence,
        Outcome::GateInspected(report) => report.evidence,
        Outcome::ChangeCaptured(change) => vec![change.patch],
        Outcome::Measured(report) => report.readings.into_iter().flat_map(of_reading).collect(),
        Outcome::QueueRead(queue) => queue.sources,
        Outcome::SuiteRan(report) => [report.log].into_iter().chain(report.list).collect(),
        Outcome::Prepared { .. }
        | Outcome::ItemCommitted { .. }
        | Outcome::Plane(_)
        | Outcome::Landed(_)
        | Outcome::IterationCommitted { .. }
        | Outcome::Waited
        | Outcome::Closed
        | Outcome::Refused { .. }
        | Outcome::Interrupted { .. }
        | Outcome::Lost { .. } => Vec::new(),
    }
}

fn of_reading(reading: Reading) -> Vec<ArtifactRef> {
    [reading.artifact].into_iter().chain(reading.log).collect()
}
