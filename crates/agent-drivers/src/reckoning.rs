//! Whether an agent told all the tokens it used. Most tell them with their last word only, so one that is ended before it
//! leaves less than the truth; that must not be shown as if it were all.

use crate::conclusion::HowItEnded;
use crate::signal::{EndClaim, ErrorKind, Severity, Signal, UsageScope};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reckoning {
    All,
    /// It used more than it told, or nobody knows.
    AtLeast,
}

/// When a program tells its tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Figures {
    /// All that it did not tell belong to a reply that was never finished.
    WithEachReply,
    AtTheEnd,
}

pub(crate) fn reckon(ended: &HowItEnded, signals: &[Signal], figures: Figures) -> Reckoning {
    match ended {
        HowItEnded::NotStarted { .. } => Reckoning::All,
        _ if signals.iter().any(is_closing) => Reckoning::All,
        HowItEnded::Exited { .. } if figures == Figures::WithEachReply || was_never_served(signals) => {
            Reckoning::All
        }
        _ => Reckoning::AtLeast,
    }
}

/// A total of the whole process or conversation. A conversation's money alone tells no tokens.
fn is_closing(signal: &Signal) -> bool {
    match signal {
        Signal::Usage { scope: UsageScope::Process, .. } => true,
        Signal::Usage { scope: UsageScope::Session, input, output, .. } => *input > 0 || *output > 0,
        _ => false,
    }
}

/// Its provider refused the first request: nothing was said and nothing is charged.
fn was_never_served(signals: &[Signal]) -> bool {
    let refuses = |kind: &ErrorKind| {
        matches!(
            kind,
            ErrorKind::Authentication
                | ErrorKind::Quota
                | ErrorKind::RateLimit
                | ErrorKind::Server
                | ErrorKind::BadRequest
                | ErrorKind::Setup
        )
    };
    let is_reply = |signal: &Signal| matches!(signal, Signal::Message { .. } | Signal::ToolCall { .. });
    let is_refusal = |signal: &Signal| match signal {
        Signal::Error { severity: Severity::Fatal, kind, .. }
        | Signal::End { claim: EndClaim::Failed { kind, .. }, .. } => refuses(kind),
        _ => false,
    };
    signals.iter().any(is_refusal) && !signals.iter().any(is_reply)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::choice::AgentChoice;
    use crate::conclusion::Limit;
    use crate::driver::{read_line, reckon as reckon_of};
    use crate::signal::Stream;

    fn heard(choice: &AgentChoice, lines: &[&str]) -> Vec<Signal> {
        lines.iter().flat_map(|line| read_line(choice, Stream::Stdout, line)).collect()
    }

    fn reckoned(agent: &str, ended: &HowItEnded, lines: &[&str]) -> Reckoning {
        let choice = AgentChoice::parse(agent).unwrap();
        reckon_of(&choice, ended, &heard(&choice, lines))
    }

    const EXITED: HowItEnded = HowItEnded::Exited { code: 0 };
    const FAILED: HowItEnded = HowItEnded::Exited { code: 1 };
    const STOPPED: HowItEnded = HowItEnded::Stopped { by: Limit::StopRequest };
    const CODEX_SAID: &str =
        r#"{"type":"item.completed","item":{"id":"1","type":"agent_message","text":"hm"}}"#;
    const CODEX_TOLD: &str = r#"{"type":"turn.completed","usage":{"input_tokens":10,"output_tokens":2}}"#;
    const OPENCODE_TOLD: &str =
        r#"{"type":"step_finish","part":{"reason":"tool-calls","tokens":{"input":10,"output":2}}}"#;

    #[test]
    fn who_tells_its_tokens_last_has_told_all_of_them_only_with_its_last_word() {
        assert_eq!(reckoned("codex", &EXITED, &[CODEX_SAID, CODEX_TOLD]), Reckoning::All);
        assert_eq!(reckoned("codex", &STOPPED, &[CODEX_SAID]), Reckoning::AtLeast);
        assert_eq!(reckoned("codex", &STOPPED, &[]), Reckoning::AtLeast);
        assert_eq!(reckoned("gemini", &HowItEnded::Signaled { signal: 9 }, &[]), Reckoning::AtLeast);
        assert_eq!(reckoned("claude", &HowItEnded::Lost { reason: String::new() }, &[]), Reckoning::AtLeast);
        assert_eq!(reckoned("acp:agent", &STOPPED, &[]), Reckoning::AtLeast);
    }

    #[test]
    fn a_failed_turn_that_was_never_served_used_nothing() {
        let failed = |reason: &str| format!(r#"{{"type":"turn.failed","error":{{"message":"{reason}"}}}}"#);
        let key = failed("unexpected status 401 Unauthorized");
        assert_eq!(reckoned("codex", &FAILED, &[&key]), Reckoning::All);
        assert_eq!(reckoned("codex", &FAILED, &[CODEX_SAID, &key]), Reckoning::AtLeast);
        let cut = failed("stream disconnected before completion");
        assert_eq!(reckoned("codex", &FAILED, &[&cut]), Reckoning::AtLeast);
    }

    #[test]
    fn who_tells_every_reply_leaves_out_only_the_one_it_was_ended_in() {
        assert_eq!(reckoned("opencode", &FAILED, &[OPENCODE_TOLD]), Reckoning::All);
        assert_eq!(reckoned("opencode", &STOPPED, &[OPENCODE_TOLD]), Reckoning::AtLeast);
    }

    #[test]
    fn of_those_without_a_dialect_and_of_those_that_never_ran_nothing_is_missing() {
        assert_eq!(reckoned("shell:true", &STOPPED, &[]), Reckoning::All);
        let never = HowItEnded::NotStarted { reason: String::new() };
        assert_eq!(reckoned("codex", &never, &[]), Reckoning::All);
    }
}
