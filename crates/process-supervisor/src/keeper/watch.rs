//! The keeper's loop: everything that can happen to a running child, in one place. It ends with the child dead, its
//! descendants dead, its logs complete and its end known; writing that down is the caller's.

use std::collections::HashSet;
use std::process::Child;
use std::time::{Duration, Instant};

use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, WaitStatus, kill_process, kill_process_group, waitid,
};
use tokio::signal::unix::{Signal as SignalStream, SignalKind, signal};

use super::descendants::{self, Reaped};
use super::ladder::{Ladder, Step};
use super::output::{Output, Printed};
use crate::cgroup::Cgroup;
use crate::child_end::{ChildEnd, EndedBy, HowEnded};
use crate::child_spec::{ChildSpec, Limits};
use crate::clock;
use crate::effect_dir::{ChildRecord, EffectDir};
use crate::error::SupervisorError;
use crate::family_size;
use crate::redaction::Redaction;

/// With no limit in sight the loop still wakes now and then; it costs nothing.
const FAR_AWAY: Duration = Duration::from_hours(1);

/// How often the number of processes and their memory are looked at, where they are limited.
const BETWEEN_SIZES: Duration = Duration::from_millis(100);

pub(super) struct Signals {
    stop: SignalStream,
    interrupt: SignalStream,
    kill: SignalStream,
    /// Listened to so that it does not end us: a closed terminal is no reason to end an agent.
    _hang_up: SignalStream,
    child_ended: SignalStream,
}

impl Signals {
    pub(super) fn listen() -> Result<Self, SupervisorError> {
        let listen = |kind| signal(kind).map_err(|source| SupervisorError::Signals { source });
        Ok(Self {
            stop: listen(SignalKind::terminate())?,
            interrupt: listen(SignalKind::interrupt())?,
            kill: listen(SignalKind::quit())?,
            _hang_up: listen(SignalKind::hangup())?,
            child_ended: listen(SignalKind::child())?,
        })
    }
}

enum Event {
    StopRequested,
    KillRequested,
    SomeChildEnded,
    Output(u64),
    TimePassed,
}

/// The child while it runs, and until its exit is known.
struct Watched {
    pid: Pid,
    status: Option<WaitStatus>,
    /// Who was still there when the child exited.
    leaked: HashSet<(u32, u64)>,
}

pub(super) async fn until_the_end(
    directory: &EffectDir,
    (spec, redaction, group): (&ChildSpec, &Redaction, Option<&Cgroup>),
    mut child: Child,
    recorded: Result<ChildRecord, SupervisorError>,
    mut signals: Signals,
) -> Result<ChildEnd, SupervisorError> {
    let started = clock::now();
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw).expect("the kernel's pids fit");
    let mut watched = Watched { pid, status: None, leaked: HashSet::new() };
    // A child nobody could find again must not run on: better none than one that is lost with the next crash.
    let output = Output::of(&mut child, directory, &spec.limits, redaction);
    let (Ok(record), Ok(mut output)) = (recorded, output) else {
        watched.signal_group(Signal::KILL);
        descendants::end_all(HashSet::new(), &mut signals.child_ended).await;
        return Ok(ChildEnd::without_run(HowEnded::Lost {
            reason: "its start could not be recorded".into(),
        }));
    };
    let mut ladder = Ladder::new(&spec.limits, started);
    watched.run((&mut ladder, &spec.limits, group), &mut output, &mut signals).await;
    let duration = clock::now().saturating_duration_since(started);
    drain(&mut output, Duration::from_millis(spec.limits.leak_ms)).await;
    let swept = descendants::end_all(watched.leaked, &mut signals.child_ended).await;
    let Printed { bytes: [stdout_bytes, stderr_bytes], lost } = output.finish();
    Ok(ChildEnd {
        how: how_ended(watched.status),
        ended_by: ladder.ended_by(),
        started_ms: record.started_ms,
        duration_ms: clock::whole_ms(duration),
        stdout_bytes,
        stderr_bytes,
        leaked_processes: swept.killed,
        surviving_processes: swept.surviving,
        sandbox: spec.sandbox.as_ref().map(|sandbox| sandbox.kind),
        output_lost: lost,
    })
}

