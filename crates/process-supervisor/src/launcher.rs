//! The launcher: a process of ours that enters the fence of its child and then becomes it. Started by a keeper where the fence
//! cannot be put up from a thread, and by whoever wants to know whether it can be put up at all.

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::Path;

use rustix::io::{FdFlags, fcntl_setfd};

use crate::sandbox::{DEVICES, namespaces};

/// The hidden command of our program: alone it only tries; else a descriptor for bad news, the number of places, the places,
/// the program and its arguments.
pub(crate) const LAUNCH_COMMAND: &str = "__launch";

/// Whatever went wrong before the program began.
const FAILED: u8 = 1;

/// The words after the hidden command. Comes back only when the program did not begin.
pub fn launch(words: &[OsString]) -> u8 {
    let Some(order) = Order::read(words) else {
        return tell_the_shell(namespaces::enter(std::iter::empty()));
    };
    let failed = order.carry_out();
    // The keeper reads this as the reason; it is gone when nobody does.
    let _ = std::fs::File::from(order.bad_news).write_all(failed.to_string().as_bytes());
    FAILED
}

#[expect(clippy::print_stderr, reason = "standard error is where the one who tries looks for the reason")]
fn tell_the_shell(tried: io::Result<()>) -> u8 {
    match tried {
        Ok(()) => 0,
        Err(error) => {
            eprintln!("a user and mount namespace cannot be made: {error}");
            FAILED
        }
    }
}

struct Order<'a> {
    bad_news: OwnedFd,
    places: &'a [OsString],
    program: &'a OsString,
    name: &'a OsString,
    arguments: &'a [OsString],
}

impl<'a> Order<'a> {
    fn read(words: &'a [OsString]) -> Option<Self> {
        let (descriptor, rest) = words.split_first()?;
        let (count, rest) = rest.split_first()?;
        let (places, rest) = rest.split_at_checked(count.to_str()?.parse().ok()?)?;
        let [program, name, arguments @ ..] = rest else { return None };
        let number = descriptor.to_str()?.parse().ok().filter(|number| *number > 2)?;
        // SAFETY: the keeper opened it for us and nobody else in this process knows of it.
        #[expect(unsafe_code, reason = "an inherited descriptor is known by its number only")]
        let bad_news = unsafe { OwnedFd::from_raw_fd(number) };
        Some(Self { bad_news, places, program, name, arguments })
    }

    /// Comes back with the reason why the program is not running in our place.
    #[expect(clippy::disallowed_methods, reason = "this process becomes the child; it starts no other")]
    fn carry_out(&self) -> io::Error {
        let become_it = || {
            let here = std::env::current_dir()?;
            fcntl_setfd(&self.bad_news, FdFlags::CLOEXEC)?;
            namespaces::enter(self.places.iter().map(Path::new))?;
            // The place itself is another one now, under the same name.
            std::env::set_current_dir(here)?;
            Ok(std::process::Command::new(self.program).arg0(self.name).args(self.arguments).exec())
        };
        become_it().unwrap_or_else(|error: io::Error| error)
    }
}

/// The words that make our program the launcher of this one.
pub(crate) fn words<'a>(
    bad_news: &impl AsFd,
    places: impl Iterator<Item = &'a Path>,
    (program, name, arguments): (&Path, &Path, &[OsString]),
) -> Vec<OsString> {
    let mut places: Vec<OsString> = places.map(|place| place.as_os_str().to_owned()).collect();
    places.extend(DEVICES.map(OsString::from));
    let mut words = vec![
        LAUNCH_COMMAND.into(),
        bad_news.as_fd().as_raw_fd().to_string().into(),
        places.len().to_string().into(),
    ];
    words.extend(places);
    words.extend([program.as_os_str().to_owned(), name.as_os_str().to_owned()]);
    words.extend(arguments.iter().cloned());
    words
}

/// Waits until the program runs, or for the reason why it does not.
pub(crate) fn heard(bad_news: OwnedFd) -> Option<String> {
    let mut reason = String::new();
    // What cannot be read is no news; the exit code of the launcher is one.
    let _ = std::fs::File::from(bad_news).read_to_string(&mut reason);
    (!reason.is_empty()).then_some(reason)
}
