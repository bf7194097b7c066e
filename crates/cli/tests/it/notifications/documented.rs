//! The page about notifications shows how a signature is checked: what it shows is run here.

use super::{SECRET, passing_run, settings};
use std::path::{Path, PathBuf};
use windlass_test_support::{Said, Told, WebhookReceiver, World};

const PAGE: &str = include_str!("../../../../../docs/notifications.md");

/// The first block of the page in this language.
fn block(language: &str) -> &'static str {
    let begin = format!("```{language}\n");
    let rest = PAGE.split_once(&begin).unwrap_or_else(|| panic!("no {language} on the page")).1;
    rest.split_once("```").expect("a block ends").0
}

pub(super) fn openssl_signature(world: &World, request: &Told) -> String {
    let signed = format!("{}.{}.{}", request.id(), request.headers["webhook-timestamp"], request.body);
    let command = format!("openssl dgst -sha256 -hmac '{SECRET}' -binary | base64");
    let output = world.run("/bin/sh".as_ref(), world.path(), &["-c", &command], &signed);
    output.exits_with(0).stdout.trim().to_owned()
}

fn signed_request() -> (World, Told) {
    let mut played = passing_run();
    let receiver = WebhookReceiver::that_answers(&[Said::Status(200)]);
    settings(&played, &format!("webhook = {{ url = '{}', secret_env = 'HOOK_SECRET' }}", receiver.url()));
    played.world.set("HOOK_SECRET", SECRET);
    let _ = played.world.windlass(&["notify", "test"]).exits_with(0);
    (played.world, receiver.next())
}

/// Runs a program that checks: with what was sent, and with each part of it changed.
#[track_caller]
fn checks(program: &Path, first: &[&str]) {
    let (world, request) = signed_request();
    std::fs::write(world.path().join("body"), &request.body).unwrap();
    std::fs::write(world.path().join("changed"), request.body.replace("test", "text")).unwrap();
    let (id, time) = (request.id(), request.headers["webhook-timestamp"].as_str());
    let signature = request.headers["webhook-signature"].as_str();
    let code = |rest: [&str; 4]| world.run(program, world.path(), &[first, &rest].concat(), "").code;
    assert_eq!(code([id, time, signature, "body"]), Some(0));
    assert_eq!(code([id, time, signature, "changed"]), Some(1));
    assert_eq!(code(["other", time, signature, "body"]), Some(1));
    assert_eq!(code([id, "1", signature, "body"]), Some(1));
    assert_eq!(code([id, time, "v1,AAAA", "body"]), Some(1));
}

#[test]
fn the_shell_lines_of_the_page_check_a_signature() {
    checks(Path::new("/bin/sh"), &["-c", block("sh"), "check"]);
}

#[test]
fn the_python_lines_of_the_page_check_a_signature() {
    // Some machines have a shim first, which needs its user's home.
    let python = ["/usr/bin/python3", "/usr/local/bin/python3"].map(PathBuf::from);
    let python = python.into_iter().find(|path| path.exists()).expect("python3 is needed for this test");
    checks(&python, &["-c", block("python")]);
}
