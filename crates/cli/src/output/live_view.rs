//! A run as it goes on: facts scroll as sentences, one status line stays at the bottom of a terminal. In a pipe there is
//! no status line; with `--json` every event is a line. It knows events only, so a stored run looks like a live one.

use super::look::Look;
use super::moments::duration;
use super::money::cost;
use super::text_width::{fit, printable};
use super::{Format, Output, Verbosity};
use std::cell::RefCell;
use windlass_control_api::events::{Event, LogEntry, Progress, Tone, Watcher};

/// Where the sentences go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Story {
    /// Beside the answer, as talk: `windlass run`.
    Talk,
    /// They are the answer: `windlass demo`.
    Data,
}

pub(crate) struct LiveView<'o> {
    scene: RefCell<Scene<'o>>,
}

struct Scene<'o> {
    output: &'o mut Output,
    story: Story,
    /// The status line as it stands on the screen now; empty when there is none.
    status: String,
}

const CLEAR_LINE: &str = "\r\u{1b}[K";

impl<'o> LiveView<'o> {
    pub(crate) fn new(output: &'o mut Output, story: Story) -> Self {
        let scene = Scene { output, story, status: String::new() };
        Self { scene: RefCell::new(scene) }
    }
}

impl Watcher for LiveView<'_> {
    fn hear(&self, event: &Event) {
        self.scene.borrow_mut().hear(event);
    }
}

impl Drop for LiveView<'_> {
    fn drop(&mut self) {
        self.scene.get_mut().clear_status();
    }
}

impl Scene<'_> {
    fn hear(&mut self, event: &Event) {
        if self.output.format == Format::Json {
            self.output.json_line(event);
            self.output.data.flush();
            return;
        }
        if self.output.verbosity == Verbosity::Quiet {
            return;
        }
        match event {
            Event::Started { run, run_dir, .. } => {
                let look = self.look();
                self.say(&format!("{} run {} in {}", look.arrow(), printable(run), printable(run_dir)));
            }
            Event::Fact(entry) => self.fact(entry),
            Event::Progress(progress) => self.progress(progress),
            Event::Notice { text } => {
                let mark = self.look().mark(Tone::Attention);
                self.say(&format!("{mark} {}", printable(text)));
            }
            Event::News { text, tone } => {
                let look = self.look();
                self.say(&format!("{} {}", look.mark(*tone), look.tone(*tone, &printable(text))));
            }
        }
    }

    fn fact(&mut self, entry: &LogEntry) {
        if entry.text.is_empty() || entry.tone == Tone::Quiet {
            return;
        }
        let look = self.look();
        self.say(&format!("{} {}", look.mark(entry.tone), look.tone(entry.tone, &printable(&entry.text))));
    }

    fn progress(&mut self, progress: &Progress) {
        let look = self.output.talk.look();
        let Some(columns) = look.width.filter(|_| self.output.verbosity == Verbosity::Normal) else {
            return;
        };
        // The last column stays free: a full line makes some terminals wrap, and a wrapped line cannot be redrawn.
        let status = fit(&status_text(progress, look), columns.saturating_sub(1), look.ellipsis());
        if status != self.status {
            self.output.talk.write(format!("{CLEAR_LINE}{status}"));
            self.output.talk.flush();
            self.status = status;
        }
    }

    fn say(&mut self, sentence: &str) {
        let status = self.clear_status();
        match self.story {
            Story::Talk => self.output.talk.line(sentence),
            Story::Data => self.output.data.line(sentence),
        }
        if !status.is_empty() {
            self.output.data.flush();
            self.output.talk.write(&status);
            self.output.talk.flush();
            self.status = status;
        }
    }

    fn clear_status(&mut self) -> String {
        let status = std::mem::take(&mut self.status);
        if !status.is_empty() {
            self.output.talk.write(CLEAR_LINE);
            self.output.talk.flush();
        }
        status
    }

    fn look(&self) -> Look {
        match self.story {
            Story::Talk => self.output.talk.look(),
            Story::Data => self.output.data.look(),
        }
    }
}

fn status_text(progress: &Progress, look: Look) -> String {
    let mut parts = vec![format!("{} {}", look.arrow(), printable(&progress.actor))];
    match &progress.iteration {
        // Iterations are numbers; rounds that live side by side have names.
        Some(label) if label.starts_with(|first: char| first.is_ascii_digit()) => {
            parts.push(format!("iteration {}", printable(label)));
        }
        Some(names) => parts.push(printable(names)),
        None if progress.round > 0 && progress.rounds == u32::MAX => {
            parts.push(format!("round {}", progress.round));
        }
        None if progress.round > 0 => parts.push(format!("round {}/{}", progress.round, progress.rounds)),
        None => {}
    }
    parts.push(duration(progress.elapsed_ms));
    parts.extend(spend(progress));
    parts.extend(progress.last_line.as_deref().map(printable).filter(|line| !line.trim().is_empty()));
    parts.join(look.separator())
}

