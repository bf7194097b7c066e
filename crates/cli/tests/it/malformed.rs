//! What an agent can leave in its outbox, and the typed end each of it comes to: one repair request, then a rejected
//! round for the doer and a person for the other two; a summary, the thing itself kept, never a pass.

use crate::scene::{Played, Scene, TASK};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use windlass_test_support::{Script, When};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Artifact {
    Handoff,
    Verdict,
    Audit,
}

impl Artifact {
    const fn name(self) -> &'static str {
        match self {
            Self::Handoff => "handoff.json",
            Self::Verdict => "verdict.json",
            Self::Audit => "audit.json",
        }
    }

    /// One that would be accepted: whatever is made of it must fail for what was done to it, and for nothing else.
    fn sound(self) -> Value {
        match self {
            Self::Handoff => json!({
                "task_id": TASK, "summary": "adds done.txt", "requirements_touched": [],
                "files_touched": ["done.txt"], "assumptions": [], "smoke_checks": [], "notes": "",
            }),
            Self::Verdict => json!({
                "task_id": TASK, "verdict": "pass", "reasons": [], "required_changes": [],
                "suggested_tests": [], "requirements_checked": [], "requirements_missing": [], "notes": "",
            }),
            Self::Audit => json!({
                "task_id": TASK, "gate": "pass", "risk": { "level": "low", "reasons": [] }, "findings": [],
                "policy": { "artifact_integrity": "pass", "eval_commands": "unknown" },
                "traceability": {
                    "task_id_match": "pass", "requirements_coverage": "unknown", "issues": [],
                },
                "required_actions": [], "notes": "",
            }),
        }
    }

    /// A sound one with these keys instead.
    fn with(self, keys: &Value) -> String {
        let mut file = self.sound();
        for (key, value) in keys.as_object().expect("the test gives an object") {
            file[key] = value.clone();
        }
        file.to_string()
    }

    /// Everybody does what is asked, but the role of this artifact does that.
    fn script(self, action: &str) -> Script {
        let steps = |artifact: Self, sound: &str| -> String {
            (if artifact == self { action } else { sound }).to_owned()
        };
        let handoff = steps(Self::Handoff, "{ handoff = 'adds done.txt' }");
        let verdict = steps(Self::Verdict, "{ verdict = 'pass' }");
        let audit = steps(Self::Audit, "{ audit = 'pass' }");
        Script::new()
            .doer(When::Always, &["{ write = 'done.txt', text = 'done' }", &handoff])
            .judge(When::Always, &[&verdict])
            .auditor(When::Always, &[&audit])
    }

    /// How a run ends whose answers of this kind cannot be used.
    const fn end(self) -> (i32, &'static str) {
        match self {
            Self::Handoff => (10, "reject not-run not-run 1"),
            Self::Verdict => (11, "needs-human needs-human not-run 1"),
            Self::Audit => (11, "needs-human pass needs-human 1"),
        }
    }
}

fn bytes(artifact: Artifact, content: &[u8]) -> String {
    let hex = content.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").expect("writing to a string cannot fail");
        text
    });
    format!("{{ artifact = '{}', hex = '{hex}' }}", artifact.name())
}

fn text(artifact: Artifact, content: &str) -> String {
    bytes(artifact, content.as_bytes())
}

fn special(artifact: Artifact, what: &str) -> String {
    format!("{{ artifact = '{}', {what} }}", artifact.name())
}

/// Where the agents' own outboxes still hold what was left in them.
fn left_in_outboxes(scene: &Scene, played: &Played, artifact: Artifact) -> Vec<PathBuf> {
    let run = played.run();
    let effects = scene.world.state_dir().join("runs").join(run).join("effects");
    let entries = std::fs::read_dir(effects).expect("a run with steps has their directories").flatten();
    let places = entries.map(|entry| entry.path().join("outbox").join(artifact.name()));
    places.filter(|place| place.symlink_metadata().is_ok()).collect()
}

