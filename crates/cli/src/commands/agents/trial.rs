//! `windlass agents try`: one agent, a tiny real task, a repository and a state directory of its own. The user's journal
//! hears nothing of it.

use crate::commands::scratch_repository::{self, empty_directory, file_fault, temporary_directory};
use crate::commands::work_flags::{list, number, text};
use crate::commands::{absolute, outcome};
use crate::output::{Fields, LiveView, Look, Output, Story, cost, duration, printable};
use crate::wiring::Environment;
use clap::Args;
use std::path::{Path, PathBuf};
use windlass_control_api::agents::TrialView;
use windlass_control_api::commands::{SettingValue, StartRun};
use windlass_control_api::events::{LogEntry, Tone};
use windlass_control_api::views::{ExplanationView, RunOutcome, Status};
use windlass_control_api::{Code, Control, Fault};

const TASK: &str = "Write a file greeting.txt that holds exactly this one line: hello from windlass";
const CHECK: &str = "grep -qx 'hello from windlass' greeting.txt";
const MINUTES: u64 = 15;

/// Let one agent do a tiny real task in a scratch repository, and see what it costs
///
/// The agent makes a change of one line and then, in a fresh read-only session, judges it. In a real run nobody should
/// mark their own work; here it only shows whether the program can play both parts. Your journal is not touched.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  windlass agents try codex
  windlass agents try claude --model opus
  windlass agents try 'acp:gemini --acp' --keep /tmp/trial")]
pub(crate) struct TryArgs {
    /// The agent, as `--agent` of `windlass run` takes it
    #[arg(value_name = "NAME")]
    agent: String,
    /// The model, for one of the programs Windlass knows by name
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,
    /// Play in this directory, which must be empty or new, and keep it
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
}

pub(crate) struct Trial {
    agent: String,
    root: PathBuf,
    /// Removed when the trial went well.
    temporary: Option<tempfile::TempDir>,
    environment: Environment,
}

impl Trial {
    pub(crate) fn set_up(args: &TryArgs, user: &Environment) -> Result<Self, Fault> {
        let agent = agent(args)?;
        let (root, temporary) = if let Some(directory) = &args.keep {
            (empty_directory(&absolute(directory)?)?, None)
        } else {
            let directory = temporary_directory("windlass-trial-")?;
            (directory.path().to_owned(), Some(directory))
        };
        let mut environment = scratch_repository::environment(&root.join("state"), user);
        // How far an agent is held is tried as it will be in a run.
        let held = user.iter().filter(|(name, _)| name.to_string_lossy().starts_with("WINDLASS_SANDBOX"));
        environment.extend(held.map(|(name, value)| (name.clone(), value.clone())));
        let trial = Self { agent, root, temporary, environment };
        let readme = trial.repository().join("README.md");
        std::fs::create_dir_all(trial.repository())
            .map_err(|error| file_fault("make the directory", &trial.repository(), &error))?;
        std::fs::write(&readme, "A place to try an agent.\n")
            .map_err(|error| file_fault("write", &readme, &error))?;
        scratch_repository::make(&trial.repository(), "A place to try an agent", &trial.environment)?;
        Ok(trial)
    }

    pub(crate) fn environment(&self) -> &Environment {
        &self.environment
    }

    fn repository(&self) -> PathBuf {
        self.root.join("repository")
    }

    /// What the user's own settings say about roles must not count; their prices and caps do.
    fn start(&self) -> Result<StartRun, Fault> {
        let mut settings = vec![
            ("audit".to_owned(), SettingValue::Switch(false)),
            ("distinct-vendors".to_owned(), SettingValue::Switch(false)),
            ("doer-fallback".to_owned(), SettingValue::List(Vec::new())),
            ("judge-fallback".to_owned(), SettingValue::List(Vec::new())),
        ];
        number(&mut settings, "rounds", Some(1));
        number(&mut settings, "max-minutes", Some(MINUTES));
        list(&mut settings, "checks", &[CHECK.to_owned()]);
        for (key, value) in [("doer", self.agent.as_str()), ("judge", &self.agent), ("land", "none")] {
            text(&mut settings, key, value);
        }
        for key in ["doer-prompt", "judge-prompt"] {
            text(&mut settings, key, "");
        }
        Ok(StartRun {
            repository: self.repository(),
            directory: absolute(Path::new("."))?,
            task: TASK.to_owned(),
            task_id: Some(String::from("TASK-trial")),
            settings,
            ..StartRun::default()
        })
    }

