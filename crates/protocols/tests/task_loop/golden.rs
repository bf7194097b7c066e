//! Typical runs as text: what happens (`>`) and the facts that follow. The files under `tests/scripts` are both the input
//! and the expectation; `WINDLASS_REGENERATE_SCRIPTS=1` writes the facts anew.

use crate::harness::words::{AUDIT_CHECK, CHECK, caps, lines, spec};
use crate::harness::{NO_MORE, Script};
use std::path::{Path, PathBuf};
use windlass_protocols::effect::Effect;
use windlass_protocols::kernel::budget::CapChange;
use windlass_protocols::outcome::Answer;
use windlass_protocols::protocol::judged_task::facts::Fact as TaskFact;
use windlass_protocols::protocol::judged_task::spec::{Landing, TaskSpec};
use windlass_protocols::{Fact, Role};

#[test]
fn happy_path() {
    plays("happy_path");
}

#[test]
fn rejected_round_then_pass() {
    plays("rejected_round_then_pass");
}

#[test]
fn engine_check_rejects() {
    plays("engine_check_rejects");
}

#[test]
fn needs_human() {
    plays("needs_human");
}

#[test]
fn exhausted() {
    plays("exhausted");
}

#[test]
fn every_script_is_played() {
    let files = std::fs::read_dir(folder()).expect("the scripts are there");
    let mut names: Vec<_> = files
        .map(|file| file.expect("a readable folder").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    let played =
        ["engine_check_rejects", "exhausted", "happy_path", "needs_human", "rejected_round_then_pass"];
    assert_eq!(names, played.map(|name| format!("{name}.txt")));
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scripts")
}

#[expect(clippy::disallowed_methods, reason = "a switch for the person who runs the tests, not a setting")]
fn regenerating() -> bool {
    std::env::var_os("WINDLASS_REGENERATE_SCRIPTS").is_some()
}

fn plays(name: &str) {
    let path = folder().join(format!("{name}.txt"));
    let expected = std::fs::read_to_string(&path).expect("the script is there");
    let played = play(&expected);
    if regenerating() {
        std::fs::write(&path, &played).expect("the script can be written");
    } else if played != expected {
        panic!("{} differs (- expected, + played):\n{}", path.display(), diff(&expected, &played));
    }
}

fn play(text: &str) -> String {
    let mut played = String::new();
    let mut script = Script::unborn();
    for line in text.lines() {
        let Some(step) = line.strip_prefix("> ") else {
            if line.is_empty() || line.starts_with('#') {
                played.push_str(line);
                played.push('\n');
            }
            continue;
        };
        let known = script.facts().len();
        script = happens(script, step);
        let known = if step.starts_with("start") { 0 } else { known };
        played.push_str(line);
        played.push('\n');
        for fact in &script.facts()[known..] {
            played.push_str("    ");
            played.push_str(&sentence(fact));
            played.push('\n');
        }
    }
    played
}

fn happens(script: Script, step: &str) -> Script {
    let words: Vec<&str> = step.split(' ').collect();
    match words[..] {
        ["start", ref options @ ..] => Script::start(spec_of(options)),
        ["prepared"] => script.prepared(),
        ["checks", "pass"] => script.checks_pass(),
        ["check", "is", "red"] => script.check_is_red(CHECK, "1 failed"),
        ["doer", "hands", "over", tree] => script.doer_hands_over(tree),
        ["judge", "leaves", "nothing"] => script.agent_leaves(Answer::Missing),
        ["judge", word] => script.judge(word, &["- [judge] why"]),
        ["auditor", word] => script.auditor(word, &["- [auditor] why"]),
        ["landed"] => script.landed(),
        ["closed"] => script.closed(),
        ["reopened", ref more @ ..] => script.reopened(more_of(more), Some("go on")),
        _ => panic!("no script knows the step {step:?}"),
    }
}

fn number(option: &str) -> u64 {
    let (_, number) = option.split_once('=').expect("an option with a number");
    number.parse().expect("a number")
}

fn spec_of(options: &[&str]) -> TaskSpec {
    let mut spec = spec();
    for option in options {
        match *option {
            "checks" => spec.checks = lines(&[CHECK]),
            "audit-checks" => spec.audit_checks = lines(&[AUDIT_CHECK]),
            "land" => spec.landing = Landing::Branch("main".to_owned()),
            "one-round" => spec.caps = caps(1),
            _ if option.starts_with("tokens=") => spec.caps.tokens = Some(number(option)),
            _ => panic!("no script knows the option {option:?}"),
        }
    }
    spec
}

fn more_of(options: &[&str]) -> CapChange {
    let mut more = NO_MORE;
    for option in options {
        match *option {
            _ if option.starts_with("tokens=") => more.more_tokens = number(option),
            "one-round" => more.more_rounds = 1,
            _ => panic!("no script knows the option {option:?}"),
        }
    }
    more
}

/// The fact's name, and of what it carries only what tells two such facts apart.
fn sentence(fact: &Fact) -> String {
    let name = fact.name();
    match fact {
        Fact::EffectRequested { effect, request } => {
            let what = match request {
                Effect::RunAgent(agent) => {
                    format!(" {} round {} attempt {}", agent.role, agent.round, agent.attempt)
                }
                Effect::RunChecks(checks) => format!(" {:?} on {}", checks.purpose, checks.tree),
                Effect::LandChange(land) => format!(" {}", land.tree),
                Effect::CloseRun(close) => format!(" {}", close.final_verdict),
                Effect::PrepareWorkspaces
                | Effect::CaptureChange { .. }
                | Effect::Wait(_)
                | Effect::Measure(_)
                | Effect::CommitIteration(_)
                | Effect::ReadQueue { .. }
                | Effect::RunSuite(_)
                | Effect::CommitItem(_)
                | Effect::InspectGate(_)
                | Effect::Plane(_) => String::new(),
            };
            format!("{name} {effect} {}{what}", request.name())
        }
        Fact::EffectSettled { effect, .. } => format!("{name} {effect}"),
        Fact::JudgedTask(TaskFact::RoundOpened { round }) => format!("{name} {round}"),
        Fact::JudgedTask(TaskFact::RoundRejected { by, .. }) => format!("{name}: {}", by.words()),
        Fact::JudgedTask(TaskFact::VerdictTaken { role, word, tree, .. }) => {
            let word = if *role == Role::Auditor { word.gate_word() } else { word.word() };
            format!("{name} {role} {word} {tree}")
        }
        Fact::JudgedTask(TaskFact::Concluded { end }) => format!("{name} {}", end.word()),
        _ => name.to_owned(),
    }
}

/// Both texts as one, by their longest common lines.
fn diff(expected: &str, played: &str) -> String {
    let (left, right): (Vec<_>, Vec<_>) = (expected.lines().collect(), played.lines().collect());
    let mut common = vec![vec![0_usize; right.len() + 1]; left.len() + 1];
    for i in (0..left.len()).rev() {
        for j in (0..right.len()).rev() {
            common[i][j] = if left[i] == right[j] {
                common[i + 1][j + 1] + 1
            } else {
                common[i + 1][j].max(common[i][j + 1])
            };
        }
    }
    let (mut i, mut j) = (0, 0);
    let mut text = String::new();
    while i < left.len() || j < right.len() {
        let (mark, line) = if i < left.len() && j < right.len() && left[i] == right[j] {
            (i, j) = (i + 1, j + 1);
            (' ', left[i - 1])
        } else if i < left.len() && (j == right.len() || common[i + 1][j] >= common[i][j + 1]) {
            i += 1;
            ('-', left[i - 1])
        } else {
            j += 1;
            ('+', right[j - 1])
        };
        text.extend([mark, ' ']);
        text.push_str(line);
        text.push('\n');
    }
    text
}

#[test]
fn a_difference_is_shown_line_by_line() {
    assert_eq!(diff("a\nb\nc", "a\nx\nc\nd"), "  a\n- b\n+ x\n  c\n+ d\n");
}
