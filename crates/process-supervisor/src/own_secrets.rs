//! Keeps what this process was told in confidence from its neighbours: out of the block of variables that the kernel shows
//! in `/proc`, and its memory closed to those who run as the same user. It must not know which variables are secret.
//!
//! Nothing here holds against whoever may look into every process; the sandbox takes that right from children.

use std::collections::BTreeMap;
use std::ffi::{CStr, OsStr, OsString, c_char};
use std::io;
use std::os::unix::ffi::OsStrExt;

use rustix::process::{DumpableBehavior, set_dumpable_behavior};

use crate::child_spec::COOKIE_VARIABLE;

#[expect(unsafe_code, reason = "the standard library does not say where a variable lies")]
unsafe extern "C" {
    /// What this process was started with, ended by a null pointer; libraries call it by this name everywhere.
    static environ: *const *mut c_char;
}

/// Hides every variable that is not `shown`, and closes this process to others. To be called before anything else is set
/// up, while this process has one thread. The variables stay readable from within.
///
/// A process inside a step is found by its cookie when its keeper is gone, so that stays to be seen, and so does the process.
pub fn keep_own_secrets(shown: impl Fn(&OsStr) -> bool) -> io::Result<()> {
    let told = told();
    let inside_a_step = told.iter().any(|entry| entry.name == COOKIE_VARIABLE);
    let hidden = told.into_iter().filter(|entry| entry.name != COOKIE_VARIABLE && !shown(&entry.name));
    move_away(hidden.collect());
    if inside_a_step {
        return Ok(());
    }
    Ok(set_dumpable_behavior(DumpableBehavior::NotDumpable)?)
}

/// One variable, and where the kernel put its value when the process began.
struct Told {
    name: OsString,
    value: OsString,
    place: *mut c_char,
}

fn told() -> Vec<Told> {
    let mut found = Vec::new();
    // SAFETY: there is one thread, so nobody changes the list meanwhile; it ends with a null pointer, and each of its texts
    // with a zero. A process may have been started without any list.
    #[expect(unsafe_code, reason = "the place of a variable is known by its address only")]
    unsafe {
        let mut next = environ;
        while !next.is_null() && !(*next).is_null() {
            let text = CStr::from_ptr(*next).to_bytes();
            // A name may begin with the sign and is never empty.
            if let Some(end) = text.iter().skip(1).position(|byte| *byte == b'=') {
                let (name, value) = (&text[..=end], &text[end + 2..]);
                let (name, value) = (OsStr::from_bytes(name).to_owned(), OsStr::from_bytes(value).to_owned());
                found.push(Told { name, value, place: (*next).add(end + 2) });
            }
            next = next.add(1);
        }
    }
    found
}

/// Copies lie in memory of ours, where the rest of the program finds them as ever; then the first places are overwritten.
fn move_away(hidden: Vec<Told>) {
    // One that was given twice is what it was told to be last.
    let last: BTreeMap<&OsString, &OsString> =
        hidden.iter().map(|entry| (&entry.name, &entry.value)).collect();
    for (name, value) in last {
        // SAFETY: there is one thread, so nobody reads variables meanwhile.
        #[expect(unsafe_code, reason = "changing a variable is unsafe where others might read it")]
        unsafe {
            std::env::remove_var(name);
            std::env::set_var(name, value);
        }
    }
    for entry in &hidden {
        // SAFETY: so many bytes were read from there, the place is this process's own stack, and the list of variables
        // points to the copy by now.
        #[expect(unsafe_code, reason = "the place of a variable is known by its address only")]
        unsafe {
            std::ptr::write_bytes(entry.place, 0, entry.value.len());
        }
    }
}
