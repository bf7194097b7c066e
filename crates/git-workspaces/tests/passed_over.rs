//! What git leaves out of a snapshot without a word is named.
#![expect(clippy::unwrap_used, reason = "a helper of a test fails by panicking")]

mod support;

use std::os::unix::net::UnixListener;
use std::path::Path;

use rustix::fs::{CWD, FileType, Mode, mknodat};
use support::{World, take, write};

fn pipe(path: &Path) {
    mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
}

#[test]
fn pipes_sockets_and_inner_git_directories_are_named() {
    let world = World::new();
    let (repository, base, doer) = world.with_doer();
    write(&doer.join("vendor/.git/config"), "");
    write(&doer.join("work.txt"), "work");
    pipe(&doer.join("src/queue"));
    let _listener = UnixListener::bind(doer.join("talk")).unwrap();
    let snapshot = take(&repository, &doer, &base);
    assert_eq!(snapshot.changes.len(), 1, "git says nothing of them: {:?}", snapshot.changes);
    assert_eq!(snapshot.hazards, []);
    let named = repository.passed_over(&doer, "doer").unwrap();
    let named: Vec<String> = named.iter().map(ToString::to_string).collect();
    assert_eq!(
        named,
        [
            "src/queue is a named pipe, which git does not record",
            "talk is a socket, which git does not record",
            "vendor/.git is the git directory of a repository inside, which git does not record",
        ]
    );
}

#[test]
fn what_the_rules_ignore_is_nobody_s_loss() {
    let world = World::new();
    let (repository, base, doer) = world.with_doer();
    write(&doer.join(".gitignore"), "out/\n*.tmp\n");
    write(&doer.join("out/a"), "");
    pipe(&doer.join("out/queue"));
    pipe(&doer.join("queue.tmp"));
    let _ = take(&repository, &doer, &base);
    assert_eq!(repository.passed_over(&doer, "doer").unwrap(), []);
}

/// Git would wait for such rules for ever.
#[test]
fn a_pipe_in_the_place_of_the_rules_holds_nobody_up() {
    let world = World::new();
    let (repository, _, doer) = world.with_doer();
    let _ = std::fs::remove_file(doer.join(".gitignore"));
    pipe(&doer.join(".gitignore"));
    assert_eq!(repository.passed_over(&doer, "doer").unwrap().len(), 1);
}
