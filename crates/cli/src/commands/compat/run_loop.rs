//! `windlass compat run-loop`: the original's flags, order of complaints, four lines and exit codes. A loop that ran to
//! its end is exit code 0 whatever it came to, unless `--exit-codes` is given.

use super::super::work_flags::{list, number, text};
use super::super::{absolute, task_text};
use super::Complaint;
use crate::output::{LiveView, Output, Story, printable};
use clap::Args;
use std::path::{Path, PathBuf};
use windlass_control_api::commands::{SettingValue, StartRun};
use windlass_control_api::views::{RunOutcome, Status};
use windlass_control_api::{Code, Control, Fault, exit_codes};

/// Run doer, judge and auditor on one task, as `run_loop` did
///
/// The checks given with --judge-eval and --audit-eval are run by Windlass itself, not only shown to the agents.
#[derive(Args, Debug)]
#[command(
    args_override_self = true,
    after_help = "\
Examples:
  windlass compat run-loop --repo . --task-id TASK-7 --task \"…\" --agent command:./my-agent
  windlass compat run-loop --repo . --task-id TASK-7 --task-file task.md --max-rounds 3 \\
      --judge-eval \"make test\" --agent command:./my-agent --exit-codes

Exit status: 0 for every loop that ran to its end, 1 stopped early, 2 arguments not understood."
)]
pub(crate) struct RunLoopArgs {
    /// A directory inside the repository (required)
    #[arg(long, value_name = "DIR", allow_hyphen_values = true)]
    repo: Option<PathBuf>,
    /// The task's id, such as TASK-7 (required)
    #[arg(long, value_name = "ID", allow_hyphen_values = true)]
    task_id: Option<String>,
    /// What to do, in words
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    task: Option<String>,
    /// A file with the task
    #[arg(long, value_name = "FILE", allow_hyphen_values = true)]
    task_file: Option<PathBuf>,
    /// The revision the work starts from
    #[arg(long, value_name = "REV", default_value = "HEAD", allow_hyphen_values = true)]
    base_ref: String,
    /// Where the run's directory is made; `.orchestrator/runs` in --repo if not given
    #[arg(long, value_name = "DIR", allow_hyphen_values = true)]
    run_root: Option<PathBuf>,
    /// How many rounds at the most
    #[arg(long, value_name = "N", default_value = "1", allow_hyphen_values = true)]
    max_rounds: String,
    /// A command that must succeed before the judge looks; may be repeated
    #[arg(long, value_name = "COMMAND", action = clap::ArgAction::Append, allow_hyphen_values = true)]
    judge_eval: Vec<String>,
    /// A command that must succeed before the auditor looks; may be repeated
    #[arg(long, value_name = "COMMAND", action = clap::ArgAction::Append, allow_hyphen_values = true)]
    audit_eval: Vec<String>,
    /// A file whose text replaces the doer's prompt
    #[arg(long, value_name = "FILE", allow_hyphen_values = true)]
    doer_prompt_file: Option<PathBuf>,
    /// A file whose text replaces the judge's prompt
    #[arg(long, value_name = "FILE", allow_hyphen_values = true)]
    judge_prompt_file: Option<PathBuf>,
    /// A file whose text replaces the auditor's prompt
    #[arg(long, value_name = "FILE", allow_hyphen_values = true)]
    audit_prompt_file: Option<PathBuf>,
    /// Let the judge have the last word
    #[arg(long)]
    skip_audit: bool,
    /// Accepted and without effect: a judge that changes the tree voids its step in any case
    #[arg(long)]
    judge_writable: bool,
    /// Write the prompts, print the agents' commands, start nothing
    #[arg(long)]
    dry_run: bool,
    /// The agent for every role; `codex` as in the original if neither this nor the settings name one
    #[arg(long, value_name = "AGENT", allow_hyphen_values = true)]
    agent: Option<String>,
    /// Give each outcome an exit code of its own, as `windlass run` does
    #[arg(long)]
    exit_codes: bool,
}

pub(crate) struct Prepared {
    args: RunLoopArgs,
    command: StartRun,
}

pub(super) fn prepare(args: RunLoopArgs, output: &mut Output) -> Result<Prepared, Complaint> {
    let task = check_words(&args)?;
    if !follows_convention(args.task_id.as_deref().unwrap_or_default()) {
        output.warn(
            "the task id does not look like TASK-…; letters, digits, dot, underscore and dash are usual",
        );
    }
    if args.judge_writable {
        output.warn("--judge-writable has no effect: a judge that changes the tree voids its step");
    }
    let command = meant(&args, task)?;
    Ok(Prepared { args, command })
}

