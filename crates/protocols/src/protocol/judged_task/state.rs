//! What a task loop knows: the task as it was given, and where in which round it stands. A fold of facts, kept small
//! however many rounds there were: long texts stay in sealed artifacts.

use super::facts::{Fact as TaskFact, RetryKind};
use crate::effect::{Effect, Purpose};
use crate::fact::Fact;
use crate::kernel::attempts::Attempts;
use crate::kernel::budget::{Caps, Dimension};
use crate::observation::Rejection;
use crate::outcome::{Audit, CapturedChange, Handoff, Verdict, VerdictWord};
use crate::vocabulary::{ArtifactRef, CommitId, Millis, Role, TaskId, TreeId};
use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskSpec {
    pub task: TaskId,
    pub text: String,
    pub caps: Caps,
    /// Commands the engine runs on the judged tree; a red one is a rejection.
    pub checks: Vec<String>,
    /// Commands the engine runs before the auditor is asked.
    pub audit_checks: Vec<String>,
    pub audit: AuditPolicy,
    pub on_needs_human: OnNeedsHuman,
    pub landing: Landing,
    pub place: Place,
    /// Where a run begun by another program stood when it is taken over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adopted: Option<Adopted>,
}

/// What a cut-off run directory of the original already holds for its highest round.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Adopted {
    pub round: u32,
    pub handoff: Option<Handoff>,
    pub verdict: Option<Verdict>,
    pub audit: Option<Audit>,
}

