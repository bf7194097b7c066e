//! A process that is killed owes nobody a notification for long: the next one sends it, under the same id.

use super::{passing_run, pending, settings, telling};
use crate::invariants::Watched;
use crate::played_run::{PlayedRun, TASK};
use windlass_test_support::{Output, Said, WebhookReceiver, wait_until};

/// The number of the place at which the first notification was put down.
fn place_of_the_offer() -> usize {
    let mut played = passing_run();
    let receiver = WebhookReceiver::that_answers(&[Said::Status(200)]);
    telling(&played, &receiver);
    let log = played.world.path().join("places");
    played.world.set("WINDLASS_CRASH_LOG", &log);
    let _ = played.run(&[]).exits_with(0);
    let text = std::fs::read_to_string(log).unwrap();
    let place = text.lines().position(|line| line.ends_with(" notify.offered"));
    place.expect("a notification was put down") + 1
}

fn killed_at(place: usize) -> (PlayedRun, WebhookReceiver, Watched) {
    let mut played = passing_run();
    let mut watched = Watched::begin(&played.repository);
    let receiver = WebhookReceiver::that_answers(&[Said::Status(200)]);
    telling(&played, &receiver);
    played.world.set("WINDLASS_CRASH_AT", place.to_string());
    let output: Output = played.run(&[]);
    assert_eq!(output.signal, Some(9), "{}", output.stderr);
    played.world.unset("WINDLASS_CRASH_AT");
    assert_eq!(played.world.windlass(&["ls", "--json"]).json()[0]["status"], "accepted");
    assert!(!receiver.has_more(), "nothing was sent before the kill");
    watched.look(&played.world, "the kill");
    (played, receiver, watched)
}

/// The next process sends exactly one, about the run that was killed.
#[track_caller]
fn is_told_once(played: &PlayedRun, receiver: &WebhookReceiver) -> String {
    let _ = played.world.windlass(&["notify", "retry"]).exits_with(0);
    let request = receiver.next();
    let json = request.json();
    assert_eq!((&json["event"], &json["task"]), (&"ended".into(), &TASK.into()));
    let _ = played.world.windlass(&["notify", "retry"]).exits_with(0);
    assert!(!receiver.has_more() && pending(played) == 0);
    request.id().to_owned()
}

#[test]
fn what_was_put_down_before_a_kill_is_sent_by_the_next_process_under_its_id() {
    let (played, receiver, watched) = killed_at(place_of_the_offer());
    let file = std::fs::read_dir(played.world.state_dir().join("notify/pending")).unwrap().next().unwrap();
    let name = file.unwrap().file_name().into_string().unwrap();
    let id = is_told_once(&played, &receiver);
    assert_eq!(name, format!("{id}.webhook.json"));
    let _ = watched.end(&played.world, &played.repository, &[]);
}

#[test]
fn what_a_kill_kept_from_being_put_down_is_found_by_its_mark() {
    // Before the file has its name.
    let (played, receiver, watched) = killed_at(place_of_the_offer() - 2);
    assert_eq!(pending(&played), 0);
    let _ = is_told_once(&played, &receiver);
    let marks = std::fs::read_dir(played.world.state_dir().join("notify/marks")).unwrap();
    assert_eq!(marks.count(), 0, "a mark was left behind");
    let _ = watched.end(&played.world, &played.repository, &[]);
}

#[test]
fn what_was_on_its_way_at_a_kill_is_sent_again_under_the_same_id() {
    let played = passing_run();
    let watched = Watched::begin(&played.repository);
    let receiver = WebhookReceiver::that_answers(&[Said::Silence, Said::Status(200)]);
    telling(&played, &receiver);
    let words =
        ["run", "Add a file", "--id", TASK, "--repo", played.repository.text(), "--agent", &played.agent];
    let running = played.world.start_windlass(&words);
    let first = receiver.next();
    let _ = running.kill();
    assert_eq!(is_told_once(&played, &receiver), first.id());
    let _ = watched.end(&played.world, &played.repository, &[]);
}

#[test]
fn a_command_that_outlives_its_process_is_taken_up_and_not_started_twice() {
    let played = passing_run();
    let watched = Watched::begin(&played.repository);
    let (begun, go) = (played.world.shared("begun"), played.world.shared("go"));
    make_pipe(&played, &go);
    settings(&played, &format!("command = 'echo x >> {}; cat {}'", begun.display(), go.display()));
    let words =
        ["run", "Add a file", "--id", TASK, "--repo", played.repository.text(), "--agent", &played.agent];
    let running = played.world.start_windlass(&words);
    wait_until("the command", || begun.exists().then_some(()));
    let _ = running.kill();
    // Whoever opens the pipe to write lets the command end.
    std::fs::write(&go, "on").unwrap();
    let _ = played.world.windlass(&["notify", "retry"]).exits_with(0);
    assert_eq!((pending(&played), std::fs::read_to_string(&begun).unwrap().as_str()), (0, "x\n"));
    let _ = watched.end(&played.world, &played.repository, &[]);
}

/// A pipe with a name.
fn make_pipe(played: &PlayedRun, path: &std::path::Path) {
    let path = path.to_str().unwrap();
    let _ = played.world.run("/usr/bin/mkfifo".as_ref(), played.world.path(), &[path], "").exits_with(0);
}
