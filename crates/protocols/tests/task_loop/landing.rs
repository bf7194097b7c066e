//! Exactly the judged tree is landed, where somebody asked for it, now or later, and only once.

use crate::harness::words::{BASE, artifact, full_spec, one_round, spec, unaudited};
use crate::harness::{NO_MORE, Script, accepted, reopen};
use windlass_protocols::effect::Effect;
use windlass_protocols::outcome::{LandedCommit, Outcome};
use windlass_protocols::protocol::judged_task::end::{Cause, End};
use windlass_protocols::protocol::judged_task::spec::{Landing, TaskSpec};
use windlass_protocols::protocol::judged_task::stage::Stage;
use windlass_protocols::{CommitId, Observation, Rejection, TreeId};

fn ask(landing: Landing) -> Observation {
    Observation::LandingRequested { landing }
}

fn on(branch: &str) -> Landing {
    Landing::Branch(branch.to_owned())
}

fn nothing(why: &str) -> Rejection {
    Rejection::NothingToLand { why: why.to_owned() }
}

fn landing_refused() -> End {
    End::NeedsHuman { cause: Cause::LandingRefused { reason: "the branch moved".to_owned() } }
}

#[test]
fn an_accepted_change_is_landed_where_the_spec_says() {
    for landing in [on("main"), Landing::Current] {
        let spec = TaskSpec { landing: landing.clone(), ..spec() };
        let script = Script::at_auditor(spec).auditor("pass", &[]);
        let Effect::LandChange(asked) = script.waiting() else {
            panic!("nothing is landed");
        };
        assert_eq!(asked.landing, landing);
        assert_eq!((asked.tree.as_str(), asked.base.as_str(), asked.round), ("tree-1", BASE, 1));
        assert_eq!(asked.evidence, ["verdict.json", "audit.json"].map(artifact));
        script
            .landed()
            .decides(&["effect-settled", "landed", "effect-requested"])
            .ends(&accepted("tree-1"), "pass/pass/pass/1");
    }
}

#[test]
fn without_an_auditor_the_verdict_alone_is_the_evidence() {
    let spec = TaskSpec { landing: on("main"), ..unaudited() };
    let script = Script::at_judge(spec).judge("pass", &[]);
    let Effect::LandChange(asked) = script.waiting() else {
        panic!("nothing is landed");
    };
    assert_eq!(asked.evidence, [artifact("verdict.json")]);
}

#[test]
fn nothing_is_landed_that_nobody_asked_for() {
    let script =
        Script::at_auditor(spec()).auditor("pass", &[]).ends(&accepted("tree-1"), "pass/pass/pass/1");
    assert!(!script.fact_names().contains(&"landed"));
}

#[test]
fn a_rejected_change_is_not_landed() {
    let spec = TaskSpec { landing: on("main"), ..one_round() };
    let script = Script::at_judge(spec).judge("reject", &["- no"]).waits_in(Stage::Closing);
    script.closed().refuses(ask(on("main")), &nothing("the run has no accepted change"));
}

#[test]
fn an_accepted_change_may_be_landed_later() {
    let script = Script::at_auditor(spec())
        .auditor("pass", &[])
        .closed()
        .landing_asked("release")
        .decides(&["landing-asked", "concluded", "effect-requested"]);
    let Effect::LandChange(asked) = script.waiting() else {
        panic!("nothing is landed");
    };
    assert_eq!((asked.tree.as_str(), &asked.landing), ("tree-1", &on("release")));
    script.landed().ends(&accepted("tree-1"), "pass/pass/pass/1");
}

#[test]
fn a_refused_landing_needs_a_person_and_the_summary_still_says_pass() {
    Script::at(Stage::Landing, full_spec())
        .refused("the branch moved")
        .ends(&landing_refused(), "pass/pass/pass/1");
}

#[test]
fn a_refused_landing_may_be_asked_for_again_elsewhere() {
    Script::at(Stage::Landing, full_spec())
        .refused("the branch moved")
        .ends(&landing_refused(), "pass/pass/pass/1")
        .landing_asked("elsewhere")
        .refused("the branch moved")
        .ends(&landing_refused(), "pass/pass/pass/1")
        .landing_asked("main")
        .landed()
        .ends(&accepted("tree-1"), "pass/pass/pass/1");
}

#[test]
fn a_change_is_landed_once() {
    let why = "it is landed already, as landed-commit on refs/heads/main";
    Script::at(Stage::Landing, full_spec())
        .landed()
        .closed()
        .refuses(ask(on("main")), &nothing(why))
        .refuses(ask(on("other")), &nothing(why));
}

#[test]
fn landing_nowhere_is_refused() {
    Script::at_auditor(spec())
        .auditor("pass", &[])
        .closed()
        .refuses(ask(Landing::None), &nothing("no place to land was given"));
}

#[test]
fn only_an_ended_run_is_landed_on_request() {
    Script::unborn().refuses(ask(on("main")), &Rejection::NotStarted);
    Script::at_doer(spec()).refuses(ask(on("main")), &Rejection::NotEnded);
    Script::at(Stage::Landing, full_spec()).refuses(ask(on("main")), &Rejection::NotEnded);
}

#[test]
fn a_commit_of_another_tree_is_not_taken_for_the_landing() {
    let script = Script::at(Stage::Landing, full_spec());
    let effect = script.waiting_id();
    let outcome = Outcome::Landed(LandedCommit {
        commit: CommitId::new("landed-commit"),
        tree: TreeId::new("tree-2"),
        reference: "refs/heads/main".to_owned(),
    });
    script.refuses(Observation::EffectFinished { effect, outcome }, &Rejection::OutcomeDoesNotFit { effect });
}

#[test]
fn a_stopped_or_needy_run_has_nothing_to_land() {
    let stopped = Script::at_doer(spec()).stop_asked().interrupted().closed();
    let needy = Script::at_judge(spec()).judge("needs-human", &["- unclear"]).closed();
    let failed = Script::start(spec()).refused("no room").closed();
    for script in [stopped, needy, failed] {
        script.refuses(ask(on("main")), &nothing("the run has no accepted change"));
    }
}

#[test]
fn an_interrupted_landing_is_asked_for_again() {
    Script::at(Stage::Landing, full_spec())
        .interrupted()
        .waits_in(Stage::Landing)
        .landed()
        .ends(&accepted("tree-1"), "pass/pass/pass/1")
        .refuses(
            reopen(NO_MORE, None),
            &Rejection::NothingToReopen { why: "the change was accepted".to_owned() },
        );
}
