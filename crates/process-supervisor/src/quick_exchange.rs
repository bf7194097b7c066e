//! The poll loop behind a quick command: feeds the input, drains both outputs and watches the exit on one thread, so
//! that no full pipe can block another.

use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::process::{Child, ChildStdin, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};

use super::{QuickCommand, QuickError, QuickOutput};
use crate::child_end::NotStartedKind;
use crate::clock;
use crate::launch::{Group, Launch};

/// How long a daemon that a helper left behind may hold our pipes open after the helper has exited.
const LEAK_LIMIT: Duration = Duration::from_millis(200);
const CHUNK: usize = 16 * 1024;

pub(super) fn run(command: &QuickCommand) -> Result<QuickOutput, QuickError> {
    let failed = |source: io::Error| QuickError::Io { command: command.shown(), source };
    let launch = Launch {
        program: &command.program,
        args: &command.args,
        directory: &command.directory,
        environment: &command.environment,
        group: Group::Own,
    };
    let mut process = launch.command().map_err(|refused| match refused.kind {
        NotStartedKind::NotFound => QuickError::NotFound { program: command.program.clone() },
        NotStartedKind::NotExecutable | NotStartedKind::NoRoom | NotStartedKind::Other => {
            failed(io::Error::other(refused))
        }
    })?;
    let input = if command.stdin.is_empty() { Stdio::null() } else { Stdio::piped() };
    process.stdin(input).stdout(Stdio::piped()).stderr(Stdio::piped());
    let deadline = clock::after(command.deadline);
    let mut group = GroupGuard { child: process.spawn().map_err(failed)?, reaped: false };
    let ended = Exchange::new(&mut group.child, command)
        .and_then(|exchange| exchange.run(deadline))
        .map_err(failed)?;
    let status = group.end().map_err(failed)?;
    match ended {
        Ended::Exited { stdout, stderr } => Ok(QuickOutput { status, stdout, stderr }),
        Ended::Deadline => Err(QuickError::Deadline { command: command.shown(), deadline: command.deadline }),
        Ended::OutputLimit => {
            Err(QuickError::OutputLimit { command: command.shown(), limit: command.output_limit })
        }
    }
}

/// Whatever way the exchange ends, the group is killed and the program reaped.
struct GroupGuard {
    child: Child,
    reaped: bool,
}

impl GroupGuard {
    fn end(&mut self) -> io::Result<ExitStatus> {
        // Until the program is reaped its pid, which is also the id of its group, cannot belong to anybody else.
        if !std::mem::replace(&mut self.reaped, true)
            && let Some(group) = pid_of(&self.child)
        {
            // A group that is already empty is what we want.
            let _ = kill_process_group(group, Signal::KILL);
        }
        self.child.wait()
    }
}

impl Drop for GroupGuard {
    fn drop(&mut self) {
        // Does something only after an error that is already on its way to the caller.
        let _ = self.end();
    }
}

fn pid_of(child: &Child) -> Option<Pid> {
    i32::try_from(child.id()).ok().and_then(Pid::from_raw)
}

enum Ended {
    Exited { stdout: Vec<u8>, stderr: Vec<u8> },
    Deadline,
    OutputLimit,
}

struct Exchange<'a> {
    input: Option<ChildStdin>,
    unsent: &'a [u8],
    outputs: [Output; 2],
    exit: OwnedFd,
    output_limit: usize,
}

struct Output {
    pipe: Option<Box<dyn Pipe>>,
    bytes: Vec<u8>,
}

trait Pipe: Read + AsFd {}
impl<P: Read + AsFd> Pipe for P {}

impl<'a> Exchange<'a> {
    fn new(child: &mut Child, command: &'a QuickCommand) -> io::Result<Self> {
        let pid = pid_of(child).ok_or_else(|| io::Error::other("the child has no usable pid"))?;
        let stdout = child.stdout.take().expect("stdout was asked to be a pipe");
        let stderr = child.stderr.take().expect("stderr was asked to be a pipe");
        let input = child.stdin.take();
        if let Some(pipe) = &input {
            rustix::io::ioctl_fionbio(pipe, true)?;
        }
        rustix::io::ioctl_fionbio(&stdout, true)?;
        rustix::io::ioctl_fionbio(&stderr, true)?;
        Ok(Self {
            input,
            unsent: &command.stdin,
            outputs: [Output::new(Box::new(stdout)), Output::new(Box::new(stderr))],
            exit: pidfd_open(pid, PidfdFlags::empty())?,
            output_limit: command.output_limit,
        })
    }

