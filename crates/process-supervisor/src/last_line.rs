//! The last line a child wrote, for people who watch. It reads the end of the newest log piece only, and gives back
//! nothing that could move a cursor or change a colour.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::bounded_log::{LogFiles, last_bytes};
use crate::child_spec::Limits;
use crate::effect_dir::{EffectDir, Stream};

const WINDOW_BYTES: u64 = 8 * 1024;
const LONGEST_LINE: usize = 200;

/// The last line with something in it, of the stream that was written to last. At most 200 characters.
pub fn last_line(effect_dir: &Path) -> Option<String> {
    let directory = EffectDir::new(effect_dir).ok()?;
    let limits = directory.read_spec().map_or_else(|_| Limits::default(), |spec| spec.limits);
    let mut streams = Stream::BOTH.map(|stream| LogFiles::new(&directory, stream, &limits).newest_first());
    streams.sort_by_key(|pieces| std::cmp::Reverse(pieces.iter().filter_map(modified).max()));
    streams.iter().flatten().find_map(|piece| last_line_of(&last_bytes(piece, WINDOW_BYTES).ok()?))
}

fn modified(path: &PathBuf) -> Option<SystemTime> {
    std::fs::metadata(path).and_then(|about| about.modified()).ok()
}

fn last_line_of(bytes: &[u8]) -> Option<String> {
    // A progress bar redraws its line with carriage returns: what follows the last one is what is on the screen.
    let mut lines = bytes.rsplit(|byte| matches!(byte, b'\n' | b'\r'));
    lines.find_map(|line| {
        let text = printable(&String::from_utf8_lossy(line));
        let text = text.trim();
        (!text.is_empty()).then(|| text.chars().take(LONGEST_LINE).collect())
    })
}

/// Drops control characters, whole escape sequences and characters that reorder the text around them.
fn printable(line: &str) -> String {
    let mut kept = String::with_capacity(line.len());
    let mut rest = line.chars();
    while let Some(character) = rest.next() {
        match character {
            '\u{1b}' => skip_escape_sequence(&mut rest),
            '\t' => kept.push(' '),
            '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}' => {}
            other if other.is_control() => {}
            other => kept.push(other),
        }
    }
    kept
}

fn skip_escape_sequence(rest: &mut std::str::Chars<'_>) {
    match rest.next() {
        // Parameters, then one final byte.
        Some('[') => drop(rest.find(|character| matches!(character, '@'..='~'))),
        // A title or a link: up to a bell, or to the backslash of its terminator.
        Some(']') => drop(rest.find(|character| matches!(character, '\u{7}' | '\\'))),
        Some(_) | None => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_is_plain_text_whatever_came() {
        let cases: &[(&[u8], Option<&str>)] = &[
            (b"", None),
            (b"\n \n\x1b[0m\n", None),
            (b"one\ntwo", Some("two")),
            (b"one\ntwo\n\n", Some("two")),
            (b"10%\r20%\r", Some("20%")),
            (b"\x1b[31;1mred\x1b[0m text", Some("red text")),
            (b"\x1b]0;title\x07shown", Some("shown")),
            (b"a\tb\x08\x07c", Some("a bc")),
            (b"caf\xff", Some("caf\u{fffd}")),
            ("a\u{202e}b".as_bytes(), Some("ab")),
        ];
        for (bytes, expected) in cases {
            assert_eq!(last_line_of(bytes).as_deref(), *expected, "{bytes:?}");
        }
    }

    #[test]
    fn a_line_without_end_is_cut() {
        assert_eq!(last_line_of(&[b'x'; 5_000]).unwrap().len(), LONGEST_LINE);
    }

    #[test]
    fn the_end_of_a_long_stream_is_found_in_its_tail_segments() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("stdout.log"), "head\n").unwrap();
        assert_eq!(last_line(folder.path()).as_deref(), Some("head"));
        std::fs::write(folder.path().join("stdout.tail.0"), "tail\n").unwrap();
        std::fs::write(folder.path().join("stdout.tail.1"), "").unwrap();
        assert_eq!(last_line(folder.path()).as_deref(), Some("tail"));
    }
}
