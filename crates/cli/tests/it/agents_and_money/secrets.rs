//! A key reaches the agent that needs it and nothing else: no file of the run or of the state directory holds it, even
//! when the agent prints it or leaves it in its answer.

use super::{DO_IT, Stage, player};
use std::path::{Path, PathBuf};

const KEY: &str = "sk-very-secret-0123456789";

/// An agent that says its key wherever it can.
fn leaky(stage: &Stage) {
    stage.install_codex();
    let said = stage.world.path().join("codex-says.jsonl");
    let body = format!(
        "[ \"$OPENAI_API_KEY\" = {KEY} ] || {{ echo 'no key' >&2; exit 1; }}\n\
         echo \"using $OPENAI_API_KEY\" >&2\n\
         echo \"{{\\\"type\\\":\\\"leak\\\",\\\"key\\\":\\\"$OPENAI_API_KEY\\\"}}\"\n{}\n\
         [ \"$WINDLASS_ROLE\" = doer ] && sed -i \"s/adds a file/used $OPENAI_API_KEY/\" \"$WINDLASS_OUTBOX/handoff.json\"; exit 0",
        player(&said)
    );
    assert!(body.contains(DO_IT));
    stage.install("codex", "codex-cli 0.166.0", &body);
}

fn files_with(text: &str, directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => files_with(text, &path, found),
            Ok(kind) if kind.is_file() => {
                let bytes = std::fs::read(&path).unwrap_or_default();
                if bytes.windows(text.len()).any(|window| window == text.as_bytes()) {
                    found.push(path);
                }
            }
            _ => {}
        }
    }
}

#[test]
fn a_key_is_given_to_its_agent_and_written_down_nowhere() {
    let mut stage = Stage::new();
    stage.world.set("OPENAI_API_KEY", KEY);
    leaky(&stage);
    let outcome = stage.outcome(0, &["--agent", "codex", "--rounds", "1"]);
    let run = outcome["run"].as_str().unwrap();
    let shown = stage.world.windlass(&["log", run, "--json"]).exits_with(0).stdout;
    assert!(!shown.contains(KEY), "{shown}");
    let mut leaked = Vec::new();
    // The answer as the agent left it is the agent's own file, in a directory nobody else can read.
    files_with(KEY, stage.world.path(), &mut leaked);
    leaked.retain(|path| !path.ends_with("bin/codex") && !path.ends_with("outbox/handoff.json"));
    assert_eq!(leaked, Vec::<PathBuf>::new());
    let mut named = Vec::new();
    files_with("[OPENAI_API_KEY]", stage.world.path(), &mut named);
    assert!(!named.is_empty(), "what was taken out is named where it stood");
}

#[test]
fn an_agent_without_a_dialect_and_a_check_are_given_no_key() {
    let mut stage = Stage::new();
    stage.world.set("OPENAI_API_KEY", KEY).set("ANTHROPIC_API_KEY", KEY);
    let body = format!("cat > /dev/null; env | grep -q API_KEY && exit 9\n{DO_IT}");
    let doer = stage.command("maker", &body);
    let judge = stage.command("checker", super::PASS_IT);
    let check = "! env | grep -q API_KEY";
    stage.outcome(0, &["--doer", &doer, "--judge", &judge, "--check", check, "--rounds", "1"]);
}
