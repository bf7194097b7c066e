//! Two programs, one repository, one journal, in all five loops: begun at the same instant, gone on with at the same instant,
//! one killed beside the other, one stopped while the other asks, and one that wakes up when another has taken its place.

use crate::disturbed::{Expected, LOOPS, Loop, Measurements, Steps, Told, brief, drawn};
use crate::seeded::{self, Cases, Dice};
use rusqlite::{Connection, OpenFlags};
use std::time::Duration;
use windlass_test_support::{Background, Output, Signal, World, let_pass, wait_until};

const CAMPAIGN: &str = "two-orchestrators";
/// Cases of all loops outside of campaigns.
const EVERYDAY: usize = 20;
/// After so many cases an undisturbed run is measured again: how busy the machine is changes.
const MEASURED_AGAIN: usize = 10;
/// What the one says that is not let in.
const HELD: i32 = 14;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Meeting {
    Together,
    /// Killed, and two persons go on with it.
    GoneOnTogether,
    KilledBeside,
    StoppedBeside,
    /// Stopped, believed gone, replaced, and woken up.
    Replaced,
}

impl Meeting {
    const ALL: [Self; 5] =
        [Self::Together, Self::GoneOnTogether, Self::KilledBeside, Self::StoppedBeside, Self::Replaced];

    const fn word(self) -> &'static str {
        match self {
            Self::Together => "together",
            Self::GoneOnTogether => "gone-on-together",
            Self::KilledBeside => "killed-beside",
            Self::StoppedBeside => "stopped-beside",
            Self::Replaced => "replaced",
        }
    }

    /// Whether the two really met.
    fn take_place(self, told: &mut Told, expected: &Expected, dice: &mut Dice) -> bool {
        match self {
            Self::Together => together(told),
            Self::GoneOnTogether => {
                let running = told.next_command().expect("nothing was done yet");
                let_pass(expected.length * dice.part() / 1000);
                told.ended(running.kill());
                together(told)
            }
            Self::KilledBeside => beside(told, expected, dice, |first, left| {
                let_pass(left);
                first.signal(Signal::KILL);
            }),
            Self::StoppedBeside => stopped_beside(told, expected, dice),
            Self::Replaced => replaced(told, expected, dice),
        }
    }
}

/// The same command twice in the same instant: one is let in, the other is told so and changes nothing.
fn together(told: &mut Told) -> bool {
    let Some(words) = told.next_words() else { return false };
    let [first, second] = [told.give(&words), told.give(&words)];
    let outputs = [first.wait(), second.wait()];
    let ended = outputs.iter().filter(|output| output.code == Some(0)).count();
    assert!(ended >= 1, "{}", told_of(&outputs));
    assert!(outputs.iter().all(is_ended_or_held), "{}", told_of(&outputs));
    let [first, second] = outputs;
    told.ended(if first.code == Some(0) { first } else { second });
    true
}

/// The same command once more while the first is at work, to which something is done then.
fn beside(
    told: &mut Told,
    expected: &Expected,
    dice: &mut Dice,
    disturb: impl FnOnce(&Background, Duration),
) -> bool {
    let (first, words, left) = half_way(told, expected, dice);
    if !first.is_alive() {
        told.ended(first.wait());
        return false;
    }
    let second = told.give(&words);
    disturb(&first, left * dice.part() / 1000);
    let outputs = [first.wait(), second.wait()];
    let killed = |output: &Output| output.signal == Some(9);
    assert!(outputs.iter().all(|output| killed(output) || is_ended_or_held(output)), "{}", told_of(&outputs));
    let met = outputs.iter().any(|output| killed(output) || output.code == Some(HELD));
    let [first, second] = outputs;
    told.ended(if second.code == Some(0) { second } else { first });
    met
}

fn stopped_beside(told: &mut Told, expected: &Expected, dice: &mut Dice) -> bool {
    let (first, words, _) = half_way(told, expected, dice);
    if !stop_between_writes(told.world(), &first) {
        told.ended(first.wait());
        return false;
    }
    // What it had started goes on without it; whoever asks is told that it is only stopped.
    let second = told.give(&words).wait();
    first.signal(Signal::CONT);
    let outputs = [first.wait(), second];
    assert!(outputs.iter().all(is_ended_or_held), "{}", told_of(&outputs));
    assert!(
        outputs.iter().any(|output| output.code == Some(HELD)),
        "both were let in: {}",
        told_of(&outputs)
    );
    let [first, second] = outputs;
    told.ended(if second.code == Some(0) { second } else { first });
    true
}

