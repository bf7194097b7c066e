//! The server is killed at every single commit. What was acknowledged is there afterwards, and asking again under the same
//! idempotency key has one effect.

use super::server::{Server, founded};
use serde_json::{Value, json};

const WRITES: usize = 4;

fn write(server: &Server, key: &str, number: usize) -> Option<Value> {
    let body = json!({ "name": format!("Project {number}") });
    let (status, answer) = server.ask(key, "POST", "/projects", &format!("write {number}"), &body)?;
    assert_eq!(status, 201, "{answer}");
    Some(answer["project"]["id"].clone())
}

/// Whether the place was reached at all.
fn survives_a_crash_at(place: usize) -> bool {
    let (mut world, key) = founded();
    world.set("WINDLASS_CRASH_AT", place.to_string());
    let first = Server::start(&world);
    let acknowledged: Vec<Option<Value>> =
        (0..WRITES).map(|number| first.as_ref().and_then(|server| write(server, &key, number))).collect();
    let on_the_way = first.is_none() || acknowledged.iter().any(Option::is_none);
    // Ending is work too: the last tree head is signed and stored.
    let reached = on_the_way || first.is_some_and(|server| !server.stop_or_be_killed());
    world.unset("WINDLASS_CRASH_AT");

    let server = Server::start(&world).unwrap();
    for (number, known) in acknowledged.iter().enumerate() {
        let again = write(&server, &key, number).unwrap();
        if let Some(known) = known {
            assert_eq!(
                &again, known,
                "after a crash at place {place}, write {number} was lost or made twice"
            );
        }
    }
    let (_, projects) = server.ask(&key, "GET", "/projects", "", &Value::Null).unwrap();
    assert_eq!(projects["meta"]["total_count"], WRITES, "after a crash at place {place}: {projects}");
    server.stop();
    reached
}

#[test]
fn no_acknowledged_write_is_lost_and_none_is_made_twice() {
    let mut reached = 0;
    while survives_a_crash_at(reached + 1) {
        reached += 1;
    }
    assert!(reached >= 2 * WRITES, "only {reached} places were reached");
}
