//! What a person says to a task loop nobody works on: what is believed, what is refused, and how their own work comes back.

use crate::generators::{self, text, tree};
use crate::harness::words::{artifact, full_spec, one_round, spec};
use crate::harness::{NO_MORE, ONE_MORE_ROUND, Script, accepted, reopen, said};
use proptest::prelude::*;
use windlass_protocols::explain::explain;
use windlass_protocols::inbox::{Question, Waiting, waiting};
use windlass_protocols::kernel::person::Word;
use windlass_protocols::outcome::{Answer, StepEnd};
use windlass_protocols::protocol::judged_task::end::{Cause, End};
use windlass_protocols::protocol::judged_task::spec::Landing;
use windlass_protocols::protocol::judged_task::stage::Stage;
use windlass_protocols::{Actor, Observation, Rejection, Role, TreeId};

/// Any word at all, for whoever draws what happens to a run.
pub(crate) fn word() -> BoxedStrategy<Word> {
    prop_oneof![
        1 => tree().prop_map(|tree| Word::Approve { tree }),
        1 => text().prop_map(|reason| Word::Reject { reason }),
        1 => text().prop_map(|reason| Word::Skip { reason }),
        3 => text().prop_map(|branch| Word::TakeOver { branch }),
        3 => (tree(), generators::artifact()).prop_map(|(tree, report)| Word::HandBack { tree, report }),
        1 => Just(Word::LetGo),
    ]
    .boxed()
}

const BRANCH: &str = "windlass/take-over/run-1";

fn approve(tree: &str) -> Word {
    Word::Approve { tree: TreeId::new(tree) }
}

fn skip() -> Word {
    Word::Skip { reason: "not worth it".to_owned() }
}

fn take_over() -> Word {
    Word::TakeOver { branch: BRANCH.to_owned() }
}

fn hand_back(tree: &str) -> Word {
    Word::HandBack { tree: TreeId::new(tree), report: artifact("by-ada.json") }
}

fn taken() -> Rejection {
    Rejection::TakenOver { by: Actor::Human("ada".to_owned()), branch: BRANCH.to_owned() }
}

fn not_asked(why: &str) -> Rejection {
    Rejection::NotAsked { why: why.to_owned() }
}

/// The judge of the only round asked a question.
fn asked() -> Script {
    Script::at_judge(one_round()).judge("needs-human", &["- which greeting?"]).closed()
}

fn landing_refused() -> Script {
    Script::at(Stage::Landing, full_spec()).refused("the branch moved").closed()
}

fn wait(script: &Script) -> Waiting {
    waiting(script.run()).expect("it waits for a person")
}

#[test]
fn a_question_waits_with_its_cause_its_words_and_every_way_on() {
    let waits = wait(&asked());
    assert_eq!(waits.question, Question::Answer);
    assert_eq!(waits.cause, "the judge asks for a person");
    assert_eq!(waits.said, ["- which greeting?"]);
    assert_eq!(waits.tree, Some(TreeId::new("tree-1")));
    assert_eq!(
        waits.commands,
        [
            "windlass answer run-1 \"…\" --rounds +1",
            "windlass retry run-1 --rounds +1",
            "windlass take-over run-1",
            "windlass skip run-1",
        ]
    );
}

#[test]
fn what_was_tried_is_told_round_by_round() {
    let script = Script::at_judge(spec())
        .judge("reject", &["- too long"])
        .doer_hands_over("tree-2")
        .judge("needs-human", &["- how long?"])
        .closed();
    assert_eq!(wait(&script).tried, ["round 1: the judge rejected it: - too long"]);
}

#[test]
fn only_what_needs_a_person_waits_for_one() {
    assert_eq!(waiting(Script::at_judge(spec()).run()), None, "it works");
    let stopped = Script::at_doer(spec()).stop_asked().interrupted().closed();
    assert_eq!(waiting(stopped.run()), None, "who stopped it knows");
    let rejected = Script::at_judge(one_round()).judge("reject", &["- no"]).closed();
    assert_eq!(waiting(rejected.run()), None, "its rounds are used up");
    let accepted = Script::at_auditor(spec()).auditor("pass", &[]).closed();
    assert_eq!(waiting(accepted.run()), None, "nobody asked for a landing");
    assert_eq!(wait(&landing_refused()).question, Question::Landing);
}

#[test]
fn a_dismissed_run_waits_no_more_until_it_is_taken_up_again() {
    let script = asked().person_says(skip()).decides(&["person-said"]);
    assert_eq!(waiting(script.run()), None);
    assert_eq!(explain(script.run()).now, "needs a person (dismissed)");
    let script = script.reopened(ONE_MORE_ROUND, None).asks(Role::Doer, 2, 1);
    assert!(!script.run().dismissed);
}

#[test]
fn a_word_reaches_only_a_run_nobody_works_on() {
    for word in [approve("tree-1"), skip(), take_over(), hand_back("tree-1"), Word::LetGo] {
        Script::unborn().refuses(said(word.clone()), &Rejection::NotStarted);
        Script::at_judge(spec()).refuses(said(word), &Rejection::NotEnded);
    }
}

#[test]
fn an_approval_is_for_one_tree_and_leaves_the_landing_to_follow() {
    let other = Rejection::OtherTree { named: TreeId::new("tree-9"), waits: TreeId::new("tree-1") };
    landing_refused()
        .refuses(said(approve("tree-9")), &other)
        .person_says(approve("tree-1"))
        .decides(&["person-said"])
        .landing_asked("rescued")
        .landed()
        .ends(&accepted("tree-1"), "pass/pass/pass/1")
        .refuses(
            said(approve("tree-1")),
            &Rejection::NothingToLand {
                why: "it is landed already, as landed-commit on refs/heads/main".to_owned(),
            },
        );
}

