//! Variables that must not stay in sight. What a process was started with can be read in `/proc` for as long as it lives, by
//! root even from inside a sandbox, and removing a variable does not change that. So the program becomes itself again
//! without them, under the same process id, and is handed them in a file that has no name and is emptied by reading.

use std::ffi::{OsStr, OsString};
use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::fd::AsRawFd as _;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use rustix::fs::{MemfdFlags, memfd_create};

/// The number of the descriptor they are handed over in.
const HANDED_OVER: &str = "WINDLASS_UNSEEN_VARIABLES";
const END: u8 = 0;

/// Does not return where any of these variables is in sight: the program begins again without them. To be called first,
/// while this process has one thread and has done nothing.
pub fn take_out_of_sight(words: &[OsString], secret: &[&str]) -> io::Result<()> {
    let seen: Vec<(&str, OsString)> = std::env::vars_os()
        .filter_map(|(name, value)| Some((*secret.iter().find(|known| name == **known)?, value)))
        .collect();
    let Some(program) = words.first().filter(|_| !seen.is_empty()) else { return Ok(()) };
    // Not closed on exec: it is for whom we become.
    let mut file = File::from(memfd_create("variables", MemfdFlags::empty())?);
    for (name, value) in &seen {
        file.write_all(&[name.as_bytes(), b"=", value.as_bytes(), &[END]].concat())?;
    }
    #[expect(clippy::disallowed_methods, reason = "this process becomes itself again; it starts no other")]
    let mut again = Command::new(std::env::current_exe()?);
    again.arg0(program).args(&words[1..]).env(HANDED_OVER, file.as_raw_fd().to_string());
    for (name, _) in &seen {
        again.env_remove(name);
    }
    Err(again.exec())
}

/// The variables this process was started with, and those that were taken out of sight before.
pub fn all_variables() -> impl Iterator<Item = (OsString, OsString)> {
    let (handed_over, seen): (Vec<_>, Vec<_>) =
        std::env::vars_os().partition(|(name, _)| name == HANDED_OVER);
    let unseen = handed_over.into_iter().flat_map(|(_, number)| read(&number).unwrap_or_default());
    seen.into_iter().chain(unseen)
}

/// Reads them once: what is left of the file is empty, for whoever inherits it.
fn read(number: &OsStr) -> io::Result<Vec<(OsString, OsString)>> {
    let path = std::path::Path::new("/proc/self/fd").join(number);
    let mut content = Vec::new();
    File::open(&path)?.read_to_end(&mut content)?;
    OpenOptions::new().write(true).open(&path)?.set_len(0)?;
    let variable = |line: &[u8]| {
        let place = line.iter().position(|byte| *byte == b'=')?;
        let (name, value) = (line[..place].to_vec(), line[place + 1..].to_vec());
        Some((OsString::from_vec(name), OsString::from_vec(value)))
    };
    Ok(content.split(|byte| *byte == END).filter_map(variable).collect())
}