#[track_caller]
fn is_refused(scene: &Scene, artifact: Artifact, action: &str, fault: &str) -> Played {
    let (code, words) = artifact.end();
    let played = scene.play(&artifact.script(action), &["--rounds", "1"]).exits_with(code);
    assert_eq!(played.words(), words);
    let asked = played.facts("repair-asked");
    assert_eq!(asked.len(), 1, "one repair request");
    assert!(asked[0].to_string().contains(fault), "{fault:?} is not in {}", asked[0]);
    played.assert_strict_layout();
    scene.assert_nothing_landed();
    played
}

/// Leaves it in both attempts and looks at the end.
#[track_caller]
fn check(artifact: Artifact, action: fn(&Scene, Artifact) -> String, fault: &str) {
    let scene = Scene::new();
    let action = action(&scene, artifact);
    let played = is_refused(&scene, artifact, &action, fault);
    assert_eq!(left_in_outboxes(&scene, &played, artifact).len(), 2, "what was left is kept");
}

macro_rules! each_artifact {
    ($($name:ident: $action:expr => $fault:literal;)+) => {
        $(mod $name {
            use super::*;

            #[test]
            fn as_handoff() {
                check(Artifact::Handoff, $action, $fault);
            }

            #[test]
            fn as_verdict() {
                check(Artifact::Verdict, $action, $fault);
            }

            #[test]
            fn as_audit() {
                check(Artifact::Audit, $action, $fault);
            }
        })+
    };
}

each_artifact! {
    an_empty_file: |_, artifact| text(artifact, "") => "the file is empty";
    no_json: |_, artifact| text(artifact, "{ \"task_id\": ") => "not valid JSON";
    fenced_json: |_, artifact| text(artifact, &format!("```json\n{}\n```", artifact.sound())) => "Markdown fence";
    a_list: |_, artifact| text(artifact, &json!([artifact.sound()]).to_string()) => "one JSON object";
    the_bare_word_pass: |_, artifact| text(artifact, "PASS") => "not valid JSON";
    the_string_pass: |_, artifact| text(artifact, "\"PASS\"") => "one JSON object";
    wrong_types: |_, artifact| text(artifact, &artifact.with(&json!({ "notes": 1, "task_id": [TASK] })))
        => "/notes";
    a_doubled_key: |_, artifact| {
        let sound = artifact.sound().to_string();
        text(artifact, &format!("{},\"task_id\":\"{TASK}\"}}", sound.strip_suffix('}').unwrap()))
    } => "more than once";
    an_escaped_nul: |_, artifact| text(artifact, &artifact.with(&json!({ "notes": "a\u{0}b" }))) => "u0000";
    a_raw_nul: |_, artifact| text(artifact, &format!("{}\u{0}", artifact.sound())) => "NUL byte";
    invalid_utf_8: |_, artifact| {
        let sound = artifact.with(&json!({ "notes": "@" }));
        let at = sound.find('@').unwrap();
        let content = [&sound.as_bytes()[..at], &[0xFF], &sound.as_bytes()[at + 1..]].concat();
        bytes(artifact, &content)
    } => "not UTF-8";
    a_byte_order_mark: |_, artifact| text(artifact, &format!("\u{FEFF}{}", artifact.sound()))
        => "byte order mark";
    a_depth_of_100_000: |_, artifact| {
        let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        let sound = artifact.with(&json!({ "deep": 0 }));
        text(artifact, &sound.replace("\"deep\":0", &format!("\"deep\":{deep}")))
    } => "";
    two_megabytes: |_, artifact| special(artifact, "size = 2_000_000") => "larger than";
    another_task_s_id: |_, artifact| text(artifact, &artifact.with(&json!({ "task_id": "TASK-2" })))
        => "/task_id";
    a_symbolic_link_to_a_sound_one: |scene, artifact| {
        std::fs::write(scene.world.shared("sound"), artifact.sound().to_string()).unwrap();
        special(artifact, &format!("symlink_to = '{}'", scene.world.shared("sound").display()))
    } => "symbolic link";
    a_link_to_an_endless_device: |_, artifact| special(artifact, "symlink_to = '/dev/zero'") => "symbolic link";
    a_hard_link_to_a_sound_one: |scene, artifact| {
        std::fs::write(scene.world.shared("sound"), artifact.sound().to_string()).unwrap();
        special(artifact, &format!("hardlink_to = '{}'", scene.world.shared("sound").display()))
    } => "hard link";
    a_pipe_nobody_writes_to: |_, artifact| special(artifact, "fifo = true") => "a pipe";
    a_directory: |_, artifact| special(artifact, "directory = true") => "a directory";
    a_socket: |scene, artifact| {
        for attempt in [1, 2] {
            let path = scene.world.shared(&format!("socket-{attempt}"));
            drop(std::os::unix::net::UnixListener::bind(path).unwrap());
        }
        let place = scene.world.shared("socket-");
        format!("{{ rename = '{}{{attempt}}', to = '{{outbox}}/{}' }}", place.display(), artifact.name())
    } => "cannot be opened";
}

