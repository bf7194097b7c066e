//! The three levels: what each waits for, what each does by itself, and what may lower them.

use crate::script::{Script, approve, reject};
use crate::words::{at, design, fail, item, one, queue, spec, two};
use windlass_protocols::Role;
use windlass_protocols::TreeId;
use windlass_protocols::protocol::goal_contract::end::{End, NotReady, Proposed};
use windlass_protocols::protocol::goal_contract::queue::{Autonomy, Item};
use windlass_protocols::protocol::goal_contract::spec::{DesignRule, GoalSpec, Tightened};

fn awaits(tree: &str) -> End {
    End::AwaitsApproval { item: "F001".to_owned(), proposed: Proposed::Change { tree: TreeId::new(tree) } }
}

fn awaits_design(name: &str) -> End {
    let proposed = Proposed::Design { artifact: crate::words::artifact(name) };
    End::AwaitsApproval { item: "F001".to_owned(), proposed }
}

#[test]
fn l1_commits_exactly_the_tree_that_was_approved() {
    let script = Script::of(at(Autonomy::L1, one())).passed("tree-1").ends(&awaits("tree-1"));
    assert_eq!(script.times("item-committed"), 0);
    let script = script.says(approve("tree-1"));
    assert_eq!((script.commit().item.as_deref(), script.commit().tree.as_str()), (Some("F001"), "tree-1"));
    script.committed().read().ends(&End::Success);
}

#[test]
fn l1_pauses_also_after_an_iteration_that_failed() {
    let script = Script::of(at(Autonomy::L1, one())).judged("tree-1", fail("a:b", "wrong")).read();
    script.ends(&End::Paused { iteration: 1 }).resumed().read().asks(Role::Builder, "F001");
}

#[test]
fn l1_waits_for_a_yes_to_a_design_and_builds_after_it() {
    let risky = Item { risky: true, ..item("F001") };
    let script = Script::of(at(Autonomy::L1, queue(&[risky])));
    let script =
        script.leaves(design("F001-design.md", &["src/a.rs"])).ends(&awaits_design("F001-design.md"));
    script.says(approve("digest of F001-design.md")).asks(Role::Builder, "F001");
}

#[test]
fn l1_a_rejected_design_is_made_again_with_the_reason() {
    let risky = Item { risky: true, ..item("F001") };
    let script = Script::of(at(Autonomy::L1, queue(&[risky]))).leaves(design("one.md", &["src/a.rs"]));
    let script = script.says(reject("too big")).asks(Role::Planner, "F001");
    assert_eq!(script.told(), ["an earlier design was rejected: too big"]);
    script.leaves(design("two.md", &["src/b.rs"])).ends(&awaits_design("two.md"));
}

#[test]
fn l2_and_l3_go_on_with_a_design_that_nobody_approved() {
    for level in [Autonomy::L2, Autonomy::L3] {
        let risky = Item { risky: true, ..item("F001") };
        let script = Script::of(at(level, queue(&[risky]))).leaves(design("one.md", &["src/a.rs"]));
        assert!(!script.state().item("F001").design_approved);
        script.asks(Role::Builder, "F001");
    }
}

#[test]
fn l2_commits_on_green_and_goes_on_until_everything_is_complete() {
    let script = Script::of(two()).accepted("tree-1").read().accepted("tree-2").read().ends(&End::Success);
    assert_eq!((script.times("run-reopened"), script.times("item-committed")), (0, 2));
}

#[test]
fn l3_designs_every_item_that_does_not_state_its_paths() {
    let vague = Item { paths_stated: false, ..item("F001") };
    Script::of(at(Autonomy::L3, queue(std::slice::from_ref(&vague)))).asks(Role::Planner, "F001");
    Script::of(at(Autonomy::L2, queue(&[vague]))).asks(Role::Builder, "F001");
}

#[test]
fn the_command_line_lowers_the_level_and_does_not_raise_it() {
    let asked =
        |level| GoalSpec { tightened: Tightened { autonomy: Some(level), ..Tightened::default() }, ..spec() };
    Script::with(asked(Autonomy::L1), one()).passed("tree-1").ends(&awaits("tree-1"));
    let files = at(Autonomy::L1, one());
    Script::with(asked(Autonomy::L3), files).passed("tree-1").ends(&awaits("tree-1"));
}

#[test]
fn without_tests_only_l1_may_run() {
    let untested = || GoalSpec { suite: None, ..spec() };
    for level in [Autonomy::L2, Autonomy::L3] {
        Script::with(untested(), at(level, one())).unready_for(NotReady::NoTests);
    }
    let script = Script::with(untested(), at(Autonomy::L1, one()));
    script
        .builds("tree-1")
        .asks(Role::Evaluator, "F001")
        .leaves(crate::words::pass())
        .ends(&awaits("tree-1"));
}

#[test]
fn a_level_or_scope_that_is_raised_takes_a_new_run_also_after_a_person_looked() {
    let untested = GoalSpec { suite: None, ..spec() };
    let script = Script::with(untested, at(Autonomy::L1, two())).builds("tree-1");
    let script = script.leaves(crate::words::pass()).says(approve("tree-1")).committed();
    let script = script.edited(|files| {
        files.autonomy = Autonomy::L2;
        files.limits.iterations = 1000;
    });
    let script = script.read();
    let state = script.state();
    assert_eq!(state.level(), Some(Autonomy::L1));
    let notices = state.queue.as_ref().map(|queue| queue.notices.join("; ")).unwrap_or_default();
    assert!(notices.contains("takes a new run"), "{notices}");
}

#[test]
fn a_design_can_be_wanted_always_or_never() {
    let always = GoalSpec { design: DesignRule::Always, ..spec() };
    Script::with(always, one()).asks(Role::Planner, "F001");
    let never = GoalSpec { design: DesignRule::Never, ..spec() };
    let risky = Item { risky: true, ..item("F001") };
    Script::with(never, queue(&[risky])).asks(Role::Builder, "F001");
}
