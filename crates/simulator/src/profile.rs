//! What kind of runs a simulation makes up and how rough the way is. A new loop brings a variant of `Loop` and a
//! function that draws its spec; everything else stays.

use crate::choices::Choices;
use crate::control;
use crate::goal;
use crate::planted::PlantedBug;
use crate::roadmap;
use std::collections::BTreeMap;
use windlass_protocols::kernel::availability::Patience;
use windlass_protocols::kernel::budget::{Caps, Spend};
use windlass_protocols::kernel::fence::Fence;
use windlass_protocols::kernel::gate::{GateRules, Integrity, OnFindings};
use windlass_protocols::outcome::{Audit, Handoff, Verdict, VerdictWord};
use windlass_protocols::protocol::Spec;
use windlass_protocols::protocol::judged_task::spec::{
    Adopted, AuditPolicy, Landing, OnNeedsHuman, Place, TaskSpec,
};
use windlass_protocols::{ArtifactRef, CommitId, Digest, Millis, Role, TaskId, TreeId};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Profile {
    pub of: Loop,
    /// How many of a hundred turns go wrong on the way.
    pub faults_in_a_hundred: u32,
    /// The longest faulty season, in moves.
    pub moves: u32,
    /// Absent: the real engine. Present: the copy with this bug.
    pub planted: Option<PlantedBug>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loop {
    JudgedTask,
    FeedbackControl,
    GoalContract,
    RoadmapRounds,
}

impl Loop {
    /// Far more moves than the longest calm run needs, with every step repeated as often as it may be.
    pub(crate) const fn calm_moves(self) -> u32 {
        match self {
            // Five rounds.
            Self::JudgedTask => 400,
            // Eight iterations outside, two in each of them and two in each of those.
            Self::FeedbackControl => 3_000,
            // Fifteen iterations of a dozen steps, and as many again for a person's word.
            Self::GoalContract => 1_500,
            // Eight rounds and their updates, each stage tried again and again, five steps for every agent.
            Self::RoadmapRounds => 6_000,
        }
    }

    /// The name of its profile, for the line that tells a story again.
    pub(crate) const fn profile_name(self) -> &'static str {
        match self {
            Self::JudgedTask => "JUDGED_TASK",
            Self::FeedbackControl => "FEEDBACK_CONTROL",
            Self::GoalContract => "GOAL_CONTRACT",
            Self::RoadmapRounds => "ROADMAP_ROUNDS",
        }
    }
}

impl Profile {
    pub const JUDGED_TASK: Self =
        Self { of: Loop::JudgedTask, faults_in_a_hundred: 15, moves: 60, planted: None };

    pub const FEEDBACK_CONTROL: Self =
        Self { of: Loop::FeedbackControl, faults_in_a_hundred: 15, moves: 120, planted: None };

    pub const GOAL_CONTRACT: Self =
        Self { of: Loop::GoalContract, faults_in_a_hundred: 10, moves: 240, planted: None };

    pub const ROADMAP_ROUNDS: Self =
        Self { of: Loop::RoadmapRounds, faults_in_a_hundred: 8, moves: 400, planted: None };

    #[must_use]
    pub const fn with_bug(mut self, bug: PlantedBug) -> Self {
        self.planted = Some(bug);
        self
    }

    pub(crate) fn spec(self, choices: &mut Choices) -> Spec {
        match self.of {
            Loop::JudgedTask => Spec::JudgedTask(Box::new(task(choices))),
            Loop::FeedbackControl => Spec::FeedbackControl(Box::new(control::profile::spec(choices))),
            Loop::GoalContract => Spec::GoalContract(Box::new(goal::profile::spec(choices))),
            Loop::RoadmapRounds => Spec::RoadmapRounds(Box::new(roadmap::profile::spec(choices))),
        }
    }
}

