//! Takes the values of secrets out of a stream of bytes, wherever the stream is cut. It knows values and the names to put
//! in their place, not where they come from.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

/// What is shorter stands in ordinary text by chance.
const SHORTEST_SECRET: usize = 6;

/// Replaces each value by `[NAME]`.
#[derive(Debug, Clone, Default)]
pub struct Redaction {
    /// Longest first: one secret may begin with another.
    secrets: Vec<(Vec<u8>, Vec<u8>)>,
    /// The end of what was seen, where it may be the beginning of a secret.
    held: Vec<u8>,
}

impl Redaction {
    pub fn new<'a>(secrets: impl IntoIterator<Item = (&'a OsStr, &'a OsStr)>) -> Self {
        let mut secrets: Vec<(Vec<u8>, Vec<u8>)> = secrets
            .into_iter()
            .filter(|(_, value)| value.len() >= SHORTEST_SECRET)
            .map(|(name, value)| {
                let shown = [b"[".as_slice(), name.as_bytes(), b"]"].concat();
                (value.as_bytes().to_vec(), shown)
            })
            .collect();
        secrets.sort_by_key(|(value, _)| std::cmp::Reverse(value.len()));
        Self { secrets, held: Vec::new() }
    }

    /// What can be passed on of everything seen so far.
    pub(crate) fn pass(&mut self, bytes: &[u8]) -> Vec<u8> {
        if self.secrets.is_empty() {
            return bytes.to_vec();
        }
        self.held.extend_from_slice(bytes);
        let seen = std::mem::take(&mut self.held);
        let (clean, rest) = self.replace(&seen, Cut::GoesOn);
        self.held = seen[rest..].to_vec();
        clean
    }

    /// What was held back when the stream ends.
    pub(crate) fn rest(&mut self) -> Vec<u8> {
        let seen = std::mem::take(&mut self.held);
        self.replace(&seen, Cut::Ends).0
    }

    /// A whole text at once.
    pub fn of(&self, bytes: &[u8]) -> Vec<u8> {
        self.replace(bytes, Cut::Ends).0
    }

    fn replace(&self, seen: &[u8], cut: Cut) -> (Vec<u8>, usize) {
        let mut clean = Vec::with_capacity(seen.len());
        let mut at = 0;
        while at < seen.len() {
            let left = &seen[at..];
            if let Some((value, shown)) = self.secrets.iter().find(|(value, _)| left.starts_with(value)) {
                clean.extend_from_slice(shown);
                at += value.len();
            } else if cut == Cut::GoesOn && self.secrets.iter().any(|(value, _)| value.starts_with(left)) {
                break;
            } else {
                clean.push(seen[at]);
                at += 1;
            }
        }
        (clean, at)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Cut {
    GoesOn,
    Ends,
}

/// Names and values, as a child is given them.
pub type Secrets = std::collections::BTreeMap<OsString, OsString>;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn redaction(secrets: &[(&str, &str)]) -> Redaction {
        Redaction::new(secrets.iter().map(|(name, value)| (OsStr::new(name), OsStr::new(value))))
    }

    fn in_pieces(redaction: &mut Redaction, pieces: &[&str]) -> String {
        let mut passed: Vec<u8> = pieces.iter().flat_map(|piece| redaction.pass(piece.as_bytes())).collect();
        passed.extend(redaction.rest());
        String::from_utf8(passed).unwrap()
    }

    #[test]
    fn a_secret_is_found_wherever_the_stream_is_cut() {
        let mut keys = redaction(&[("KEY", "sk-secret")]);
        assert_eq!(in_pieces(&mut keys, &["a sk-sec", "ret b"]), "a [KEY] b");
        assert_eq!(in_pieces(&mut keys, &["s", "k", "-", "secret"]), "[KEY]");
        assert_eq!(in_pieces(&mut keys, &["sk-sec", "ond sk-secretsk-secret"]), "sk-second [KEY][KEY]");
        assert_eq!(in_pieces(&mut keys, &["ends with sk-secr"]), "ends with sk-secr");
    }

    #[test]
    fn one_secret_that_begins_with_another_goes_whole() {
        let mut keys = redaction(&[("SHORT", "secret"), ("LONG", "secret-and-more")]);
        assert_eq!(in_pieces(&mut keys, &["secret-and-more, secret"]), "[LONG], [SHORT]");
    }

    #[test]
    fn what_is_too_short_to_be_a_secret_is_left_alone() {
        assert_eq!(in_pieces(&mut redaction(&[("KEY", "test"), ("NONE", "")]), &["a test"]), "a test");
    }

    proptest! {
        #[test]
        fn no_cut_lets_a_secret_through(
            before in "[sk-x]{0,8}",
            after in "[sk-x]{0,8}",
            cuts in prop::collection::vec(0..30_usize, 0..5),
        ) {
            let text = format!("{before}sk-kss{after}");
            let mut cuts: Vec<usize> = cuts.into_iter().filter(|cut| *cut < text.len()).collect();
            cuts.sort_unstable();
            let mut keys = redaction(&[("K", "sk-kss")]);
            let mut passed = Vec::new();
            let mut from = 0;
            for cut in cuts.into_iter().chain([text.len()]) {
                passed.extend(keys.pass(&text.as_bytes()[from..cut]));
                from = cut;
            }
            passed.extend(keys.rest());
            let passed = String::from_utf8(passed).unwrap();
            prop_assert!(!passed.contains("sk-kss"), "{passed}");
            prop_assert_eq!(passed, text.replace("sk-kss", "[K]"));
        }
    }
}
