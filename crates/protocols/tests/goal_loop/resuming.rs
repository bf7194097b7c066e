//! Resuming: counters are what the facts say at every point, lost steps are asked for again, a commit nobody saw is made once.

use crate::script::{Script, approve};
use crate::words::{at, fail, one, pass, queue, two, with_status};
use windlass_protocols::effect::Effect;
use windlass_protocols::protocol::goal_contract::end::{Cause, End, Proposed};
use windlass_protocols::protocol::goal_contract::facts::{Ending, Fact as GoalFact};
use windlass_protocols::protocol::goal_contract::queue::{Autonomy, Status};
use windlass_protocols::protocol::goal_contract::stage::Stage;
use windlass_protocols::protocol::{Protocol, goal_contract};
use windlass_protocols::{Fact, Outcome, Role, Run, TreeId};

fn state(run: &Run) -> Option<&goal_contract::state::State> {
    match &run.started.as_ref()?.protocol {
        Protocol::GoalContract(state) => Some(state),
        Protocol::JudgedTask(_) | Protocol::FeedbackControl(_) | Protocol::RoadmapRounds(_) => None,
    }
}

#[test]
fn counters_at_every_point_of_a_replay_are_those_of_the_facts() {
    let script = Script::of(two()).judged("tree-1", fail("a:b", "one")).read().exits(1).captured("tree-2");
    let script = script.read().accepted("tree-3").read().lost().accepted("tree-4").read().ends(&End::Success);
    let facts = script.facts();
    for end in 1..=facts.len() {
        let run = Run::replay(&facts[..end]);
        let state = state(&run).expect("a goal loop");
        let count = |wanted: fn(&GoalFact) -> bool| {
            facts[..end]
                .iter()
                .filter(|fact| matches!(fact, Fact::GoalContract(fact) if wanted(fact)))
                .count()
        };
        let opened = count(|fact| matches!(fact, GoalFact::IterationOpened { .. }));
        assert_eq!(usize::try_from(state.iteration), Ok(opened), "after fact {end}");
        let committed = count(|fact| matches!(fact, GoalFact::ItemCommitted { .. }));
        assert_eq!(state.commits.len(), committed, "after fact {end}");
        let ended = count(|fact| matches!(fact, GoalFact::IterationEnded { .. }));
        assert_eq!(state.past.len(), ended, "after fact {end}");
        let reworked =
            count(|fact| matches!(fact, GoalFact::IterationEnded { result: Ending::Rework { .. }, .. }));
        let rework: u32 = state.items.values().map(|item| item.rework).sum();
        assert_eq!(usize::try_from(rework), Ok(reworked), "after fact {end}");
        let used: u64 = facts[..end]
            .iter()
            .map(|fact| match fact {
                Fact::EffectSettled { outcome, .. } => outcome.usage().tokens,
                _ => 0,
            })
            .sum();
        assert_eq!(run.started.as_ref().map(|started| started.budget.used.tokens), Some(used));
    }
}

#[test]
fn every_step_that_is_lost_is_asked_for_again_and_no_counter_moves() {
    let script = Script::start(crate::words::spec(), one()).lost().prepared().lost().read().lost().green();
    let script = script.lost().green().lost().leaves(crate::words::built()).lost().captured("tree-1");
    let script = script.lost().green().lost().leaves(pass()).lost().committed().lost().read().lost();
    let script = script.ends(&End::Success);
    assert_eq!((script.state().iteration, script.times("item-committed")), (1, 1));
}

#[test]
fn a_step_that_is_always_lost_is_a_persons() {
    let mut script = Script::of(one());
    for _ in 0..5 {
        script = script.lost();
    }
    script.escalates(Cause::StepKeepsGettingLost { stage: Stage::Building });
}

#[test]
fn a_commit_that_nobody_saw_is_asked_for_again_with_the_same_words() {
    let script = Script::of(two()).passed("tree-1");
    let first = script.commit().clone();
    let script = script.lost();
    assert_eq!(*script.commit(), first, "the same commit comes of it");
}

#[test]
fn a_commit_that_keeps_getting_lost_is_looked_for_first_when_the_run_is_taken_up() {
    let mut script = Script::of(two()).passed("tree-1");
    let first = script.commit().clone();
    for _ in 0..5 {
        script = script.lost();
    }
    let cause = Cause::StepKeepsGettingLost { stage: Stage::Committing };
    assert_eq!(script.state().end, Some(End::Escalated { cause }));
    let script = script.answer(Outcome::Closed).resumed();
    assert_eq!(*script.commit(), first);
    script.committed().read().asks(Role::Builder, "F002");
}

#[test]
fn a_closing_commit_that_is_lost_is_made_once() {
    let script = Script::of(one()).accepted("tree-1").read();
    let first = script.commit().clone();
    let script = script.lost();
    assert_eq!(*script.commit(), first);
    let script = script.ends(&End::Success);
    assert_eq!(script.times("summary-committed"), 1);
}

#[test]
fn a_closing_commit_that_is_refused_keeps_the_end_and_the_summary() {
    let script = Script::of(one()).accepted("tree-1").read().refused("a hook said no");
    script.ends(&End::Success);
}

#[test]
fn an_item_left_in_progress_by_somebody_is_reworked() {
    Script::of(queue(&[with_status("F001", Status::InProgress)])).asks(Role::Builder, "F001");
}

#[test]
fn waiting_for_approval_is_waiting_also_after_a_restart() {
    let script = Script::of(at(Autonomy::L1, one())).passed("tree-1");
    let proposed = Proposed::Change { tree: TreeId::new("tree-1") };
    let end = End::AwaitsApproval { item: "F001".to_owned(), proposed };
    let replayed = Run::replay(script.facts());
    assert_eq!(state(&replayed).and_then(|state| state.end.as_ref()), Some(&end));
    let script = script.says(approve("tree-1"));
    assert!(matches!(script.waiting(), Effect::CommitItem(_)), "the verdict still counts for that tree");
}

#[test]
fn files_that_cannot_be_read_in_the_middle_escalate_and_are_read_again() {
    let script = Script::of(two()).accepted("tree-1").refused("LOOP.md: line 4");
    let cause = Cause::Unreadable { reason: "LOOP.md: line 4".to_owned() };
    script.escalates(cause).resumed().read().asks(Role::Builder, "F002");
}

#[test]
fn a_run_that_did_not_begin_measures_again_when_it_is_taken_up() {
    let script = Script::start(crate::words::spec(), one()).prepared().read().red(&["t::old"], &[]);
    let script = script.answer(Outcome::Closed).resumed().read().green().green();
    script.asks(Role::Builder, "F001");
}

#[test]
fn workspaces_on_another_base_are_not_worked_on() {
    let base = windlass_protocols::CommitId::new("another");
    let script = Script::start(crate::words::spec(), one());
    let script = script.answer(Outcome::Prepared { base, base_tree: TreeId::new("base-tree") });
    let reason = "the workspaces stand on another, not on the base of the run".to_owned();
    script.unready_for(goal_contract::end::NotReady::Setup { reason });
}