#[test]
fn nothing_at_all_is_refused_for_each_artifact() {
    for artifact in [Artifact::Handoff, Artifact::Verdict, Artifact::Audit] {
        let scene = Scene::new();
        let fault = format!("{} was not left in the outbox", artifact.name());
        is_refused(&scene, artifact, "{ say = 'done' }", &fault);
    }
}

#[test]
fn a_device_is_refused_where_one_can_be_made() {
    let scene = Scene::new();
    // Not everybody may make devices; then nothing is left, which is refused as well.
    let action = "{ run = ['mknod', '{outbox}/verdict.json', 'c', '1', '5'], may_fail = true }";
    is_refused(&scene, Artifact::Verdict, action, "verdict.json ");
}

#[test]
fn a_file_nobody_may_read_is_refused_unless_the_engine_may_read_everything() {
    let scene = Scene::new();
    let sealed = scene.world.path().join("sealed");
    std::fs::write(&sealed, "").unwrap();
    std::fs::set_permissions(&sealed, std::fs::Permissions::from_mode(0o000)).unwrap();
    let artifact = Artifact::Verdict;
    let content = artifact.sound().to_string().replace('"', "\\\"");
    let action = format!("{{ artifact = 'verdict.json', text = \"{content}\", mode = 0 }}");
    if std::fs::read(&sealed).is_ok() {
        let played = scene.play(&artifact.script(&action), &[]).exits_with(0);
        assert_eq!(played.words(), "pass pass pass 1");
    } else {
        is_refused(&scene, artifact, &action, "cannot be opened");
    }
}

#[test]
fn a_malformed_file_is_kept_byte_for_byte_as_evidence() {
    let scene = Scene::new();
    let played = is_refused(&scene, Artifact::Verdict, &text(Artifact::Verdict, "PASS"), "not valid JSON");
    let as_left: Vec<String> =
        played.sealed().into_iter().filter(|name| name == "verdict.json.as-left").collect();
    // Found after each of two attempts, and shown to the second one.
    assert_eq!(as_left.len(), 3);
    let run = played.run();
    let shown = scene.world.windlass(&["show", run, "--json"]).exits_with(0).json();
    let artifacts = shown["artifacts"].as_array().unwrap();
    let kept = artifacts.iter().find(|artifact| artifact["name"] == "verdict.json.as-left").unwrap();
    assert_eq!(std::fs::read(kept["path"].as_str().unwrap()).unwrap(), b"PASS");
}

#[test]
fn a_sound_file_made_this_way_is_accepted_for_each_artifact() {
    for artifact in [Artifact::Handoff, Artifact::Verdict, Artifact::Audit] {
        let scene = Scene::new();
        let action = text(artifact, &artifact.sound().to_string());
        let played = scene.play(&artifact.script(&action), &["--rounds", "1"]).exits_with(0);
        assert_eq!(played.words(), "pass pass pass 1", "{artifact:?}");
    }
}