#[test]
fn what_was_not_accepted_is_neither_approved_nor_rejected_by_a_person() {
    let nothing = Rejection::NothingToLand { why: "the run has no accepted change".to_owned() };
    let no = Word::Reject { reason: "ugly".to_owned() };
    let instead = "it asks what to do, not whether; tell it with `answer`, or leave it with `skip`";
    asked().refuses(said(approve("tree-1")), &nothing).refuses(said(no), &not_asked(instead));
}

#[test]
fn while_a_person_has_the_work_in_hand_nobody_else_goes_on() {
    let script = asked().person_says(take_over()).decides(&["person-said"]);
    let waits = wait(&script);
    assert_eq!((waits.question, waits.tried.len()), (Question::HandBack, 0));
    assert_eq!(waits.said, ["- which greeting?"], "what was asked is not forgotten");
    assert_eq!(explain(script.run()).now, "ada works on it by hand");
    script
        .refuses(reopen(ONE_MORE_ROUND, Some("go on")), &taken())
        .refuses(Observation::LandingRequested { landing: Landing::Current }, &taken())
        .refuses(said(take_over()), &taken())
        .refuses(said(skip()), &taken())
        .refuses(said(approve("tree-1")), &taken());
}

#[test]
fn what_was_not_taken_over_cannot_be_handed_back() {
    let nobody = not_asked("nobody took it over");
    asked().refuses(said(hand_back("tree-2")), &nobody).refuses(said(Word::LetGo), &nobody);
}

#[test]
fn a_person_cannot_take_over_what_is_accepted_or_was_never_begun() {
    let accepted = not_asked("the change is accepted; land it instead");
    landing_refused().refuses(said(take_over()), &accepted);
    Script::at_auditor(spec()).auditor("pass", &[]).closed().refuses(said(take_over()), &accepted);
    Script::start(spec())
        .refused("no disk")
        .closed()
        .refuses(said(take_over()), &not_asked("nobody has worked on it yet"));
}

#[test]
fn a_persons_work_is_captured_checked_and_judged_like_anybodys() {
    let script = Script::at_judge(full_spec())
        .judge("needs-human", &["- which greeting?"])
        .closed()
        .person_says(take_over())
        .person_says(hand_back("tree-2"))
        .decides(&["person-said", "run-reopened", "round-opened", "handoff-taken", "effect-requested"])
        .waits_in(Stage::Capturing)
        .captured("tree-2")
        .waits_in(Stage::Checking)
        .checks_pass()
        .asks(Role::Judge, 2, 1);
    assert!(
        script.asked().inputs.contains(&artifact("by-ada.json")),
        "the judge reads the person's hand-off"
    );
    script
        .judge("pass", &[])
        .checks_pass()
        .auditor("pass", &[])
        .landed()
        .ends(&accepted("tree-2"), "pass/pass/pass/2");
}

#[test]
fn a_persons_work_can_be_rejected_and_the_doer_is_told() {
    let script = Script::at_judge(spec())
        .judge("needs-human", &["- which greeting?"])
        .closed()
        .person_says(take_over())
        .person_says(hand_back("tree-2"))
        .captured("tree-2")
        .judge("reject", &["- now it does not build"])
        .asks(Role::Doer, 3, 1);
    assert_eq!(script.told_to_doer(), ["- now it does not build"]);
}

#[test]
fn a_person_needs_no_room_to_bring_their_work_back() {
    let script = asked().person_says(take_over()).person_says(hand_back("tree-2")).captured("tree-2");
    script.asks(Role::Judge, 2, 1).judge("reject", &["- no"]).waits_in(Stage::Closing);
}

#[test]
fn a_round_whose_doer_never_handed_over_is_finished_by_the_person() {
    let not_there = StepEnd::NotStarted { reason: "no such program".to_owned() };
    Script::at_doer(spec())
        .agent_ends(not_there, Answer::Missing)
        .closed()
        .person_says(take_over())
        .person_says(hand_back("tree-1"))
        .decides(&["person-said", "run-reopened", "handoff-taken", "effect-requested"])
        .captured("tree-1")
        .asks(Role::Judge, 1, 1);
}

#[test]
fn another_tree_than_the_one_handed_back_is_not_judged() {
    let reason = "the worktree holds tree tree-3, not tree tree-2 that a person handed back".to_owned();
    let refused = End::NeedsHuman { cause: Cause::CaptureRefused { reason } };
    let script = asked().person_says(take_over()).person_says(hand_back("tree-2")).captured("tree-3");
    assert_eq!(script.state().end.as_ref(), Some(&refused));
    // The tree is not forgotten: what is tried again is the same hand-back.
    script.closed().reopened(NO_MORE, None).waits_in(Stage::Capturing).captured("tree-2").asks(
        Role::Judge,
        2,
        1,
    );
}

#[test]
fn what_is_given_back_unchanged_waits_as_it_did() {
    let before = wait(&asked());
    let script = asked().person_says(take_over()).person_says(Word::LetGo).decides(&["person-said"]);
    assert_eq!(wait(&script), before);
    script.reopened(ONE_MORE_ROUND, None).asks(Role::Doer, 2, 1);
}

#[test]
fn a_rejected_tree_that_a_person_hands_back_is_judged_anew() {
    Script::at_judge(one_round())
        .judge("reject", &["- no"])
        .closed()
        .person_says(take_over())
        .person_says(hand_back("tree-1"))
        .captured("tree-1")
        .asks(Role::Judge, 2, 1)
        .judge("pass", &[])
        .auditor("pass", &[])
        .ends(&accepted("tree-1"), "pass/pass/pass/2");
}
