//! Hears what an agent says, from its logs: all of it when it has ended, and line by line while it works, so that one
//! that passes a cap or goes in circles can be ended in the middle of its turn.

use super::LiveSpend;
use crate::prices::Prices;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use windlass_agent_drivers::{AgentChoice, Signal, Stream, Totals, UsageTally, driver};
use windlass_artifact_formats::goal_loop::destructive;
use windlass_control_api::money::Spent;
use windlass_protocols::kernel::budget::Dimension;
use windlass_protocols::outcome::Trouble;
use windlass_protocols::protocol::Spec;

/// A line longer than this is no event; it is kept in the log and not listened to.
const LONGEST_LINE: usize = 16 * 1024 * 1024;
/// What of a repeated call is told to people.
const SHOWN_DETAIL_CHARS: usize = 120;

/// Everything an agent said, and what it used by its own word.
pub(super) struct Heard {
    pub(super) signals: Vec<Signal>,
    pub(super) tally: UsageTally,
}

impl Heard {
    /// Reads the logs of a step that has ended, and the file in which some programs leave their usage.
    pub(super) fn of(
        choice: &AgentChoice,
        directory: &Path,
        usage_file: &Path,
        before: Option<Totals>,
    ) -> Self {
        let mut heard = Self { signals: Vec::new(), tally: UsageTally::new(before) };
        for (stream, name) in [(Stream::Stdout, "stdout.log"), (Stream::Stderr, "stderr.log")] {
            let mut log = LogReader::new(directory.join(name));
            let mut lines = log.new_lines();
            lines.extend(log.rest());
            for line in lines {
                heard.take(driver::read_line(choice, stream, &line));
            }
        }
        if let Ok(content) = std::fs::read_to_string(usage_file) {
            heard.take(driver::read_usage_file(choice, &content));
        }
        heard
    }

    fn take(&mut self, signals: Vec<Signal>) {
        for signal in signals {
            self.tally.hear(&signal);
            self.signals.push(signal);
        }
    }

    pub(super) fn session(&self) -> Option<&str> {
        self.signals.iter().find_map(|signal| match signal {
            Signal::Session { id } => Some(id.as_str()),
            _ => None,
        })
    }

    pub(super) fn model(&self) -> Option<&str> {
        self.signals.iter().rev().find_map(|signal| match signal {
            Signal::Model { name } => Some(name.as_str()),
            _ => None,
        })
    }

    /// What it ran that must never be run unattended; a fast one is through before anybody looks.
    pub(super) fn destroyed(&self, guard: Guard) -> Option<Trouble> {
        self.signals.iter().find_map(|signal| match signal {
            Signal::ToolCall { detail, .. } => guard.stops(detail),
            _ => None,
        })
    }

    /// The last thing that went wrong, in the program's own words.
    pub(super) fn last_error(&self) -> Option<&str> {
        self.signals.iter().rev().find_map(|signal| match signal {
            Signal::Error { message, .. } => Some(message.as_str()),
            _ => None,
        })
    }
}

/// What one step may spend, each limit with the cap it comes from.
#[derive(Clone, Debug, Default)]
pub(super) struct SpendLimits {
    tokens: Vec<(Dimension, u64)>,
    money: Vec<(Dimension, u64)>,
}

impl SpendLimits {
    pub(super) fn tokens(&mut self, dimension: Dimension, left: Option<u64>) {
        self.tokens.extend(left.map(|left| (dimension, left)));
    }

    pub(super) fn money(&mut self, dimension: Dimension, left: Option<u64>) {
        self.money.extend(left.map(|left| (dimension, left)));
    }

    /// The first cap that leaves nothing at all.
    pub(super) fn nothing_left(&self) -> Option<Dimension> {
        self.tokens.iter().chain(&self.money).find(|(_, left)| *left == 0).map(|(dimension, _)| *dimension)
    }

    fn reached(&self, tokens: u64, cost_micros: Option<u64>) -> Option<Dimension> {
        let by = |limits: &[(Dimension, u64)], used: u64| {
            limits.iter().find(|(_, left)| used >= *left).map(|(dimension, _)| *dimension)
        };
        by(&self.tokens, tokens).or_else(|| by(&self.money, cost_micros?))
    }
}

/// Listens while the agent works.
pub(super) struct Watch {
    pub(super) choice: AgentChoice,
    pub(super) limits: SpendLimits,
    pub(super) prices: Prices,
    /// So many equal tool calls in a row are one too many; 0 for any number.
    pub(super) most_repeats: u64,
    log: LogReader,
    tally: UsageTally,
    model: Option<String>,
    repeated: Repeated,
    live: LiveSpend,
    guard: Guard,
}

/// Whether a destructive command ends the agent that runs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Guard {
    Off,
    On,
}

