//! One process has the queue on this machine at a time: who waits is told for whom, and tools do not hold it.

use super::server::Server;
use crate::world;
use windlass_test_support::{Signal, wait_until};

#[test]
fn whoever_waits_for_the_queue_is_told_for_whom_and_goes_on_when_it_is_free() {
    let world = world();
    let data = world.state_dir().join("stories");
    let server = Server::start_with(&world, &["--data", data.to_str().unwrap()]).unwrap();
    let waiting = world.start_windlass(&["story", "project", "create", "After all"]);
    wait_until("the waiting command to say for whom it waits", || {
        let said = waiting.stderr();
        assert!(waiting.is_alive(), "it did not wait: {said}");
        let holder = format!("windlass serve (process {})", server.process.pid());
        said.contains(&holder).then_some(())
    });
    server.stop();
    let _ = waiting.wait().exits_with(0);
}

#[test]
fn tools_for_agents_leave_the_queue_to_others_between_calls() {
    let world = world();
    let tools = world.start_windlass(&["mcp", "--http", "127.0.0.1:0", "--json"]);
    wait_until("the tools to be there", || tools.stdout().contains("mcp").then_some(()));
    let _ = world.windlass(&["story", "project", "create", "Beside the tools"]).exits_with(0);
    tools.signal(Signal::TERM);
    let _ = tools.wait().exits_with(0);
}