fn task(choices: &mut Choices) -> TaskSpec {
    let caps = Caps {
        rounds: choices.weighted(&[(2, 1), (2, 2), (2, 3), (1, 4), (2, 5)]),
        time: cap(choices, 20 * 60_000).map(Millis),
        tokens: cap(choices, 40_000),
        cost_micros: cap(choices, 20_000),
        output_bytes: cap(choices, 80_000),
        step_time: Millis::minutes(30),
        step_idle: if choices.once_in(2) { Some(Millis::minutes(5)) } else { None },
        step: Spend::default(),
        day: Spend::default(),
        repository: Spend::default(),
    };
    TaskSpec {
        task: TaskId::new("TASK-1"),
        text: "make it so".to_owned(),
        caps,
        checks: commands(choices, "make test"),
        audit_checks: commands(choices, "make audit"),
        audit: choices.weighted(&[(3, AuditPolicy::Required), (1, AuditPolicy::Skipped)]),
        on_needs_human: choices.weighted(&[(2, OnNeedsHuman::Stop), (1, OnNeedsHuman::Continue)]),
        landing: landing(choices),
        patience: Patience::default(),
        place: Place {
            repository: "/r".to_owned(),
            common_dir: "/r/.git".to_owned(),
            run_dir: "/r/.orchestrator/runs/1".to_owned(),
            base_ref: "main".to_owned(),
            base: CommitId::new("commit-base"),
            doer_branch: "doer".to_owned(),
            judge_branch: "judge".to_owned(),
            agents: ROLES.map(|role| (role, "first".to_owned())).into(),
            fallbacks: fallbacks(choices),
            prompts: BTreeMap::new(),
            author: None,
            fence: Fence::default(),
            gate: gate(choices),
        },
        criteria: Vec::new(),
        adopted: if choices.once_in(6) { Some(adopted(choices)) } else { None },
    }
}

pub(crate) fn gate(choices: &mut Choices) -> GateRules {
    GateRules {
        integrity: choices.weighted(&[(1, Integrity::Off), (1, Integrity::Findings), (3, Integrity::Full)]),
        on_findings: choices.weighted(&[(2, OnFindings::Reject), (2, OnFindings::Ask)]),
        ..GateRules::default()
    }
}

const ROLES: [Role; 3] = [Role::Doer, Role::Judge, Role::Auditor];

fn fallbacks(choices: &mut Choices) -> BTreeMap<Role, Vec<String>> {
    let roles = ROLES.into_iter().filter(|_| choices.once_in(3));
    roles.map(|role| (role, vec!["second".to_owned()])).collect()
}

pub(crate) fn cap(choices: &mut Choices, up_to: u32) -> Option<u64> {
    if choices.once_in(4) { Some(u64::from(choices.below(up_to)) + 1) } else { None }
}

fn commands(choices: &mut Choices, name: &str) -> Vec<String> {
    let count = choices.below(3);
    (0..count).map(|number| format!("{name} {number}")).collect()
}

pub(crate) fn landing(choices: &mut Choices) -> Landing {
    match choices.below(3) {
        0 => Landing::None,
        1 => Landing::Branch("task/1".to_owned()),
        _ => Landing::Current,
    }
}

/// What another program left behind, which may contradict itself.
fn adopted(choices: &mut Choices) -> Adopted {
    let brought = |name: &str| ArtifactRef {
        name: name.to_owned(),
        digest: Digest::new(format!("{name} brought along")),
        bytes: 10,
    };
    let handoff = choices.weighted(&[(3, true), (1, false)]).then(|| Handoff {
        requirements_touched: vec!["REQ-1".to_owned()],
        artifact: brought("handoff.json"),
    });
    let word = |choices: &mut Choices| {
        choices.weighted(&[(3, VerdictWord::Pass), (1, VerdictWord::Reject), (1, VerdictWord::NeedsHuman)])
    };
    let said = |choices: &mut Choices| {
        choices
            .weighted(&[(2, true), (1, false)])
            .then(|| "- [naming] say what it does".to_owned())
            .into_iter()
            .collect::<Vec<String>>()
    };
    let verdict = choices.once_in(2).then(|| Verdict {
        word: word(choices),
        feedback: said(choices),
        requirements_checked: choices
            .weighted(&[(4, true), (1, false)])
            .then(|| "REQ-1".to_owned())
            .into_iter()
            .collect(),
        requirements_missing: choices.once_in(5).then(|| "REQ-9".to_owned()).into_iter().collect(),
        artifact: brought("verdict.json"),
        waivers: Vec::new(),
    });
    let audit = choices.once_in(3).then(|| Audit {
        word: word(choices),
        feedback: said(choices),
        contradictions: choices.once_in(5).then(|| "policy says fail".to_owned()).into_iter().collect(),
        artifact: brought("audit.json"),
    });
    // The first change the world captures has this name; without it the words speak of something else.
    let tree = choices.weighted(&[(3, true), (1, false)]).then(|| TreeId::new("tree-1"));
    Adopted { round: choices.below(4) + 1, tree, handoff, verdict, audit }
}
