//! What the scripted model says, as values: entries chosen by words of the prompt, turns in their order, faults.
//! It names no program and no program's tools.

use super::usage::Usage;
use serde_json::Value;

/// Entries in the order in which they are tried.
#[derive(Clone, Debug, Default)]
pub struct ModelScript {
    pub(super) entries: Vec<ScriptEntry>,
}

impl ModelScript {
    pub fn new() -> Self {
        Self::default()
    }

    /// One entry for every prompt.
    pub fn of(turns: impl IntoIterator<Item = Turn>) -> Self {
        Self::new().entry(ScriptEntry::any().turns(turns))
    }

    #[must_use]
    pub fn entry(mut self, entry: ScriptEntry) -> Self {
        self.entries.push(entry);
        self
    }
}

/// What one conversation gets to hear. A conversation stays with the entry it was given first.
#[derive(Clone, Debug)]
pub struct ScriptEntry {
    pub(super) words: Vec<String>,
    pub(super) uses: Option<usize>,
    pub(super) turns: Vec<Turn>,
    pub(super) after_the_last: AfterTheLast,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AfterTheLast {
    ScriptIsOver,
    LastAgain,
}

impl ScriptEntry {
    pub fn any() -> Self {
        Self { words: Vec::new(), uses: None, turns: Vec::new(), after_the_last: AfterTheLast::ScriptIsOver }
    }

    /// For prompts that contain these words, such as `Role: doer`.
    pub fn when(words: &str) -> Self {
        Self::any().and(words)
    }

    /// The prompt must contain these words too.
    #[must_use]
    pub fn and(mut self, words: &str) -> Self {
        self.words.push(words.to_owned());
        self
    }

    /// How many conversations may take this entry.
    #[must_use]
    pub fn uses(mut self, uses: usize) -> Self {
        self.uses = Some(uses);
        self
    }

    #[must_use]
    pub fn turn(mut self, turn: Turn) -> Self {
        self.turns.push(turn);
        self
    }

    #[must_use]
    pub fn turns(mut self, turns: impl IntoIterator<Item = Turn>) -> Self {
        self.turns.extend(turns);
        self
    }

    /// The last turn is played for ever, as by a model that goes round in circles.
    #[must_use]
    pub fn last_again(mut self) -> Self {
        self.after_the_last = AfterTheLast::LastAgain;
        self
    }

    pub(super) fn fits(&self, prompt: &str) -> bool {
        self.words.iter().all(|words| prompt.contains(words.as_str()))
    }

    pub(super) fn turn_number(&self, number: usize) -> Option<&Turn> {
        match self.after_the_last {
            AfterTheLast::ScriptIsOver => self.turns.get(number),
            AfterTheLast::LastAgain => self.turns.get(number).or_else(|| self.turns.last()),
        }
    }
}

/// One reply of the model. `${cwd}` and `${outbox}` in its texts stand for what the request says about them.
#[derive(Clone, Debug)]
pub struct Turn {
    pub(super) actions: Vec<Action>,
    pub(super) fault: Option<Fault>,
    pub(super) usage: Usage,
}

impl Turn {
    pub fn new(action: Action) -> Self {
        Self { actions: vec![action], fault: None, usage: Usage::ORDINARY }
    }

    /// A final message: a reply without a tool call ends the program's turn.
    pub fn say(text: &str) -> Self {
        Self::new(Action::Say(text.to_owned()))
    }

    pub fn shell(command: &str) -> Self {
        Self::new(Action::Shell(command.to_owned()))
    }

    /// A new file. Some programs refuse to write over a file that the model has not read before.
    pub fn write(path: &str, text: &str) -> Self {
        Self::new(Action::Write { path: path.to_owned(), text: text.to_owned() })
    }

    pub fn read(path: &str) -> Self {
        Self::new(Action::Read { path: path.to_owned() })
    }

