//! When a child has to go, and how: polite signal, grace, kill. Pure bookkeeping over instants; it sends nothing.

use std::time::{Duration, Instant};

use crate::child_end::EndedBy;
use crate::child_spec::Limits;

/// A child that survives SIGKILL this long hangs in the kernel.
const KILL_PATIENCE: Duration = Duration::from_secs(10);

/// What the keeper must do now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    Nothing,
    AskToEnd,
    Kill,
    GiveUp,
}

#[derive(Debug)]
pub(super) struct Ladder {
    total_at: Option<Instant>,
    idle: Option<Duration>,
    idle_at: Option<Instant>,
    grace: Duration,
    output_left: Option<u64>,
    stop_asked: bool,
    rung: Rung,
    ended_by: Option<EndedBy>,
}

#[derive(Debug, Clone, Copy)]
enum Rung {
    Free,
    Asked { kill_at: Option<Instant> },
    Killed { give_up_at: Option<Instant> },
}

impl Ladder {
    pub(super) fn new(limits: &Limits, now: Instant) -> Self {
        let idle = limits.idle_ms.map(Duration::from_millis);
        Self {
            // A limit too far away for the clock is no limit.
            total_at: now.checked_add(Duration::from_millis(limits.total_ms)),
            idle,
            idle_at: idle.and_then(|idle| now.checked_add(idle)),
            grace: Duration::from_millis(limits.grace_ms),
            output_left: limits.output_bytes,
            stop_asked: false,
            rung: Rung::Free,
            ended_by: None,
        }
    }

    pub(super) fn ended_by(&self) -> Option<EndedBy> {
        self.ended_by
    }

    /// The child wrote something.
    pub(super) fn heard(&mut self, bytes: u64, now: Instant) -> Step {
        self.idle_at = self.idle.and_then(|idle| now.checked_add(idle));
        match &mut self.output_left {
            Some(left) if bytes > *left => {
                *left = 0;
                self.ask(EndedBy::OutputLimit, now)
            }
            Some(left) => {
                *left -= bytes;
                Step::Nothing
            }
            None => Step::Nothing,
        }
    }

    /// Somebody asked us to end the child: politely the first time, at once the second.
    pub(super) fn stop_requested(&mut self, now: Instant) -> Step {
        let asked_before = std::mem::replace(&mut self.stop_asked, true);
        match self.rung {
            Rung::Free => self.ask(EndedBy::StopRequest, now),
            Rung::Asked { .. } if asked_before => self.kill(now),
            // A child that is already going because of a limit has been asked; its grace period goes on.
            Rung::Asked { .. } | Rung::Killed { .. } => Step::Nothing,
        }
    }

    pub(super) fn kill_requested(&mut self, now: Instant) -> Step {
        self.ended_by.get_or_insert(EndedBy::StopRequest);
        match self.rung {
            Rung::Free | Rung::Asked { .. } => self.kill(now),
            Rung::Killed { .. } => Step::Nothing,
        }
    }

    /// The child has more than it may have of something that cannot be taken back politely: it goes at once.
    pub(super) fn exceeded(&mut self, why: EndedBy, now: Instant) -> Step {
        self.ended_by.get_or_insert(why);
        match self.rung {
            Rung::Free | Rung::Asked { .. } => self.kill(now),
            Rung::Killed { .. } => Step::Nothing,
        }
    }

    pub(super) fn time_passed(&mut self, now: Instant) -> Step {
        let passed = |at: Option<Instant>| at.is_some_and(|at| now >= at);
        match self.rung {
            Rung::Free if passed(self.total_at) => self.ask(EndedBy::TotalLimit, now),
            Rung::Free if passed(self.idle_at) => self.ask(EndedBy::IdleLimit, now),
            Rung::Asked { kill_at } if passed(kill_at) => self.kill(now),
            Rung::Killed { give_up_at } if passed(give_up_at) => Step::GiveUp,
            Rung::Free | Rung::Asked { .. } | Rung::Killed { .. } => Step::Nothing,
        }
    }