impl Guard {
    /// A goal loop's contract names such commands among the reasons to stop at once.
    pub(super) const fn of(spec: &Spec) -> Self {
        match spec {
            Spec::GoalContract(_) => Self::On,
            Spec::JudgedTask(_) | Spec::FeedbackControl(_) | Spec::RoadmapRounds(_) => Self::Off,
        }
    }

    pub(super) fn stops(self, command: &str) -> Option<Trouble> {
        match self {
            Self::On => destructive(command).map(|_| Trouble::Destructive { command: command.to_owned() }),
            Self::Off => None,
        }
    }
}

#[derive(Default)]
struct Repeated {
    call: Option<(String, String)>,
    times: u64,
}

impl Watch {
    pub(super) fn new(
        choice: AgentChoice,
        directory: &Path,
        limits: SpendLimits,
        (prices, most_repeats): (Prices, u64),
        before: Option<Totals>,
    ) -> Self {
        Self {
            choice,
            limits,
            prices,
            most_repeats,
            log: LogReader::new(directory.join("stdout.log")),
            tally: UsageTally::new(before),
            model: None,
            repeated: Repeated::default(),
            live: LiveSpend::default(),
            guard: Guard::Off,
        }
    }

    #[must_use]
    pub(super) fn guarded(mut self, guard: Guard) -> Self {
        self.guard = guard;
        self
    }

    /// Leaves what is heard of the agent's use there, for whoever shows it.
    #[must_use]
    pub(super) fn telling(mut self, live: LiveSpend) -> Self {
        self.live = live;
        self
    }

    /// Takes in what was said since the last look; a reason to end the agent, if there is one now.
    pub(super) fn look(&mut self) -> Option<Trouble> {
        for line in self.log.new_lines() {
            for signal in driver::read_line(&self.choice, Stream::Stdout, &line) {
                self.tally.hear(&signal);
                match signal {
                    Signal::Model { name } => self.model = Some(name),
                    Signal::ToolCall { name, detail, .. } => {
                        if let Some(trouble) = self.called(name, detail) {
                            return Some(trouble);
                        }
                    }
                    _ => {}
                }
            }
        }
        let totals = self.tally.totals();
        let names = [self.model.as_deref(), self.choice.model(), Some(self.choice.kind())];
        let cost = self.prices.cost_micros(&totals, &names);
        if let Ok(mut live) = self.live.lock() {
            *live = spent(&totals, cost);
        }
        let dimension = self.limits.reached(totals.tokens(), cost)?;
        Some(Trouble::CapPassed { dimension })
    }

    fn called(&mut self, name: String, detail: String) -> Option<Trouble> {
        if let Some(trouble) = self.guard.stops(&detail) {
            return Some(trouble);
        }
        let call = Some((name, detail));
        self.repeated.times = if self.repeated.call == call { self.repeated.times + 1 } else { 1 };
        self.repeated.call = call;
        if self.most_repeats == 0 || self.repeated.times < self.most_repeats {
            return None;
        }
        let (name, detail) = self.repeated.call.as_ref()?;
        let shown: String = detail.chars().take(SHOWN_DETAIL_CHARS).collect();
        let times = self.repeated.times;
        let why = format!("made the same tool call {times} times in a row ({name} {shown}) and was ended");
        Some(Trouble::Failed { why })
    }
}

fn spent(totals: &Totals, cost_micros: Option<u64>) -> Spent {
    Spent {
        // It is counted once it has ended.
        steps: 0,
        tokens: totals.tokens(),
        input: totals.input,
        cached: totals.cached,
        output: totals.output,
        reasoning: totals.reasoning,
        cost_micros: cost_micros.unwrap_or(0),
        unpriced_tokens: if cost_micros.is_some() { 0 } else { totals.tokens() },
        cut_off_steps: 0,
    }
}

/// Reads a log that may still grow, a whole line at a time.
struct LogReader {
    path: PathBuf,
    offset: u64,
    begun: Vec<u8>,
}

impl LogReader {
    fn new(path: PathBuf) -> Self {
        Self { path, offset: 0, begun: Vec::new() }
    }

    /// A log that cannot be read has nothing new; what matters is read again at the end.
    fn new_lines(&mut self) -> Vec<String> {
        let mut fresh = Vec::new();
        let read = File::open(&self.path).and_then(|mut log| {
            log.seek(SeekFrom::Start(self.offset))?;
            log.read_to_end(&mut fresh)
        });
        let Ok(read) = read else { return Vec::new() };
        self.offset += read as u64;
        self.begun.extend(fresh);
        let Some(end) = self.begun.iter().rposition(|byte| *byte == b'\n') else {
            if self.begun.len() > LONGEST_LINE {
                self.begun.clear();
            }
            return Vec::new();
        };
        let rest = self.begun.split_off(end + 1);
        let lines = std::mem::replace(&mut self.begun, rest);
        lines[..end].split(|byte| *byte == b'\n').map(line).collect()
    }