    /// A structured answer: through the tool for it where one is offered, as JSON text else.
    pub fn answer(value: Value) -> Self {
        Self::new(Action::Answer(value))
    }

    pub fn tool(name: &str, input: Value) -> Self {
        Self::new(Action::Tool { name: name.to_owned(), input })
    }

    /// One more thing in the same reply.
    #[must_use]
    pub fn then(mut self, action: Action) -> Self {
        self.actions.push(action);
        self
    }

    #[must_use]
    pub fn usage(mut self, usage: Usage) -> Self {
        self.usage = usage;
        self
    }

    #[must_use]
    pub fn fault(mut self, fault: Fault) -> Self {
        self.fault = Some(fault);
        self
    }
}

#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    Say(String),
    Shell(String),
    Write {
        path: String,
        text: String,
    },
    Read {
        path: String,
    },
    Answer(Value),
    /// A tool that somebody else brought, by the end of its name: programs put the name of its server before it.
    Tool {
        name: String,
        input: Value,
    },
}

/// What goes wrong with a turn. Without a number of times it goes wrong whenever the turn is asked for.
#[derive(Clone, Debug)]
pub struct Fault {
    pub(super) kind: FaultKind,
    pub(super) times: Option<u32>,
}

#[derive(Clone, Debug)]
pub(super) enum FaultKind {
    Refused(Refusal),
    TokenLimit,
    Cut,
    HangBeforeReply,
    HangInReply,
    ErrorInStream,
}

/// An answer with an error status instead of a reply.
#[derive(Clone, Debug)]
pub(super) struct Refusal {
    pub(super) status: u16,
    pub(super) message: String,
    pub(super) retry: Retry,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Retry {
    Unsaid,
    AfterSeconds(u32),
    /// Seconds since 1970.
    At(u64),
}

impl Fault {
    /// 429 with the time to wait, told in the way of each vendor.
    pub fn rate_limit(seconds: u32) -> Self {
        let message = format!("Rate limit reached for requests (scripted). Please try again in {seconds}s.");
        Self::refused(429, message, Retry::AfterSeconds(seconds))
    }

    /// 429 because a quota window is used up until this second since 1970.
    pub fn quota_until(second: u64) -> Self {
        Self::refused(429, "The usage limit has been reached (scripted).".to_owned(), Retry::At(second))
    }

    pub fn server_error() -> Self {
        Self::refused(500, "The server had an error (scripted).".to_owned(), Retry::Unsaid)
    }

    pub fn bad_key() -> Self {
        Self::refused(401, "Incorrect API key provided (scripted).".to_owned(), Retry::Unsaid)
    }

    pub fn bad_request() -> Self {
        Self::refused(400, "The request was malformed (scripted).".to_owned(), Retry::Unsaid)
    }

    /// The reply ends where the limit of output tokens cuts it off.
    pub fn token_limit() -> Self {
        Self::always(FaultKind::TokenLimit)
    }

    /// The connection closes in the middle of the reply.
    pub fn cut() -> Self {
        Self::always(FaultKind::Cut)
    }

    /// Not a byte until the test releases it.
    pub fn hang_before_reply() -> Self {
        Self::always(FaultKind::HangBeforeReply)
    }

    /// Silence after the actions and before the end of the stream, until the test releases it.
    pub fn hang_in_reply() -> Self {
        Self::always(FaultKind::HangInReply)
    }

    /// Status 200, and then the stream tells of an error.
    pub fn error_in_stream() -> Self {
        Self::always(FaultKind::ErrorInStream)
    }

    /// Only the first few times the turn is asked for, whoever asks.
    #[must_use]
    pub fn times(mut self, times: u32) -> Self {
        self.times = Some(times);
        self
    }

    fn refused(status: u16, message: String, retry: Retry) -> Self {
        Self::always(FaultKind::Refused(Refusal { status, message, retry }))
    }

    fn always(kind: FaultKind) -> Self {
        Self { kind, times: None }
    }
}
