//! What the program's exit status means. Stable: scripts depend on these numbers.

/// The change was accepted, or the command did what it was asked.
pub const ACCEPTED: u8 = 0;
/// A fault of ours or of the machine: journal unreachable, disk full, git missing.
pub const FAULT: u8 = 1;
/// The command line, a settings file or a file that a loop is run from cannot be understood.
pub const USAGE: u8 = 2;
/// The rounds are used up and the last word was no.
pub const REJECTED: u8 = 10;
/// The run waits for a person.
pub const NEEDS_HUMAN: u8 = 11;
/// A cap other than the rounds was reached.
pub const EXHAUSTED: u8 = 12;
/// Somebody stopped or interrupted the run; it can be resumed.
pub const STOPPED: u8 = 13;
/// The request is not allowed now: another process holds the repository, the run has ended, a command is not trusted,
/// another branch is checked out or edits are not committed.
pub const REFUSED: u8 = 14;
/// `verify` found a record that does not hold.
pub const NOT_VERIFIED: u8 = 15;
/// The tests were red before anything was changed, so a goal loop did not begin.
pub const RED_BASELINE: u8 = 16;

/// Name, number and meaning, for the help text and the README.
pub const TABLE: &[(&str, u8, &str)] = &[
    ("accepted", ACCEPTED, "the change was accepted, or the command did what it was asked"),
    ("fault", FAULT, "a fault of Windlass or of the machine; the message has a code and a hint"),
    ("usage", USAGE, "the command line, a settings file or a file of a loop cannot be understood"),
    ("rejected", REJECTED, "the rounds are used up and the last word was no"),
    ("needs human", NEEDS_HUMAN, "the run waits for a person; `windlass explain` says why"),
    ("exhausted", EXHAUSTED, "a cap on minutes, tokens, money or output was reached"),
    ("stopped", STOPPED, "somebody stopped or interrupted the run; `windlass resume` goes on"),
    (
        "refused",
        REFUSED,
        "not allowed now: held by another process, not trusted, already ended, not committed",
    ),
    ("not verified", NOT_VERIFIED, "`windlass verify` found a record that does not hold"),
    (
        "red baseline",
        RED_BASELINE,
        "the tests are red before anything was changed; a goal loop does not begin",
    ),
];