    /// A last line without its end.
    fn rest(&mut self) -> Option<String> {
        let rest = std::mem::take(&mut self.begun);
        (!rest.is_empty()).then(|| line(&rest))
    }
}

fn line(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).trim_end_matches('\r').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn report(text: &str) -> String {
        format!("{{\"windlass_signal\":{text}}}\n")
    }

    struct Scene {
        directory: tempfile::TempDir,
        log: File,
    }

    impl Scene {
        fn new() -> Self {
            let directory = tempfile::tempdir().unwrap();
            let log = File::create(directory.path().join("stdout.log")).unwrap();
            Self { directory, log }
        }

        fn watch(&self, limits: SpendLimits, prices: &[&str], most_repeats: u64) -> Watch {
            let prices: Vec<String> = prices.iter().map(|&line| line.to_owned()).collect();
            let choice = AgentChoice::parse("shell:agent").unwrap();
            let prices = Prices::parse(&prices).unwrap();
            Watch::new(choice, self.directory.path(), limits, (prices, most_repeats), None)
        }

        fn says(&mut self, text: &str) {
            self.log.write_all(text.as_bytes()).unwrap();
        }
    }

    #[test]
    fn a_cap_is_seen_as_soon_as_the_line_that_passes_it_is_whole() {
        let mut scene = Scene::new();
        let mut limits = SpendLimits::default();
        limits.tokens(Dimension::Tokens, Some(100));
        let mut watch = scene.watch(limits, &[], 0);
        scene.says(&report(r#"{"kind":"usage","input":60,"output":20}"#));
        assert_eq!(watch.look(), None);
        let line = report(r#"{"kind":"usage","input":10,"output":10}"#);
        scene.says(&line[..20]);
        assert_eq!(watch.look(), None);
        scene.says(&line[20..]);
        assert_eq!(watch.look(), Some(Trouble::CapPassed { dimension: Dimension::Tokens }));
    }

    #[test]
    fn money_is_counted_by_the_agents_word_or_by_the_table() {
        let mut scene = Scene::new();
        let mut limits = SpendLimits::default();
        limits.money(Dimension::DayMoney, Some(1_000_000));
        let mut by_word = scene.watch(limits.clone(), &[], 0);
        let mut by_table = scene.watch(limits.clone(), &["shell input=1000 output=1000"], 0);
        let mut unknown = scene.watch(limits, &["other input=1000 output=1000"], 0);
        scene.says(&report(r#"{"kind":"usage","input":1000,"output":0}"#));
        assert_eq!(by_table.look(), Some(Trouble::CapPassed { dimension: Dimension::DayMoney }));
        assert_eq!((by_word.look(), unknown.look()), (None, None));
        scene.says(&report(r#"{"kind":"usage","input":1,"output":0,"cost_micros":1000000}"#));
        assert_eq!(by_word.look(), Some(Trouble::CapPassed { dimension: Dimension::DayMoney }));
    }

    #[test]
    fn the_same_call_again_and_again_is_noticed_and_another_one_in_between_is_not_the_same() {
        let mut scene = Scene::new();
        let mut watch = scene.watch(SpendLimits::default(), &[], 3);
        let call =
            |detail: &str| report(&format!(r#"{{"kind":"tool-call","name":"shell","detail":"{detail}"}}"#));
        for detail in ["ls", "ls", "pwd", "ls", "ls"] {
            scene.says(&call(detail));
        }
        assert_eq!(watch.look(), None);
        scene.says(&call("ls"));
        let why = "made the same tool call 3 times in a row (shell ls) and was ended".to_owned();
        assert_eq!(watch.look(), Some(Trouble::Failed { why }));
    }

    #[test]
    fn a_last_line_without_its_end_is_heard_once_the_agent_has_ended() {
        let mut scene = Scene::new();
        scene.says(report(r#"{"kind":"usage","input":5,"output":1}"#).trim_end());
        let choice = AgentChoice::parse("shell:agent").unwrap();
        let nowhere = scene.directory.path().join("usage.json");
        let heard = Heard::of(&choice, scene.directory.path(), &nowhere, None);
        assert_eq!(heard.tally.tokens(), 6);
    }

    #[test]
    fn a_cap_with_nothing_left_is_known_before_anybody_is_asked() {
        let mut limits = SpendLimits::default();
        limits.tokens(Dimension::StepTokens, Some(5));
        assert_eq!(limits.nothing_left(), None);
        limits.money(Dimension::RepositoryMoney, Some(0));
        assert_eq!(limits.nothing_left(), Some(Dimension::RepositoryMoney));
    }
}
