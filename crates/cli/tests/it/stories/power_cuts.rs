//! The power goes under the story queue's server while it is written to. What was acknowledged is there afterwards, and
//! asking again under the same idempotency key has one effect.

use super::server::{Server, founded};
use crate::machine_faults::with_own_disks;
use crate::seeded::{self, Cases, Dice};
use serde_json::{Value, json};
use windlass_test_support::{PowerDisk, Tails, World, let_pass, wait_until};

const CAMPAIGN: &str = "power-cuts";
/// Outside of campaigns; in one, as many as each loop has.
const EVERYDAY: usize = 6 * SHARES;
const SHARES: usize = 5;
const MOST_WRITES: usize = 24;
/// A server that writes down a few tree heads comes through more places than this.
const PLACES: usize = 60;

fn write(server: &Server, key: &str, number: usize) -> Option<Value> {
    let body = json!({ "name": format!("Project {number}") });
    let (status, answer) = server.ask(key, "POST", "/projects", &format!("write {number}"), &body)?;
    assert_eq!(status, 201, "{answer}");
    Some(answer["project"]["id"].clone())
}

/// Writes till the power goes: at a place of the server, or a moment after so many writes. Each answer that came.
fn written_till_the_cut(world: &mut World, key: &str, dice: &mut Dice) -> Vec<Option<Value>> {
    let writes = 1 + dice.below(MOST_WRITES);
    if dice.one_in(2) {
        world.set("WINDLASS_CRASH_AT", (1 + dice.below(PLACES)).to_string());
    }
    let server = Server::start(world);
    world.unset("WINDLASS_CRASH_AT");
    let asked = |number| server.as_ref().and_then(|server| write(server, key, number));
    let answers: Vec<Option<Value>> = (0..writes).map(asked).collect();
    let_pass(std::time::Duration::from_millis(dice.below(20) as u64));
    world.kill_everything();
    if let Some(server) = server {
        let _ = server.process.wait();
    }
    wait_until("the server to be gone", || world.processes().is_empty().then_some(()));
    answers
}

fn play(dice: &mut Dice) {
    let (mut world, key) = founded();
    let mut disk = PowerDisk::under(&[&world.state_dir(), &world.home()]);
    let acknowledged = written_till_the_cut(&mut world, &key, dice);
    let torn = dice.one_in(3);
    let mut part = |length: usize| dice.below(length + 1);
    disk.cut(if torn { Tails::Torn(&mut part) } else { Tails::Lost });
    let server = Server::start(&world).expect("a server can be started after a power cut");
    for (number, known) in acknowledged.iter().enumerate() {
        let again = write(&server, &key, number).expect("the server answers");
        if let Some(known) = known {
            assert_eq!(&again, known, "write {number} was lost or made twice");
        }
    }
    let (_, projects) = server.ask(&key, "GET", "/projects", "", &Value::Null).expect("the server answers");
    assert_eq!(projects["meta"]["total_count"], acknowledged.len(), "{projects}");
    server.stop();
    // Before the world it lies under.
    drop(disk);
}

fn no_acknowledged_write_is_lost() {
    let cases = Cases::asked(EVERYDAY);
    let mut failures = Vec::new();
    let wanted = if cases.only.is_some() { 0 } else { cases.wanted.div_ceil(SHARES) };
    for case in 0..wanted {
        let survived = seeded::survived(|| play(&mut cases.dice(case)));
        seeded::note("story-server", "acknowledged", true, survived.is_ok());
        if let Err(why) = survived {
            let failure = format!("case {case} of the server, seed {}, {CAMPAIGN}: {why}", cases.seed);
            seeded::tell(&failure);
            failures.push(failure);
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

with_own_disks! {
    no_acknowledged_write_of_the_server_is_lost = no_acknowledged_write_is_lost;
}