    /// When to call `time_passed` next.
    pub(super) fn next_at(&self) -> Option<Instant> {
        match self.rung {
            Rung::Free => self.total_at.into_iter().chain(self.idle_at).min(),
            Rung::Asked { kill_at } => kill_at,
            Rung::Killed { give_up_at } => give_up_at,
        }
    }

    fn ask(&mut self, why: EndedBy, now: Instant) -> Step {
        if !matches!(self.rung, Rung::Free) {
            return Step::Nothing;
        }
        self.ended_by = Some(why);
        self.rung = Rung::Asked { kill_at: now.checked_add(self.grace) };
        Step::AskToEnd
    }

    fn kill(&mut self, now: Instant) -> Step {
        self.rung = Rung::Killed { give_up_at: now.checked_add(KILL_PATIENCE) };
        Step::Kill
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock;

    fn ladder(now: Instant) -> Ladder {
        let limits = Limits {
            total_ms: 1_000,
            idle_ms: Some(300),
            grace_ms: 50,
            output_bytes: Some(10),
            ..Limits::default()
        };
        Ladder::new(&limits, now)
    }

    fn after(start: Instant, ms: u64) -> Instant {
        start + Duration::from_millis(ms)
    }

    #[test]
    fn silence_asks_then_kills_then_gives_up_and_each_only_once() {
        let start = clock::now();
        let mut ladder = ladder(start);
        assert_eq!(ladder.time_passed(after(start, 299)), Step::Nothing);
        assert_eq!(ladder.next_at(), Some(after(start, 300)));
        assert_eq!(ladder.time_passed(after(start, 300)), Step::AskToEnd);
        assert_eq!(ladder.time_passed(after(start, 349)), Step::Nothing);
        assert_eq!(ladder.time_passed(after(start, 350)), Step::Kill);
        assert_eq!(ladder.time_passed(after(start, 351)), Step::Nothing);
        assert_eq!(ladder.time_passed(after(start, 10_350)), Step::GiveUp);
        assert_eq!(ladder.ended_by(), Some(EndedBy::IdleLimit));
    }

    #[test]
    fn talking_puts_off_the_idle_limit_but_not_the_total_limit() {
        let start = clock::now();
        let mut ladder = Ladder { output_left: None, ..ladder(start) };
        for ms in (0..1_000).step_by(100) {
            assert_eq!(ladder.heard(1, after(start, ms)), Step::Nothing);
            assert_eq!(ladder.time_passed(after(start, ms)), Step::Nothing);
        }
        assert_eq!(ladder.time_passed(after(start, 1_000)), Step::AskToEnd);
        assert_eq!(ladder.ended_by(), Some(EndedBy::TotalLimit));
    }

    #[test]
    fn output_up_to_the_limit_is_fine_and_one_byte_more_is_not() {
        let start = clock::now();
        let mut ladder = ladder(start);
        assert_eq!(ladder.heard(10, start), Step::Nothing);
        assert_eq!(ladder.heard(1, start), Step::AskToEnd);
        assert_eq!(ladder.heard(1, start), Step::Nothing);
        assert_eq!(ladder.ended_by(), Some(EndedBy::OutputLimit));
    }

    #[test]
    fn a_second_stop_request_kills_at_once() {
        let start = clock::now();
        let mut ladder = ladder(start);
        assert_eq!(ladder.stop_requested(start), Step::AskToEnd);
        assert_eq!(ladder.stop_requested(start), Step::Kill);
        assert_eq!(ladder.stop_requested(start), Step::Nothing);
        assert_eq!(ladder.ended_by(), Some(EndedBy::StopRequest));
    }

    #[test]
    fn a_stop_request_after_a_limit_neither_shortens_the_grace_nor_hides_the_cause() {
        let start = clock::now();
        let mut ladder = ladder(start);
        assert_eq!(ladder.time_passed(after(start, 300)), Step::AskToEnd);
        assert_eq!(ladder.stop_requested(after(start, 301)), Step::Nothing);
        assert_eq!(ladder.ended_by(), Some(EndedBy::IdleLimit));
        assert_eq!(ladder.kill_requested(after(start, 302)), Step::Kill);
        assert_eq!(ladder.ended_by(), Some(EndedBy::IdleLimit));
    }
}
