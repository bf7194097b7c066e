//! From the way a process ended and what it said to one word on the step. Unknown is never success.

use serde::{Deserialize, Serialize};

use crate::signal::{EndClaim, RateLimitWait, Severity, Signal};

/// How the process came to its end, as the supervisor saw it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HowItEnded {
    Exited {
        code: i32,
    },
    Signaled {
        signal: i32,
    },
    /// The supervisor ended it.
    Stopped {
        by: Limit,
    },
    NotStarted {
        reason: String,
    },
    /// Nobody knows: the supervisor itself was killed, or the machine restarted.
    Lost {
        reason: String,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Limit {
    TotalTime,
    IdleTime,
    OutputBytes,
    StopRequest,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Conclusion {
    /// The agent says it did its step. What it left behind is judged from the files alone.
    Finished,
    Failed {
        reason: String,
    },
    /// Not the agent's fault and not the task's: the same step may be tried again later.
    RateLimited {
        wait: RateLimitWait,
    },
    Stopped {
        by: Limit,
    },
    NotStarted {
        reason: String,
    },
    Lost {
        reason: String,
    },
}

/// Whether a program always has a last word. Where it has, a missing one means it was cut off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClosingWord {
    Required,
    Optional,
}

pub(crate) fn conclude(ended: &HowItEnded, signals: &[Signal], closing_word: ClosingWord) -> Conclusion {
    match ended {
        HowItEnded::Exited { code } => conclude_exit(*code, signals, closing_word),
        HowItEnded::Signaled { signal } => {
            Conclusion::Failed { reason: format!("the agent was ended by {}", signal_name(*signal)) }
        }
        HowItEnded::Stopped { by } => Conclusion::Stopped { by: *by },
        HowItEnded::NotStarted { reason } => Conclusion::NotStarted { reason: reason.clone() },
        HowItEnded::Lost { reason } => Conclusion::Lost { reason: reason.clone() },
    }
}

fn conclude_exit(code: i32, signals: &[Signal], closing_word: ClosingWord) -> Conclusion {
    let end = signals.iter().rev().find_map(|signal| match signal {
        Signal::End { claim, .. } => Some(claim),
        _ => None,
    });
    let fault = match (code, end) {
        (0, Some(EndClaim::Finished)) => None,
        (0, None) if closing_word == ClosingWord::Optional => None,
        (0, None) => Some("the agent exited with 0 but without its closing word".to_owned()),
        (_, Some(EndClaim::Failed { reason })) => Some(reason.clone()),
        (code, _) => Some(match last_fatal(signals) {
            Some(message) => format!("the agent exited with {code}: {message}"),
            None => format!("the agent exited with {code}"),
        }),
    };
    match (fault, last_rate_limit(signals)) {
        (None, _) => Conclusion::Finished,
        (Some(_), Some(wait)) => Conclusion::RateLimited { wait },
        (Some(reason), None) => Conclusion::Failed { reason },
    }
}

fn last_fatal(signals: &[Signal]) -> Option<&str> {
    signals.iter().rev().find_map(|signal| match signal {
        Signal::Error { severity: Severity::Fatal, message } => Some(message.as_str()),
        _ => None,
    })
}

/// Only a limit the agent did not get past counts: one it waited out and then worked on is history.
fn last_rate_limit(signals: &[Signal]) -> Option<RateLimitWait> {
    signals
        .iter()
        .rev()
        .take_while(|signal| {
            !matches!(signal, Signal::Message { .. } | Signal::ToolCall { .. } | Signal::FileChange { .. })
        })
        .find_map(|signal| match signal {
            Signal::RateLimit { wait } => Some(*wait),
            _ => None,
        })
}

/// Numbers as on Linux; a number without a name here is shown as it is.
fn signal_name(signal: i32) -> String {
    let name = match signal {
        1 => "SIGHUP",
        2 => "SIGINT",
        6 => "SIGABRT",
        7 => "SIGBUS",
        8 => "SIGFPE",
        9 => "SIGKILL",
        11 => "SIGSEGV",
        13 => "SIGPIPE",
        15 => "SIGTERM",
        _ => return format!("signal {signal}"),
    };
    name.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exited(code: i32, signals: &[Signal], closing_word: ClosingWord) -> Conclusion {
        conclude(&HowItEnded::Exited { code }, signals, closing_word)
    }

    fn failed(reason: &str) -> Conclusion {
        Conclusion::Failed { reason: reason.to_owned() }
    }

    fn end(claim: EndClaim) -> Signal {
        Signal::End { claim, answer: None }
    }

    fn message() -> Signal {
        Signal::Message { text: "working".to_owned() }
    }

    fn limited() -> Signal {
        Signal::RateLimit { wait: RateLimitWait::ForMs(500) }
    }

    #[test]
    fn an_exit_code_alone_is_enough_only_where_no_closing_word_exists() {
        assert_eq!(exited(0, &[], ClosingWord::Optional), Conclusion::Finished);
        assert_eq!(
            exited(0, &[], ClosingWord::Required),
            failed("the agent exited with 0 but without its closing word")
        );
        assert_eq!(exited(0, &[end(EndClaim::Finished)], ClosingWord::Required), Conclusion::Finished);
    }

    #[test]
    fn a_failure_told_in_the_closing_word_outweighs_exit_code_zero() {
        let signals = [end(EndClaim::Failed { reason: "budget exhausted".to_owned() })];
        assert_eq!(exited(0, &signals, ClosingWord::Required), failed("budget exhausted"));
        assert_eq!(exited(1, &signals, ClosingWord::Optional), failed("budget exhausted"));
    }

    #[test]
    fn a_bad_exit_code_outweighs_a_claim_of_success() {
        assert_eq!(
            exited(3, &[end(EndClaim::Finished)], ClosingWord::Required),
            failed("the agent exited with 3")
        );
        let fatal = Signal::Error { severity: Severity::Fatal, message: "no credit".to_owned() };
        assert_eq!(exited(1, &[fatal], ClosingWord::Optional), failed("the agent exited with 1: no credit"));
    }

    #[test]
    fn a_rate_limit_counts_only_when_the_agent_gave_up_on_it() {
        let wait = RateLimitWait::ForMs(500);
        assert_eq!(
            exited(1, &[message(), limited()], ClosingWord::Optional),
            Conclusion::RateLimited { wait }
        );
        assert_eq!(
            exited(1, &[limited(), message()], ClosingWord::Optional),
            failed("the agent exited with 1")
        );
        assert_eq!(exited(0, &[limited()], ClosingWord::Optional), Conclusion::Finished);
    }

    #[test]
    fn what_the_supervisor_saw_is_kept_apart() {
        let all = ClosingWord::Optional;
        assert_eq!(
            conclude(&HowItEnded::Signaled { signal: 11 }, &[end(EndClaim::Finished)], all),
            failed("the agent was ended by SIGSEGV")
        );
        assert_eq!(
            conclude(&HowItEnded::Signaled { signal: 63 }, &[], all),
            failed("the agent was ended by signal 63")
        );
        assert_eq!(
            conclude(&HowItEnded::Stopped { by: Limit::IdleTime }, &[end(EndClaim::Finished)], all),
            Conclusion::Stopped { by: Limit::IdleTime }
        );
        let reason = "no such file".to_owned();
        assert_eq!(
            conclude(&HowItEnded::NotStarted { reason: reason.clone() }, &[], all),
            Conclusion::NotStarted { reason: reason.clone() }
        );
        assert_eq!(
            conclude(&HowItEnded::Lost { reason: reason.clone() }, &[end(EndClaim::Finished)], all),
            Conclusion::Lost { reason }
        );
    }
}