    /// Where everything is, if it stays. What went wrong is worth looking at.
    fn put_away(self, status: Status) -> Option<PathBuf> {
        match self.temporary {
            Some(directory) if status == Status::Accepted => {
                drop(directory);
                None
            }
            Some(directory) => Some(directory.keep()),
            None => Some(self.root),
        }
    }
}

fn agent(args: &TryArgs) -> Result<String, Fault> {
    match &args.model {
        None => Ok(args.agent.clone()),
        Some(model) if !args.agent.contains(':') => Ok(format!("{}:{model}", args.agent)),
        Some(_) => Err(Fault::new(
            Code::BadArgument,
            format!("`{}` says more than a program's name already, so --model has no place", args.agent),
        )
        .hint("write the model into the name, such as codex:gpt-5.5")),
    }
}

pub(crate) async fn run(trial: Trial, control: &dyn Control, output: &mut Output) -> Result<u8, Fault> {
    output.talk(format!(
        "trying {}: it makes a change of one line, then judges it in a fresh read-only session",
        printable(&trial.agent)
    ));
    let view = LiveView::new(output, Story::Talk);
    let ended = control.start(trial.start()?, &view).await;
    drop(view);
    let ended = ended?;
    let log = control.log(&ended.run, 0).await?;
    let mut seen = look_at(&trial.agent, &ended, &log.entries);
    seen.directory = trial.put_away(ended.status).map(|path| path.to_string_lossy().into_owned());
    if output.is_json() {
        output.json_line(&seen);
    } else {
        show(&seen, output);
        if ended.status != Status::Accepted {
            // The run itself is in the trial's own state directory: the way on is to try again.
            let commands = vec![format!("windlass agents try {}", seen.agent)];
            outcome::explanation(&ExplanationView { commands, ..ended.explanation }, output);
        }
    }
    Ok(ended.status.exit_code())
}

/// From the record, not from what the agent says of itself.
fn look_at(agent: &str, ended: &RunOutcome, entries: &[LogEntry]) -> TrialView {
    let of_kind = |kind: &'static str| entries.iter().filter(move |entry| entry.kind == kind);
    let asked_again =
        |role: &str| of_kind("repair-asked").any(|entry| entry.fact["data"]["repair-asked"]["role"] == role);
    let changed = |entry: &LogEntry| entry.fact["data"]["change-taken"]["change"]["files_changed"] != 0;
    let said_itself = |entry: &LogEntry| entry.fact["data"]["verdict-taken"]["source"]["agent"].is_object();
    let as_judge = of_kind("effect-settled")
        .map(|entry| &entry.fact["data"]["outcome"]["agent-ended"])
        .filter(|report| report["role"] == "judge");
    let trees: Vec<bool> = as_judge.map(|report| report["workspace"] == "unchanged").collect();
    let moments = || entries.iter().map(|entry| entry.at_ms);
    TrialView {
        agent: agent.to_owned(),
        status: ended.status,
        edited: of_kind("change-taken").any(changed),
        handed_over: of_kind("handoff-taken").next().is_some() && !asked_again("doer"),
        judged: of_kind("verdict-taken").any(said_itself) && !asked_again("judge"),
        read_only_held: (!trees.is_empty()).then(|| trees.iter().all(|unchanged| *unchanged)),
        spent: ended.spent,
        milliseconds: moments().max().unwrap_or(0).saturating_sub(moments().min().unwrap_or(0)),
        directory: None,
    }
}

fn show(seen: &TrialView, output: &mut Output) {
    let look = output.look();
    let mut fields = Fields::new(look);
    fields.add("agent", printable(&seen.agent));
    fields.add("outcome", look.status(seen.status));
    fields.add("as maker", word(look, Some(seen.edited), "changed the file", "changed nothing"));
    fields.add("", word(look, Some(seen.handed_over), "answered in the right form", "gave no usable answer"));
    fields.add(
        "as checker",
        word(look, Some(seen.judged), "answered in the right form", "gave no usable answer"),
    );
    fields
        .add("", word(look, seen.read_only_held, "left the tree alone", "changed the tree it may only read"));
    let told = cost(&seen.spent);
    fields.add("cost", if told.is_empty() { String::from("neither tokens nor price told") } else { told });
    fields.add("time", duration(seen.milliseconds));
    fields.add("kept", seen.directory.clone().unwrap_or_default());
    for line in fields.lines() {
        output.line(line);
    }
}

fn word(look: Look, held: Option<bool>, yes: &str, no: &str) -> String {
    match held {
        Some(true) => format!("{} {yes}", look.mark(Tone::Good)),
        Some(false) => format!("{} {no}", look.mark(Tone::Bad)),
        None => format!("{} never came to it", look.mark(Tone::Attention)),
    }
}
