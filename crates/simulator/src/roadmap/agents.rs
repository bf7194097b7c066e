//! What the agents of a roadmap loop leave in their worktrees: plans that hold and plans that do not, work with and without
//! notes, reviews that decide, contradict themselves or say nothing. Whether anybody believes it is not known here.

use super::reading;
use super::repo::{Branch, Repo};
use crate::choices::Choices;
use crate::temper::Leaning;
use windlass_protocols::Digest;
use windlass_protocols::effect::RoundWork;
use windlass_protocols::kernel::gate::{FindingName, Waiver};
use windlass_protocols::protocol::roadmap_rounds::opening::beside;
use windlass_protocols::protocol::roadmap_rounds::plane::{
    CloseoutMode, DirectSeen, Evidence, Generation, PlanSeen, Plane, RetryTarget, ReviewSeen, UpdateReview,
    WorkerSeen, WorkerState,
};
use windlass_protocols::protocol::roadmap_rounds::steps::WorkKind;

/// How well the thing was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Deed {
    Good,
    Faulty,
    Nothing,
    Odd,
    /// The strangest thing that role can do.
    Strange,
}

fn deed(choices: &mut Choices, leaning: Leaning) -> Deed {
    let (faulty, odd) = match leaning {
        Leaning::Good => (0, 2),
        Leaning::Unreadable => (60, 4),
        Leaning::AskingForPeople => (4, 60),
        Leaning::Mixed | Leaning::Failing | Leaning::Unserved => (4, 12),
    };
    choices.weighted(&[
        (60, Deed::Good),
        (faulty, Deed::Faulty),
        (faulty.min(4), Deed::Nothing),
        (odd, Deed::Odd),
        (odd / 3, Deed::Strange),
    ])
}

pub(super) fn closeout(choices: &mut Choices, generation: Generation) -> CloseoutMode {
    let none = u32::from(generation == Generation::StructuredMarkdown) * 2;
    choices.weighted(&[
        (9, CloseoutMode::StatusOnly),
        (2, CloseoutMode::SemanticUpdateRequired),
        (none, CloseoutMode::None),
    ])
}

/// Does the work in the worktree of that branch; nothing happens where it is gone.
pub(super) fn act(repo: &mut Repo, choices: &mut Choices, leaning: Leaning, work: &RoundWork, branch: &str) {
    if !repo.branches.contains_key(branch) {
        return;
    }
    let deed = deed(choices, leaning);
    if deed == Deed::Nothing {
        return;
    }
    match &work.kind {
        WorkKind::Plan => plan(repo, choices, deed, work, branch),
        WorkKind::Implement | WorkKind::Integrate => implement(repo, deed, branch),
        WorkKind::Worker { .. } => share(repo, deed, branch),
        WorkKind::Review => review(repo, choices, deed, branch),
        WorkKind::AuthorUpdate => author(repo, deed, branch),
        WorkKind::ReviewUpdate => review_update(repo, deed, branch),
        WorkKind::Investigate { .. } => {}
    }
}

fn at<'a>(repo: &'a mut Repo, branch: &str) -> &'a mut Branch {
    let branch = repo.branches.get_mut(branch).expect("looked for before");
    branch.touch();
    branch
}

fn plan(repo: &mut Repo, choices: &mut Choices, deed: Deed, work: &RoundWork, branch: &str) {
    let number = repo.fresh();
    let plane = reading::read(repo);
    let chosen = plane.as_ref().and_then(|plane| choose(plane, choices, deed, &work.round));
    let simple = repo.generation == Generation::StructuredMarkdown && choices.once_in(4);
    let content = repo.fresh();
    let fans_out = !simple && choices.once_in(6);
    let revision = repo.state.revision.clone();
    let others: Vec<String> = repo.state.rounds.iter().map(|round| round.id.clone()).collect();
    let kept = repo.branches.get(branch).and_then(|branch| branch.evidence.plan.clone());
    let made = at(repo, branch);
    made.content = content;
    let Some((milestone, direction)) = chosen else {
        made.evidence = Evidence { request: true, ..Evidence::default() };
        return;
    };
    let item = kept.map_or_else(|| format!("item-{number}"), |kept| kept.item);
    let mut plan = PlanSeen {
        milestone,
        direction,
        item,
        revision,
        depends_on_rounds: Vec::new(),
        merge_after_items: Vec::new(),
        parallel_group: None,
        workers: Vec::new(),
        direct: None,
    };
    match (deed, choices.below(5)) {
        (Deed::Odd, 0) => {
            plan.depends_on_rounds = others.into_iter().filter(|id| *id != work.round).collect();
        }
        (Deed::Odd, 1) => plan.merge_after_items = vec!["item-1".to_owned()],
        (Deed::Odd, 2) => "rev-000".clone_into(&mut plan.revision),
        (Deed::Odd, 3) => plan.parallel_group = Some("both".to_owned()),
        (Deed::Odd, _) => plan.depends_on_rounds = vec!["round-999".to_owned()],
        _ => {}
    }
    if fans_out {
        plan.workers = workers(choices, branch);
    }
    made.evidence.request = false;
    made.evidence.plan_faults = faults(deed, "plan.md: no goal");
    let artifact = Digest::new(format!("direct-{number}"));
    if simple {
        let direct = if deed == Deed::Strange {
            DirectSeen::Unproven { faults: faults(Deed::Faulty, "implementation-notes.md: no result") }
        } else {
            let closeout = choices.weighted(&[(3, CloseoutMode::StatusOnly), (1, CloseoutMode::None)]);
            DirectSeen::Proven { closeout, artifact: artifact.clone() }
        };
        plan.direct = Some(direct);
        made.evidence.notes = true;
    }
    made.evidence.plan = Some(plan);
    repo.approvals.insert(artifact, Some(content));
}

