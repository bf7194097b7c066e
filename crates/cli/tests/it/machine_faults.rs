//! Faults of the machine under real runs: no space, places that cannot be written, no git, a clock that jumps, no home, a
//! bare locale, limits on files. Each must be told with a code, lose nothing, and once mended end as if it had not been.

mod clock;
mod every_loop;
mod few_processes;
mod full_disk;
mod missing_means;
mod read_only;

use crate::crash_points::{Ending, Stage, Standing};
use std::fmt::Debug;
use windlass_test_support::{Output, World};

/// One story of a loop, as a fault of the machine meets it.
pub(crate) trait Stricken: Sized {
    type Ending: Debug + PartialEq;

    fn set_up() -> Self;
    fn world(&self) -> &World;
    /// The first command of the story.
    fn start(&self) -> Output;
    /// What a person does when all is well (again): goes on, or begins where nothing had begun, to the end of the story.
    fn to_the_end(self) -> Self::Ending;
}

/// Tests with mounts of their own.
macro_rules! with_private_mounts {
    ($($(#[$about:meta])* $name:ident = $body:expr;)+) => {
        $($(#[$about])* #[test] fn $name() {
            windlass_test_support::in_private_mounts(concat!(module_path!(), "::", stringify!($name)), $body);
        })+
    };
}
use with_private_mounts;

/// Tests with disks of their own.
macro_rules! with_own_disks {
    ($($(#[$about:meta])* $name:ident = $body:expr;)+) => {
        $($(#[$about])* #[test] fn $name() {
            windlass_test_support::with_own_disks(concat!(module_path!(), "::", stringify!($name)), $body);
        })+
    };
}
pub(crate) use with_own_disks;

/// What an undisturbed run of the task leaves.
fn undisturbed() -> Ending {
    ending_of(&Stage::set_up())
}

/// The same where an agent plays the fault.
fn undisturbed_without_sandbox() -> Ending {
    ending_of(&Stage::without_sandbox("it is compared with runs whose agents play a fault of the machine"))
}

fn ending_of(stage: &Stage) -> Ending {
    let _ = stage.run().exits_with(0);
    Ending::of(stage)
}

/// It failed with a code and these words, in whatever form it was asked to answer.
#[track_caller]
fn assert_told(output: &Output, words: &[&str], when: &str) {
    let said = format!("{}\n{}", output.stdout, output.stderr);
    let coded = said.contains("error[WL-") || said.contains("\"WL-");
    assert!(coded && matches!(output.code, Some(1 | 2)), "{when}: {:?}\n{said}", output.code);
    assert!(words.iter().any(|word| said.contains(word)), "{when}: none of {words:?}\n{said}");
    assert!(!said.contains("WL-BUG") && !said.contains("panicked"), "{when}: {said}");
}

/// Goes on with the task as a person would, and compares all that is left with an undisturbed run.
#[track_caller]
fn assert_goes_on(stage: &Stage, expected: &Ending, when: &str) {
    let standing = stage.standing();
    if !matches!(standing, Standing::Ended { .. }) {
        let output = standing.way_on()(stage);
        assert_eq!(output.code, Some(0), "{when}: {}", output.stderr);
    }
    let mut differences = Ending::of(stage).differences(expected);
    // Git itself leaves its half-written packs behind when no space is left, and takes them away when it collects garbage.
    differences.retain(|difference| !difference.contains("/objects/pack/tmp_"));
    assert_eq!(differences, Vec::<String>::new(), "{when}");
}
