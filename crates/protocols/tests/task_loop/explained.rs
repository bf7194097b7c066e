//! A run explains itself: a line about now for every state, and for every end a command that really goes on from there.

use crate::harness::words::{
    STEP, audit, caps, change, finding, full_spec, gated, one_round, spec, verdict, waiver,
};
use crate::harness::{NO_MORE, Script};
use windlass_protocols::explain::explain;
use windlass_protocols::kernel::attempts::MAX_LOST;
use windlass_protocols::kernel::budget::{CapChange, Dimension};
use windlass_protocols::kernel::gate::{FindingName, OnFindings};
use windlass_protocols::kernel::person::Word;
use windlass_protocols::outcome::{Answer, StepEnd};
use windlass_protocols::protocol::feedback_control::facts::NewLimits;
use windlass_protocols::protocol::judged_task::end::{Cause, End};
use windlass_protocols::protocol::judged_task::facts::Fact as TaskFact;
use windlass_protocols::protocol::judged_task::spec::{Landing, TaskSpec};
use windlass_protocols::protocol::judged_task::stage::Stage;
use windlass_protocols::{Fact, Millis, Observation, Role, Run};

const STAGES: [Stage; 10] = [
    Stage::Preparing,
    Stage::Baseline,
    Stage::Doing,
    Stage::Capturing,
    Stage::Checking,
    Stage::Judging,
    Stage::AuditChecking,
    Stage::Auditing,
    Stage::Landing,
    Stage::Closing,
];

fn not_there(script: Script) -> Script {
    let reason = "no such program".to_owned();
    script.agent_ends(StepEnd::NotStarted { reason }, Answer::Missing)
}

fn out_of(dimension: Dimension) -> Script {
    let mut spec = one_round();
    match dimension {
        Dimension::Minutes => spec.caps.time = Some(STEP.duration),
        Dimension::Tokens => spec.caps.tokens = Some(STEP.tokens),
        Dimension::Money => spec.caps.cost_micros = Some(STEP.cost_micros),
        Dimension::OutputBytes => spec.caps.output_bytes = Some(STEP.output_bytes),
        other => panic!("running out of {other} has no room to add here"),
    }
    Script::at_doer(spec)
}

fn stuck(rounds: u32) -> Script {
    let spec = TaskSpec { caps: caps(rounds), ..spec() };
    Script::at_judge(spec).judge("reject", &["- no"]).doer_hands_over("tree-1").doer_hands_over("tree-1")
}

fn lost_in(stage: Stage) -> Script {
    (0..=MAX_LOST).fold(Script::at(stage, full_spec()), |script, _| script.lost())
}

fn asks_about_the_gate() -> Script {
    let mut spec = gated(one_round());
    spec.place.gate.on_findings = OnFindings::Ask;
    let mut change = change(1, "tree-1");
    change.gate = vec![finding(FindingName::TestDeleted)];
    Script::at_doer(spec).doer_answers(&[]).captured_as(change).judge("pass", &[])
}

/// A run for every end and every cause, several where the way on differs. All of them wait for their summary.
fn endings() -> Vec<Script> {
    let nothing_readable =
        |script: Script| script.agent_leaves(Answer::Missing).agent_leaves(Answer::Missing);
    let failing = |script: Script| script.agent_exits(1).agent_exits(1).agent_exits(1);
    let mut endings = vec![
        Script::at_auditor(spec()).auditor("pass", &[]),
        Script::at(Stage::Landing, full_spec()).landed(),
        Script::at_judge(one_round()).judge("reject", &["- no"]),
        Script::at_doer(one_round()).agent_exits(1),
        Script::at_judge(one_round()).judge("needs-human", &["- unclear"]),
        Script::at_judge(spec()).judge("needs-human", &["- unclear"]),
        Script::at_auditor(one_round()).auditor("needs-human", &["- unclear"]),
        nothing_readable(Script::at_judge(one_round())),
        nothing_readable(Script::at_auditor(one_round())),
        Script::at_judge(one_round()).agent_writes(Answer::Verdict(verdict("pass", &[])), &["a"]),
        Script::at_auditor(one_round()).agent_writes(Answer::Audit(audit("pass", &[])), &["a"]),
        not_there(Script::at_doer(one_round())),
        not_there(Script::at_judge(one_round())),
        not_there(Script::at_auditor(one_round())),
        failing(Script::at_doer(spec())),
        failing(Script::at_judge(one_round())),
        failing(Script::at_auditor(one_round())),
        stuck(3),
        stuck(9),
        Script::at(Stage::Capturing, full_spec()).refused("disk full"),
        Script::at(Stage::Landing, full_spec()).refused("the branch moved"),
        lost_in(Stage::Landing),
        Script::at_doer(one_round()).stop_asked().interrupted(),
        Script::at_judge(spec()).stop_asked().judge("reject", &["- no"]),
        out_of(Dimension::Tokens).stop_asked().interrupted(),
        Script::start(spec()).refused("no room"),
        asks_about_the_gate(),
    ];
    let lossy = [Stage::Preparing, Stage::Baseline, Stage::Doing, Stage::Judging];
    endings.extend(lossy.map(lost_in));
    let dimensions = [Dimension::Minutes, Dimension::Tokens, Dimension::Money, Dimension::OutputBytes];
    for dimension in dimensions {
        // Cut off with its round open, and with its last round used up on top.
        endings.push(out_of(dimension).doer_answers(&[]));
        endings.push(out_of(dimension).agent_exits(1));
    }
    endings
}