/// Where the run lives. Opaque to every decision; fixed at the start so that a restart finds the same places.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    pub repository: String,
    pub common_dir: String,
    pub run_dir: String,
    pub base_ref: String,
    pub base: CommitId,
    pub doer_branch: String,
    pub judge_branch: String,
    /// How each role's agent is started, as the user said it.
    pub agents: BTreeMap<Role, String>,
    /// Text of user prompt files that replace the built-in bodies, by role.
    pub prompts: BTreeMap<Role, String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AuditPolicy {
    Required,
    Skipped,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OnNeedsHuman {
    Stop,
    Continue,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Landing {
    None,
    Branch(String),
    Current,
}

impl Adopted {
    /// A verdict counts for the hand-off it came with, and not when it contradicts itself.
    pub(super) fn sound_verdict(&self) -> Option<&Verdict> {
        let handoff = self.handoff.as_ref()?;
        self.verdict.as_ref().filter(|verdict| {
            let named = |id: &String| verdict.requirements_checked.contains(id);
            verdict.word != VerdictWord::Pass
                || (verdict.requirements_missing.is_empty() && handoff.requirements_touched.iter().all(named))
        })
    }

    /// A gate counts for the verdict it came with, and not when it contradicts itself.
    pub(super) fn sound_audit(&self) -> Option<&Audit> {
        self.sound_verdict()?;
        self.audit.as_ref().filter(|audit| audit.word != VerdictWord::Pass || audit.contradictions.is_empty())
    }
}

impl TaskSpec {
    pub(crate) fn validate(&self) -> Result<(), Rejection> {
        let refuse = |why: &str| Err(Rejection::InvalidSpec { why: why.to_string() });
        if self.text.trim().is_empty() {
            return refuse("the task text is empty");
        }
        if self.caps.rounds == 0 {
            return refuse("at least one round is needed");
        }
        if self.caps.time.is_some_and(|time| time.0 == 0) || self.caps.step_time.0 == 0 {
            return refuse("a time limit of nothing leaves no time to work");
        }
        if self.checks.iter().chain(&self.audit_checks).any(|command| command.trim().is_empty()) {
            return refuse("a check command is empty");
        }
        if self.adopted.as_ref().is_some_and(|adopted| adopted.round == 0) {
            return refuse("rounds are counted from 1; the run to take over stands in round 0");
        }
        Ok(())
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stage {
    Preparing,
    Baseline,
    Doing,
    Capturing,
    Checking,
    Judging,
    AuditChecking,
    Auditing,
    Landing,
    Closing,
}

impl Stage {
    pub(crate) const fn of(effect: &Effect) -> Self {
        match effect {
            Effect::PrepareWorkspaces => Self::Preparing,
            Effect::RunChecks(checks) => match checks.purpose {
                Purpose::Baseline => Self::Baseline,
                Purpose::Acceptance => Self::Checking,
                Purpose::Audit => Self::AuditChecking,
            },
            Effect::RunAgent(agent) => match agent.role {
                Role::Doer => Self::Doing,
                Role::Judge => Self::Judging,
                Role::Auditor => Self::Auditing,
            },
            Effect::CaptureChange { .. } => Self::Capturing,
            Effect::LandChange(_) => Self::Landing,
            Effect::CloseRun(_) => Self::Closing,
        }
    }
}

impl Stage {
    pub(crate) const fn of_role(role: Role) -> Self {
        match role {
            Role::Doer => Self::Doing,
            Role::Judge => Self::Judging,
            Role::Auditor => Self::Auditing,
        }
    }

    pub const fn words(self) -> &'static str {
        match self {
            Self::Preparing => "preparing the workspaces",
            Self::Baseline => "measuring the checks at the base",
            Self::Doing => "the doer works",
            Self::Capturing => "taking the snapshot",
            Self::Checking => "running the checks",
            Self::Judging => "the judge looks",
            Self::AuditChecking => "running the audit checks",
            Self::Auditing => "the auditor looks",
            Self::Landing => "landing",
            Self::Closing => "closing",
        }
    }
}

/// Every way a task loop can end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum End {
    Accepted {
        tree: TreeId,
    },
    /// The rounds are used up and the last word was no.
    Rejected {
        by: super::facts::RejectedBy,
    },
    NeedsHuman {
        cause: Cause,
    },
    Exhausted {
        dimension: Dimension,
    },
    Stopped {
        by: String,
        reason: String,
    },
    SetupFailed {
        reason: String,
    },
}

impl End {
    /// The word for it in the original's summary.
    pub const fn legacy_word(&self) -> &'static str {
        match self {
            Self::Accepted { .. } | Self::NeedsHuman { cause: Cause::LandingRefused { .. } } => "pass",
            Self::Rejected { .. } => "reject",
            Self::NeedsHuman { .. }
            | Self::Exhausted { .. }
            | Self::Stopped { .. }
            | Self::SetupFailed { .. } => "needs-human",
        }
    }

    /// Whether the round that was open came to its own end, rather than being cut off.
    const fn finishes_round(&self) -> bool {
        match self {
            Self::Accepted { .. } => true,
            Self::NeedsHuman { cause } => matches!(
                cause,
                Cause::JudgeAsked
                    | Cause::AuditorAsked
                    | Cause::NoReadableAnswer { .. }
                    | Cause::WorkspaceChanged { .. }
                    | Cause::LandingRefused { .. }
            ),
            Self::Rejected { .. }
            | Self::Exhausted { .. }
            | Self::Stopped { .. }
            | Self::SetupFailed { .. } => false,
        }
    }
}

/// Why a person has to look.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    JudgeAsked,
    AuditorAsked,
    /// The role left nothing readable, also when asked again.
    NoReadableAnswer {
        role: Role,
        faults: Vec<String>,
    },
    /// A role that may only read changed what it looked at.
    WorkspaceChanged {
        role: Role,
        paths: Vec<String>,
    },
    AgentNotStarted {
        role: Role,
        reason: String,
    },
    AgentKeepsFailing {
        role: Role,
        why: String,
    },
    StepKeepsGettingLost {
        stage: Stage,
    },
    /// The maker hands over the same rejected change again and again.
    Stuck {
        round: u32,
    },
    CaptureRefused {
        reason: String,
    },
    /// The change is accepted; only bringing it home was refused.
    LandingRefused {
        reason: String,
    },
}

/// The history is bounded, so that round 100 costs what round 1 cost.
const HISTORY_ROUNDS: usize = 8;
const HISTORY_LINE_CHARS: usize = 160;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    pub spec: TaskSpec,
    pub stage: Stage,
    pub round: u32,
    pub base: Option<(CommitId, TreeId)>,
    /// Absent until the baseline was measured.
    pub red_at_base: Option<Vec<String>>,
    pub baseline_evidence: Vec<ArtifactRef>,
    pub attempts: Attempts,
    /// How often each role was asked in this round; a reopening does not start it again.
    pub asked_in_round: BTreeMap<Role, u32>,
    pub maker_failures_in_a_row: u32,
    pub feedback: Vec<String>,
    /// A person's words that no doer has been told yet; a rejection in between must not drop them.
    pub unsaid_notes: Vec<String>,
    /// One line for each of the last rejected rounds, so that a maker can see it going in circles.
    pub history: Vec<String>,
    pub handoff: Option<Handoff>,
    pub change: Option<CapturedChange>,
    /// Absent until the checks of this round passed.
    pub check_evidence: Option<Vec<ArtifactRef>>,
    pub audit_evidence: Option<Vec<ArtifactRef>>,
    /// Faults of the answer that is being asked for again.
    pub repairing: Option<Vec<String>>,
    /// Of the current round only: a gate of an earlier round must never stand beside a verdict of this one.
    pub verdict: Option<(VerdictWord, Option<ArtifactRef>)>,
    pub gate: Option<(VerdictWord, Option<ArtifactRef>)>,
    /// The last round that came to an end, and its words, for the summary.
    pub rounds_completed: u32,
    /// Trees that were rejected, with the round and what was said about them.
    pub rejected_trees: BTreeMap<TreeId, u32>,
    pub repetitions: u32,
    pub last_rejection: Option<super::facts::RejectedBy>,
    pub end: Option<End>,
    /// When the first landing was asked for: one that is tried again must make the same commit.
    pub landing_decided_at: Option<Millis>,
    pub landed: Option<(CommitId, String)>,
}

