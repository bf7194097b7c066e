//! Caps hold: a step begins only while something is left of every dimension, and may use no more than that.

use crate::harness::words::{CHECK, STEP, caps, full_spec, spec};
use crate::harness::{NO_MORE, Script, accepted, reopen};
use windlass_protocols::effect::{Effect, StepLimits};
use windlass_protocols::kernel::budget::{CapChange, Caps, Dimension};
use windlass_protocols::outcome::{Count, Outcome, Price, TokenKinds, Told, Usage};
use windlass_protocols::protocol::judged_task::end::End;
use windlass_protocols::protocol::judged_task::spec::TaskSpec;
use windlass_protocols::protocol::judged_task::stage::Stage;
use windlass_protocols::{Millis, Rejection, Role};

const DIMENSIONS: [Dimension; 4] =
    [Dimension::Minutes, Dimension::Tokens, Dimension::Money, Dimension::OutputBytes];

/// A full spec with room for this many scripted steps in one dimension.
fn room_for(steps: u64, dimension: Dimension) -> TaskSpec {
    let roomy = caps(3);
    let capped = match dimension {
        Dimension::Minutes => Caps { time: Some(Millis(steps * STEP.duration.0)), ..roomy },
        Dimension::Tokens => Caps { tokens: Some(steps * STEP.tokens), ..roomy },
        Dimension::Money => Caps { cost_micros: Some(steps * STEP.cost_micros), ..roomy },
        Dimension::OutputBytes => Caps { output_bytes: Some(steps * STEP.output_bytes), ..roomy },
        other => panic!("{other} are not counted by the run's budget"),
    };
    TaskSpec { caps: capped, ..full_spec() }
}

fn more_of(dimension: Dimension) -> CapChange {
    match dimension {
        Dimension::Rounds => CapChange { more_rounds: 1, ..NO_MORE },
        Dimension::Minutes => CapChange { more_time: Millis::minutes(30), ..NO_MORE },
        Dimension::Tokens => CapChange { more_tokens: 1_000, ..NO_MORE },
        Dimension::Money => CapChange { more_cost_micros: 1_000, ..NO_MORE },
        Dimension::OutputBytes => CapChange { more_output_bytes: 10_000, ..NO_MORE },
        other => panic!("{other} are not caps of the run"),
    }
}

/// The stage that would begin after each number of charged steps: baseline, doer, checks, judge, audit checks.
fn steps_then(steps: u64, spec: TaskSpec) -> (Script, Stage) {
    let script = Script::start(spec).prepared();
    match steps {
        1 => (script.checks_pass(), Stage::Doing),
        2 => (script.checks_pass().doer_answers(&[]), Stage::Capturing),
        3 => (script.checks_pass().doer_hands_over("tree-1").checks_pass(), Stage::Judging),
        4 => {
            let script = script.checks_pass().doer_hands_over("tree-1").checks_pass();
            (script.judge("pass", &[]), Stage::AuditChecking)
        }
        _ => {
            let script = script.checks_pass().doer_hands_over("tree-1").checks_pass();
            (script.judge("pass", &[]).checks_pass(), Stage::Auditing)
        }
    }
}

#[test]
fn every_dimension_ends_the_run_in_every_stage_where_a_step_would_begin() {
    for dimension in DIMENSIONS {
        for steps in 1..=5 {
            let (script, stage) = steps_then(steps, room_for(steps, dimension));
            let end = End::Exhausted { dimension };
            assert_eq!(script.state().end, Some(end), "{dimension:?} before {stage:?}");
            assert_eq!(script.waiting().name(), "close-run");
            let script = script.closed();
            assert_eq!(script.state().rounds_completed, 0, "the open round was cut off");
            script.reopened(more_of(dimension), None).waits_in(stage);
        }
    }
}

#[test]
fn one_unit_left_lets_the_step_begin() {
    for dimension in DIMENSIONS {
        for steps in 1..=5 {
            let mut spec = room_for(steps, dimension);
            let caps = &mut spec.caps;
            for cap in [&mut caps.tokens, &mut caps.cost_micros, &mut caps.output_bytes] {
                *cap = cap.map(|cap| cap + 1);
            }
            caps.time = caps.time.map(|time| Millis(time.0 + 1));
            let (script, stage) = steps_then(steps, spec);
            script.waits_in(stage);
        }
    }
}

#[test]
fn what_the_baseline_uses_counts_too() {
    let script = Script::start(room_for(1, Dimension::Tokens)).prepared().checks_pass();
    let dimension = Dimension::Tokens;
    script.ends(&End::Exhausted { dimension }, "needs-human/not-run/not-run/0");
}

#[test]
fn an_exhausted_run_is_not_taken_up_without_more_of_the_same() {
    for dimension in DIMENSIONS {
        let (script, _) = steps_then(3, room_for(3, dimension));
        let why = format!("nothing is left of its {dimension}; give it more");
        let script = script.closed();
        let other = if dimension == Dimension::Tokens { Dimension::Money } else { Dimension::Tokens };
        let refusal = Rejection::NothingToReopen { why };
        script
            .refuses(reopen(NO_MORE, None), &refusal)
            .refuses(reopen(more_of(other), None), &refusal)
            .reopened(more_of(dimension), None)
            .waits_in(Stage::Judging);
    }
}

