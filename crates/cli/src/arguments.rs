//! The command line as typed: which commands there are and what is common to all of them. What the words of one command
//! mean is the command's own business.

use crate::commands::story::StoryFormat;
use crate::commands::{
    agents, answer, approve, checkout, clean, compat, completions, control, cost, demo, diff, doctor,
    explain, explain_error, export, goal, inbox, land, log, ls, mcp, notify, orchestrate, resume, roadmap,
    run, serve, settings, show, skip, stop, story, take_over, trust, undo, verify, waive,
};
use crate::output::{Colour, Format, Output, Verbosity, streams};
use crate::wiring::Environment;
use clap::error::ErrorKind;
use clap::{Args, CommandFactory, Parser, Subcommand};
use std::ffi::OsString;
use std::fmt::Write as _;
use std::io::Write as _;
use windlass_control_api::{Code, Fault, exit_codes};

/// Lets coding agents work unattended and accepts only what was measured
///
/// One agent makes a change, Windlass itself runs the checks on exactly that change, a second agent judges it, a third
/// one gates it. Rejected work goes round again; accepted work becomes a commit. Kill it at any moment: `windlass
/// resume` goes on where it stopped.
#[derive(Debug, Parser)]
#[command(name = "windlass", version, after_help = after_help(), max_term_width = 100, disable_help_subcommand = true)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(crate) global: GlobalArgs,
    #[command(subcommand)]
    pub(crate) command: Command,
}

// Behind a command's own options, wherever their description is put together.
#[derive(Args, Clone, Copy, Debug)]
#[command(next_display_order = 900)]
pub(crate) struct GlobalArgs {
    /// Print JSON: one document, or one event per line where a run is driven or followed
    #[arg(long, global = true)]
    json: bool,
    /// Print answers and errors only, no progress
    #[arg(long, short, global = true)]
    quiet: bool,
    /// When to use colour
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto", hide_possible_values = false)]
    color: Colour,
}

#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum Command {
    Run(Box<run::RunArgs>),
    Control(control::ControlArgs),
    Goal(goal::GoalArgs),
    Roadmap(roadmap::RoadmapArgs),
    Orchestrate(Box<orchestrate::OrchestrateArgs>),
    Story(Box<story::StoryArgs>),
    Serve(serve::ServeArgs),
    Mcp(mcp::McpArgs),
    Ls(ls::LsArgs),
    Show(show::ShowArgs),
    Log(log::LogArgs),
    Diff(diff::DiffArgs),
    Explain(explain::ExplainArgs),
    Cost(cost::CostArgs),
    Inbox(inbox::InboxArgs),
    Answer(answer::AnswerArgs),
    Retry(answer::RetryArgs),
    Approve(approve::ApproveArgs),
    Reject(approve::RejectArgs),
    Skip(skip::SkipArgs),
    Waive(waive::WaiveArgs),
    TakeOver(take_over::TakeOverArgs),
    HandBack(take_over::HandBackArgs),
    Resume(Box<resume::ResumeArgs>),
    Stop(stop::StopArgs),
    Land(land::LandArgs),
    Verify(verify::VerifyArgs),
    Export(export::ExportArgs),
    Checkout(checkout::CheckoutArgs),
    Clean(clean::CleanArgs),
    Undo(undo::UndoArgs),
    Trust(trust::TrustArgs),
    Agents(agents::AgentsArgs),
    Doctor(doctor::DoctorArgs),
    Notify(notify::NotifyArgs),
    Demo(demo::DemoArgs),
    Settings(settings::SettingsArgs),
    ExplainError(explain_error::ExplainErrorArgs),
    Completions(completions::CompletionsArgs),
    Compat(compat::CompatArgs),
}

impl GlobalArgs {
    pub(crate) fn output(self, environment: &Environment) -> Output {
        let (data, talk) = streams(self.color, environment);
        let format = if self.json { Format::Json } else { Format::Text };
        let verbosity = if self.quiet { Verbosity::Quiet } else { Verbosity::Normal };
        Output::new(data, talk, format, verbosity)
    }
}

/// The story queue under the original's name: the same verbs, answers in JSON
#[derive(Debug, Parser)]
#[command(name = "loopctl", version, max_term_width = 100, disable_help_subcommand = true)]
pub(crate) struct Loopctl {
    /// How answers are printed; JSON unless the configuration says otherwise
    #[arg(long, global = true, value_name = "FORMAT")]
    format: Option<StoryFormat>,
    #[command(flatten)]
    pub(crate) who: story::WhoArgs,
    #[command(subcommand)]
    pub(crate) command: story::StoryCommand,
}

impl Loopctl {
    pub(crate) fn format(&self, environment: &Environment) -> Result<StoryFormat, Fault> {
        if let Some(format) = self.format {
            return Ok(format);
        }
        let config = crate::stories::Config::read(environment)?;
        config.get("format").map_or(Ok(StoryFormat::Json), |word| {
            let wrong =
                |_| Fault::new(Code::BadSettings, format!("`{word}` is no format: json, human or csv"));
            <StoryFormat as clap::ValueEnum>::from_str(word, true).map_err(wrong)
        })
    }

    pub(crate) fn output(environment: &Environment) -> Output {
        let (data, talk) = streams(Colour::Auto, environment);
        Output::new(data, talk, Format::Text, Verbosity::Normal)
    }
}

/// What the words on the command line come to.
pub(crate) enum Parsed {
    Command(Box<Arguments>),
    Loopctl(Box<Loopctl>),
    /// Help, the version, or what is wrong with the words.
    Answer(Answer),
}

