//! How wide text is on a terminal, cutting it to fit, and taking out what could command the terminal.

use std::os::fd::BorrowedFd;

pub(super) fn terminal_columns(stream: BorrowedFd<'_>) -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(stream).ok()?;
    (size.ws_col > 0).then_some(usize::from(size.ws_col))
}

/// One line in which nothing but letters is left: agents and repositories write these texts, and an escape sequence in
/// them must not reach the terminal.
pub(crate) fn printable(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\u{1b}' => skip_escape(&mut letters),
            '\t' | '\n' | '\r' => clean.push(' '),
            letter if letter.is_control() || is_invisible(letter) => {}
            letter => clean.push(letter),
        }
    }
    clean
}

/// Direction marks could make a line read as something else than it is.
fn is_invisible(letter: char) -> bool {
    matches!(letter, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

/// After ESC: `[` begins a sequence that ends at the first letter from `@` to `~`; anything else is one letter.
fn skip_escape(letters: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    if letters.next_if_eq(&'[').is_none() {
        letters.next();
        return;
    }
    for letter in letters.by_ref() {
        if ('@'..='~').contains(&letter) {
            break;
        }
    }
}

/// Columns a text takes, colour sequences not counted.
pub(super) fn width(text: &str) -> usize {
    let mut letters = text.chars().peekable();
    let mut columns = 0;
    while let Some(letter) = letters.next() {
        if letter == '\u{1b}' {
            skip_escape(&mut letters);
        } else {
            columns += letter_width(letter);
        }
    }
    columns
}

/// Cuts an uncoloured line to the columns there are.
pub(crate) fn fit(text: &str, columns: usize, ellipsis: &str) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let room = columns.saturating_sub(width(ellipsis));
    let mut cut = String::new();
    let mut used = 0;
    for letter in text.chars() {
        used += letter_width(letter);
        if used > room {
            break;
        }
        cut.push(letter);
    }
    if columns >= width(ellipsis) {
        cut.push_str(ellipsis);
    }
    cut
}

/// Good enough for aligned columns: wide East Asian letters and emoji take two columns, combining marks none.
fn letter_width(letter: char) -> usize {
    match letter {
        '\u{300}'..='\u{36f}' | '\u{200b}'..='\u{200d}' | '\u{fe00}'..='\u{fe0f}' => 0,
        '\u{1100}'..='\u{115f}'
        | '\u{2e80}'..='\u{a4cf}'
        | '\u{ac00}'..='\u{d7a3}'
        | '\u{f900}'..='\u{faff}'
        | '\u{fe30}'..='\u{fe6f}'
        | '\u{ff00}'..='\u{ff60}'
        | '\u{ffe0}'..='\u{ffe6}'
        | '\u{1f300}'..='\u{1faff}'
        | '\u{20000}'..='\u{3fffd}' => 2,
        letter if letter.is_control() => 0,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_commands_a_terminal_is_printable() {
        assert_eq!(printable("a\u{1b}[2Jb\u{1b}]0;c\u{7}d"), "ab0;cd");
        assert_eq!(printable("one\ntwo\tthree\u{0}"), "one two three");
        assert_eq!(printable("safe \u{202e}txt.exe"), "safe txt.exe");
        assert_eq!(printable("grün ✓"), "grün ✓");
    }

    #[test]
    fn a_line_is_cut_to_the_columns_it_takes() {
        assert_eq!(fit("short", 5, "…"), "short");
        assert_eq!(fit("longer", 5, "…"), "long…");
        assert_eq!(fit("漢字漢字", 5, "…"), "漢字…");
        assert_eq!(fit("longer", 2, "..."), "");
        assert_eq!(width("\u{1b}[32m✓\u{1b}[0m ok"), 4);
    }
}
