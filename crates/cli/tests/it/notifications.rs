//! People are told of runs they do not watch: through each channel, once more after trouble, after a kill, and never at
//! the run's expense.

mod crashes;
mod documented;
pub(crate) mod over_tls;

use crate::agents_and_money::{doer_that, uses};
use crate::played_run::{PlayedRun, TASK};
use serde_json::Value;
use windlass_test_support::{Said, Script, WebhookReceiver, wait_until};

pub(crate) const SECRET: &str = "not-a-secret-anywhere-else";

/// Puts `[notify]` into the user's own settings.
fn settings(played: &PlayedRun, text: &str) {
    let directory = played.world.home().join(".config/windlass");
    std::fs::create_dir_all(&directory).unwrap();
    std::fs::write(directory.join("windlass.toml"), format!("[notify]\n{text}\n")).unwrap();
}

fn passing_run() -> PlayedRun {
    PlayedRun::of(&Script::that_passes())
}

/// A run that tells this receiver.
fn telling(played: &PlayedRun, receiver: &WebhookReceiver) {
    settings(played, &format!("webhook = {{ url = '{}' }}", receiver.url()));
}

fn pending(played: &PlayedRun) -> usize {
    let files = std::fs::read_dir(played.world.state_dir().join("notify/pending"));
    let names = files.into_iter().flatten().map(|entry| entry.unwrap().file_name());
    names.filter(|name| name.to_string_lossy().ends_with(".json")).count()
}

fn doctor(played: &PlayedRun) -> String {
    let lines = played.world.windlass(&["doctor", "--json"]).json()["lines"].clone();
    let about = |line: &Value| line["what"] == "notifications";
    let lines = lines.as_array().unwrap().iter().filter(|line| about(line));
    lines.map(|line| format!("{}: {}", line["state"], line["details"])).collect::<Vec<_>>().join("\n")
}

#[test]
fn an_ended_run_is_posted_signed_and_in_json() {
    let mut played = passing_run();
    let receiver = WebhookReceiver::that_answers(&[Said::Status(204)]);
    settings(&played, &format!("webhook = {{ url = '{}', secret_env = 'HOOK_SECRET' }}", receiver.url()));
    played.world.set("HOOK_SECRET", SECRET);
    let _ = played.run(&[]).exits_with(0);
    let request = receiver.next();
    assert_eq!(request.headers["content-type"], "application/json");
    let json = request.json();
    let text = |key: &str| json[key].as_str().unwrap().to_owned();
    assert_eq!(
        (text("event"), text("status"), text("task")),
        ("ended".into(), "accepted".into(), TASK.into())
    );
    assert_eq!(text("id"), request.id());
    assert_eq!(text("repository"), played.repository.text());
    let signature = documented::openssl_signature(&played.world, &request);
    assert_eq!(request.headers["webhook-signature"], format!("v1,{signature}"));
    assert_eq!((receiver.has_more(), pending(&played)), (false, 0));
    let state = played.world.state_dir().join("notify");
    let found = played.world.run("/bin/grep".as_ref(), &state, &["-r", SECRET, "."], "");
    assert_eq!(found.code, Some(1), "the secret was stored: {}", found.stdout);
}

#[test]
fn a_run_that_waits_for_a_person_says_so_whatever_was_asked_for() {
    for (on, event) in [("", "needs-person"), ("on = ['ended']\n", "ended")] {
        let played = PlayedRun::judged(&["needs-human"]);
        let receiver = WebhookReceiver::that_answers(&[Said::Status(200)]);
        settings(&played, &format!("{on}webhook = {{ url = '{}' }}", receiver.url()));
        let _ = played.run(&[]).exits_with(11);
        let json = receiver.next().json();
        assert_eq!((&json["event"], &json["status"]), (&event.into(), &"needs human".into()));
        assert!(!json["commands"].as_array().unwrap().is_empty(), "{json}");
        assert!(!receiver.has_more(), "it was told twice");
    }
}