pub(super) async fn run(
    prepared: Prepared,
    control: &dyn Control,
    output: &mut Output,
) -> Result<u8, Complaint> {
    let Prepared { args, command } = prepared;
    let command = with_an_agent(command, &args, control).await?;
    let view = LiveView::new(output, Story::Talk);
    let ended = control.start(command, &view).await;
    drop(view);
    let outcome = ended?;
    show(&outcome, output);
    Ok(exit_code(&args, outcome.status))
}

/// The original's complaints in the original's order. Comes back with the words of the task.
fn check_words(args: &RunLoopArgs) -> Result<String, Complaint> {
    if args.repo.is_none() || args.task_id.is_none() {
        return Err(Complaint::usage("--repo and --task-id are required"));
    }
    let task = match (&args.task, &args.task_file) {
        (Some(_), Some(_)) => return Err(Complaint::usage("give --task or --task-file, not both")),
        (None, None) => return Err(Complaint::usage("one of --task and --task-file is required")),
        (Some(words), None) => words.clone(),
        (None, Some(file)) => {
            must_be_a_file(file, "task file")?;
            task_text::from_file(file).map_err(|fault| Complaint { fault, exit_code: exit_codes::USAGE })?
        }
    };
    if task.trim().is_empty() {
        return Err(Complaint::usage("the task is empty"));
    }
    if rounds(args).is_none() {
        let given = printable(&args.max_rounds);
        return Err(Complaint::usage(format!(
            "--max-rounds must be a whole number from 1 on, not `{given}`"
        )));
    }
    for prompt in
        [&args.doer_prompt_file, &args.judge_prompt_file, &args.audit_prompt_file].into_iter().flatten()
    {
        must_be_a_file(prompt, "prompt file")?;
    }
    Ok(task)
}

fn rounds(args: &RunLoopArgs) -> Option<u64> {
    let digits =
        args.max_rounds.bytes().all(|byte| byte.is_ascii_digit()) && !args.max_rounds.starts_with('0');
    args.max_rounds.parse().ok().filter(|_| digits)
}

fn must_be_a_file(path: &Path, what: &str) -> Result<(), Complaint> {
    if path.is_file() {
        return Ok(());
    }
    Err(Complaint::of(Code::BadArgument, format!("{what} not found: {}", path.display())))
}

fn follows_convention(task_id: &str) -> bool {
    task_id.strip_prefix("TASK-").is_some_and(|rest| {
        let usual = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
        !rest.is_empty() && rest.bytes().all(usual)
    })
}

fn meant(args: &RunLoopArgs, task: String) -> Result<StartRun, Fault> {
    let mut settings = vec![("audit".to_owned(), SettingValue::Switch(!args.skip_audit))];
    number(&mut settings, "rounds", rounds(args));
    // The original runs an empty command, which succeeds; ours takes it for none.
    let given = |list: &[String]| -> Vec<String> {
        list.iter().filter(|command| !command.trim().is_empty()).cloned().collect()
    };
    list(&mut settings, "checks", &given(&args.judge_eval));
    list(&mut settings, "audit-checks", &given(&args.audit_eval));
    text(&mut settings, "on-needs-human", "continue");
    text(&mut settings, "land", "none");
    for (key, prompt) in [
        ("doer-prompt", &args.doer_prompt_file),
        ("judge-prompt", &args.judge_prompt_file),
        ("audit-prompt", &args.audit_prompt_file),
    ] {
        if let Some(prompt) = prompt {
            text(&mut settings, key, &prompt.to_string_lossy());
        }
    }
    if let Some(agent) = &args.agent {
        text(&mut settings, "agent", agent);
    }
    let repository = absolute(args.repo.as_deref().unwrap_or(Path::new(".")))?;
    // The original takes a directory inside the repository as the place for its runs.
    let run_root = match &args.run_root {
        Some(given) => absolute(given)?,
        None => repository.join(".orchestrator").join("runs"),
    };
    Ok(StartRun {
        repository,
        directory: absolute(Path::new("."))?,
        task,
        task_id: args.task_id.clone(),
        base: Some(args.base_ref.clone()),
        run_root: Some(run_root),
        criteria: Vec::new(),
        settings,
        dry_run: args.dry_run,
        yes: false,
        wait: false,
    })
}

