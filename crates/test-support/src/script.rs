//! Scripts for scripted agents, written in few words. Every step counts itself first, so that a test can tell how often
//! an agent was started. The actions are described in docs/scripted-agent.md.

/// Which steps a part is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    Always,
    Round(u32),
    Attempt { round: u32, attempt: u32 },
}

#[derive(Clone, Debug, Default)]
pub struct Script(String);

impl Script {
    /// The file next to the script in which every step is counted.
    pub const STEPS: &'static str = "steps.txt";

    pub fn new() -> Self {
        Self::default()
    }

    /// A doer that adds `done.txt`, and a judge and an auditor that say yes.
    pub fn that_passes() -> Self {
        Self::new()
            .doer(When::Always, &["{ write = 'done.txt', text = 'done' }", "{ handoff = 'adds done.txt' }"])
            .judge(When::Always, &["{ verdict = 'pass' }"])
            .auditor(When::Always, &["{ audit = 'pass' }"])
    }

    #[must_use]
    pub fn doer(self, when: When, actions: &[&str]) -> Self {
        self.step("doer", when, actions)
    }

    #[must_use]
    pub fn judge(self, when: When, actions: &[&str]) -> Self {
        self.step("judge", when, actions)
    }

    #[must_use]
    pub fn auditor(self, when: When, actions: &[&str]) -> Self {
        self.step("auditor", when, actions)
    }

    pub fn text(&self) -> String {
        self.0.clone()
    }

    fn step(mut self, role: &str, when: When, actions: &[&str]) -> Self {
        let when = match when {
            When::Always => String::new(),
            When::Round(round) => format!("round = {round}\n"),
            When::Attempt { round, attempt } => format!("round = {round}\nattempt = {attempt}\n"),
        };
        let count = format!("{{ count = '{}' }}", Self::STEPS);
        let actions: Vec<&str> = std::iter::once(count.as_str()).chain(actions.iter().copied()).collect();
        let actions = actions.join(",\n  ");
        let step = format!("[[step]]\nrole = '{role}'\n{when}do = [\n  {actions},\n]\n\n");
        self.0.push_str(&step);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_is_written_step_by_step() {
        let script = Script::new().judge(When::Round(2), &["{ verdict = 'reject' }"]);
        let expected = "[[step]]\nrole = 'judge'\nround = 2\ndo = [\n  { count = 'steps.txt' },\n  \
                        { verdict = 'reject' },\n]\n\n";
        assert_eq!(script.text(), expected);
    }
}
