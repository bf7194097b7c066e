//! What the agent says and how much of it.

use std::io::{self, Write};

use windlass_agent_drivers::script::{Content, Output};

use crate::ActorError;
use crate::files::{write_content, write_filler};

pub(crate) fn say(stream: Output, content: &Content) -> Result<(), ActorError> {
    on(stream, |target| write_content(target, content))
}

pub(crate) fn say_bytes(stream: Output, bytes: &[u8]) -> Result<(), ActorError> {
    on(stream, |target| target.write_all(bytes))
}

pub(crate) fn flood(stream: Output, bytes: u64, line_length: Option<u64>) -> Result<(), ActorError> {
    on(stream, |target| write_filler(target, bytes, line_length))
}

/// Flushed at once: whoever reads must not wait for the next line.
fn on(stream: Output, write: impl FnOnce(&mut Box<dyn Write>) -> io::Result<()>) -> Result<(), ActorError> {
    let (mut target, doing): (Box<dyn Write>, _) = match stream {
        Output::Stdout => (Box::new(io::stdout().lock()), "write to stdout"),
        Output::Stderr => (Box::new(io::stderr().lock()), "write to stderr"),
    };
    write(&mut target).and_then(|()| target.flush()).map_err(|source| ActorError::System { doing, source })
}