/// What the step and the whole run used, as far as anybody told; nothing where nobody did.
fn spend(progress: &Progress) -> Option<String> {
    let run = Some(cost(&progress.run)).filter(|text| !text.is_empty())?;
    let step = cost(&progress.step);
    Some(if step.is_empty() || progress.step.tokens == progress.run.tokens {
        run
    } else {
        format!("{step} of {run}")
    })
}

#[cfg(test)]
mod tests {
    use super::super::testing::output;
    use super::*;
    use windlass_control_api::money::Spent;

    fn progress() -> Event {
        Event::Progress(Progress {
            round: 1,
            rounds: 3,
            iteration: None,
            actor: "doer".into(),
            elapsed_ms: 12_000,
            last_line: Some("compiling \u{1b}[31mall of it".into()),
            step: Spent::default(),
            run: Spent::default(),
        })
    }

    fn fact(text: &str, tone: Tone) -> Event {
        Event::Fact(LogEntry {
            version: 1,
            at_ms: 0,
            kind: "check-failed".into(),
            round: 1,
            text: text.into(),
            tone,
            fact: serde_json::json!({}),
        })
    }

    #[test]
    fn in_a_pipe_there_are_sentences_and_no_status_line() {
        let (mut output, data, talk) = output(Format::Text, Look::PLAIN);
        let view = LiveView::new(&mut output, Story::Talk);
        view.hear(&progress());
        view.hear(&fact("the check is red", Tone::Bad));
        view.hear(&fact("effect 3 settled", Tone::Quiet));
        drop(view);
        assert_eq!(talk.text(), "x the check is red\n");
        assert_eq!(data.text(), "");
    }

    #[test]
    fn on_a_narrow_terminal_the_status_line_is_cut_redrawn_under_each_sentence_and_cleared_at_the_end() {
        let narrow = Look { width: Some(24), ..Look::PLAIN };
        let (mut output, _, talk) = output(Format::Text, narrow);
        let view = LiveView::new(&mut output, Story::Talk);
        view.hear(&progress());
        view.hear(&progress());
        view.hear(&fact("red", Tone::Bad));
        drop(view);
        let status = "> doer - round 1/3 -...";
        let expected = format!("{CLEAR_LINE}{status}{CLEAR_LINE}x red\n{status}{CLEAR_LINE}");
        assert_eq!(talk.text(), expected);
    }

    #[test]
    fn the_status_line_tells_what_the_step_and_the_run_used() {
        let Event::Progress(mut progress) = progress() else { panic!("a progress") };
        progress.step = Spent { tokens: 1_500, cost_micros: 20_000, ..Spent::default() };
        progress.run =
            Spent { tokens: 4_000, cost_micros: 20_000, unpriced_tokens: 2_500, ..Spent::default() };
        let status = status_text(&progress, Look::PLAIN);
        let told =
            "12s - 0.02 (1,500 tokens) of 0.02 and price not told of 2,500 tokens (4,000 tokens) - comp";
        assert!(status.contains(told), "{status}");
        progress.run = progress.step;
        let status = status_text(&progress, Look::PLAIN);
        assert!(status.contains("12s - 0.02 (1,500 tokens) - comp"), "{status}");
    }

    #[test]
    fn of_a_control_loop_the_status_line_names_the_iteration() {
        let Event::Progress(mut progress) = progress() else { panic!("a progress") };
        progress.iteration = Some("2.1".into());
        progress.actor = "actuator".into();
        let status = status_text(&progress, Look::PLAIN);
        assert!(status.starts_with("> actuator - iteration 2.1 - 12s"), "{status}");
    }

    #[test]
    fn in_json_every_event_is_one_line_of_data() {
        let (mut output, data, talk) = output(Format::Json, Look::PLAIN);
        let view = LiveView::new(&mut output, Story::Talk);
        view.hear(&progress());
        view.hear(&fact("settled", Tone::Quiet));
        drop(view);
        let events: Vec<serde_json::Value> =
            data.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(events.len(), 2);
        assert_eq!(events[1]["event"], "fact");
        assert_eq!(talk.text(), "");
    }
}
