//! Colour and symbols, decided once per stream. Colour is never the only carrier: every tone has its symbol too.

use super::{Colour, Sink};
use anstyle::{AnsiColor, Style};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io::{self, IsTerminal};
use windlass_control_api::events::Tone;
use windlass_control_api::views::Status;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Look {
    pub(crate) colour: bool,
    pub(crate) symbols: Symbols,
    /// Columns of the terminal; `None` for a pipe or a file, where nothing is cut.
    pub(crate) width: Option<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Symbols {
    Unicode,
    Ascii,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Paint {
    Good,
    Bad,
    Attention,
    Heading,
    Name,
    Faint,
}

/// Used when a terminal does not tell its width.
const USUAL_WIDTH: usize = 80;

impl Look {
    #[cfg(test)]
    pub(crate) const PLAIN: Self = Self { colour: false, symbols: Symbols::Ascii, width: None };

    pub(crate) fn paint(self, paint: Paint, text: &str) -> String {
        if !self.colour || text.is_empty() {
            return text.to_owned();
        }
        let style = paint.style();
        format!("{style}{text}{style:#}")
    }

    pub(crate) fn tone(self, tone: Tone, text: &str) -> String {
        match tone {
            Tone::Plain => text.to_owned(),
            Tone::Good => self.paint(Paint::Good, text),
            Tone::Bad => self.paint(Paint::Bad, text),
            Tone::Attention => self.paint(Paint::Attention, text),
            Tone::Quiet => self.paint(Paint::Faint, text),
        }
    }

    /// The mark in front of a sentence.
    pub(crate) fn mark(self, tone: Tone) -> String {
        let symbol = match tone {
            Tone::Plain | Tone::Quiet => self.bullet(),
            Tone::Good => self.tick(),
            Tone::Bad => self.cross(),
            Tone::Attention => self.symbol("!", "!"),
        };
        self.tone(tone, symbol)
    }

    pub(crate) fn status(self, status: Status) -> String {
        let symbol = match status {
            Status::Accepted => self.tick(),
            Status::Rejected | Status::Failed | Status::RedBaseline => self.cross(),
            Status::Running => self.arrow(),
            Status::Interrupted
            | Status::NeedsHuman
            | Status::Exhausted
            | Status::Stopped
            | Status::DryRun => self.bullet(),
        };
        self.tone(status_tone(status), &format!("{symbol} {}", status.word()))
    }

    pub(crate) fn tick(self) -> &'static str {
        self.symbol("✓", "+")
    }

    pub(crate) fn cross(self) -> &'static str {
        self.symbol("✗", "x")
    }

    pub(crate) fn bullet(self) -> &'static str {
        self.symbol("•", "*")
    }

    pub(crate) fn arrow(self) -> &'static str {
        self.symbol("▸", ">")
    }

    pub(crate) fn separator(self) -> &'static str {
        self.symbol(" · ", " - ")
    }

    pub(crate) fn ellipsis(self) -> &'static str {
        self.symbol("…", "...")
    }

    fn symbol(self, unicode: &'static str, ascii: &'static str) -> &'static str {
        match self.symbols {
            Symbols::Unicode => unicode,
            Symbols::Ascii => ascii,
        }
    }
}

const fn status_tone(status: Status) -> Tone {
    match status {
        Status::Accepted => Tone::Good,
        Status::Rejected | Status::Failed | Status::RedBaseline => Tone::Bad,
        Status::NeedsHuman | Status::Exhausted | Status::Interrupted | Status::Stopped => Tone::Attention,
        Status::Running | Status::DryRun => Tone::Plain,
    }
}

impl Paint {
    const fn style(self) -> Style {
        match self {
            Self::Good => AnsiColor::Green.on_default(),
            Self::Bad => AnsiColor::Red.on_default().bold(),
            Self::Attention => AnsiColor::Yellow.on_default(),
            Self::Heading => Style::new().bold(),
            Self::Name => AnsiColor::Cyan.on_default(),
            Self::Faint => Style::new().dimmed(),
        }
    }
}

/// Both streams of this process.
pub(crate) fn streams(colour: Colour, environment: &BTreeMap<OsString, OsString>) -> (Sink, Sink) {
    let symbols = symbols_of(environment);
    let look = |automatic: anstream::ColorChoice, terminal: bool| Look {
        colour: match colour {
            Colour::Always => true,
            Colour::Never => false,
            Colour::Auto => automatic != anstream::ColorChoice::Never,
        },
        symbols,
        width: terminal.then_some(USUAL_WIDTH),
    };
    let (stdout, stderr) = (io::stdout(), io::stderr());
    (
        Sink::stdout(look(anstream::AutoStream::choice(&stdout), stdout.is_terminal())),
        Sink::stderr(look(anstream::AutoStream::choice(&stderr), stderr.is_terminal())),
    )
}

/// The first of these that says something decides, as in the C library.
fn symbols_of(environment: &BTreeMap<OsString, OsString>) -> Symbols {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"]
        .iter()
        .filter_map(|name| environment.get(OsStr::new(name)))
        .find(|value| !value.is_empty());
    let utf8 = locale.is_some_and(|value| {
        let value = value.to_string_lossy().to_ascii_lowercase();
        value.contains("utf-8") || value.contains("utf8")
    });
    if utf8 { Symbols::Unicode } else { Symbols::Ascii }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn symbols(pairs: &[(&str, &str)]) -> Symbols {
        symbols_of(&pairs.iter().map(|(name, value)| (name.into(), value.into())).collect())
    }

    #[test]
    fn symbols_follow_the_strongest_locale_that_is_set() {
        assert_eq!(symbols(&[("LANG", "de_DE.UTF-8")]), Symbols::Unicode);
        assert_eq!(symbols(&[("LANG", "de_DE.UTF-8"), ("LC_ALL", "C")]), Symbols::Ascii);
        assert_eq!(symbols(&[("LANG", "C"), ("LC_CTYPE", "C.utf8"), ("LC_ALL", "")]), Symbols::Unicode);
        assert_eq!(symbols(&[]), Symbols::Ascii);
    }

    #[test]
    fn without_colour_a_tone_still_shows() {
        assert_eq!(Look::PLAIN.mark(Tone::Good), "+");
        assert_eq!(Look::PLAIN.status(Status::Rejected), "x rejected");
        let coloured = Look { colour: true, ..Look::PLAIN };
        assert_eq!(coloured.mark(Tone::Good), "\u{1b}[32m+\u{1b}[0m");
    }
}
