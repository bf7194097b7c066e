//! A maker that writes what is not its own: another role's answer, the user's checkout and git directory, the journal, the
//! evidence. Inside the sandbox nothing of it happens; the same words succeed outside, so they are no empty threat.

use super::{honest_files, in_every_loop, noted, places, shell};
use crate::under_attack::{Attacked, Loop};
use serde_json::Value;
use std::path::PathBuf;
use windlass_test_support::World;

const ATTACKS: [(&str, &str); 13] = [
    ("another role's answer", "mkdir -p $O/../../9/outbox && echo x > $O/../../9/outbox/verdict.json"),
    ("the end of its own step", "echo x > $O/../exit.json"),
    ("a file of the checkout", "echo x > $C/README.md"),
    ("a new file in the checkout", "echo x > $C/planted"),
    ("the configuration of git", "git --git-dir=$C/.git config core.fsmonitor ./evil"),
    ("a hook", "mkdir -p $C/.git/hooks && cp /bin/true $C/.git/hooks/pre-commit"),
    ("a branch", "git --git-dir=$C/.git update-ref refs/heads/planted HEAD"),
    ("the objects", "mv $C/.git/objects $C/.git/gone && mv $C/.git/gone $C/.git/objects"),
    ("the journal", "echo x >> $S/journal.db"),
    ("the evidence", "mv $S/evidence $S/gone && mv $S/gone $S/evidence"),
    ("what is trusted", "echo x > $S/trust.json"),
    ("the state directory", "touch $S/planted"),
    ("the home", "echo x > $HOME/.bashrc"),
];

/// Each attack by itself, and a note of what came of it.
fn attempts() -> String {
    let attempt = |(name, line): &(&str, &str)| {
        let name = name.replace('\'', "");
        format!(
            "if ({line}) 2>/dev/null; then echo \"succeeded: {name}\"; else echo \"refused: {name}\"; fi >> $N/tried; "
        )
    };
    ATTACKS.iter().map(attempt).collect()
}

fn all(word: &str) -> String {
    let line = |(name, _): &(&str, &str)| format!("{word}: {}\n", name.replace('\'', ""));
    ATTACKS.iter().map(line).collect::<Vec<_>>().concat()
}

fn is_refused(one: Loop) {
    let honest = honest_files(one);
    let mut attacked = Attacked::about(one.of_the_maker());
    let tries = shell(&attacked, &attempts());
    attacked.before(one.of_the_maker(), &[tries]);
    let ended = attacked.run();
    assert_eq!(noted(&attacked, "tried"), all("refused"));
    assert_eq!(ended.code, 0, "judged as if it had not: {:#}", ended.outcome);
    assert_eq!(attacked.files(), honest);
    assert_eq!(held_by(&attacked), ["landlock"]);
    let _ = attacked.end(&[]);
    succeeds_outside(&attacked);
}

/// By which means the steps of all runs were held, each once.
fn held_by(attacked: &Attacked) -> Vec<String> {
    let list = attacked.world.windlass(&["ls", "--json"]).exits_with(0).json();
    let runs = list.as_array().unwrap().iter().filter_map(|line| line["run"].as_str());
    let shown = runs.map(|run| attacked.world.windlass(&["show", run, "--json"]).exits_with(0).json());
    let steps = shown.flat_map(|shown| shown["sandbox"]["steps"].as_array().cloned().unwrap_or_default());
    let mut means: Vec<String> =
        steps.filter_map(|step: Value| step["held_by"].as_str().map(str::to_owned)).collect();
    means.sort();
    means.dedup();
    means
}

/// The same words where nothing holds whoever says them.
fn succeeds_outside(attacked: &Attacked) {
    std::fs::remove_file(attacked.world.shared("tried")).unwrap();
    let outbox = an_outbox(&attacked.world);
    let line = format!("WINDLASS_OUTBOX={}; {}{}", outbox.display(), places(attacked), attempts());
    let shell = std::path::Path::new("/bin/sh");
    let _ = attacked.world.run(shell, attacked.world.path(), &["-c", &line], "").exits_with(0);
    assert_eq!(noted(attacked, "tried"), all("succeeded"), "the attack itself is wrong");
}

/// Of any step of any run.
pub(in crate::cheats) fn an_outbox(world: &World) -> PathBuf {
    let below =
        |directory: PathBuf| std::fs::read_dir(directory).unwrap().flatten().map(|entry| entry.path());
    let mut effects = below(world.state_dir().join("runs")).flat_map(|run| below(run.join("effects")));
    effects.find(|effect| effect.join("outbox").is_dir()).expect("some step had an outbox").join("outbox")
}

in_every_loop!(is_refused);
