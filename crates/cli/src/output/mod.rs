//! Everything the program says. Standard output is data, standard error is talk; `--json` turns data into `control-api`
//! types. Writing cannot fail for a command: a closed pipe is silence, any other trouble is told once at the end.

mod fields;
mod live_view;
mod look;
mod moments;
mod money;
mod sink;
mod table;
mod text_width;

pub(crate) use fields::Fields;
pub(crate) use live_view::{LiveView, Story};
pub(crate) use look::{Look, Paint, Symbols, streams};
pub(crate) use moments::{ago, clock_time, duration};
pub(crate) use money::{cost, grouped, money};
pub(crate) use sink::Sink;
pub(crate) use table::Table;
pub(crate) use text_width::{fit, printable};

use clap::ValueEnum;
use serde::Serialize;
use std::io;
use windlass_control_api::Fault;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Text,
    Json,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verbosity {
    Normal,
    /// Data and faults only.
    Quiet,
}

/// When to use colour
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Colour {
    /// On a terminal, unless NO_COLOR or CLICOLOR=0 is set
    #[default]
    Auto,
    Always,
    Never,
}

pub(crate) struct Output {
    data: Sink,
    talk: Sink,
    format: Format,
    verbosity: Verbosity,
}

impl Output {
    pub(crate) fn new(data: Sink, talk: Sink, format: Format, verbosity: Verbosity) -> Self {
        Self { data, talk, format, verbosity }
    }

    pub(crate) fn is_json(&self) -> bool {
        self.format == Format::Json
    }

    /// Whether a story may be told beside, or as, the answer.
    pub(crate) fn tells_stories(&self) -> bool {
        self.format == Format::Text && self.verbosity == Verbosity::Normal
    }

    /// How data looks: colour, symbols, width.
    pub(crate) fn look(&self) -> Look {
        self.data.look()
    }

    /// Nobody reads the data any more.
    pub(crate) fn is_closed(&self) -> bool {
        self.data.is_closed()
    }

    /// A line of data.
    pub(crate) fn line(&mut self, text: impl AsRef<str>) {
        self.data.line(text.as_ref());
    }

    /// Data exactly as it is.
    pub(crate) fn raw(&mut self, content: impl AsRef<[u8]>) {
        self.data.write(content);
    }

    /// The answer of a command as one JSON document.
    pub(crate) fn document<T: Serialize + ?Sized>(&mut self, value: &T) {
        let text = serde_json::to_string_pretty(value);
        self.data.line(&text.expect("views hold nothing that JSON cannot say"));
    }

    /// One of several JSON values, each on a line of its own.
    pub(crate) fn json_line<T: Serialize + ?Sized>(&mut self, value: &T) {
        let text = serde_json::to_string(value);
        self.data.line(&text.expect("views hold nothing that JSON cannot say"));
    }

    /// Something for the person at the terminal; not part of the answer.
    pub(crate) fn talk(&mut self, text: impl AsRef<str>) {
        if self.verbosity == Verbosity::Normal && self.format == Format::Text {
            self.talk.line(text.as_ref());
        }
    }

    pub(crate) fn warn(&mut self, text: impl AsRef<str>) {
        let word = self.talk.look().paint(Paint::Attention, "warning:");
        self.talk.line(&format!("{word} {}", text.as_ref()));
    }

    pub(crate) fn fault(&mut self, fault: &Fault) {
        if self.is_json() {
            // On one line: it may follow the events of a run, of which each has its own line.
            self.json_line(&serde_json::json!({ "error": fault }));
            return;
        }
        let look = self.talk.look();
        let head = look.paint(Paint::Bad, &format!("error[{}]:", fault.code));
        let case = fault.case.as_ref().map(|case| format!(" ({case})")).unwrap_or_default();
        self.talk.line(&format!("{head} {}{case}", fault.message));
        if !fault.kept.is_empty() {
            let word = look.paint(Paint::Good, "kept:");
            self.talk.line(&format!("  {word} {}", fault.kept));
        }
        for hint in &fault.hints {
            let word = look.paint(Paint::Attention, "hint:");
            self.talk.line(&format!("  {word} {hint}"));
        }
    }

    /// Tells whether everything written arrived. A reader that went away early had what it wanted.
    pub(crate) fn finish(mut self) -> Result<(), io::Error> {
        self.data.finish()
    }
}

#[cfg(test)]
pub(crate) mod testing {
    //! An output whose two streams can be read back.

    use super::{Format, Look, Output, Sink, Verbosity};
    use std::cell::RefCell;
    use std::io::{self, Write};
    use std::rc::Rc;

    #[derive(Clone, Default)]
    pub(crate) struct Written(Rc<RefCell<Vec<u8>>>);

    impl Written {
        pub(crate) fn text(&self) -> String {
            String::from_utf8(self.0.borrow().clone()).unwrap()
        }
    }

    impl Write for Written {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.borrow_mut().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    pub(crate) fn output(format: Format, look: Look) -> (Output, Written, Written) {
        let (data, talk) = (Written::default(), Written::default());
        let sink = |stream: &Written| Sink::to(Box::new(stream.clone()), look);
        let output = Output::new(sink(&data), sink(&talk), format, Verbosity::Normal);
        (output, data, talk)
    }
}

#[cfg(test)]
mod tests {
    use super::testing::output;
    use super::*;
    use windlass_control_api::Code;

    fn a_fault() -> Fault {
        Fault::new(Code::RepositoryHeld, "held by process 12").kept("everything").hint("wait").hint("stop it")
    }

    #[test]
    fn a_fault_says_what_happened_what_is_kept_and_what_to_do() {
        let (mut output, data, talk) = output(Format::Text, Look::PLAIN);
        output.fault(&a_fault());
        assert_eq!(data.text(), "");
        let expected =
            "error[WL-RUN-003]: held by process 12\n  kept: everything\n  hint: wait\n  hint: stop it\n";
        assert_eq!(talk.text(), expected);
    }

    #[test]
    fn a_fault_in_json_is_data() {
        let (mut output, data, talk) = output(Format::Json, Look::PLAIN);
        output.fault(&a_fault());
        let value: serde_json::Value = serde_json::from_str(&data.text()).unwrap();
        assert_eq!(value["error"]["code"], "WL-RUN-003");
        assert_eq!(value["error"]["hints"][1], "stop it");
        assert_eq!(talk.text(), "");
    }
}