/// The one that slept is believed gone: its leases name a process that is not there, and its lock is taken away. It must
/// notice when it wakes up, and do no harm until then.
fn replaced(told: &mut Told, expected: &Expected, dice: &mut Dice) -> bool {
    let (first, _, left) = half_way(told, expected, dice);
    if !stop_between_writes(told.world(), &first) {
        told.ended(first.wait());
        return false;
    }
    let_leases_go(told.world());
    // It may not have come so far as to have one.
    let _ = std::fs::remove_file(told.repository().path().join(".git/windlass.lock"));
    let Some(second) = told.next_command() else {
        first.signal(Signal::CONT);
        told.ended(first.wait());
        return false;
    };
    let_pass(left * dice.part() / 1000);
    first.signal(Signal::CONT);
    let outputs = [first.wait(), second.wait()];
    let ended = outputs.iter().filter(|output| output.code == Some(0)).count();
    assert_eq!(ended, 1, "{}", told_of(&outputs));
    assert!(
        outputs.iter().all(|output| is_ended_or_held(output) || is_shut_out(output)),
        "{}",
        told_of(&outputs)
    );
    let [first, second] = outputs;
    told.ended(if second.code == Some(0) { second } else { first });
    true
}

/// The first command at a moment of its first half in which it holds what it works on, the words it was given by, and how
/// long it has still to go. Who asks before that comes first.
fn half_way(told: &mut Told, expected: &Expected, dice: &mut Dice) -> (Background, Vec<String>, Duration) {
    let words = told.next_words().expect("nothing was done yet");
    let first = told.next_command().expect("nothing was done yet");
    wait_until("it to hold something", || {
        (!first.is_alive() || holds_something(told.world(), &first)).then_some(())
    });
    let passed = expected.length * dice.part() / 2000;
    let_pass(passed);
    (first, words, expected.length.saturating_sub(passed))
}

fn told_of(outputs: &[Output]) -> String {
    outputs.iter().map(brief).collect()
}

fn is_ended_or_held(output: &Output) -> bool {
    matches!(output.code, Some(0 | HELD))
}

/// Who orchestrates a project takes the keys of whoever did before.
fn is_shut_out(output: &Output) -> bool {
    output.code == Some(2) && output.stdout.contains("the key has expired or was revoked")
}

/// Stops it, but not while it holds the journal's own lock: whoever stops it there stops all that write.
fn stop_between_writes(world: &World, running: &Background) -> bool {
    wait_until("a moment between two writes", || {
        if !running.is_alive() {
            return Some(false);
        }
        running.signal(Signal::STOP);
        if journal(world).is_none_or(|journal| journal.execute_batch("BEGIN IMMEDIATE; ROLLBACK").is_ok()) {
            return Some(true);
        }
        running.signal(Signal::CONT);
        None
    })
}

fn holds_something(world: &World, running: &Background) -> bool {
    let held = "SELECT count(*) FROM leases WHERE json_extract(owner, '$.process.pid') = ?1";
    let count = |journal: Connection| journal.query_row(held, [running.pid()], |row| row.get::<_, i64>(0));
    journal(world).and_then(|journal| count(journal).ok()).is_some_and(|count| count > 0)
}

fn let_leases_go(world: &World) {
    if let Some(journal) = journal(world) {
        let nobody =
            "UPDATE leases SET owner = json_set(owner, '$.process.start_ticks', 1) WHERE owner IS NOT NULL";
        journal.execute_batch(nobody).unwrap();
    }
}

/// The journal, if there is one by now.
fn journal(world: &World) -> Option<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE;
    let connection = Connection::open_with_flags(world.state_dir().join("journal.db"), flags).ok()?;
    connection.busy_timeout(Duration::from_millis(50)).unwrap();
    let leases = "SELECT count(*) FROM sqlite_schema WHERE name = 'leases'";
    let made = connection.query_row(leases, (), |row| row.get::<_, i64>(0)).is_ok_and(|count| count == 1);
    made.then_some(connection)
}

fn play(one: &Loop, meeting: Meeting, mut dice: Dice, expected: &Expected, met: &mut bool) {
    let mut told = one.begin();
    *met = meeting.take_place(&mut told, expected, &mut dice);
    told.ends_as(expected, Steps::AllKnown);
}

/// The share of one loop, or one case alone.
fn survives(number: usize) {
    let cases = Cases::asked(EVERYDAY);
    let wanted = cases.wanted.div_ceil(LOOPS.len());
    let mut expected = Measurements::every(MEASURED_AGAIN);
    let mut failures = Vec::new();
    let asked = cases.of_share(number, LOOPS.len()).take(if cases.only.is_some() { 1 } else { wanted });
    for case in asked {
        let one = drawn(number, cases, case);
        let expected = expected.of(one, Loop::undisturbed);
        let mut dice = cases.dice(case);
        let meeting = Meeting::ALL[dice.below(Meeting::ALL.len())];
        let mut met = false;
        let survived = seeded::survived(|| play(one, meeting, dice, expected, &mut met));
        seeded::note(one.name, meeting.word(), met, survived.is_ok());
        if let Err(why) = survived {
            let again = cases.again(CAMPAIGN, case);
            let failure = format!("case {case}, {meeting:?}; again with {again}: {why}");
            seeded::tell(&failure);
            failures.push(failure);
        }
    }
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn task_loop() {
    survives(0);
}

#[test]
fn control_loop() {
    survives(1);
}

#[test]
fn goal_loop() {
    survives(2);
}

#[test]
fn roadmap_loop() {
    survives(3);
}

#[test]
fn story_queue() {
    survives(4);
}
