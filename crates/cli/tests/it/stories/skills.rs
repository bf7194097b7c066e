//! Lines of the seed that work as written on a queue that nobody has filled.

use super::server::{Server, founded};

#[test]
fn skills_that_the_orchestrator_fetches_come_with_the_program() {
    let (mut world, user) = founded();
    let server = Server::start(&world).unwrap();
    world.set("LOOPCTL_SERVER", server.url()).set("LOOPCTL_API_KEY", user);
    for (name, word) in [("loopctl:review", "criterion"), ("loopctl:verify-artifacts", "artifacts")] {
        let text = world.windlass(&["story", "skill", "get", name]).exits_with(0).stdout;
        assert!(text.contains(word), "{text}");
    }
    let refused = world.windlass(&["story", "skill", "get", "loopctl:nothing"]);
    assert_ne!(refused.code, Some(0), "{}", refused.stdout);
    server.stop();
}