impl State {
    pub(crate) fn new(spec: TaskSpec) -> Self {
        let brought_rounds = spec.adopted.as_ref().map_or(0, |adopted| adopted.round.saturating_sub(1));
        Self {
            spec,
            stage: Stage::Preparing,
            round: 0,
            base: None,
            red_at_base: None,
            baseline_evidence: Vec::new(),
            attempts: Attempts::default(),
            asked_in_round: BTreeMap::new(),
            maker_failures_in_a_row: 0,
            feedback: Vec::new(),
            unsaid_notes: Vec::new(),
            history: Vec::new(),
            handoff: None,
            change: None,
            check_evidence: None,
            audit_evidence: None,
            repairing: None,
            verdict: None,
            gate: None,
            rounds_completed: brought_rounds,
            rejected_trees: BTreeMap::new(),
            repetitions: 0,
            last_rejection: None,
            end: None,
            landing_decided_at: None,
            landed: None,
        }
    }

    pub(crate) fn evolve(&mut self, fact: &Fact) {
        match fact {
            Fact::EffectRequested { request, .. } => {
                let stage = Stage::of(request);
                if stage != self.stage {
                    self.stage = stage;
                    self.attempts = Attempts::default();
                }
                self.begin_asking(request);
            }
            Fact::RunReopened { note, .. } => {
                if self.asks_checker_again() {
                    self.forget_last_word();
                }
                self.end = None;
                self.landing_decided_at = None;
                self.attempts = Attempts::default();
                self.maker_failures_in_a_row = 0;
                self.repetitions = 0;
                self.repairing = None;
                // A person looked: what was rejected before may be judged anew.
                self.rejected_trees.clear();
                if let Some(note) = note {
                    let line = alloc::format!("- [human] {note}");
                    self.feedback.push(line.clone());
                    self.unsaid_notes.push(line);
                }
            }
            Fact::LandingAsked { landing, .. } => self.spec.landing = landing.clone(),
            Fact::JudgedTask(fact) => self.evolve_task(fact),
            Fact::RunStarted { .. }
            | Fact::EffectSettled { .. }
            | Fact::StopAsked { .. }
            | Fact::RunEnded => {}
        }
    }

