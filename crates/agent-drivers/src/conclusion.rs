//! From the way a process ended and what it said to one word on the step. Unknown is never success.

use serde::{Deserialize, Serialize};

use crate::signal::{EndClaim, ErrorKind, RateLimitWait, Severity, Signal};

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
    Memory,
    Processes,
    StopRequest,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Conclusion {
    /// The agent says it did its step. What it left behind is judged from the files alone.
    Finished,
    /// The agent tried and gave up, or did what cannot count. Costs an attempt.
    Failed {
        #[serde(default, rename = "error")]
        kind: ErrorKind,
        reason: String,
    },
    /// Not the agent's fault and not the task's: the same step may be tried again later.
    RateLimited {
        wait: RateLimitWait,
    },
    /// The model's service or the way to it failed: to be tried again, a little later each time.
    Unavailable {
        reason: String,
    },
    /// Trying again changes nothing before a person has changed something.
    Misconfigured {
        reason: String,
        hint: String,
    },
    /// It ended without its closing word, so nobody knows how far it came.
    CutOff {
        reason: String,
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

/// What a dialect adds to the common reading of an end.
pub(crate) struct EndReading {
    pub(crate) closing_word: ClosingWord,
    /// What an exit code says by itself where nothing better was said.
    pub(crate) exit_code: fn(i32) -> Option<(ErrorKind, &'static str)>,
    /// Who is to blame for a refused login and what to do.
    pub(crate) login_hint: &'static str,
}

pub(crate) fn conclude(ended: &HowItEnded, signals: &[Signal], reading: &EndReading) -> Conclusion {
    match ended {
        HowItEnded::Exited { code } => conclude_exit(*code, signals, reading),
        HowItEnded::Signaled { signal } => {
            Conclusion::CutOff { reason: format!("the agent was ended by {}", signal_name(*signal)) }
        }
        HowItEnded::Stopped { by } => Conclusion::Stopped { by: *by },
        HowItEnded::NotStarted { reason } => Conclusion::NotStarted { reason: reason.clone() },
        HowItEnded::Lost { reason } => Conclusion::Lost { reason: reason.clone() },
    }
}

fn conclude_exit(code: i32, signals: &[Signal], reading: &EndReading) -> Conclusion {
    let end = signals.iter().rev().find_map(|signal| match signal {
        Signal::End { claim, .. } => Some(claim),
        _ => None,
    });
    let told = last_fatal(signals);
    let by_code = (reading.exit_code)(code);
    let (kind, reason) = match (code, end, told) {
        // A program that is told to end may still say that all is well.
        (_, _, Some((ErrorKind::Interrupted, message))) => (ErrorKind::Interrupted, message.to_owned()),
        (0, Some(EndClaim::Finished), _) => return Conclusion::Finished,
        (0, None, None) if reading.closing_word == ClosingWord::Optional => return Conclusion::Finished,
        (_, Some(EndClaim::Failed { reason, kind }), told) => {
            // The closing word often says that, the lines before it why.
            let kind = [Some(*kind), told.map(|(kind, _)| kind), by_code.map(|(kind, _)| kind)]
                .into_iter()
                .flatten()
                .find(|kind| *kind != ErrorKind::Other);
            (kind.unwrap_or_default(), reason.clone())
        }
        (code, _, Some((kind, message))) => {
            let kind = if kind == ErrorKind::Other { by_code.map_or(kind, |(kind, _)| kind) } else { kind };
            (kind, format!("the agent exited with {code}: {message}"))
        }
        (code, _, None) if by_code.is_some() => {
            let (kind, words) = by_code.unwrap_or_default();
            (kind, format!("the agent exited with {code}: {words}"))
        }
        (0, None, None) => {
            let reason = "the agent exited with 0 but without its closing word".to_owned();
            return match last_rate_limit(signals) {
                Some(wait) => Conclusion::RateLimited { wait },
                None => Conclusion::CutOff { reason },
            };
        }
        (code, _, None) => (ErrorKind::Other, format!("the agent exited with {code}")),
    };
    by_kind(kind, reason, last_rate_limit(signals), reading)
}

fn by_kind(
    kind: ErrorKind,
    reason: String,
    limit: Option<RateLimitWait>,
    reading: &EndReading,
) -> Conclusion {
    match kind {
        ErrorKind::RateLimit => Conclusion::RateLimited { wait: limit.unwrap_or_default() },
        ErrorKind::Server | ErrorKind::Network => Conclusion::Unavailable { reason },
        ErrorKind::Authentication => {
            Conclusion::Misconfigured { reason, hint: reading.login_hint.to_owned() }
        }
        ErrorKind::Interrupted => Conclusion::CutOff { reason },
        ErrorKind::Setup => Conclusion::Misconfigured { reason, hint: SETUP_HINT.to_owned() },
        // A plan's allowance comes back at a stated time; credit comes back when somebody pays.
        ErrorKind::Quota => match limit {
            Some(wait) => Conclusion::RateLimited { wait },
            None => Conclusion::Misconfigured { reason, hint: QUOTA_HINT.to_owned() },
        },
        ErrorKind::BadRequest | ErrorKind::Refused | ErrorKind::TokenLimit => {
            Conclusion::Failed { kind, reason }
        }
        ErrorKind::Other => match limit {
            Some(wait) => Conclusion::RateLimited { wait },
            None => Conclusion::Failed { kind, reason },
        },
    }
}

const SETUP_HINT: &str = "see what `windlass agents` says about the program, its version and its model";
const QUOTA_HINT: &str = "add credit or choose another agent, then resume the run";

/// The last error the program itself called fatal.
fn last_fatal(signals: &[Signal]) -> Option<(ErrorKind, &str)> {
    signals.iter().rev().find_map(|signal| match signal {
        Signal::Error { severity: Severity::Fatal, kind, message } => Some((*kind, message.as_str())),
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

    const fn reading(closing_word: ClosingWord) -> EndReading {
        EndReading {
            closing_word,
            exit_code: |code| (code == 55).then_some((ErrorKind::Setup, "not trusted")),
            login_hint: "log in",
        }
    }

    fn exited(code: i32, signals: &[Signal], closing_word: ClosingWord) -> Conclusion {
        conclude(&HowItEnded::Exited { code }, signals, &reading(closing_word))
    }

    fn failed(reason: &str) -> Conclusion {
        Conclusion::Failed { kind: ErrorKind::Other, reason: reason.to_owned() }
    }

    fn fatal(kind: ErrorKind, message: &str) -> Signal {
        Signal::Error { severity: Severity::Fatal, kind, message: message.to_owned() }
    }

    fn end(claim: EndClaim) -> Signal {
        Signal::End { claim, answer: None }
    }

    fn message() -> Signal {
        Signal::Message { text: "working".to_owned(), partial: false }
    }

    fn limited() -> Signal {
        Signal::RateLimit { wait: RateLimitWait::ForMs(500) }
    }

    #[test]
    fn an_exit_code_alone_is_enough_only_where_no_closing_word_exists() {
        assert_eq!(exited(0, &[], ClosingWord::Optional), Conclusion::Finished);
        assert_eq!(
            exited(0, &[], ClosingWord::Required),
            Conclusion::CutOff { reason: "the agent exited with 0 but without its closing word".to_owned() }
        );
        assert_eq!(exited(0, &[end(EndClaim::Finished)], ClosingWord::Required), Conclusion::Finished);
    }

    #[test]
    fn a_failure_told_in_the_closing_word_outweighs_exit_code_zero() {
        let signals =
            [end(EndClaim::Failed { reason: "budget exhausted".to_owned(), kind: ErrorKind::Other })];
        assert_eq!(exited(0, &signals, ClosingWord::Required), failed("budget exhausted"));
        assert_eq!(exited(1, &signals, ClosingWord::Optional), failed("budget exhausted"));
    }

    #[test]
    fn a_bad_exit_code_outweighs_a_claim_of_success() {
        assert_eq!(
            exited(3, &[end(EndClaim::Finished)], ClosingWord::Required),
            failed("the agent exited with 3")
        );
        let told = fatal(ErrorKind::Other, "no idea");
        assert_eq!(exited(1, &[told], ClosingWord::Optional), failed("the agent exited with 1: no idea"));
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
        let all = &reading(ClosingWord::Optional);
        assert_eq!(
            conclude(&HowItEnded::Signaled { signal: 11 }, &[end(EndClaim::Finished)], all),
            Conclusion::CutOff { reason: "the agent was ended by SIGSEGV".to_owned() }
        );
        assert_eq!(
            conclude(&HowItEnded::Signaled { signal: 63 }, &[], all),
            Conclusion::CutOff { reason: "the agent was ended by signal 63".to_owned() }
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

    #[test]
    fn whose_fault_it_is_says_what_can_be_done() {
        let by = |kind| exited(1, &[fatal(kind, "told")], ClosingWord::Required);
        let reason = "the agent exited with 1: told".to_owned();
        assert_eq!(by(ErrorKind::RateLimit), Conclusion::RateLimited { wait: RateLimitWait::Untold });
        for kind in [ErrorKind::Server, ErrorKind::Network] {
            assert_eq!(by(kind), Conclusion::Unavailable { reason: reason.clone() }, "{kind:?}");
        }
        for kind in [ErrorKind::BadRequest, ErrorKind::Refused, ErrorKind::TokenLimit, ErrorKind::Other] {
            assert_eq!(by(kind), Conclusion::Failed { kind, reason: reason.clone() }, "{kind:?}");
        }
        for (kind, hint) in [
            (ErrorKind::Authentication, "log in"),
            (ErrorKind::Setup, SETUP_HINT),
            (ErrorKind::Quota, QUOTA_HINT),
        ] {
            let expected = Conclusion::Misconfigured { reason: reason.clone(), hint: hint.to_owned() };
            assert_eq!(by(kind), expected, "{kind:?}");
        }
    }

    #[test]
    fn an_allowance_that_comes_back_is_a_wait() {
        let signals = [limited(), fatal(ErrorKind::Quota, "used up")];
        let wait = RateLimitWait::ForMs(500);
        assert_eq!(exited(1, &signals, ClosingWord::Required), Conclusion::RateLimited { wait });
    }

    #[test]
    fn a_vague_closing_word_is_explained_by_what_was_said_before_or_by_the_exit_code() {
        let vague = end(EndClaim::Failed { reason: "gave up".to_owned(), kind: ErrorKind::Other });
        assert_eq!(
            exited(1, &[fatal(ErrorKind::Server, "500"), vague.clone()], ClosingWord::Required),
            Conclusion::Unavailable { reason: "gave up".to_owned() }
        );
        assert_eq!(
            exited(55, &[vague], ClosingWord::Required),
            Conclusion::Misconfigured { reason: "gave up".to_owned(), hint: SETUP_HINT.to_owned() }
        );
        assert_eq!(
            exited(55, &[], ClosingWord::Required),
            Conclusion::Misconfigured {
                reason: "the agent exited with 55: not trusted".to_owned(),
                hint: SETUP_HINT.to_owned()
            }
        );
    }
}