#[test]
fn who_asked_for_other_events_is_not_told() {
    let played = passing_run();
    let receiver = WebhookReceiver::that_answers(&[Said::Status(200)]);
    settings(&played, &format!("on = ['budget']\nwebhook = {{ url = '{}' }}", receiver.url()));
    let _ = played.run(&[]).exits_with(0);
    assert!(!receiver.has_more() && pending(&played) == 0);
}

#[test]
fn a_budget_is_told_of_once_when_four_fifths_are_used() {
    let played = PlayedRun::of(&doer_that(&[uses(r#""input":850,"output":0"#)]));
    let receiver = WebhookReceiver::that_answers(&[Said::Status(200)]);
    settings(&played, &format!("on = ['budget']\nwebhook = {{ url = '{}' }}", receiver.url()));
    let _ = played.run(&["--max-tokens", "1000"]);
    let json = receiver.next().json();
    assert_eq!((&json["event"], &json["budget"]["what"]), (&"budget".into(), &"tokens".into()));
    assert_eq!((&json["budget"]["used"], &json["budget"]["percent"]), (&850.into(), &85.into()));
    assert!(!receiver.has_more());
}

#[test]
fn a_server_in_trouble_is_tried_again_under_the_same_id() {
    let played = passing_run();
    let receiver = WebhookReceiver::that_answers(&[Said::Status(500), Said::Status(200)]);
    telling(&played, &receiver);
    let _ = played.run(&[]).exits_with(0);
    // Where the machine is slow, the second try is left to another process.
    let _ = played.world.windlass(&["notify", "retry"]).exits_with(0);
    let (first, second) = (receiver.next(), receiver.next());
    assert_eq!((first.id(), &first.body), (second.id(), &second.body));
    assert_eq!((receiver.has_more(), pending(&played)), (false, 0));
}

#[test]
fn a_refusal_is_recorded_shown_and_not_tried_again() {
    let played = passing_run();
    let receiver = WebhookReceiver::that_answers(&[Said::Status(404), Said::Status(200)]);
    telling(&played, &receiver);
    let _ = played.run(&[]).exits_with(0);
    let id = receiver.next().id().to_owned();
    assert!(!receiver.has_more());
    let said = doctor(&played);
    assert!(said.contains("1 never arrived") && said.contains("404"), "{said}");
    let shown = played.world.windlass(&["show", TASK]).exits_with(0).stdout;
    assert!(shown.contains("ended through webhook: failed: the answer was 404"), "{shown}");
    let json = played.world.windlass(&["show", TASK, "--json"]).json();
    assert_eq!(
        (&json["notifications"][0]["state"], &json["notifications"][0]["tries"]),
        (&"failed".into(), &1.into())
    );
    let json = played.world.windlass(&["notify", "retry", "--json"]).exits_with(0).json();
    assert_eq!((&json["deliveries"][0]["state"], receiver.next().id()), (&"sent".into(), id.as_str()));
    assert!(!doctor(&played).contains("never arrived"));
}

#[test]
fn what_was_given_up_can_be_let_be() {
    let played = passing_run();
    let receiver = WebhookReceiver::that_answers(&[Said::Status(410)]);
    telling(&played, &receiver);
    let _ = played.run(&[]).exits_with(0);
    let said = played.world.windlass(&["notify", "forget"]).exits_with(0).stdout;
    assert!(said.contains("forgotten") && said.contains("410"), "{said}");
    assert!(!doctor(&played).contains("never arrived"));
    let said = played.world.windlass(&["notify", "forget"]).exits_with(0).stdout;
    assert_eq!(said, "nothing was given up\n");
}

#[test]
fn a_server_that_is_not_there_or_hangs_costs_the_run_nothing_and_is_told_of() {
    let refusing = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = refusing.local_addr().unwrap();
    drop(refusing);
    let hanging = WebhookReceiver::that_answers(&[Said::Silence]);
    for url in [format!("http://{address}/hook"), hanging.url()] {
        let played = passing_run();
        settings(&played, &format!("webhook = {{ url = '{url}' }}"));
        let _ = played.run(&[]).exits_with(0);
        assert_eq!(pending(&played), 1, "{url}");
        let said = doctor(&played);
        assert!(said.contains("1 are still to be sent, so far: "), "{said}");
        let shown = played.world.windlass(&["show", TASK]).exits_with(0).stdout;
        assert!(shown.contains("ended through webhook: pending: "), "{shown}");
        played.world.assert_no_processes();
    }
}

#[test]
fn a_server_that_comes_back_gets_what_it_missed_from_another_process() {
    let played = passing_run();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    settings(&played, &format!("webhook = {{ url = 'http://{address}/hook' }}"));
    let _ = played.run(&[]).exits_with(0);
    assert_eq!(pending(&played), 1);
    let receiver = WebhookReceiver::on(std::net::TcpListener::bind(address).unwrap(), &[Said::Status(200)]);
    let _ = played.world.windlass(&["notify", "retry"]).exits_with(0);
    assert_eq!(receiver.next().json()["event"], "ended");
    assert_eq!(pending(&played), 0);
}

#[test]
fn a_command_gets_the_message_on_its_input_and_its_key_fields_as_variables() {
    let mut played = passing_run();
    let (body, fields) = (played.world.shared("body"), played.world.shared("fields"));
    let command =
        format!("cat > {}; env | grep -e ^WINDLASS_ -e ^MINE= > {}", body.display(), fields.display());
    settings(&played, &format!("command = '{command}'"));
    played.world.set("MINE", "of-the-user");
    let _ = played.run(&[]).exits_with(0);
    let json: Value = serde_json::from_str(&std::fs::read_to_string(body).unwrap()).unwrap();
    assert_eq!((&json["event"], &json["task"]), (&"ended".into(), &TASK.into()));
    let fields = std::fs::read_to_string(fields).unwrap();
    let run = json["run"].as_str().unwrap();
    for expected in [
        &format!("WINDLASS_RUN={run}"),
        "WINDLASS_EVENT=ended",
        "WINDLASS_STATUS=accepted",
        "MINE=of-the-user",
    ] {
        assert!(fields.lines().any(|line| line == expected), "{expected} in {fields}");
    }
    assert_eq!(pending(&played), 0);
}

#[test]
fn a_command_that_hangs_does_not_hold_up_the_run() {
    let played = passing_run();
    let started = played.world.shared("started");
    settings(&played, &format!("command = 'touch {}; exec tail -f /dev/null'", started.display()));
    let _ = played.run(&[]).exits_with(0);
    wait_until("the command", || started.exists().then_some(()));
    // It is still at work under its keeper, which holds it to its limit.
    assert!(played.world.processes().iter().any(|process| process.contains("tail")));
    assert_eq!(pending(&played), 1);
}

#[test]
fn a_command_of_the_repository_needs_trust_and_sees_what_a_check_sees() {
    let mut played = passing_run();
    let fields = played.world.shared("fields");
    let text = format!("[notify]\ncommand = 'env > {}'\n", fields.display());
    played.repository.write("windlass.toml", &text).commit("settings");
    played.world.set("MINE", "of-the-user");
    let said = played.run(&[]).exits_with(14).stderr;
    assert!(said.contains("notify.command = env >"), "{said}");
    let said = played.world.windlass(&["notify", "test", "--repo", played.repository.text()]).exits_with(14);
    assert!(said.stderr.contains("windlass trust"), "{}", said.stderr);
    assert!(!fields.exists());
    let _ = played.run(&["--yes"]).exits_with(0);
    let fields = std::fs::read_to_string(fields).unwrap();
    assert!(fields.contains("WINDLASS_EVENT=ended") && !fields.contains("MINE="), "{fields}");
}

#[test]
fn a_channel_the_repository_names_later_is_left_out_until_somebody_agrees() {
    let played = PlayedRun::judged(&["needs-human", "pass"]);
    let _ = played.run(&[]).exits_with(11);
    let marker = played.world.shared("marker");
    played.repository.write("windlass.toml", &format!("[notify]\ncommand = 'touch {}'\n", marker.display()));
    let said = played.world.windlass(&["resume", TASK]).exits_with(0).stderr;
    assert!(said.contains("nobody agreed to it"), "{said}");
    assert!(!marker.exists() && pending(&played) == 0);
}

#[test]
fn the_desktop_is_told_where_there_is_one() {
    let mut played = passing_run();
    settings(&played, "desktop = true");
    assert!(
        doctor(&played).contains("desktop: not available: notify-send was not found"),
        "{}",
        doctor(&played)
    );
    let _ = played.run(&[]).exits_with(0);
    assert_eq!(pending(&played), 0, "a desktop that is not there is silence");
    let (programs, said) = (played.world.path().join("programs"), played.world.shared("said"));
    std::fs::create_dir(&programs).unwrap();
    let program = programs.join("notify-send");
    std::fs::write(&program, format!("#!/bin/sh\nprintf '%s\\n' \"$@\" > {}\n", said.display())).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&program, mode).unwrap();
    let path = played.world.environment()[std::ffi::OsStr::new("PATH")].to_string_lossy().into_owned();
    played.world.set("PATH", format!("{}:{path}", programs.display()));
    played.world.set("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nowhere");
    let _ = played.run(&[]).exits_with(0);
    let said = std::fs::read_to_string(said).unwrap();
    assert!(said.contains("--\nTASK-1: accepted\n"), "{said}");
}

#[test]
fn a_test_message_goes_through_every_channel_and_each_says_how_it_ended() {
    let mut played = passing_run();
    let receiver = WebhookReceiver::that_answers(&[Said::Status(200), Said::Status(503)]);
    let webhook = format!("webhook = {{ url = '{}', secret_env = 'HOOK_SECRET' }}", receiver.url());
    settings(&played, &format!("desktop = true\ncommand = 'echo broken >&2; exit 3'\n{webhook}"));
    let test = |played: &PlayedRun| {
        let json = played.world.windlass(&["notify", "test", "--json"]).exits_with(1).json();
        let views = json["deliveries"].as_array().unwrap().clone();
        views
            .iter()
            .map(|view| format!("{} {}: {}", view["channel"], view["state"], view["why"]))
            .collect::<Vec<_>>()
            .join("\n")
    };
    let said = test(&played);
    assert!(said.contains("$HOOK_SECRET is not set"), "{said}");
    assert!(doctor(&played).contains("cannot be signed, $HOOK_SECRET is not set"));
    played.world.set("HOOK_SECRET", SECRET);
    let said = test(&played);
    for expected in [
        "\"desktop\" \"unavailable\": \"notify-send was not found\"",
        "\"command\" \"failed\": \"exit code 3: broken\"",
        "\"webhook\" \"sent\"",
    ] {
        assert!(said.contains(expected), "{expected} in {said}");
    }
    assert_eq!(receiver.next().json()["event"], "test");
    assert!(test(&played).contains("the answer was 503"));
    assert_eq!(pending(&played), 0);
}

#[test]
fn settings_that_cannot_be_used_are_refused_with_the_reason() {
    let played = passing_run();
    for (text, expected) in [
        ("on = ['endet']", "there are: needs-person, ended, budget"),
        ("webhook = { url = 'http://example.org/x' }", "use https://"),
        ("webhook = { url = 'https://example.org', secret-env = 'X' }", "notify.webhook.secret_env"),
        ("desktop = 'yes'", "`notify.desktop` must be true or false"),
        ("", "no channel for notifications is set"),
    ] {
        settings(&played, text);
        let said = played.world.windlass(&["notify", "test"]).exits_with(2).stderr;
        assert!(said.contains(expected), "{text}: {said}");
    }
}