    fn evolve_task(&mut self, fact: &TaskFact) {
        match fact {
            TaskFact::BaseFixed { commit, tree } => self.base = Some((commit.clone(), tree.clone())),
            TaskFact::BaselineMeasured { red, evidence } => {
                self.red_at_base = Some(red.clone());
                self.baseline_evidence.clone_from(evidence);
            }
            TaskFact::RoundOpened { round } => {
                self.round = *round;
                self.attempts = Attempts::default();
                self.asked_in_round.clear();
                self.handoff = None;
                self.change = None;
                self.check_evidence = None;
                self.audit_evidence = None;
                self.repairing = None;
                self.verdict = None;
                self.gate = None;
            }
            TaskFact::HandoffTaken { handoff } => {
                self.handoff = Some(handoff.clone());
                self.repairing = None;
                self.maker_failures_in_a_row = 0;
            }
            TaskFact::ChangeTaken { change } => self.change = Some(change.clone()),
            TaskFact::ChecksPassed { stage: Stage::AuditChecking, evidence, .. } => {
                self.audit_evidence = Some(evidence.clone());
            }
            TaskFact::ChecksPassed { evidence, .. } => self.check_evidence = Some(evidence.clone()),
            TaskFact::RepairAsked { faults, .. } => {
                self.attempts.repairs += 1;
                self.repairing = Some(faults.clone());
            }
            TaskFact::StepRetried { kind, .. } => match kind {
                RetryKind::Lost => self.attempts.lost += 1,
                RetryKind::Failed => self.attempts.failed += 1,
                RetryKind::Interrupted => {}
            },
            TaskFact::VerdictTaken { role, word, source, feedback, .. } => {
                if *word == VerdictWord::NeedsHuman && !feedback.is_empty() {
                    self.feedback.clone_from(feedback);
                }
                let artifact = match source {
                    super::facts::Source::Agent { artifact } => Some(artifact.clone()),
                    super::facts::Source::Engine { .. } => None,
                };
                self.repairing = None;
                match role {
                    Role::Auditor => self.gate = Some((*word, artifact)),
                    Role::Judge | Role::Doer => self.verdict = Some((*word, artifact)),
                }
            }
            TaskFact::RoundRejected { round, by, feedback } => {
                self.rounds_completed = *round;
                self.feedback.clone_from(feedback);
                self.note_rejection(*by);
                let first = feedback.first().map_or("", |line| line.lines().next().unwrap_or(""));
                let first: String = first.chars().take(HISTORY_LINE_CHARS).collect();
                self.history.push(alloc::format!("round {round}: {}: {first}", by.words()));
                if self.history.len() > HISTORY_ROUNDS {
                    self.history.remove(0);
                }
            }
            TaskFact::Concluded { end } => {
                if end.finishes_round() {
                    self.rounds_completed = self.round;
                }
                self.end = Some(end.clone());
            }
            TaskFact::Landed { commit, reference, .. } => {
                self.landed = Some((commit.clone(), reference.clone()));
            }
        }
    }

    fn begin_asking(&mut self, request: &Effect) {
        match request {
            Effect::RunAgent(agent) => {
                let asked = self.asked_in_round.entry(agent.role).or_default();
                *asked = asked.saturating_add(1);
                if agent.role == Role::Doer {
                    self.unsaid_notes.clear();
                }
            }
            Effect::LandChange(land) => {
                self.landing_decided_at.get_or_insert(land.decided_at);
            }
            Effect::PrepareWorkspaces
            | Effect::RunChecks(_)
            | Effect::CaptureChange { .. }
            | Effect::CloseRun(_) => {}
        }
    }

    /// The round goes on at the checker that gave no word of its own.
    fn forget_last_word(&mut self) {
        self.rounds_completed = self.round.saturating_sub(1);
        if self.gate.is_some() {
            self.gate = None;
        } else if self.verdict.as_ref().is_some_and(|(word, _)| *word != VerdictWord::Pass) {
            self.verdict = None;
        }
    }

    /// What the run ends as when a rejected round has no successor.
    pub(super) fn end_without_rounds(&self) -> End {
        match self.last_rejection {
            Some(by) => End::Rejected { by },
            None => End::Exhausted { dimension: Dimension::Rounds },
        }
    }

    /// Whether the run could only go on with a round more than it has.
    pub(crate) fn needs_another_round(&self, rounds: u32) -> bool {
        let round_is_over = self.round > 0 && self.rounds_completed == self.round;
        round_is_over && !self.asks_checker_again() && self.round >= rounds
    }

    /// Whether going on means asking the checker of this round once more rather than a new round.
    pub(super) fn asks_checker_again(&self) -> bool {
        matches!(
            &self.end,
            Some(End::NeedsHuman {
                cause: Cause::WorkspaceChanged { .. }
                    | Cause::NoReadableAnswer { .. }
                    | Cause::AgentNotStarted { .. }
                    | Cause::AgentKeepsFailing { role: Role::Judge | Role::Auditor, .. }
            })
        )
    }

    fn note_rejection(&mut self, by: super::facts::RejectedBy) {
        use super::facts::RejectedBy;
        self.last_rejection = Some(by);
        match by {
            RejectedBy::DoerFailed => self.maker_failures_in_a_row += 1,
            RejectedBy::Repetition => self.repetitions += 1,
            RejectedBy::Handoff
            | RejectedBy::NoChange
            | RejectedBy::Hazard
            | RejectedBy::Check
            | RejectedBy::Judge
            | RejectedBy::AuditCheck
            | RejectedBy::Auditor => self.repetitions = 0,
        }
        // Nobody said no to a tree that somebody only could not judge: it may come again.
        let undecided = [&self.verdict, &self.gate]
            .into_iter()
            .flatten()
            .any(|(word, _)| *word == VerdictWord::NeedsHuman);
        if let Some(change) = self.change.as_ref().filter(|_| !undecided) {
            self.rejected_trees.entry(change.tree.clone()).or_insert(self.round);
        }
    }
}
