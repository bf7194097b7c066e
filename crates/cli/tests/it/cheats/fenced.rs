//! The same attacks inside the sandbox: they do not even happen. Without one they come to nothing too, which is what the other
//! files of this folder are about.

use super::{doer_also, judged_as_if_it_had_not, passing_doer_also};
use crate::invariants::Watched;
use crate::scene::{Played, Scene};
use serde_json::Value;
use windlass_test_support::{Script, When};

/// `$C` is the user's checkout, `$R` the run's directory, `$S` the state directory, `$O` the outbox, `$N` a place for notes.
fn attempt(attack: &str) -> String {
    format!(
        "{{ run = ['sh', '-c', '''cd {{workspace}}; R={{workspace}}/../..; C=$R/../../..; O={{outbox}}; \
         S=$O/../../../../..; N={{script_dir}}; if ({attack}) 2>>$N/refused; then echo yes > $N/succeeded; fi'''] }}"
    )
}

/// What was in force for every step of the run.
#[track_caller]
fn held_by(scene: &Scene, played: &Played) -> Vec<String> {
    let shown = scene.world.windlass(&["show", played.run(), "--json"]).exits_with(0).json();
    let steps = shown["sandbox"]["steps"].as_array().cloned().unwrap_or_default();
    steps.iter().map(|step| step["held_by"].as_str().unwrap_or_default().to_owned()).collect()
}

#[track_caller]
fn was_refused(scene: &Scene, attack: &str) {
    assert!(!scene.world.shared("succeeded").exists(), "it could: {attack}");
    assert!(scene.world.shared("refused").exists(), "nobody tried: {attack}");
}

#[track_caller]
fn doer_cannot(attack: &str) {
    let scene = Scene::new();
    let watched = Watched::begin(&scene.repository);
    let played = scene.play(&passing_doer_also(&[&attempt(attack)]), &["--check", "test -f done.txt"]);
    let played = judged_as_if_it_had_not(&scene, played);
    was_refused(&scene, attack);
    let _ = watched.end(&scene.world, &scene.repository, &[]);
    let held = held_by(&scene, &played);
    assert!(
        held.len() >= 4 && held.iter().all(|kind| kind == "landlock"),
        "doer, check, judge, auditor: {held:?}"
    );
}

#[track_caller]
fn readers_cannot(attack: &str) {
    let scene = Scene::new();
    let watched = Watched::begin(&scene.repository);
    let tried = attempt(attack);
    let script = Script::that_passes()
        .judge(When::Round(1), &[&tried, "{ verdict = 'pass' }"])
        .auditor(When::Round(1), &[&tried, "{ audit = 'pass' }"]);
    let played = judged_as_if_it_had_not(&scene, scene.play(&script, &[]));
    was_refused(&scene, attack);
    let _ = watched.end(&scene.world, &scene.repository, &[]);
    assert_eq!(held_by(&scene, &played), ["landlock"; 3]);
}

macro_rules! cannot {
    ($who:ident; $($name:ident: $attack:literal;)+) => {
        $(#[test]
        fn $name() {
            $who($attack);
        })+
    };
}

cannot! { doer_cannot;
    a_doer_cannot_write_the_verdict: "echo x > $R/rounds/round-1/verdict.json";
    a_doer_cannot_make_the_audit_a_link: "ln -s /dev/zero $R/rounds/round-1/audit.json";
    a_doer_cannot_write_the_summary: "echo x > $R/summary.json";
    a_doer_cannot_replace_the_round: "mv $R/rounds/round-1 $R/rounds/gone";
    a_doer_cannot_guess_an_outbox: "mkdir -p $O/../../9/outbox";
    a_doer_cannot_end_its_own_step: "echo x > $O/../exit.json";
    a_doer_cannot_write_the_judges_tree: "echo x > $R/worktrees/judge/done.txt";
    a_doer_cannot_write_the_checkout: "echo x > $C/README.md";
    a_doer_cannot_add_to_the_checkout: "echo x > $C/planted";
    a_doer_cannot_configure_the_repository: "git --git-dir=$C/.git config core.fsmonitor ./evil";
    a_doer_cannot_plant_a_hook: "mkdir -p $C/.git/hooks; cp /bin/true $C/.git/hooks/pre-commit";
    a_doer_cannot_delete_objects: "rm -rf $C/.git/objects";
    a_doer_cannot_move_the_users_branch: "git --git-dir=$C/.git update-ref refs/heads/main HEAD~0";
    a_doer_cannot_make_a_users_branch: "git --git-dir=$C/.git branch windlass/TASK-1";
    a_doer_cannot_write_the_journal: "echo x >> $S/journal.db";
    a_doer_cannot_delete_evidence: "rm -rf $S/evidence";
    a_doer_cannot_write_the_control_directory: "touch $S/control/planted";
    a_doer_cannot_trust_a_repository: "echo x > $S/trust.json";
    a_doer_cannot_write_home: "echo x > $HOME/.bashrc";
}

cannot! { readers_cannot;
    readers_cannot_edit_the_change: "echo x > done.txt";
    readers_cannot_delete_a_file: "rm README.md";
    readers_cannot_add_a_file: "touch extra.txt";
    readers_cannot_commit: "git -c user.name=x -c user.email=x@x commit -qam mine";
    readers_cannot_stash: "git -c user.name=x -c user.email=x@x stash -q";
    readers_cannot_switch_branches: "git checkout -q -b mine";
    readers_cannot_edit_the_handoff: "echo x >> $R/rounds/round-1/handoff.json";
    readers_cannot_edit_the_patch: "echo x >> $R/rounds/round-1/patch.diff";
    readers_cannot_reach_the_doers_tree: "echo x > $R/worktrees/doer/done.txt";
}