pub(crate) struct Answer {
    error: clap::Error,
    format: Format,
}

pub(crate) fn parse(words: &[OsString]) -> Parsed {
    let called = words.first().map(std::path::Path::new).and_then(std::path::Path::file_name);
    if called.is_some_and(|name| name == "loopctl") {
        let words = with_project_behind_the_verb(&with_help_at_the_end(words), 1);
        return match understand::<Loopctl>(&words) {
            Ok(arguments) => Parsed::Loopctl(Box::new(arguments)),
            Err(error) => Parsed::Answer(Answer { error, format: Format::Text }),
        };
    }
    let asked = with_help_at_the_end(words);
    let before = asked.iter().skip(1).take_while(|word| !is_verb(word)).count() + 1;
    let is_story = asked.get(before).is_some_and(|word| word == "story");
    let asked = if is_story { with_project_behind_the_verb(&asked, before + 1) } else { asked };
    match understand::<Arguments>(&asked) {
        Ok(arguments) => Parsed::Command(Box::new(arguments)),
        Err(error) => {
            // What cannot be understood has no parsed `--json`; a program that asked for it must still get it.
            let json = words.iter().take_while(|word| *word != "--").any(|word| word == "--json");
            Parsed::Answer(Answer { error, format: if json { Format::Json } else { Format::Text } })
        }
    }
}

/// Only the command that is meant is described in full: describing all of them takes longer than everything else a command
/// does at its start. Whoever is told what there is, or what was wrong, is told by the whole description.
fn understand<T: Parser>(words: &[OsString]) -> Result<T, clap::Error> {
    match T::try_parse_from(words) {
        Err(error) if error.kind() != ErrorKind::DisplayVersion => {
            let matches = whole::<T>().try_get_matches_from(words)?;
            T::from_arg_matches(&matches)
        }
        answer => answer,
    }
}

/// With every command below it described.
fn whole<T: CommandFactory>() -> clap::Command {
    let mut command = T::command();
    command.build();
    command
}

/// `windlass help run` means `windlass run --help`.
fn with_help_at_the_end(words: &[OsString]) -> Vec<OsString> {
    match words {
        [program, help, rest @ ..] if help == "help" => {
            let flag = OsString::from("--help");
            std::iter::once(program).chain(rest).chain([&flag]).cloned().collect()
        }
        _ => words.to_vec(),
    }
}

/// Flags may stand anywhere: `story --project P next` means `story next --project P`. Which verbs know a project is theirs to
/// say, so it is not a flag of all of them.
fn with_project_behind_the_verb(words: &[OsString], from: usize) -> Vec<OsString> {
    let (mut kept, mut moved) = (words[..from.min(words.len())].to_vec(), Vec::new());
    let mut rest = words[kept.len()..].iter();
    while let Some(word) = rest.next() {
        let text = word.to_string_lossy();
        let place = if text.starts_with("--project=") || text == "--project" || text == "-p" {
            &mut moved
        } else {
            &mut kept
        };
        place.push(word.clone());
        if ["--project", "-p", "--as", "--server", "--format", "--color"].contains(&&*text) {
            place.extend(rest.next().cloned());
        } else if is_verb(word) {
            break;
        }
    }
    kept.extend(rest.cloned());
    let end = kept.iter().position(|word| word == "--").unwrap_or(kept.len());
    kept.splice(end..end, moved);
    kept
}

fn is_verb(word: &OsString) -> bool {
    !word.to_string_lossy().starts_with('-')
}

impl Answer {
    pub(crate) fn print(&self) -> u8 {
        match self.error.kind() {
            ErrorKind::DisplayVersion if self.format == Format::Json => {
                let version = serde_json::json!({ "name": env!("CARGO_PKG_NAME"), "version": env!("CARGO_PKG_VERSION") });
                let _ = writeln!(std::io::stdout(), "{version:#}");
                exit_codes::ACCEPTED
            }
            ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
                // A reader that went away had what it wanted.
                let _ = self.error.print();
                exit_codes::ACCEPTED
            }
            _ if self.format == Format::Json => {
                let text = serde_json::to_string_pretty(&serde_json::json!({ "error": self.fault() }));
                let text = text.expect("a fault holds nothing that JSON cannot say");
                let _ = writeln!(std::io::stdout(), "{text}");
                exit_codes::USAGE
            }
            _ => {
                let text = self.error.render().ansi().to_string();
                let head = format!("error[{}]:", Code::BadArgument);
                let _ = write!(anstream::stderr(), "{}", text.replacen("error:", &head, 1));
                exit_codes::USAGE
            }
        }
    }

    fn fault(&self) -> Fault {
        let text = self.error.render().to_string();
        let message = text.split("\n\n").next().unwrap_or_default();
        let message = message.strip_prefix("error: ").unwrap_or(message);
        Fault::new(Code::BadArgument, message.trim())
            .hint("`windlass COMMAND --help` shows what is possible, with examples")
    }
}

/// The whole command line, for completions.
pub(crate) fn definition() -> clap::Command {
    whole::<Arguments>()
}

fn after_help() -> String {
    let mut text = String::from("Exit status:\n");
    for (name, number, meaning) in exit_codes::TABLE {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "  {number:>2}  {name}: {meaning}");
    }
    text.push_str("\nStart here:\n  windlass demo                         see the whole thing in a few seconds, without any key\n");
    text.push_str("  windlass agents                       which agent programs are there, and how to install the others\n  windlass run \"TASK\" --doer codex --judge claude --auditor gemini --check \"cargo test\"\n");
    text.push_str(
        "  windlass doctor                       what is missing on this machine, and how to fix it",
    );
    text
}