const fn end_index(end: &End) -> usize {
    match end {
        End::Accepted { .. } => 0,
        End::Rejected { .. } => 1,
        End::Exhausted { .. } => 2,
        End::Stopped { .. } => 3,
        End::SetupFailed { .. } => 4,
        End::NeedsHuman { cause } => match cause {
            Cause::JudgeAsked => 5,
            Cause::AuditorAsked => 6,
            Cause::NoReadableAnswer { .. } => 7,
            Cause::WorkspaceChanged { .. } => 8,
            Cause::AgentNotStarted { .. } => 9,
            Cause::AgentKeepsFailing { .. } => 10,
            Cause::StepKeepsGettingLost { .. } => 11,
            Cause::Stuck { .. } => 12,
            Cause::CaptureRefused { .. } => 13,
            Cause::LandingRefused { .. } => 14,
            Cause::GateFindings { .. } => 15,
        },
    }
}

/// Reads a command the way the program would: what it asks of the run, if it asks for anything.
fn read(command: &str) -> Option<Observation> {
    let mut words = command.split_whitespace();
    assert_eq!(words.next(), Some("windlass"), "{command}");
    let verb = words.next().expect("a verb");
    assert_eq!(words.next(), Some("run-1"), "{command} names the run");
    if verb == "waive" {
        let name = words.next().expect("a finding");
        assert_eq!(words.next(), Some("--reason"), "{command}");
        let finding = FindingName::from_name(name).unwrap_or_else(|| panic!("{name} is no finding"));
        return Some(Observation::PersonSaid { word: Word::Waive(waiver(finding)) });
    }
    let mut caps = NO_MORE;
    let mut note = None;
    while let Some(flag) = words.next() {
        if flag == "--current" {
            continue;
        }
        let value = words.next().unwrap_or_else(|| panic!("{flag} of {command} has a value"));
        if flag == "--note" {
            note = Some(value.to_owned());
            continue;
        }
        let (number, cents) = value.split_once('.').unwrap_or((value, "0"));
        let cents: u64 = cents.parse().unwrap_or_else(|_| panic!("{value} of {command} is no amount"));
        assert!(flag == "--money" || cents == 0, "{flag} of {command} takes whole numbers");
        let more: u32 = number
            .strip_prefix('+')
            .and_then(|number| number.parse().ok())
            .unwrap_or_else(|| panic!("{value} of {command} is not a number of more"));
        let wide = u64::from(more);
        match flag {
            "--rounds" => caps.more_rounds = more,
            "--minutes" => caps.more_time = Millis::minutes(wide),
            "--tokens" => caps.more_tokens = wide,
            "--money" => caps.more_cost_micros = wide * 1_000_000 + cents * 10_000,
            "--output-mb" => caps.more_output_bytes = wide * 1024 * 1024,
            other => panic!("{other} of {command} is no flag"),
        }
    }
    match verb {
        "resume" => Some(Observation::Reopened { caps, note, limits: NewLimits::default() }),
        "land" => {
            let landing = Landing::Current;
            Some(Observation::LandingRequested { landing })
        }
        "verify" | "diff" => {
            assert_eq!(caps, CapChange::default());
            None
        }
        other => panic!("{other} is no command"),
    }
}

#[test]
fn the_endings_cover_every_end_and_every_cause() {
    let mut seen = [false; 16];
    for script in endings() {
        seen[end_index(script.state().end.as_ref().expect("concluded"))] = true;
    }
    assert_eq!(seen, [true; 16]);
}

#[test]
fn every_end_says_what_is_so_and_gives_at_least_one_command() {
    for script in endings() {
        let script = script.closed();
        let explanation = explain(script.run());
        assert!(!explanation.now.is_empty());
        assert!(!explanation.because.is_empty(), "{}", explanation.now);
        assert!(!explanation.commands.is_empty(), "{}", explanation.now);
    }
}

