//! A run can be named by its id, the beginning of it, its task, its directory or that directory's name.

use crate::played_run::{PlayedRun, TASK};
use rusqlite::Connection;

fn resumes(name: impl FnOnce(&PlayedRun) -> String) {
    let played = PlayedRun::interrupted();
    played.go();
    let name = name(&played);
    let _ = played.world.windlass(&["resume", &name]).exits_with(0);
    assert_eq!(played.line()["status"], "accepted");
}

#[test]
fn by_its_id() {
    resumes(PlayedRun::id);
}

#[test]
fn by_the_beginning_of_its_id() {
    resumes(|played| played.id()[..3].to_owned());
}

#[test]
fn by_its_task() {
    resumes(|_| TASK.to_owned());
}

#[test]
fn by_its_directory() {
    resumes(|played| played.run_dir().to_str().unwrap().to_owned());
}

#[test]
fn by_the_name_of_its_directory() {
    resumes(|played| played.run_dir().file_name().unwrap().to_str().unwrap().to_owned());
}

#[test]
fn a_task_means_its_newest_run() {
    let played = PlayedRun::judged(&["reject", "pass"]);
    let _ = played.run(&["--rounds", "1"]).exits_with(10);
    let first = played.id();
    let _ = played.run(&["--rounds", "1"]).exits_with(10);
    let second = played.id();
    assert_ne!(first, second);
    assert_eq!(played.world.windlass(&["show", TASK, "--json"]).json()["run"], second.as_str());
}

#[test]
fn a_beginning_that_several_share_is_refused_with_their_names() {
    let played = PlayedRun::accepted();
    let id = played.id();
    let twin = format!("{}-twin", &id[..3]);
    let journal = Connection::open(played.world.state_dir().join("journal.db")).unwrap();
    let insert = "INSERT INTO runs SELECT ?1, version, started_at, updated_at, headline FROM runs";
    assert_eq!(journal.execute(insert, [&twin]).unwrap(), 1);
    let refused = played.world.windlass(&["resume", &id[..3]]).exits_with(2);
    for word in ["error[WL-RUN-001]", &id, &twin] {
        assert!(refused.stderr.contains(word), "{word}: {}", refused.stderr);
    }
}

#[test]
fn a_name_nobody_has_is_refused() {
    let played = PlayedRun::accepted();
    for name in ["nothing", "", "/", "."] {
        let refused = played.world.windlass(&["resume", name]).exits_with(2);
        assert!(refused.stderr.contains("error[WL-RUN-001]"), "{name}: {}", refused.stderr);
        assert!(refused.stderr.contains("`windlass ls`"), "{name}: {}", refused.stderr);
    }
}
