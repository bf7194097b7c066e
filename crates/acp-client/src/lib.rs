//! The client of an agent that speaks the Agent Client Protocol: `windlass __acp`. It starts the agent, holds one turn of
//! conversation with it and reports in the lines of the plain dialect. It knows nothing of runs and roles.

mod agent_lines;
mod conversation;
mod failure;
mod fence;
mod order;
mod report;
mod session_offers;

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::ops::ControlFlow;
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::time::Duration;

use agent_lines::Event;
use conversation::Conversation;
use failure::Failure;
use order::Order;
use report::Report;
use windlass_process_supervisor::{PipedChild, PipedCommand, on_shutdown_request};

/// The turn did not end well; the lines on stdout say why.
pub const EXIT_FAILED: u8 = 1;
/// The command line makes no sense.
pub const EXIT_USAGE: u8 = 2;

/// How long an agent may take to leave after its input was closed: it may have to store the session that is resumed
/// later. Gemini takes three seconds.
const TIME_TO_LEAVE: Duration = Duration::from_secs(8);
/// The same where somebody waits for us to end.
const TIME_TO_LEAVE_AT_ONCE: Duration = Duration::from_millis(500);
/// How far the agent may be ahead of us before it has to wait.
const EVENTS_AHEAD: usize = 64;

/// The whole life of the client. `arguments` are the words after the hidden command; the prompt comes on stdin, the
/// workspace is the current directory, and the agent gets the whole environment of this process.
pub fn converse_from_environment(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let environment = std::env::vars_os().collect();
    match Order::read(arguments, environment, std::env::current_dir()) {
        Ok(order) => converse(&order),
        Err(error) => {
            // With stderr gone there is nobody left to tell; the exit code says the rest.
            let _ = writeln!(io::stderr(), "windlass __acp: {error}");
            EXIT_USAGE
        }
    }
}

fn converse(order: &Order) -> u8 {
    let mut report = Report::to_stdout();
    let held = read_prompt().and_then(|prompt| {
        let (sender, events) = mpsc::sync_channel(EVENTS_AHEAD);
        listen_for_shutdown(sender.clone())?;
        hold(order, &prompt, &mut report, sender, events)
    });
    match held {
        Ok(code) => code,
        Err(failure) => {
            // Reports that nobody takes are one of the failures told here.
            let _ = report.tell(&failure.signals());
            EXIT_FAILED
        }
    }
}

fn read_prompt() -> Result<String, Failure> {
    let mut prompt = String::new();
    io::stdin().read_to_string(&mut prompt).map_err(|source| Failure::Prompt { source })?;
    Ok(prompt)
}

/// Only once the prompt is there: before that, a signal may end this process the usual way.
fn listen_for_shutdown(events: SyncSender<Event>) -> Result<(), Failure> {
    let pass_on = move |_| match events.send(Event::Shutdown) {
        Ok(()) => ControlFlow::Continue(()),
        Err(_) => ControlFlow::Break(()),
    };
    Ok(on_shutdown_request(pass_on)?)
}

fn hold(
    order: &Order,
    prompt: &str,
    report: &mut Report,
    sender: SyncSender<Event>,
    events: Receiver<Event>,
) -> Result<u8, Failure> {
    let command = PipedCommand {
        program: order.program.clone(),
        args: order.arguments.clone(),
        directory: order.workspace.clone(),
        environment: order.environment.clone(),
    };
    // Dropped on every way out of here, and the agent ends with it.
    let (mut agent, pipes) = command.start()?;
    let to_agent = agent_lines::connect(pipes, agent.exit_watch()?, &sender)?;
    let mut conversation = Conversation::new(order, report, to_agent, sender, events);
    let held = conversation.hold(order, prompt);
    // Closes the agent's input, which tells it to leave.
    drop(conversation);
    match held {
        Ok(signals) => {
            report.tell(&signals)?;
            leave(&mut agent, TIME_TO_LEAVE);
            Ok(if report.is_success() { 0 } else { EXIT_FAILED })
        }
        Err(Failure::AgentGone { while_asked, .. }) => {
            let status = agent.end(TIME_TO_LEAVE).ok().flatten();
            Err(Failure::AgentGone { while_asked, status })
        }
        Err(failure) => {
            report.tell(&failure.signals())?;
            leave(&mut agent, TIME_TO_LEAVE_AT_ONCE);
            Ok(EXIT_FAILED)
        }
    }
}

fn leave(agent: &mut PipedChild, time: Duration) {
    // The turn is over and told; how the agent leaves changes nothing about it.
    let _ = agent.end(time);
}