    fn run(mut self, deadline: Instant) -> io::Result<Ended> {
        let mut leak_deadline = None;
        loop {
            let until = leak_deadline.unwrap_or(deadline);
            let ready = self.wait(until, leak_deadline.is_some())?;
            if ready.input {
                self.feed()?;
            }
            for (output, readable) in self.outputs.iter_mut().zip(ready.outputs) {
                if readable {
                    output.drain_once()?;
                }
                if output.bytes.len() > self.output_limit {
                    return Ok(Ended::OutputLimit);
                }
            }
            if leak_deadline.is_none() && ready.exit {
                self.input = None;
                leak_deadline = Some(clock::after(LEAK_LIMIT));
            }
            let now = clock::now();
            let all_read = self.outputs.iter().all(|output| output.pipe.is_none());
            if leak_deadline.is_some_and(|leak| all_read || now >= leak) {
                let [stdout, stderr] = self.outputs;
                return Ok(Ended::Exited { stdout: stdout.bytes, stderr: stderr.bytes });
            }
            if leak_deadline.is_none() && now >= deadline {
                return Ok(Ended::Deadline);
            }
        }
    }

    fn wait(&self, until: Instant, exited: bool) -> io::Result<Ready> {
        let interests: [(Option<BorrowedFd<'_>>, PollFlags); 4] = [
            (self.input.as_ref().map(AsFd::as_fd), PollFlags::OUT),
            (self.outputs[0].pipe.as_ref().map(|pipe| pipe.as_fd()), PollFlags::IN),
            (self.outputs[1].pipe.as_ref().map(|pipe| pipe.as_fd()), PollFlags::IN),
            ((!exited).then(|| self.exit.as_fd()), PollFlags::IN),
        ];
        let mut polled: Vec<PollFd<'_>> = Vec::with_capacity(interests.len());
        let mut places = [None; 4];
        for (place, (descriptor, flags)) in places.iter_mut().zip(interests) {
            if let Some(descriptor) = descriptor {
                *place = Some(polled.len());
                polled.push(PollFd::from_borrowed_fd(descriptor, flags));
            }
        }
        let left = until.saturating_duration_since(clock::now());
        let timeout = Timespec::try_from(left).map_err(io::Error::other)?;
        match poll(&mut polled, Some(&timeout)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let [input, stdout, stderr, exit] =
            places.map(|place| place.is_some_and(|index| !polled[index].revents().is_empty()));
        Ok(Ready { input, outputs: [stdout, stderr], exit })
    }

    fn feed(&mut self) -> io::Result<()> {
        let Some(pipe) = &mut self.input else {
            return Ok(());
        };
        match pipe.write(self.unsent) {
            Ok(written) => self.unsent = &self.unsent[written..],
            Err(error) if is_passing(&error) => {}
            // A program need not read its input to the end.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => self.unsent = &[],
            Err(error) => return Err(error),
        }
        if self.unsent.is_empty() {
            self.input = None;
        }
        Ok(())
    }
}

struct Ready {
    input: bool,
    outputs: [bool; 2],
    exit: bool,
}

impl Output {
    fn new(pipe: Box<dyn Pipe>) -> Self {
        Self { pipe: Some(pipe), bytes: Vec::new() }
    }

    fn drain_once(&mut self) -> io::Result<()> {
        let Some(pipe) = &mut self.pipe else { return Ok(()) };
        let mut chunk = [0; CHUNK];
        match pipe.read(&mut chunk) {
            Ok(0) => self.pipe = None,
            Ok(count) => self.bytes.extend_from_slice(&chunk[..count]),
            Err(error) if is_passing(&error) => {}
            Err(error) => return Err(error),
        }
        Ok(())
    }
}

fn is_passing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}
