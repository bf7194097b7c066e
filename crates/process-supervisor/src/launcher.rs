//! The launcher: a process of ours that enters the fence of its child and then becomes it. Started by a keeper where the fence
//! cannot be put up from a thread, and by whoever wants to know whether it can be put up at all.

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};

use rustix::io::{FdFlags, fcntl_setfd};

use crate::child_spec::OverlayMount;
use crate::sandbox::{DEVICES, Sandbox, SandboxKind, landlock, namespaces, overlay_mount};

/// The hidden command of our program: alone it only tries; else a descriptor for bad news, by what means to fence it in, the
/// number of layers with the layers, the number of places with the places, the program and its arguments.
pub(crate) const LAUNCH_COMMAND: &str = "__launch";
/// Tries whether a directory can be put together from layers, in the one that is named.
pub(crate) const TRY_OVERLAY: &str = "try-overlay";
/// By no means.
const UNFENCED: &str = "none";

/// Whatever went wrong before the program began.
const FAILED: u8 = 1;

/// The words after the hidden command. Comes back only when the program did not begin.
pub fn launch(words: &[OsString]) -> u8 {
    if let [word, directory] = words
        && word == TRY_OVERLAY
    {
        return tell_the_shell(overlay_mount::trial(Path::new(directory)));
    }
    let Some(order) = Order::read(words) else {
        let tried = namespaces::own_mounts().and_then(|whose| namespaces::fence(whose, std::iter::empty()));
        return tell_the_shell(tried);
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
    fence: Option<SandboxKind>,
    overlay: Option<OverlayMount>,
    places: &'a [OsString],
    program: &'a OsString,
    name: &'a OsString,
    arguments: &'a [OsString],
}

impl<'a> Order<'a> {
    fn read(words: &'a [OsString]) -> Option<Self> {
        let (descriptor, rest) = words.split_first()?;
        let (fence, rest) = rest.split_first()?;
        let fence = SandboxKind::ALL.into_iter().find(|kind| fence == kind.word());
        let (layers, rest) = counted(rest)?;
        let overlay = match layers {
            [] => None,
            [place, upper, work, lower @ ..] => Some(OverlayMount {
                place: place.into(),
                lower: lower.iter().map(PathBuf::from).collect(),
                upper: upper.into(),
                work: work.into(),
            }),
            _ => return None,
        };
        let (places, rest) = counted(rest)?;
        let [program, name, arguments @ ..] = rest else { return None };
        let number = descriptor.to_str()?.parse().ok().filter(|number| *number > 2)?;
        // SAFETY: the keeper opened it for us and nobody else in this process knows of it.
        #[expect(unsafe_code, reason = "an inherited descriptor is known by its number only")]
        let bad_news = unsafe { OwnedFd::from_raw_fd(number) };
        Some(Self { bad_news, fence, overlay, places, program, name, arguments })
    }

    /// Comes back with the reason why the program is not running in our place.
    #[expect(clippy::disallowed_methods, reason = "this process becomes the child; it starts no other")]
    fn carry_out(&self) -> io::Error {
        let become_it = || {
            let here = std::env::current_dir()?;
            fcntl_setfd(&self.bad_news, FdFlags::CLOEXEC)?;
            self.enter()?;
            // The place itself is another one now, under the same name.
            std::env::set_current_dir(here)?;
            Ok(std::process::Command::new(self.program).arg0(self.name).args(self.arguments).exec())
        };
        become_it().unwrap_or_else(|error: io::Error| error)
    }

    fn enter(&self) -> io::Result<()> {
        let whose = namespaces::own_mounts()?;
        if let Some(overlay) = &self.overlay {
            overlay_mount::mount(overlay)
                .map_err(|error| io::Error::new(error.kind(), format!("its layers: {error}")))?;
        }
        let places = self.places.iter().map(Path::new);
        match (self.fence, &self.overlay) {
            (Some(SandboxKind::Namespaces), _) => namespaces::fence(whose, places),
            (Some(SandboxKind::Landlock), _) => landlock::restrict_this_thread(places),
            // What others see too stays as it is, at least against mistakes.
            (None, Some(overlay)) => namespaces::make_read_only(overlay.lower.iter().map(PathBuf::as_path)),
            (None, None) => Ok(()),
        }
    }
}

/// So many words as the first one says, and the rest.
fn counted(words: &[OsString]) -> Option<(&[OsString], &[OsString])> {
    let (count, rest) = words.split_first()?;
    rest.split_at_checked(count.to_str()?.parse().ok()?)
}

/// The words that make our program the launcher of this one.
pub(crate) fn words(
    bad_news: &impl AsFd,
    (sandbox, overlay): (Option<&Sandbox>, Option<&OverlayMount>),
    (program, name, arguments): (&Path, &Path, &[OsString]),
) -> Vec<OsString> {
    let layers: Vec<OsString> = overlay.map_or_else(Vec::new, |overlay| {
        let own = [&overlay.place, &overlay.upper, &overlay.work];
        own.into_iter().chain(&overlay.lower).map(OsString::from).collect()
    });
    let places: Vec<OsString> = sandbox.map_or_else(Vec::new, |sandbox| {
        sandbox.writable.iter().map(OsString::from).chain(DEVICES.map(OsString::from)).collect()
    });
    let fence = sandbox.map_or(UNFENCED, |sandbox| sandbox.kind.word());
    let mut words =
        vec![LAUNCH_COMMAND.into(), bad_news.as_fd().as_raw_fd().to_string().into(), fence.into()];
    for list in [layers, places] {
        words.push(list.len().to_string().into());
        words.extend(list);
    }
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