/// A direction that may be worked on, unless the planner wants something else; `None` asks for an update.
fn choose(plane: &Plane, choices: &mut Choices, deed: Deed, round: &str) -> Option<(String, String)> {
    let named = |(milestone, direction): (&_, &_)| {
        let (milestone, direction): (
            &windlass_protocols::protocol::roadmap_rounds::plane::Milestone,
            &windlass_protocols::protocol::roadmap_rounds::plane::Direction,
        ) = (milestone, direction);
        (milestone.id.clone(), direction.id.clone())
    };
    if deed == Deed::Strange {
        return match choices.below(3) {
            0 => None,
            1 => Some(("M9".to_owned(), "M9-d0".to_owned())),
            _ => plane.directions.last().map(|last| (last.milestone.clone(), last.id.clone())),
        };
    }
    let mut others = plane.clone();
    others.rounds.retain(|live| live.id != round);
    let open: Vec<(String, String)> = beside(&others).map(named).collect();
    let which = choices.below(u32::try_from(open.len()).unwrap_or(1)) as usize;
    open.get(which).cloned()
}

fn workers(choices: &mut Choices, branch: &str) -> Vec<WorkerSeen> {
    let count = choices.below(2) + 2;
    let mut workers: Vec<WorkerSeen> = Vec::new();
    for number in 0..count {
        let after = workers.last().map(|worker| worker.id.clone()).filter(|_| choices.once_in(3));
        workers.push(WorkerSeen {
            id: format!("w{number}"),
            branch: format!("{branch}-w{number}"),
            worktree: format!("orchestrator/worktrees/{branch}-w{number}"),
            depends_on: after.into_iter().collect(),
            blocks_integration: !choices.once_in(4),
            head: None,
            state: WorkerState::Pending,
            outside: false,
            lost: Vec::new(),
            faults: Vec::new(),
        });
    }
    workers
}

fn faults(deed: Deed, sentence: &str) -> Vec<String> {
    if deed == Deed::Faulty { vec![sentence.to_owned()] } else { Vec::new() }
}

fn implement(repo: &mut Repo, deed: Deed, branch: &str) {
    let content = repo.fresh();
    let made = at(repo, branch);
    made.content = content;
    made.evidence.notes |= deed != Deed::Odd;
    made.evidence.notes_faults = faults(deed, "implementation-notes.md: no changes");
}

fn share(repo: &mut Repo, deed: Deed, branch: &str) {
    at(repo, branch).share = match deed {
        Deed::Good => WorkerState::Complete,
        Deed::Strange | Deed::Odd => WorkerState::Blocked { why: "the interface is missing".to_owned() },
        Deed::Faulty | Deed::Nothing => WorkerState::Running,
    };
}

fn review(repo: &mut Repo, choices: &mut Choices, deed: Deed, branch: &str) {
    let (number, generation) = (repo.fresh(), repo.generation);
    let artifact = Digest::new(format!("review-{number}"));
    let said = match deed {
        Deed::Odd => {
            let target = choices.weighted(&[
                (4, RetryTarget::Implement),
                (2, RetryTarget::Plan),
                (1, RetryTarget::Blocked),
            ]);
            ReviewSeen::Rejected { target, changes: vec![format!("off by {number}")] }
        }
        Deed::Strange => ReviewSeen::Unclassified { why: "approved without a closeout".to_owned() },
        Deed::Good | Deed::Faulty | Deed::Nothing => {
            let (closeout, artifact) = (closeout(choices, generation), artifact.clone());
            ReviewSeen::Approved { closeout, artifact, waivers: waivers(choices) }
        }
    };
    let made = at(repo, branch);
    made.evidence.review = Some(said);
    made.evidence.review_faults = faults(deed, "review.md: no decision");
    let content = made.content;
    repo.approvals.insert(artifact, Some(content));
}

/// Mostly whatever may have been found, sometimes a part of it or nothing.
fn waivers(choices: &mut Choices) -> Vec<Waiver> {
    let names = match choices.weighted(&[(6, "all"), (1, "part"), (2, "nothing")]) {
        "all" => FindingName::ALL.to_vec(),
        "part" => vec![FindingName::TestDeleted],
        _ => Vec::new(),
    };
    names.into_iter().map(|finding| Waiver { finding, reason: "as asked".to_owned() }).collect()
}

fn author(repo: &mut Repo, deed: Deed, branch: &str) {
    let content = repo.fresh();
    let made = at(repo, branch);
    made.content = content;
    made.authored = deed != Deed::Odd;
    made.boasts = deed == Deed::Strange;
    made.author_faults = faults(deed, "roadmap-update.md: no rationale");
}

fn review_update(repo: &mut Repo, deed: Deed, branch: &str) {
    let number = repo.fresh();
    let artifact = Digest::new(format!("update-review-{number}"));
    let made = at(repo, branch);
    made.update_review = Some(match deed {
        Deed::Odd | Deed::Strange => UpdateReview::Rejected { summary: format!("too coarse, {number}") },
        Deed::Good | Deed::Faulty | Deed::Nothing => UpdateReview::Approved { artifact: artifact.clone() },
    });
    made.review_faults = faults(deed, "no decision line");
    let content = made.content;
    repo.approvals.insert(artifact, Some(content));
}