impl Watched {
    /// Until the child has exited, or does not even die of SIGKILL.
    async fn run(
        &mut self,
        (ladder, limits, group): (&mut Ladder, &Limits, Option<&Cgroup>),
        output: &mut Output,
        signals: &mut Signals,
    ) {
        let watches_size = limits.memory_bytes.is_some() || limits.processes.is_some();
        let mut next_look = clock::now();
        // It may have exited before this loop looks for the first time, and its signal is sent only once.
        self.reap();
        while self.status.is_none() {
            let far_away = clock::after(FAR_AWAY);
            let look_at = if watches_size { next_look } else { far_away };
            let wake_at = ladder.next_at().map_or(far_away, |at| at.min(far_away)).min(look_at);
            let event = next_event(output, signals, wake_at).await;
            let now = clock::now();
            let step = match event {
                Event::StopRequested => ladder.stop_requested(now),
                Event::KillRequested => ladder.kill_requested(now),
                Event::Output(bytes) if bytes > 0 => ladder.heard(bytes, now),
                Event::SomeChildEnded | Event::Output(_) | Event::TimePassed => Step::Nothing,
            };
            let mut size = Step::Nothing;
            if watches_size && now >= next_look {
                // What the kernel took a member of from the group for is no less a limit that was passed.
                let starved = group.is_some_and(Cgroup::ran_out_of_memory).then_some(EndedBy::MemoryLimit);
                if let Some(why) = starved.or_else(|| family_size::passed(limits)) {
                    size = ladder.exceeded(why, now);
                }
                next_look = clock::after(BETWEEN_SIZES);
            }
            self.reap();
            // Limits are looked at after every event: a child that floods us must not keep the timer from its turn.
            for step in [step, size, ladder.time_passed(now)] {
                match step {
                    Step::Nothing => {}
                    Step::AskToEnd => {
                        self.signal_group(Signal::TERM);
                        // A stopped process would not hear the request before it is killed.
                        self.signal_group(Signal::CONT);
                    }
                    Step::Kill => self.signal_group(Signal::KILL),
                    Step::GiveUp => return,
                }
            }
        }
    }

    /// Reaps the child and the orphans we inherited, and kills the child's group once the child has exited.
    fn reap(&mut self) {
        let peek = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        if self.status.is_none() && matches!(waitid(WaitId::Pid(self.pid), peek), Ok(Some(_))) {
            // Before it is reaped: until then its pid, the name of its group, cannot pass to anybody else.
            self.leaked = descendants::living_besides(self.pid);
            self.signal_group(Signal::KILL);
        }
        while let Reaped::One(pid, status) = descendants::reap_one() {
            if pid == self.pid {
                self.status = Some(status);
                // For a child that exited between the look above and here. A group that is gone is what we want.
                let _ = kill_process_group(self.pid, Signal::KILL);
            }
        }
    }

    /// To the group and to the child itself, which may have moved to another group.
    fn signal_group(&self, signal: Signal) {
        if self.status.is_none() {
            // Whoever is already gone needs no signal.
            let _ = kill_process_group(self.pid, signal);
            let _ = kill_process(self.pid, signal);
        }
    }
}

async fn next_event(output: &mut Output, signals: &mut Signals, wake_at: Instant) -> Event {
    tokio::select! {
        biased;
        _ = signals.kill.recv() => Event::KillRequested,
        _ = signals.stop.recv() => Event::StopRequested,
        _ = signals.interrupt.recv() => Event::StopRequested,
        _ = signals.child_ended.recv() => Event::SomeChildEnded,
        bytes = output.take_some() => Event::Output(bytes),
        () = tokio::time::sleep_until(wake_at.into()) => Event::TimePassed,
    }
}

/// What is left in the pipes, for as long as a leaked descendant may delay the end.
async fn drain(output: &mut Output, leak_limit: Duration) {
    let until = clock::after(leak_limit);
    while !output.is_closed() && clock::now() < until {
        tokio::select! {
            biased;
            _ = output.take_some() => {}
            () = tokio::time::sleep_until(until.into()) => {}
        }
    }
}

fn how_ended(status: Option<WaitStatus>) -> HowEnded {
    let Some(status) = status else {
        return HowEnded::Lost { reason: "it did not end when it was killed".into() };
    };
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => HowEnded::Exited { code },
        (None, Some(signal)) => HowEnded::Signaled { signal },
        (None, None) => HowEnded::Lost { reason: "the kernel gave no exit status".into() },
    }
}
