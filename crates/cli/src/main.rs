//! The program: hidden commands first, then the wiring of one command to the host. Only here does a result become an
//! exit status.

mod arguments;
mod bug_report;
mod commands;
mod hidden;
mod output;
mod stories;
mod wiring;

use arguments::{Arguments, Command, Loopctl, Parsed};
use commands::agents::trial::{self, Trial};
use commands::agents::{AgentsArgs, AgentsCommand};
use commands::doctor::DoctorArgs;
use commands::story::{StoryArgs, StoryFormat};
use commands::{compat, demo};
use output::Output;
use std::ffi::OsString;
use std::path::Path;
use std::pin::Pin;
use std::process::ExitCode;
use windlass_control_api::{Code, Fault, exit_codes};
use windlass_process_supervisor::report_files_that_may_not_grow;
use wiring::Environment;

fn main() -> ExitCode {
    let words: Vec<OsString> = std::env::args_os().collect();
    // A keeper lives as long as its agent: it must not carry what only the other commands need.
    if let Some(code) = hidden::play(words.get(1..).unwrap_or_default()) {
        return ExitCode::from(code);
    }
    wiring::keep_secrets();
    bug_report::install();
    let environment = wiring::environment();
    ExitCode::from(match arguments::parse(&words) {
        Parsed::Command(arguments) => carry_out(*arguments, &environment),
        Parsed::Loopctl(arguments) => loopctl(*arguments, &environment),
        Parsed::Answer(answer) => answer.print(),
    })
}

/// The original's errors are words on standard error; its answers are JSON unless somebody says otherwise.
fn loopctl(arguments: Loopctl, environment: &Environment) -> u8 {
    let mut output = Loopctl::output(environment);
    let code = match arguments.format(environment) {
        Ok(format) => {
            let story = StoryArgs { who: arguments.who, command: arguments.command };
            block_on(commands::story::run(story, environment, format, &mut output))
        }
        Err(fault) => Err(fault),
    };
    let code = code.unwrap_or_else(|fault| {
        output.fault(&fault);
        fault.code.exit_code()
    });
    if output.finish().is_ok() { code } else { exit_codes::FAULT }
}

fn carry_out(arguments: Arguments, environment: &Environment) -> u8 {
    let mut output = arguments.global.output(environment);
    let code = match answer(arguments.command, environment, &mut output) {
        Ok(code) => code,
        Err(fault) => {
            output.fault(&fault);
            fault.code.exit_code()
        }
    };
    match output.finish() {
        Ok(()) => code,
        Err(error) => {
            let fault = Fault::new(Code::FileSystem, format!("cannot write to standard output: {error}"));
            arguments.global.output(environment).fault(&fault);
            exit_codes::FAULT
        }
    }
}

fn answer(command: Command, environment: &Environment, output: &mut Output) -> Result<u8, Fault> {
    block_on(dispatch(command, environment, output))
}

/// Behind a pointer: the runtime polls in more than one place, and each would have the whole program inlined into it.
fn block_on<'a>(work: impl Future<Output = Result<u8, Fault>> + 'a) -> Result<u8, Fault> {
    let work: Pin<Box<dyn Future<Output = Result<u8, Fault>> + 'a>> = Box::pin(work);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Fault::new(Code::Supervisor, format!("cannot start the runtime: {error}")))?;
    let entered = runtime.enter();
    report_files_that_may_not_grow().map_err(|error| Fault::new(Code::Supervisor, error.to_string()))?;
    drop(entered);
    runtime.block_on(work)
}

