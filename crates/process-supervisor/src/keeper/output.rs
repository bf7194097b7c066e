//! Both output pipes of the child, drained into their bounded logs. It never waits for the end of a stream: a daemon
//! that keeps one open is a matter for whoever asked.

use std::io;
use std::os::fd::OwnedFd;
use std::process::Child;

use tokio::net::unix::pipe::Receiver;

use crate::bounded_log::{BoundedLog, LogFiles};
use crate::child_spec::Limits;
use crate::effect_dir::{EffectDir, Stream};
use crate::redaction::Redaction;

/// Enough to empty a pipe in one read.
const CHUNK: usize = 64 * 1024;

/// What is known of both streams when they have ended.
pub(super) struct Printed {
    pub(super) bytes: [u64; 2],
    /// Why not all that should be kept is.
    pub(super) lost: Option<String>,
}

pub(super) struct Output {
    pipes: [Option<Receiver>; 2],
    logs: [io::Result<BoundedLog>; 2],
    /// Takes secrets out on the way to the logs.
    redactions: [Redaction; 2],
    seen: [u64; 2],
    /// Made when there is something to read: of many agents most say nothing for most of the time.
    chunk: Vec<u8>,
}

impl Output {
    /// Takes the pipes. A log that cannot be made is done without, and named in the end: the child runs already.
    pub(super) fn of(
        child: &mut Child,
        directory: &EffectDir,
        limits: &Limits,
        redaction: &Redaction,
    ) -> io::Result<Self> {
        let stdout = child.stdout.take().expect("stdout was asked to be a pipe");
        let stderr = child.stderr.take().expect("stderr was asked to be a pipe");
        Ok(Self {
            pipes: [
                Some(Receiver::from_owned_fd(OwnedFd::from(stdout))?),
                Some(Receiver::from_owned_fd(OwnedFd::from(stderr))?),
            ],
            logs: Stream::BOTH.map(|stream| BoundedLog::create(LogFiles::new(directory, stream, limits))),
            redactions: [redaction.clone(), redaction.clone()],
            seen: [0; 2],
            chunk: Vec::new(),
        })
    }

    pub(super) fn is_closed(&self) -> bool {
        self.pipes.iter().all(Option::is_none)
    }

    /// Takes what is there on either stream and returns how much it was; 0 when a stream has ended. Pending for ever
    /// when both have.
    pub(super) async fn take_some(&mut self) -> u64 {
        let which = tokio::select! {
            () = readable(self.pipes[0].as_ref()) => 0,
            () = readable(self.pipes[1].as_ref()) => 1,
        };
        let Some(pipe) = &self.pipes[which] else { return 0 };
        self.chunk.resize(CHUNK, 0);
        match pipe.try_read(&mut self.chunk) {
            Ok(0) => self.pipes[which] = None,
            Ok(count) => {
                if let Ok(log) = &mut self.logs[which] {
                    log.take(&self.redactions[which].pass(&self.chunk[..count]));
                }
                self.seen[which] += count as u64;
                return count as u64;
            }
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {}
            // A pipe that cannot be read will not get better.
            Err(_) => self.pipes[which] = None,
        }
        0
    }

    /// Closes the pipes and completes the logs. The end of the child must be recorded even if the disk is full; but what
    /// a suite printed is what it is judged by, so that whoever reads a log has to know whether all of it is there.
    pub(super) fn finish(self) -> Printed {
        drop(self.pipes);
        let mut lost = None;
        for (log, mut redaction) in self.logs.into_iter().zip(self.redactions) {
            let kept = log.and_then(|mut log| {
                log.take(&redaction.rest());
                log.finish()
            });
            lost = lost.or(kept.err().map(|error| error.to_string()));
        }
        Printed { bytes: self.seen, lost }
    }
}

async fn readable(pipe: Option<&Receiver>) {
    match pipe {
        // An error shows again, and is dealt with, when the pipe is read.
        Some(pipe) => drop(pipe.readable().await),
        None => std::future::pending().await,
    }
}
