//! Examples of every fact of the roadmap loop that came with the integrity of its gate, for the stored form.

use crate::harness::words::{STEP, finding, gate_report, lines, waiver};
use crate::roadmap_facts::roadmap_spec;
use crate::roadmap_planes::bare_plane;
use windlass_protocols::effect::{Effect, InspectGate, PlaneStep, StepLimits};
use windlass_protocols::fact::FACT_VERSION;
use windlass_protocols::kernel::gate::{FindingName, PathKind, Touch, TouchedPath};
use windlass_protocols::outcome::{Outcome, PlaneOutcome};
use windlass_protocols::protocol::Spec;
use windlass_protocols::protocol::roadmap_rounds::facts::{Fact as RoadmapFact, Why};
use windlass_protocols::protocol::roadmap_rounds::plane::{
    CloseoutMode, Evidence, ReviewSeen, RoundSeen, RoundStage,
};
use windlass_protocols::protocol::roadmap_rounds::spec::RoadmapSpec;
use windlass_protocols::protocol::roadmap_rounds::steps::{GateLooked, LookAtGate};
use windlass_protocols::{Actor, CommitId, Digest, EffectId, Fact, Millis, RunId, TreeId};

pub(crate) fn examples() -> Vec<Fact> {
    let round = || "round-001".to_owned();
    let (fork, head) = (CommitId::new("0123abcd"), CommitId::new("4567abcd"));
    let spec = RoadmapSpec { checks: lines(&["make test"]), ..roadmap_spec() };
    let look = LookAtGate { round: round(), fork: fork.clone(), head: head.clone() };
    let looked = Box::new(GateLooked {
        round: round(),
        fork,
        head,
        base: TreeId::new("tree-0"),
        tree: TreeId::new("tree-1"),
        touched: vec![TouchedPath {
            path: "tests/a.rs".to_owned(),
            kind: PathKind::Test,
            how: Touch::Modified,
        }],
        findings: vec![finding(FindingName::TestSkipped)],
    });
    let request = Effect::InspectGate(InspectGate {
        round: 1,
        base: TreeId::new("tree-0"),
        tree: TreeId::new("tree-1"),
        commands: lines(&["make test"]),
        red_at_base: Vec::new(),
        flaky: Vec::new(),
        unmeasured: true,
        limits: StepLimits {
            total: Millis(1),
            idle: None,
            output_bytes: None,
            tokens: None,
            cost_micros: None,
        },
    });
    let mut report = gate_report(&request, &[FindingName::PassesOnlyWithItsOwnTests], STEP);
    report.red = lines(&["make lint"]);
    let findings = || vec![finding(FindingName::TestSkipped)];
    let (from, to) = (RoundStage::Review, RoundStage::Implement);
    let why = Why::NotWaived { findings: findings() };
    let red = Why::ChecksRed { commands: lines(&["make test"]) };
    let decided = [
        RoadmapFact::GateLooked { looked: looked.clone() },
        RoadmapFact::GateInspected { round: round(), report: Box::new(report) },
        RoadmapFact::GateHeld { round: round(), findings: findings() },
        RoadmapFact::StageDecided { round: round(), from, to, why },
        RoadmapFact::StageDecided {
            round: round(),
            from: RoundStage::FinalizeRound,
            to: RoundStage::Plan,
            why: red,
        },
    ];
    let mut facts = vec![
        Fact::RunStarted {
            version: FACT_VERSION,
            run: RunId::new("run-4"),
            spec: Spec::RoadmapRounds(Box::new(spec)),
            by: Actor::Human("ada".to_owned()),
        },
        Fact::EffectRequested { effect: EffectId(494), request: Effect::Plane(PlaneStep::LookAtGate(look)) },
        Fact::EffectSettled {
            effect: EffectId(494),
            outcome: Outcome::Plane(PlaneOutcome::GateLooked(looked)),
        },
        Fact::EffectRequested { effect: EffectId(495), request },
        waived(),
    ];
    facts.extend(decided.map(Fact::RoadmapRounds));
    facts
}

/// A review that waives something, as it is read.
fn waived() -> Fact {
    let review = ReviewSeen::Approved {
        closeout: CloseoutMode::StatusOnly,
        artifact: Digest::new("review"),
        waivers: vec![waiver(FindingName::TestSkipped)],
    };
    let mut plane = bare_plane();
    plane.rounds = vec![RoundSeen {
        id: "round-001".to_owned(),
        stage: RoundStage::Review,
        branch: "orchestrator/round-001".to_owned(),
        worktree: "orchestrator/worktrees/round-001".to_owned(),
        resume_error: None,
        head: None,
        fork: None,
        code_drifted: false,
        roadmap_drifted: false,
        worktree_stands: true,
        evidence: Evidence { review: Some(review), ..Evidence::default() },
    }];
    let outcome = Outcome::Plane(PlaneOutcome::Read(Box::new(plane)));
    Fact::EffectSettled { effect: EffectId(496), outcome }
}
