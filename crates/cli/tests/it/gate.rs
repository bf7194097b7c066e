//! Makers that change what measures them: tests, the script of a check, programs on the search path, CI and lock files. Each is
//! found under its name, and lands only when that name is waived by somebody who may.

mod attacks;
mod evidence;
mod people;
mod programs;

use crate::scene::{Played, Scene};
use serde_json::Value;
use std::collections::BTreeSet;
use windlass_test_support::{Script, When};

/// A test runner that lives nowhere in the tree: runs every test and prints what cargo prints.
const RUNNER: &str = "n=0; for t in tests/*.sh; do grep -q '^# SKIP' $t && continue; sh $t || { echo \"test $t ... FAILED\"; exit 1; }; \
                      n=$((n + 1)); echo \"test $t ... ok\"; done; echo \"test result: ok. $n passed; 0 failed; 0 ignored\"";

/// A repository whose product adds two numbers, with two tests of it.
fn scene() -> Scene {
    let scene = Scene::new();
    scene
        .repository
        .write("sum.sh", "echo $(($1 + $2))\n")
        .write("tests/add.sh", "[ \"$(sh sum.sh 2 2)\" = 4 ]\n")
        .write("tests/zero.sh", "[ \"$(sh sum.sh 0 5)\" = 5 ]\n")
        .write("check.sh", "#!/bin/sh\nset -e\nfor t in tests/*.sh; do sh $t; done\n")
        .write(".github/workflows/ci.yml", "on: push\njobs: {}\n")
        .write("Cargo.lock", "version = 4\n")
        .commit("the product and its tests");
    scene
}

/// A doer that does this and no more.
fn doer(actions: &[&str]) -> Script {
    let actions = [actions, &["{ handoff = 'done' }"]].concat();
    Script::new().doer(When::Always, &actions).auditor(When::Always, &["{ audit = 'pass' }"])
}

/// The judge is content, and waives these findings.
fn waiving(script: Script, names: &[&str]) -> Script {
    let waivers: Vec<String> =
        names.iter().map(|name| format!("{{ finding = '{name}', reason = 'as asked' }}")).collect();
    let verdict = format!("{{ verdict = {{ verdict = 'pass', waivers = [{}] }} }}", waivers.join(", "));
    script.judge(When::Always, &[&verdict])
}

/// Every finding that stands in the record.
fn found(played: &Played) -> BTreeSet<String> {
    fn collect(value: &Value, names: &mut BTreeSet<String>) {
        match value {
            Value::Object(fields) => {
                if let (Some(Value::String(name)), Some(Value::Array(_))) =
                    (fields.get("kind"), fields.get("about"))
                {
                    names.insert(name.clone());
                }
                fields.values().for_each(|field| collect(field, names));
            }
            Value::Array(items) => items.iter().for_each(|item| collect(item, names)),
            _ => {}
        }
    }
    let mut names = BTreeSet::new();
    played.events.iter().for_each(|event| collect(&event["fact"], &mut names));
    names
}

fn names(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

/// Rejected with exactly these findings, told to the maker by name; waived by name, and only then, the same change lands.
#[track_caller]
fn lands_only_when_waived(make: impl Fn() -> Scene, attack: &[&str], flags: &[&str], expected: &[&str]) {
    let flags = [&["--rounds", "1"], flags].concat();
    let scene = make();
    let played = scene.play(&waiving(doer(attack), &[]), &flags).exits_with(10);
    assert_eq!(found(&played), names(expected));
    assert_eq!(played.words(), "reject reject not-run 1");
    let explained = played.explained();
    for name in expected {
        assert!(explained.contains(&format!("[gate] {name}: ")), "{name}: {explained}");
    }
    scene.assert_nothing_landed();
    played.assert_strict_layout();

    let some = &expected[..expected.len() - 1];
    let scene = make();
    let played = scene.play(&waiving(doer(attack), some), &flags).exits_with(10);
    let left = expected.last().expect("an attack is found out");
    assert!(played.explained().contains(&format!("[gate] {left}: ")), "{}", played.explained());
    scene.assert_nothing_landed();

    let scene = make();
    let played = scene.play(&waiving(doer(attack), expected), &flags).exits_with(0);
    for name in expected {
        assert!(played.explained().contains(&format!("waived {name}: ")), "{}", played.explained());
    }
    assert!(!scene.landed_changes().is_empty());
}
