//! What a kept child is to be: program, directory, complete environment, limits. Plain data; it is stored in the
//! effect directory so that the keeper needs nothing else.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::os_text;
use crate::sandbox::Sandbox;

/// The variable that marks every process of an effect, so that one that escaped its keeper can still be found.
pub const COOKIE_VARIABLE: &str = "WINDLASS_COOKIE";

/// Everything the keeper needs to start and bound one child.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChildSpec {
    /// A name without a slash is looked up in the `PATH` of `environment`. No shell is ever involved.
    #[serde(with = "os_text::path")]
    pub program: PathBuf,
    #[serde(with = "os_text::list")]
    pub args: Vec<OsString>,
    #[serde(with = "os_text::path")]
    pub directory: PathBuf,
    /// Complete: the child inherits nothing from the keeper or the engine.
    #[serde(with = "os_text::map")]
    pub environment: BTreeMap<OsString, OsString>,
    /// Names of further variables, whose values the keeper has in its own environment: they are never stored, and are
    /// taken out of what the child prints.
    #[serde(default, with = "os_text::list")]
    pub secret_names: Vec<OsString>,
    pub stdin: ChildStdin,
    pub limits: Limits,
    /// `None` for a child that may write wherever its user may.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sandbox: Option<Sandbox>,
    /// A directory that is there for this child and what it starts, and for nobody else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overlay: Option<OverlayMount>,
    /// Must be unique to the effect; it is given to the child as `WINDLASS_COOKIE`.
    pub cookie: String,
    /// For a child whose work is paid for: even after a power cut it is never started a second time, and when its end is
    /// known so is all that it wrote.
    #[serde(default)]
    pub outlasts_power_cuts: bool,
}

/// A directory put together from layers. Whatever is changed in it is written to `upper`; the layers below stay as they are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OverlayMount {
    /// Where the child finds it: a directory that is there.
    #[serde(with = "os_text::path")]
    pub place: PathBuf,
    /// What the first one has hides what the others have in the same place.
    #[serde(with = "os_text::paths")]
    pub lower: Vec<PathBuf>,
    #[serde(with = "os_text::path")]
    pub upper: PathBuf,
    /// The kernel's own, on the same file system as `upper`.
    #[serde(with = "os_text::path")]
    pub work: PathBuf,
}

/// Where the child reads its input.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "from", rename_all = "snake_case")]
pub enum ChildStdin {
    /// Reads end-of-file at once.
    Nothing,
    /// The file itself becomes descriptor 0, so it is fed and then ends without anybody having to pump it.
    File {
        #[serde(with = "os_text::path")]
        path: PathBuf,
    },
}

/// The bounds of one child. All times are on the monotonic clock.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// From start to the polite signal.
    pub total_ms: u64,
    /// Longest silence on both streams together.
    pub idle_ms: Option<u64>,
    /// From the polite signal to the kill.
    pub grace_ms: u64,
    /// Bytes on both streams together; one more and the child is ended.
    pub output_bytes: Option<u64>,
    /// How much of the beginning of each stream is kept.
    pub head_bytes: u64,
    /// How much of the end of each stream is kept once there is more than the head.
    pub tail_bytes: u64,
    /// How long pipes that a leaked descendant holds open may delay the end.
    pub leak_ms: u64,
    /// What the child and everything it started may have of memory together, file pages not counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
    /// How many processes they may be at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processes: Option<u64>,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            total_ms: 60 * 60 * 1000,
            idle_ms: None,
            grace_ms: 5_000,
            output_bytes: None,
            head_bytes: 1024 * 1024,
            tail_bytes: 256 * 1024,
            leak_ms: 200,
            memory_bytes: None,
            processes: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStringExt;

    use super::*;

    #[test]
    fn a_spec_with_bytes_that_are_no_text_survives_being_stored() {
        let odd = OsString::from_vec(vec![b'a', 0xff, b'b']);
        let spec = ChildSpec {
            program: PathBuf::from(odd.clone()),
            args: vec!["plain".into(), odd.clone()],
            directory: "/".into(),
            environment: BTreeMap::from([(odd.clone(), odd.clone()), ("A".into(), "b".into())]),
            secret_names: vec!["KEY".into()],
            stdin: ChildStdin::File { path: PathBuf::from(odd.clone()) },
            limits: Limits::default(),
            sandbox: Some(Sandbox {
                kind: crate::SandboxKind::Landlock,
                writable: vec!["/w".into(), PathBuf::from(odd.clone())],
            }),
            overlay: Some(OverlayMount {
                place: "/p".into(),
                lower: vec![PathBuf::from(odd.clone()), "/l".into()],
                upper: "/u".into(),
                work: PathBuf::from(odd.clone()),
            }),
            cookie: "c".into(),
            outlasts_power_cuts: true,
        };
        let stored = serde_json::to_string(&spec).unwrap();
        assert!(stored.contains("\"plain\""), "text stays readable: {stored}");
        assert_eq!(serde_json::from_str::<ChildSpec>(&stored).unwrap(), spec);
    }
}
