//! `windlass agents try`: a real run in a place of its own, read from its record.

use super::{DO_IT, Stage};
use windlass_test_support::Output;

fn tried(output: &Output) -> serde_json::Value {
    output.json_lines().pop().unwrap()
}

#[test]
fn a_good_agent_plays_both_parts_and_leaves_no_trace() {
    let stage = Stage::new();
    stage.install_codex();
    let temporary = stage.world.path().join("tmp");
    let seen = tried(&stage.world.windlass(&["agents", "try", "codex", "--json"]).exits_with(0));
    for part in ["edited", "handed_over", "judged", "read_only_held"] {
        assert_eq!(seen[part], true, "{part} of {seen:#}");
    }
    assert_eq!((&seen["status"], &seen["spent"]["tokens"]), (&"accepted".into(), &7500.into()));
    assert_eq!(seen["spent"]["unpriced_tokens"], 7500);
    assert_eq!(seen["directory"], serde_json::Value::Null);
    let shown = stage.world.windlass(&["agents", "try", "codex"]).exits_with(0);
    assert!(shown.stdout.contains("price not told (7,500 tokens)"), "{}", shown.stdout);
    assert!(shown.stdout.contains("✓ left the tree alone"), "{}", shown.stdout);
    assert!(shown.stderr.contains("judges it in a fresh read-only session"), "{}", shown.stderr);
    assert_eq!(std::fs::read_dir(&temporary).unwrap().count(), 0);
    assert_eq!(stage.world.windlass(&["ls", "--json"]).exits_with(0).json(), serde_json::json!([]));
}

#[test]
fn what_the_user_set_for_roles_does_not_count_and_prices_do() {
    let mut stage = Stage::new();
    stage.install_codex();
    stage.world.set("WINDLASS_JUDGE", "claude");
    let settings = stage.world.home().join(".config/windlass");
    std::fs::create_dir_all(&settings).unwrap();
    let text =
        "doer-fallback = ['gemini']\ndistinct-vendors = true\nprices = ['codex input=1000 output=1000']\n";
    std::fs::write(settings.join("windlass.toml"), text).unwrap();
    let keep = stage.world.path().join("kept");
    let words = ["agents", "try", "codex", "--json", "--keep", keep.to_str().unwrap()];
    let seen = tried(&stage.world.windlass(&words).exits_with(0));
    assert_eq!(
        (&seen["spent"]["cost_micros"], &seen["spent"]["unpriced_tokens"]),
        (&7_500_000.into(), &0.into())
    );
    assert_eq!(seen["directory"], keep.to_str().unwrap());
    assert!(keep.join("state/journal.db").is_file());
    let refused = stage.world.windlass(&words).exits_with(2);
    assert!(refused.stdout.contains("is not empty"), "{}", refused.stdout);
}

#[test]
fn an_agent_that_writes_where_it_may_only_read_is_found_out_and_its_place_is_kept() {
    let mut stage = Stage::new();
    stage.world.without_sandbox("the fence would keep it from writing");
    let agent = stage.command("busy", &format!("cat > /dev/null\n{DO_IT}\necho more >> README.md"));
    let seen = tried(&stage.world.windlass(&["agents", "try", &agent, "--json"]).exits_with(11));
    assert_eq!((&seen["edited"], &seen["read_only_held"]), (&true.into(), &false.into()), "{seen:#}");
    let kept = std::path::PathBuf::from(seen["directory"].as_str().expect("it is kept"));
    assert!(kept.join("repository/README.md").is_file());
}

#[test]
fn the_model_reaches_the_program_and_only_a_program_takes_one() {
    let stage = Stage::new();
    let codex = stage.install_codex();
    let seen = stage.world.shared("words.txt");
    let body = std::fs::read_to_string(&codex).unwrap();
    std::fs::write(
        &codex,
        body.replace("cat > /dev/null", &format!("cat > /dev/null; echo \"$@\" >> '{}'", seen.display())),
    )
    .unwrap();
    let _ = stage.world.windlass(&["agents", "try", "codex", "--model", "gpt-5.5"]).exits_with(0);
    let words = std::fs::read_to_string(&seen).unwrap();
    assert_eq!(words.lines().filter(|line| line.contains("--model gpt-5.5")).count(), 2, "{words}");
    let refused = stage.world.windlass(&["agents", "try", "shell:true", "--model", "x"]).exits_with(2);
    assert!(refused.stderr.contains("--model has no place"), "{}", refused.stderr);
    let missing = stage.world.windlass(&["agents", "try", "gemini"]).exits_with(2);
    assert!(missing.stderr.contains("npm install --global @google/gemini-cli"), "{}", missing.stderr);
}