/// The original always took `codex`; ours takes it where neither the flags nor the settings name another.
async fn with_an_agent(
    mut command: StartRun,
    args: &RunLoopArgs,
    control: &dyn Control,
) -> Result<StartRun, Complaint> {
    if args.agent.is_some() {
        return Ok(command);
    }
    let repository = command.repository.is_dir().then_some(command.repository.as_path());
    let view = control.settings(repository, command.settings.clone()).await?;
    let set = |key: &str| view.settings.iter().any(|setting| setting.key == key && !setting.value.is_empty());
    let every_role =
        ["doer", "judge", "auditor"].iter().all(|role| set(role) || (*role == "auditor" && args.skip_audit));
    if set("agent") || every_role {
        return Ok(command);
    }
    text(&mut command.settings, "agent", "codex");
    Ok(command)
}

fn show(outcome: &RunOutcome, output: &mut Output) {
    if output.is_json() {
        output.json_line(outcome);
        return;
    }
    for command in &outcome.would_run {
        output.line(format!("[DRY-RUN] {}", printable(command)));
    }
    output.line(format!("run_dir={}", outcome.run_dir));
    output.line(format!("final_verdict={}", outcome.final_verdict));
    output.line(format!("judge_verdict={}", outcome.judge_verdict));
    output.line(format!("audit_gate={}", outcome.audit_gate));
}

fn exit_code(args: &RunLoopArgs, status: Status) -> u8 {
    let ran_to_its_end = match status {
        Status::Accepted | Status::Rejected | Status::NeedsHuman | Status::DryRun => true,
        Status::Running
        | Status::Interrupted
        | Status::Exhausted
        | Status::Stopped
        | Status::Failed
        | Status::RedBaseline => false,
    };
    if ran_to_its_end && !args.exit_codes { exit_codes::ACCEPTED } else { status.exit_code() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        args: RunLoopArgs,
    }

    fn args(words: &[&str]) -> RunLoopArgs {
        Line::try_parse_from(std::iter::once("run-loop").chain(words.iter().copied())).unwrap().args
    }

    #[test]
    fn rounds_are_written_without_sign_blank_or_leading_zero() {
        for (text, expected) in
            [("1", Some(1)), ("12", Some(12)), ("0", None), ("01", None), ("+1", None), ("", None)]
        {
            assert_eq!(rounds(&args(&["--max-rounds", text])), expected, "{text:?}");
        }
    }

    #[test]
    fn an_outcome_shows_in_the_exit_code_only_on_request() {
        let (plain, distinct) = (args(&[]), args(&["--exit-codes"]));
        let table = [
            (Status::Accepted, 0, 0),
            (Status::Rejected, 0, 10),
            (Status::NeedsHuman, 0, 11),
            (Status::DryRun, 0, 0),
            (Status::Failed, 1, 1),
            (Status::Interrupted, 13, 13),
        ];
        for (status, by_default, on_request) in table {
            assert_eq!(exit_code(&plain, status), by_default, "{status:?}");
            assert_eq!(exit_code(&distinct, status), on_request, "{status:?}");
        }
    }

    #[test]
    fn the_original_s_meaning_of_its_flags_is_kept() {
        let args = args(&[
            "--repo",
            "/r",
            "--task-id",
            "TASK-1",
            "--task",
            "x",
            "--judge-eval",
            "a",
            "--judge-eval",
            "b",
        ]);
        let command = meant(&args, "x".into()).unwrap();
        let value =
            |key: &str| command.settings.iter().find(|(name, _)| name == key).map(|(_, value)| value.clone());
        assert_eq!(value("rounds"), Some(SettingValue::Number(1)));
        assert_eq!(value("checks"), Some(SettingValue::List(vec!["a".into(), "b".into()])));
        assert_eq!(value("on-needs-human"), Some(SettingValue::Text("continue".into())));
        assert_eq!(value("land"), Some(SettingValue::Text("none".into())));
        assert_eq!(value("audit"), Some(SettingValue::Switch(true)));
        assert_eq!(command.base.as_deref(), Some("HEAD"));
    }

    #[test]
    fn odd_task_ids_are_told_from_usual_ones() {
        assert!(follows_convention("TASK-1.a_b-C"));
        for odd in ["TASK-", "task-1", "TASK-a/b", "1"] {
            assert!(!follows_convention(odd), "{odd}");
        }
    }
}
