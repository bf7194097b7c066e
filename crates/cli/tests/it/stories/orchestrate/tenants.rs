//! Tenants that want more than the usual: capabilities with every step, no reset after a rejection, and somebody else's dispatches.

use super::stage::{Stage, Turn, plan_of};

fn stage(settings: &[&str], turns: &[Turn]) -> Stage {
    let stage = Stage::of(&plan_of(&["1.1"], &[]), turns);
    for setting in settings {
        let _ = stage.story(&["tenant", "update", "--setting", setting]).exits_with(0);
    }
    stage
}

const STRICT: &[&str] = &["require_capabilities=true", "auto_reset_on_rejection=false"];

fn one_rejection() -> Stage {
    stage(STRICT, &[Turn::sent_back("1.1", 1), Turn::good("1.1", 2)])
}

#[test]
fn capabilities_are_shown_with_every_step_and_what_is_sent_back_begins_anew() {
    let stage = one_rejection();
    let ended = stage.orchestrate(&[]).exits_with(0).json_lines();
    let ended = ended.last().unwrap();
    assert_eq!(
        (&ended["verified_stories"], &ended["verified"][0]["cycles"]),
        (&1.into(), &2.into()),
        "{ended}"
    );
    assert_eq!(stage.branch_file("part-1.1.txt"), "1.1 attempt 2");
    let _ = stage.story(&["audit", "verify"]).exits_with(0);
}

/// The last steps of each attempt, where another capability is shown when they are asked for again, and the landing.
#[test]
fn killed_between_steps_that_need_a_capability_it_goes_on() {
    let mut whole = one_rejection();
    let log = whole.world.path().join("places");
    whole.world.set("WINDLASS_CRASH_LOG", log.as_os_str());
    let _ = whole.orchestrate(&[]).exits_with(0);
    let places = std::fs::read_to_string(&log).unwrap();
    let of = |wanted: &str| -> Vec<String> {
        let named = places.lines().filter_map(|line| line.split_once(' '));
        named.filter(|(_, name)| *name == wanted).map(|(number, _)| number.to_owned()).collect()
    };
    let moved = of("story.moved");
    let last = moved.len();
    assert!(last > 12, "{places}");
    // Rejected, given back, started again, reviewed, verified.
    let steps = [5, 6, 9, last - 2, last - 1].map(|place| moved[place].clone());
    for place in steps.into_iter().chain(of("story.land")).chain(of("story.landed")) {
        let mut stage = one_rejection();
        stage.world.set("WINDLASS_CRASH_AT", &place);
        let _killed = stage.orchestrate(&[]);
        stage.world.unset("WINDLASS_CRASH_AT");
        let again = stage.orchestrate(&[]);
        assert_eq!(again.code, Some(0), "killed at {place}: {}{}", again.stdout, again.stderr);
        assert_eq!(stage.landed(), ["1.1"], "at {place}");
        let lines = again.json_lines();
        let verified = &lines.last().unwrap()["verified"];
        assert_eq!(
            verified[0]["number"], "1.1",
            "what landed is told also by the next process, at {place}: {verified}"
        );
    }
}

#[test]
fn a_dispatch_of_somebody_else_that_was_drawn_does_not_keep_it_from_verifying() {
    let stage = stage(&[], &[Turn::good("1.1", 1)]);
    let _ = stage.story(&["agent", "register", "--name", "olga", "--as", "orchestrator:olga"]);
    let opened = stage.story(&["dispatch", "--role", "orchestrator", "--agent", "olga", "--json"]);
    assert_eq!(opened.code, Some(0), "{}{}", opened.stdout, opened.stderr);
    let ended = stage.orchestrate(&[]).exits_with(0).json_lines();
    assert_eq!(ended.last().unwrap()["verified_stories"], 1, "{ended:?}");
}
