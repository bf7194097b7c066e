//! One of the two streams. A reader that went away is silence, not an error; any other trouble is kept for the end.

use super::look::Look;
use super::text_width::terminal_columns;
use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd};

pub(crate) struct Sink {
    stream: Box<dyn Write>,
    look: Look,
    columns: fn() -> Option<usize>,
    state: State,
}

enum State {
    Open,
    Closed,
    Failed(io::Error),
}

impl Sink {
    pub(crate) fn stdout(look: Look) -> Self {
        Self { columns: || columns_of(io::stdout().as_fd()), ..Self::to(Box::new(io::stdout()), look) }
    }

    pub(crate) fn stderr(look: Look) -> Self {
        Self { columns: || columns_of(io::stderr().as_fd()), ..Self::to(Box::new(io::stderr()), look) }
    }

    /// A stream that is no terminal, unless the look says otherwise.
    pub(crate) fn to(stream: Box<dyn Write>, look: Look) -> Self {
        Self { stream, look, columns: || None, state: State::Open }
    }

    /// As of now: a terminal may have been resized since the last line.
    pub(crate) fn look(&self) -> Look {
        let width = self.look.width.map(|given| (self.columns)().unwrap_or(given));
        Look { width, ..self.look }
    }

    pub(crate) fn is_closed(&self) -> bool {
        !matches!(self.state, State::Open)
    }

    pub(crate) fn line(&mut self, text: &str) {
        self.write(text);
        self.write("\n");
    }

    pub(crate) fn write(&mut self, content: impl AsRef<[u8]>) {
        if matches!(self.state, State::Open) {
            let written = self.stream.write_all(content.as_ref());
            self.note(written);
        }
    }

    pub(crate) fn flush(&mut self) {
        if matches!(self.state, State::Open) {
            let flushed = self.stream.flush();
            self.note(flushed);
        }
    }

    pub(crate) fn finish(&mut self) -> Result<(), io::Error> {
        self.flush();
        match std::mem::replace(&mut self.state, State::Closed) {
            State::Open | State::Closed => Ok(()),
            State::Failed(error) => Err(error),
        }
    }

    fn note(&mut self, result: io::Result<()>) {
        match result {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => self.state = State::Closed,
            Err(error) => self.state = State::Failed(error),
        }
    }
}

fn columns_of(stream: BorrowedFd<'_>) -> Option<usize> {
    terminal_columns(stream)
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Refusing(io::ErrorKind);

    impl Write for Refusing {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(self.0.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_reader_that_went_away_is_no_error_and_a_full_disk_is() {
        let mut pipe = Sink::to(Box::new(Refusing(io::ErrorKind::BrokenPipe)), Look::PLAIN);
        pipe.line("x");
        assert!(pipe.is_closed());
        assert!(pipe.finish().is_ok());

        let mut file = Sink::to(Box::new(Refusing(io::ErrorKind::StorageFull)), Look::PLAIN);
        file.line("x");
        assert_eq!(file.finish().unwrap_err().kind(), io::ErrorKind::StorageFull);
    }
}