async fn dispatch(command: Command, environment: &Environment, output: &mut Output) -> Result<u8, Fault> {
    let connect = || wiring::control(environment);
    let look = || wiring::looking(environment);
    match command {
        Command::ExplainError(args) => commands::explain_error::run(&args, output),
        Command::Completions(args) => Ok(commands::completions::run(&args, output)),
        Command::Demo(args) => {
            let stage = demo::Stage::set_up(&args, environment)?;
            let control = wiring::control(stage.environment())?;
            demo::run(&args, &stage, &*control, output).await
        }
        Command::Compat(args) => compat(args, environment, output).await,
        Command::Run(args) => commands::run::run(*args, &*connect()?, output).await,
        Command::Control(args) => {
            let host = if args.only_looks() { look()? } else { connect()? };
            commands::control::run(args, &*host, output).await
        }
        Command::Goal(args) => {
            let host = if args.only_looks() { look()? } else { connect()? };
            commands::goal::run(args, &*host, output).await
        }
        Command::Roadmap(args) if args.leaves_no_trace() => {
            let (_gone_with_it, host) = wiring::passing_by(environment)?;
            commands::roadmap::run(args, &*host, output).await
        }
        Command::Roadmap(args) => {
            let host = if args.only_looks() { look()? } else { connect()? };
            commands::roadmap::run(args, &*host, output).await
        }
        Command::Orchestrate(args) => {
            commands::orchestrate::run(*args, environment, &*connect()?, output).await
        }
        Command::Story(args) => {
            let format = if output.is_json() { StoryFormat::Json } else { StoryFormat::Human };
            commands::story::run(*args, environment, format, output).await
        }
        Command::Serve(args) => commands::serve::run(args, environment, output).await,
        Command::Mcp(args) => commands::mcp::run(args, environment, output).await,
        Command::Ls(args) => commands::ls::run(args, &*look()?, output).await,
        Command::Show(args) => commands::show::run(args, &*look()?, output).await,
        Command::Log(args) => commands::log::run(args, &*look()?, output).await,
        Command::Diff(args) => commands::diff::run(args, &*look()?, output).await,
        Command::Explain(args) => commands::explain::run(args, &*look()?, output).await,
        Command::Cost(args) => commands::cost::run(args, &*look()?, output).await,
        Command::Agents(AgentsArgs { command: Some(AgentsCommand::Try(args)), .. }) => {
            let trial = Trial::set_up(&args, environment)?;
            let control = wiring::control(trial.environment())?;
            trial::run(trial, &*control, output).await
        }
        Command::Agents(args) => commands::agents::run(args.repo(), &*connect()?, output).await,
        Command::Inbox(args) => commands::inbox::run(args, &*look()?, output).await,
        Command::Answer(args) => commands::answer::answer(args, &*connect()?, output).await,
        Command::Retry(args) => commands::answer::retry(args, &*connect()?, output).await,
        Command::Approve(args) => commands::approve::approve(args, &*connect()?, output).await,
        Command::Reject(args) => commands::approve::reject(args, &*connect()?, output).await,
        Command::Waive(args) => commands::waive::run(args, &*connect()?, output).await,
        Command::Skip(args) => commands::skip::run(args, &*connect()?, output).await,
        Command::TakeOver(args) => commands::take_over::take_over(args, &*connect()?, output).await,
        Command::HandBack(args) => commands::take_over::hand_back(args, &*connect()?, output).await,
        Command::Resume(args) => commands::resume::run(*args, &*connect()?, output).await,
        Command::Stop(args) => commands::stop::run(args, &*connect()?, output).await,
        Command::Land(args) => commands::land::run(args, &*connect()?, output).await,
        Command::Verify(args) => {
            let host = if args.only_looks() { look()? } else { connect()? };
            commands::verify::run(args, &*host, output).await
        }
        Command::Export(args) => commands::export::run(args, &*look()?, output).await,
        Command::Checkout(args) => commands::checkout::run(args, &*connect()?, output).await,
        Command::Undo(args) => commands::undo::run(args, &*connect()?, output).await,
        Command::Clean(args) => commands::clean::run(args, &*connect()?, output).await,
        Command::Trust(args) => commands::trust::run(args, &*connect()?, output).await,
        Command::Doctor(args) => doctor(args, environment, output).await,
        Command::Notify(args) => commands::notify::run(args, &*connect()?, output).await,
        Command::Settings(args) => commands::settings::run(args, &*look()?, output).await,
    }
}

async fn compat(
    args: compat::CompatArgs,
    environment: &Environment,
    output: &mut Output,
) -> Result<u8, Fault> {
    match compat::prepare(args, output) {
        Ok(prepared) => {
            let host = wiring::control(environment)?;
            Ok(compat::run(prepared, &*host, &*host, output).await)
        }
        Err(code) => Ok(code),
    }
}

/// Also on a machine whose state cannot be opened: that is what somebody asks for.
async fn doctor(args: DoctorArgs, environment: &Environment, output: &mut Output) -> Result<u8, Fault> {
    match wiring::looking(environment) {
        Ok(control) => commands::doctor::run(args, &*control, output).await,
        Err(reason) => {
            let without =
                async |repository: Option<&Path>| wiring::diagnosis(environment, &reason, repository).await;
            commands::doctor::without_control(&args, without, output).await
        }
    }
}
