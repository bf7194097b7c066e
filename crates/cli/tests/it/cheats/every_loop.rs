//! Cheats of whoever makes something, played in all five loops: with the sandbox, and without where there is something to hold
//! without one. Each asserts how it ended, that its effect did not happen, and that it was really tried.

mod hazards;
mod obedient;
pub(super) mod outside;
mod plants;

use crate::under_attack::{Attacked, Loop};

/// The maker of this loop does this in its shell before it answers. `$C` is the user's checkout, `$S` the state directory, `$O`
/// the outbox, `$N` a place for notes.
fn shell(attacked: &Attacked, line: &str) -> String {
    format!("{{ run = ['sh', '-c', '''{}{line}'''] }}", places(attacked))
}

fn places(attacked: &Attacked) -> String {
    let notes = attacked.world.shared("");
    format!(
        "C={}; S={}; O=$WINDLASS_OUTBOX; N={}; ",
        attacked.repository.text(),
        attacked.world.state_dir().display(),
        notes.display().to_string().trim_end_matches('/'),
    )
}

/// What was noted under this name, empty where nothing was.
fn noted(attacked: &Attacked, name: &str) -> String {
    std::fs::read_to_string(attacked.world.shared(name)).unwrap_or_default()
}

/// The files of what this loop lets through when nobody cheats.
fn honest_files(one: Loop) -> String {
    let attacked = Attacked::about(one.of_the_maker());
    let ended = attacked.run();
    assert_eq!(ended.code, 0, "{:#}", ended.outcome);
    attacked.files()
}

/// The same test for each loop.
macro_rules! in_every_loop {
    ($body:expr) => {
        #[test]
        fn of_a_task() {
            $body(Loop::Task);
        }

        #[test]
        fn of_a_control_loop() {
            $body(Loop::Control);
        }

        #[test]
        fn of_a_goal_loop() {
            $body(Loop::Goal);
        }

        #[test]
        fn of_a_roadmap() {
            $body(Loop::Roadmap);
        }

        #[test]
        fn of_a_story() {
            $body(Loop::Stories);
        }

        #[test]
        fn of_every_loop_there_is() {
            assert_eq!(Loop::ALL.len(), 5);
        }
    };
}
use in_every_loop;