#[test]
fn a_round_that_is_rejected_as_a_cap_is_reached_ends_exhausted_not_rejected() {
    let dimension = Dimension::Minutes;
    let end = End::Exhausted { dimension };
    Script::at(Stage::Checking, room_for(3, dimension))
        .check_is_red(CHECK, "")
        .ends(&end, "needs-human/reject/not-run/1");
    Script::at(Stage::Doing, room_for(2, dimension))
        .agent_exits(1)
        .ends(&end, "needs-human/not-run/not-run/1");
    Script::at(Stage::Judging, room_for(4, dimension))
        .judge("reject", &["- no"])
        .ends(&end, "needs-human/reject/not-run/1");
}

#[test]
fn a_pass_that_reaches_the_cap_is_still_a_pass_and_is_brought_home() {
    for dimension in DIMENSIONS {
        Script::at(Stage::Auditing, room_for(6, dimension))
            .auditor("pass", &[])
            .waits_in(Stage::Landing)
            .landed()
            .ends(&accepted("tree-1"), "pass/pass/pass/1");
    }
}

#[test]
fn retries_and_repairs_are_steps_like_any_other() {
    let dimension = Dimension::Money;
    let end = End::Exhausted { dimension };
    let at_judge = || Script::at(Stage::Judging, room_for(4, dimension));
    let malformed = crate::harness::words::malformed(&["not JSON"]);
    for script in [
        at_judge().lost(),
        at_judge().interrupted(),
        at_judge().agent_exits(1),
        at_judge().agent_leaves(malformed),
    ] {
        script.ends(&end, "needs-human/not-run/not-run/0");
    }
}

fn limits(script: &Script) -> StepLimits {
    match script.waiting() {
        Effect::RunAgent(asked) => asked.limits,
        Effect::RunChecks(asked) => asked.limits,
        other => panic!("{} has no limits", other.name()),
    }
}

#[test]
fn limits_shrink_with_what_is_left_for_the_run() {
    let mut spec = full_spec();
    spec.caps.time = Some(Millis::minutes(1));
    spec.caps.output_bytes = Some(1_000);
    let mut script = Script::start(spec).prepared();
    for done in 0..4_u64 {
        let limits = limits(&script);
        assert_eq!(limits.total, Millis(60_000 - done * STEP.duration.0));
        assert_eq!(limits.output_bytes, Some(1_000 - done * STEP.output_bytes));
        assert_eq!(limits.idle, Some(Millis::minutes(2)));
        script = match done {
            0 | 2 => script.checks_pass(),
            1 => script.doer_hands_over("tree-1"),
            _ => script,
        };
    }
}

#[test]
fn a_step_never_gets_more_than_its_own_limit() {
    let mut spec = spec();
    spec.caps.time = Some(Millis::minutes(600));
    let script = Script::at_doer(spec);
    assert_eq!(limits(&script).total, Millis::minutes(10));
    assert_eq!(limits(&script).output_bytes, None);
}

#[test]
fn a_step_that_overshoots_is_charged_in_full_and_is_the_last() {
    let mut capped = spec();
    capped.caps.tokens = Some(100);
    let greedy = Usage { tokens: 5_000, ..STEP };
    let script = Script::at_doer(capped).each_step_uses(greedy).doer_answers(&[]);
    let used = script.run().started.as_ref().expect("started").budget.used;
    assert_eq!(used.tokens, 5_000);
    let dimension = Dimension::Tokens;
    script.ends(&End::Exhausted { dimension }, "needs-human/not-run/not-run/0");
}

#[test]
fn endless_usage_is_counted_without_overflow() {
    let most = u64::MAX;
    let kinds = TokenKinds { input: most, cached: most, output: most, reasoning: most };
    let told = Told { price: Price::AsAmount, count: Count::AtLeast };
    let all = Usage {
        duration: Millis(most),
        output_bytes: most,
        tokens: most,
        cost_micros: most,
        kinds,
        told,
        held_by: None,
    };
    let script = Script::at_doer(spec())
        .answer(Outcome::Interrupted { usage: all })
        .answer(Outcome::Interrupted { usage: all });
    let used = script.run().started.as_ref().expect("started").budget.used;
    assert_eq!(used, all);
    script.asks(Role::Doer, 1, 3);
}

#[test]
fn caps_grow_on_reopening_and_uncapped_dimensions_stay_so() {
    let (script, _) = steps_then(3, room_for(3, Dimension::Tokens));
    let more = CapChange {
        more_rounds: 2,
        more_time: Millis(7),
        more_tokens: 11,
        more_cost_micros: 13,
        more_output_bytes: 17,
    };
    let script = script.closed().reopened(more, None);
    let caps = script.run().started.as_ref().expect("started").budget.caps;
    assert_eq!((caps.rounds, caps.tokens), (5, Some(3 * STEP.tokens + 11)));
    assert_eq!((caps.time, caps.cost_micros, caps.output_bytes), (None, None, None));
}

#[test]
fn rounds_are_a_cap_like_the_others() {
    let mut script = Script::at_doer(spec());
    for round in 1..=3 {
        script = script
            .asks(Role::Doer, round, 1)
            .doer_hands_over(&format!("tree-{round}"))
            .judge("reject", &["- no"]);
    }
    assert_eq!(script.waiting().name(), "close-run");
}