#[test]
fn git_works_for_a_doer_and_never_reaches_the_users_repository() {
    let scene = Scene::new();
    let before = scene.repository.record();
    let commit = "git add -A && git -c user.name=x -c user.email=x@x commit -qm mine && git update-ref refs/heads/main HEAD && \
                  git checkout -q -b other && git tag mine && git config user.name y && git log -1 --format=%s";
    let noted = format!("{{ run = ['sh', '-c', '''{commit} > {{script_dir}}/said'''] }}");
    let again = "{ run = ['sh', '-c', 'git log --oneline other | wc -l > {script_dir}/commits'] }";
    let work = "{ write = 'done.txt', text = 'done' }";
    let script = Script::new()
        .doer(When::Round(1), &[work, &noted, "{ handoff = 'committed' }"])
        .doer(When::Round(2), &["{ append = 'done.txt', text = ' well' }", again, "{ handoff = 'again' }"])
        .judge(When::Round(1), &["{ verdict = 'reject' }"])
        .judge(When::Round(2), &["{ verdict = 'pass' }"])
        .auditor(When::Always, &["{ audit = 'pass' }"]);
    let played = scene.play(&script, &["--rounds", "2"]).exits_with(0);
    assert_eq!(played.words(), "pass pass pass 2");
    let note = |name: &str| std::fs::read_to_string(scene.world.shared(name)).unwrap();
    assert_eq!(note("said"), "mine\n");
    assert_eq!(note("commits").trim(), "2", "what it committed in the first round is there in the second");
    assert_eq!(scene.landed_changes(), ["A\tdone.txt"]);
    before.assert_holds(&scene.repository);
}

#[test]
fn build_output_that_the_repository_ignores_can_be_written_by_a_judge() {
    let scene = Scene::new();
    scene.repository.write(".gitignore", "build/\n").commit("ignore build output");
    let script = Script::that_passes()
        .judge(When::Round(1), &["{ write = 'build/out', text = 'x' }", "{ verdict = 'pass' }"]);
    let played = scene.play(&script, &[]).exits_with(0);
    assert_eq!(played.words(), "pass pass pass 1");
}

#[test]
fn a_reader_that_cannot_do_its_mischief_and_fails_passes_nothing() {
    let scene = Scene::new();
    let script =
        doer_also(&[]).judge(When::Always, &["{ write = 'done.txt', text = 'x' }", "{ verdict = 'pass' }"]);
    let played = scene.play(&script, &[]).exits_with(11);
    assert_eq!(played.summary()["final_verdict"], "needs-human");
    scene.assert_nothing_landed();
}

#[test]
fn what_is_not_asked_for_is_recorded_and_kept_by_a_resume() {
    let scene = Scene::new();
    let script = Script::that_passes().judge(When::Round(1), &["{ verdict = 'reject' }"]);
    let played = scene.play(&script, &["--rounds", "1", "--sandbox", "off"]).exits_with(10);
    assert!(held_by(&scene, &played).iter().all(|kind| kind == "none"), "{:?}", held_by(&scene, &played));
    let _ = scene.world.windlass(&["resume", played.run(), "--rounds", "+1"]);
    let held = held_by(&scene, &played);
    assert!(held.len() > 2 && held.iter().all(|kind| kind == "none"), "{held:?}");
    let explained = scene.world.windlass(&["explain", played.run(), "--json"]).exits_with(0).json();
    assert!(explained["because"].to_string().contains("held by: none (sandbox off)"), "{explained}");
}

#[test]
fn namespaces_hold_it_too_and_without_any_means_a_run_that_needs_one_is_refused() {
    let scene = Scene::new();
    let settings = scene.world.home().join(".config/windlass/windlass.toml");
    std::fs::create_dir_all(settings.parent().unwrap()).unwrap();
    std::fs::write(&settings, "sandbox-means = ['none']\n").unwrap();
    let agent = scene.world.agent("script.toml", &Script::that_passes());
    let words =
        ["run", "x", "--repo", scene.repository.text(), "--agent", &agent, "--sandbox", "required", "--json"];
    let refused = scene.world.windlass(&words).exits_with(14);
    assert!(format!("{}{}", refused.stdout, refused.stderr).contains("WL-SANDBOX-001"), "{}", refused.stderr);
    assert_eq!(scene.world.steps(), Vec::<String>::new(), "nobody was asked");
    std::fs::write(&settings, "sandbox-means = ['namespaces']\n").unwrap();
    let attack = attempt("echo x > $C/README.md");
    let played = scene.play(&passing_doer_also(&[&attack]), &["--sandbox", "required"]);
    let played = judged_as_if_it_had_not(&scene, played);
    was_refused(&scene, "writing the checkout");
    assert_eq!(held_by(&scene, &played), ["namespaces"; 3]);
}

#[test]
fn the_doctor_names_the_means() {
    let scene = Scene::new();
    let told: Value = scene.world.windlass(&["doctor", "--json"]).json();
    let lines = told["lines"].as_array().unwrap();
    let line = lines.iter().find(|line| line["what"] == "sandbox").unwrap();
    assert_eq!(line["state"], "good", "{line}");
    assert!(line["details"].as_str().unwrap().contains("landlock, version"), "{line}");
}

#[test]
fn a_step_that_grows_too_large_is_ended_and_told() {
    let scene = Scene::new();
    let flood = "{ run = ['sh', '-c', 'while :; do setsid sleep 600 & sleep 0.01; done'] }";
    let played = scene.play(&doer_also(&[flood]), &["--max-processes", "15", "--rounds", "1"]);
    assert_ne!(played.code, 0);
    assert!(played.explained().contains("started more processes than it may"), "{}", played.explained());
    scene.world.assert_no_processes();
}
