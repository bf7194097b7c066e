//! Places at which a test may kill the process with SIGKILL, counted so that a test can visit every one of them, and the
//! wall clock as a test sets it.
//! The code that is marked knows only the name it gives; a release build contains no counter at all.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::time::Duration;

/// Marks one place where a crash must do no harm.
///
/// With `WINDLASS_CRASH_AT=n` in the environment the n-th place reached kills this process. With
/// `WINDLASS_CRASH_LOG=file` each place reached is appended to that file as `n name`, which is how a test learns
/// how many there are.
#[inline]
pub fn reach(name: &'static str) {
    #[cfg(debug_assertions)]
    counted::reach(name);
    #[cfg(not(debug_assertions))]
    let _ = name;
}

/// What a child of ours that has such places itself must find in its environment; empty outside tests.
///
/// With `WINDLASS_CRASH_CHILD=c:n` the c-th child that asks is killed at the n-th place it reaches. With
/// `WINDLASS_CRASH_CHILD_LOG=file` the c-th child writes the places it reaches to `file.c`.
pub fn child_environment() -> BTreeMap<OsString, OsString> {
    #[cfg(debug_assertions)]
    return counted::child_environment();
    #[cfg(not(debug_assertions))]
    BTreeMap::new()
}

/// The wall clock as a test has set it: `real` outside tests.
///
/// With `WINDLASS_TEST_CLOCK=file` that file says at every look what the clock shows: `+ms` and `-ms` are added to the
/// machine's, `=ms` is a clock that stands still. A file that is not there leaves the machine's.
#[inline]
pub fn wall_clock(real: Duration) -> Duration {
    #[cfg(debug_assertions)]
    return set_clock::wall_clock(real);
    #[cfg(not(debug_assertions))]
    real
}

#[cfg(debug_assertions)]
mod set_clock {
    use std::path::PathBuf;
    use std::sync::OnceLock;
    use std::time::Duration;

    static FILE: OnceLock<Option<PathBuf>> = OnceLock::new();

    #[expect(
        clippy::disallowed_methods,
        reason = "a test hook, not a setting: it must work below host/settings"
    )]
    pub(super) fn wall_clock(real: Duration) -> Duration {
        let file = FILE.get_or_init(|| std::env::var_os("WINDLASS_TEST_CLOCK").map(PathBuf::from));
        let text = file.as_ref().and_then(|file| std::fs::read_to_string(file).ok()).unwrap_or_default();
        shown(real, text.trim()).unwrap_or(real)
    }

    fn shown(real: Duration, text: &str) -> Option<Duration> {
        let (how, millis) = text.split_at_checked(1)?;
        let millis = Duration::from_millis(millis.parse().ok()?);
        match how {
            "+" => Some(real + millis),
            "-" => Some(real.saturating_sub(millis)),
            "=" => Some(millis),
            _ => None,
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn a_clock_goes_ahead_or_behind_or_stands() {
            let real = Duration::from_secs(5);
            let millis = |text| shown(real, text).map(|time| time.as_millis());
            assert_eq!(millis("+10"), Some(5010));
            assert_eq!(millis("-10"), Some(4990));
            assert_eq!(millis("=10"), Some(10));
            assert_eq!([millis(""), millis("10"), millis("+x")], [None; 3]);
        }
    }
}

#[cfg(debug_assertions)]
mod counted {
    use std::collections::BTreeMap;
    use std::ffi::OsString;
    use std::io::Write;
    use std::path::PathBuf;
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicU64, Ordering};

    struct Plan {
        crash_at: Option<u64>,
        log: Option<PathBuf>,
    }

    static PLAN: OnceLock<Plan> = OnceLock::new();
    static REACHED: AtomicU64 = AtomicU64::new(0);
    static CHILDREN: AtomicU64 = AtomicU64::new(0);

    #[expect(
        clippy::disallowed_methods,
        reason = "a test hook, not a setting: it must work below host/settings"
    )]
    fn plan() -> &'static Plan {
        PLAN.get_or_init(|| Plan {
            crash_at: std::env::var("WINDLASS_CRASH_AT").ok().and_then(|text| text.parse().ok()),
            log: std::env::var_os("WINDLASS_CRASH_LOG").map(PathBuf::from),
        })
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "a test hook, not a setting: it must work below host/settings"
    )]
    pub(super) fn child_environment() -> BTreeMap<OsString, OsString> {
        let child = CHILDREN.fetch_add(1, Ordering::SeqCst) + 1;
        let mut environment = BTreeMap::new();
        let wanted = std::env::var("WINDLASS_CRASH_CHILD").unwrap_or_default();
        match wanted.split_once(':') {
            Some((which, place)) if which.parse() == Ok(child) => {
                environment.insert("WINDLASS_CRASH_AT".into(), place.into());
            }
            _ => {}
        }
        if let Some(mut log) = std::env::var_os("WINDLASS_CRASH_CHILD_LOG") {
            log.push(format!(".{child}"));
            environment.insert("WINDLASS_CRASH_LOG".into(), log);
        }
        environment
    }

    pub(super) fn reach(name: &'static str) {
        let plan = plan();
        if plan.crash_at.is_none() && plan.log.is_none() {
            return;
        }
        let number = REACHED.fetch_add(1, Ordering::SeqCst) + 1;
        if let Some(log) = &plan.log {
            // A log that cannot be written shows as a test that finds no places; the run itself must go on.
            if let Ok(mut file) = std::fs::OpenOptions::new().create(true).append(true).open(log) {
                // One write: threads that reach places together must not tear each other's lines.
                let _ = file.write_all(format!("{number} {name}\n").as_bytes());
            }
        }
        if plan.crash_at == Some(number) {
            let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
        }
    }
}
