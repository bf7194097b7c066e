//! The wire: one JSON object per line in both directions, each direction with a thread of its own, so that an agent that
//! does not read cannot keep us from hearing it or a signal. It does not know what the objects mean.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{ChildStdin, ChildStdout};
use std::sync::mpsc::{self, Receiver, Sender, SyncSender};
use std::thread;
use std::time::Duration;

use serde_json::Value;
use windlass_process_supervisor::{ExitWatch, Pipes};

use crate::failure::Failure;

/// A tool's result may hold a whole file; more than this is a fault, not a message.
pub(crate) const LINE_BYTES: usize = 16 << 20;

/// Everything the client can be woken by.
#[derive(Debug)]
pub(crate) enum Event {
    Message(Value),
    /// A line that is no JSON object: a warning of some library, as a rule.
    Noise(String),
    TooLong,
    /// The agent's output has ended.
    Closed,
    /// The agent has ended, though what it started may still hold its output open.
    Exited,
    /// This process is told to end.
    Shutdown,
    CancelTimedOut,
    LeakTimedOut,
}

/// Starts the threads. They end with their pipe, with the agent, or when nobody takes their events any more.
pub(crate) fn connect(
    pipes: Pipes,
    exit: ExitWatch,
    events: &SyncSender<Event>,
) -> Result<Sender<String>, Failure> {
    let (to_agent, lines) = mpsc::channel();
    let Pipes { to_child, from_child } = pipes;
    spawn("to agent", move || write_all(to_child, &lines))?;
    let read = events.clone();
    spawn("from agent", move || read_all(from_child, &read))?;
    let ended = events.clone();
    spawn("agent's exit", move || {
        // Should the wait fail, the end of the output is all there is to go by.
        if exit.wait().is_ok() {
            let _ = ended.send(Event::Exited);
        }
    })?;
    Ok(to_agent)
}

/// Sends the event when the time has passed.
pub(crate) fn send_after(time: Duration, event: Event, events: &SyncSender<Event>) -> Result<(), Failure> {
    let events = events.clone();
    spawn("timer", move || {
        // Nothing is ever sent: receiving is how this thread waits.
        let (_sender, rest) = mpsc::channel::<()>();
        let _ = rest.recv_timeout(time);
        let _ = events.send(event);
    })
}

fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> Result<(), Failure> {
    let spawned = thread::Builder::new().name(name.to_owned()).spawn(work);
    spawned.map(drop).map_err(|source| Failure::Thread { source })
}

fn write_all(mut to_agent: ChildStdin, lines: &Receiver<String>) {
    for line in lines {
        // An agent that no longer reads is about to end, and its end is told elsewhere.
        if writeln!(to_agent, "{line}").and_then(|()| to_agent.flush()).is_err() {
            return;
        }
    }
}

fn read_all(from_agent: ChildStdout, events: &SyncSender<Event>) {
    let mut from_agent = BufReader::new(from_agent);
    loop {
        let event = match next_line(&mut from_agent) {
            Ok(Line::Whole(line)) => match serde_json::from_slice::<Value>(&line) {
                Ok(message) if message.is_object() => Event::Message(message),
                _ if line.trim_ascii().is_empty() => continue,
                _ => Event::Noise(String::from_utf8_lossy(line.trim_ascii()).into_owned()),
            },
            Ok(Line::TooLong) => Event::TooLong,
            Ok(Line::None) | Err(_) => Event::Closed,
        };
        let is_last = matches!(event, Event::TooLong | Event::Closed);
        if events.send(event).is_err() || is_last {
            return;
        }
    }
}

enum Line {
    Whole(Vec<u8>),
    TooLong,
    None,
}

fn next_line(input: &mut impl BufRead) -> io::Result<Line> {
    let mut line = Vec::new();
    let limit = u64::try_from(LINE_BYTES).unwrap_or(u64::MAX);
    input.by_ref().take(limit).read_until(b'\n', &mut line)?;
    Ok(match line.last() {
        None => Line::None,
        Some(b'\n') => Line::Whole(line),
        Some(_) if line.len() >= LINE_BYTES => Line::TooLong,
        // The last line of an agent that was killed while writing; whether it is whole shows when it is parsed.
        Some(_) => Line::Whole(line),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_ends_where_it_ends_and_has_a_limit() {
        let long = vec![b'x'; LINE_BYTES];
        let mut input = io::Cursor::new([b"{}\n", &long[1..], b"\n", &long[..], b"tail"].concat());
        assert!(matches!(next_line(&mut input), Ok(Line::Whole(line)) if line == b"{}\n"));
        assert!(matches!(next_line(&mut input), Ok(Line::Whole(line)) if line.len() == LINE_BYTES));
        assert!(matches!(next_line(&mut input), Ok(Line::TooLong)));
        assert!(matches!(next_line(&mut input), Ok(Line::Whole(line)) if line == b"tail"));
        assert!(matches!(next_line(&mut input), Ok(Line::None)));
    }
}