#[test]
fn every_command_that_is_given_at_an_end_is_one_the_run_accepts() {
    for script in endings() {
        let script = script.closed();
        let end = script.state().end.clone();
        for command in explain(script.run()).commands {
            let Some(observation) = read(&command) else { continue };
            let mut again = Script::unborn();
            again.resume_from(script.facts());
            if let Err(rejection) = again.observe(observation) {
                panic!("after {end:?} the command `{command}` is refused: {rejection}");
            }
        }
    }
}

#[test]
fn a_run_out_of_rounds_is_told_how_to_get_more() {
    let end = End::Exhausted { dimension: Dimension::Rounds };
    let mut run = Script::at_doer(one_round()).run().clone();
    run.evolve(&Fact::JudgedTask(TaskFact::Concluded { end }));
    run.evolve(&Fact::RunEnded);
    let commands = explain(&run).commands;
    assert!(commands[0].contains("--rounds +1"), "{commands:?}");
}

#[test]
fn every_stage_says_what_is_waited_for_and_how_to_stop() {
    for stage in STAGES {
        let script = Script::at(stage, full_spec());
        let explanation = explain(script.run());
        assert!(explanation.now.ends_with(stage.words()), "{}", explanation.now);
        let waited = format!("step {} is waited for: ", script.waiting_id());
        assert!(explanation.because[0].starts_with(&waited), "{explanation:?}");
        assert_eq!(explanation.commands, ["windlass resume run-1", "windlass stop run-1"]);
    }
}

#[test]
fn what_the_doer_was_told_and_who_asked_to_stop_is_said() {
    let script = Script::at_judge(spec()).judge("reject", &["- too long"]).stop_asked();
    let because = explain(script.run()).because;
    assert!(because.contains(&"told to the doer: - too long".to_owned()), "{because:?}");
    assert!(because.contains(&"ada asked it to stop: lunch".to_owned()), "{because:?}");
}

#[test]
fn a_needy_end_shows_what_the_checker_said() {
    let script = Script::at_judge(spec()).judge("needs-human", &["- [scope] which greeting?"]).closed();
    let because = explain(script.run()).because;
    assert_eq!(because, ["the judge asks for a person", "- [scope] which greeting?"]);
}

#[test]
fn what_an_earlier_round_was_told_is_not_said_of_a_later_end() {
    let rejected = Script::at_judge(spec()).judge("reject", &["- too long"]);
    let unreadable = rejected
        .doer_hands_over("tree-2")
        .agent_leaves(Answer::Missing)
        .agent_leaves(Answer::Missing)
        .closed();
    let because = explain(unreadable.run()).because;
    assert!(!because.join(" ").contains("too long"), "{because:?}");
}

#[test]
fn the_words_of_an_agent_that_failed_are_said_while_they_count() {
    let failing = Script::at_judge(spec()).agent_fails_with_words("no such key");
    let because = explain(failing.run()).because.join("\n");
    assert!(because.contains("exited with 1\n    no such key"), "{because}");
    let judged = failing.judge("reject", &["- no"]);
    let because = explain(judged.run()).because.join("\n");
    assert!(!because.contains("no such key"), "{because}");
    let keeps = Script::at_judge(one_round())
        .agent_exits(1)
        .agent_exits(1)
        .agent_fails_with_words("no such key")
        .closed();
    let because = explain(keeps.run()).because.join("\n");
    assert!(because.contains("    no such key"), "{because}");
}

#[test]
fn a_reason_to_stop_is_said_once() {
    let script = Script::at_doer(one_round()).stop_asked().interrupted().closed();
    let because = explain(script.run()).because;
    assert_eq!(because.iter().filter(|reason| reason.contains("lunch")).count(), 1, "{because:?}");
}

#[test]
fn a_landing_that_was_refused_on_the_current_branch_can_go_to_one_of_its_own_at_once() {
    let current = TaskSpec { landing: Landing::Current, ..full_spec() };
    let script = Script::at(Stage::Landing, current).refused("the branch moved").closed();
    assert_eq!(explain(script.run()).commands, ["windlass land run-1", "windlass land run-1 --current"]);
}

#[test]
fn an_accepted_end_says_who_passed_it_and_where_it_went() {
    let judged = Script::at_judge(crate::harness::words::unaudited()).judge("pass", &[]).closed();
    let because = explain(judged.run()).because;
    assert_eq!(because[..2], ["the judge passed tree tree-1", "no check was run: the run has none"]);
    let landed = Script::at(Stage::Landing, full_spec()).landed().closed();
    let because = explain(landed.run()).because;
    assert_eq!(because[0], "the checks, the judge and the auditor passed tree tree-1");
    assert_eq!(because[1], "landed as landed-commit on refs/heads/main");
}

#[test]
fn a_run_that_has_not_started_says_so() {
    assert_eq!(explain(&Run::default()).now, "the run has not started");
    assert_eq!(Role::Doer.to_string(), "doer");
}
