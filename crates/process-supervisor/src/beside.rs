//! Threads for work that blocks, with an owner that waits for them. A user may have only so many processes and threads
//! (`RLIMIT_NPROC`), and the standard library and the runtime panic where there is no room for one more: here a thread that
//! only saves time is done without, and one that is needed is an error.

use std::io;
use std::panic::resume_unwind;
use std::sync::{Mutex, PoisonError};
use std::thread::{Builder, JoinHandle, scope};

use tokio::sync::oneshot;

/// Does both, `beside` on a thread of its own, or after `here` where none could be started.
pub fn side_by_side<A, B: Send>(here: impl FnOnce() -> A, beside: impl FnOnce() -> B + Send) -> (A, B) {
    let waiting = Mutex::new(Some(beside));
    let taken = || waiting.lock().unwrap_or_else(PoisonError::into_inner).take();
    scope(|scope| {
        let thread = Builder::new().spawn_scoped(scope, || taken().map(|work| work()));
        let here = here();
        let beside = match (thread, taken()) {
            // Nobody was there to take it, or has come to it yet.
            (_, Some(work)) => Some(work()),
            (Ok(thread), None) => thread.join().unwrap_or_else(|panic| resume_unwind(panic)),
            (Err(_), None) => None,
        };
        (here, beside.expect("what was not left here was taken by the thread"))
    })
}

/// Does the work for each of them, side by side, and all of it whatever fails; the first failure in their order.
pub fn each_side_by_side<T: Sync, E: Send>(
    items: &[T],
    work: &(impl Fn(&T) -> Result<(), E> + Sync),
) -> Result<(), E> {
    match items {
        [] => Ok(()),
        [only] => work(only),
        several => {
            let (first, second) = several.split_at(several.len() / 2);
            let (first, second) =
                side_by_side(|| each_side_by_side(first, work), || each_side_by_side(second, work));
            first.and(second)
        }
    }
}

/// Begins work that would hold up the runtime, on a thread of its own. An error where none can be started.
pub fn aside<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> io::Result<Aside<T>> {
    let (tell, told) = oneshot::channel();
    let thread = Builder::new().name("aside".to_owned()).spawn(move || {
        // Whoever waited may have stopped waiting.
        let _ = tell.send(work());
    })?;
    Ok(Aside { told, thread: Some(thread) })
}

/// Work under way on its own thread. Whoever drops this waits for the end of it: a program must not end in the middle.
#[derive(Debug)]
pub struct Aside<T> {
    told: oneshot::Receiver<T>,
    thread: Option<JoinHandle<()>>,
}

impl<T> Aside<T> {
    /// What came of it; a panic in there goes on here.
    pub async fn done(mut self) -> T {
        match (&mut self.told).await {
            Ok(result) => result,
            Err(_) => match self.thread.take().map(JoinHandle::join) {
                Some(Err(panic)) => resume_unwind(panic),
                Some(Ok(())) | None => unreachable!("a thread that ends has told its result"),
            },
        }
    }
}

impl<T> Drop for Aside<T> {
    fn drop(&mut self) {
        if let Some(thread) = self.thread.take() {
            // A panic in there was seen by whoever waited, or nobody cares.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn both_are_under_way_at_once() {
        let (to_here, here) = channel();
        let (to_beside, beside) = channel();
        let done = side_by_side(
            move || {
                let heard: i32 = here.recv().unwrap();
                to_beside.send(heard + 1).unwrap();
                heard
            },
            move || {
                to_here.send(1).unwrap();
                beside.recv().unwrap()
            },
        );
        assert_eq!(done, (1, 2));
    }

    #[test]
    fn each_is_done_and_the_first_failure_is_told() {
        let done = Mutex::new(Vec::new());
        let failed = each_side_by_side(&[1, 2, 3, 4, 5], &|number| {
            done.lock().unwrap().push(*number);
            if number % 2 == 0 { Err(*number) } else { Ok(()) }
        });
        let mut done = done.into_inner().unwrap();
        done.sort_unstable();
        assert_eq!((failed, done), (Err(2), vec![1, 2, 3, 4, 5]));
    }

    #[test]
    fn work_aside_that_nobody_waits_for_any_more_is_waited_for_all_the_same() {
        let (done, is_done) = channel();
        let work = aside(move || done.send(()).unwrap()).unwrap();
        drop(work);
        assert_eq!(is_done.try_recv(), Ok(()));
    }
}
