//! What a command printed, made fit for a Markdown file: no control characters, and not too long.

/// Most of a command's output that goes into a report; the whole is kept as evidence elsewhere.
pub const OUTPUT_BYTES: usize = 16 * 1024;

/// Text without terminal escapes and control characters. A carriage return alone starts a new line, so that the last
/// state of a progress bar stays readable.
pub fn clean_output(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\u{1b}' => skip_escape(&mut letters),
            '\r' => {
                if letters.peek() != Some(&'\n') {
                    clean.push('\n');
                }
            }
            '\n' | '\t' => clean.push(letter),
            _ if letter.is_control() => {}
            _ => clean.push(letter),
        }
    }
    clean
}

/// The start and the end of a text, on line borders where lines are short enough, with a line that says what is missing.
pub fn bounded_output(text: &str, max_bytes: usize) -> String {
    if text.len() <= max_bytes {
        return text.to_owned();
    }
    // Errors stand at the start of a compiler's output and at the end of a test run's; the end matters more often.
    let head_end = floor_boundary(text, max_bytes / 4);
    let tail_start = ceil_boundary(text, text.len() - (max_bytes - max_bytes / 4));
    let head = &text[..head_end];
    let head = head.rfind('\n').map_or(head, |newline| &head[..=newline]);
    let tail = &text[tail_start..];
    let tail = tail
        .find('\n')
        .filter(|newline| newline + 1 < tail.len())
        .map_or(tail, |newline| &tail[newline + 1..]);
    let left_out = text.len() - head.len() - tail.len();
    let break_line = if head.is_empty() || head.ends_with('\n') { "" } else { "\n" };
    format!("{head}{break_line}[… {left_out} bytes left out …]\n{tail}")
}

fn skip_escape(letters: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    /// No real sequence is longer; a lone escape must not swallow the log behind it.
    const LONGEST: usize = 256;
    match letters.next() {
        Some('[') => {
            for _ in 0..LONGEST {
                match letters.peek() {
                    Some(letter) if ('\u{20}'..='\u{3f}').contains(letter) => letters.next(),
                    Some(letter) if ('\u{40}'..='\u{7e}').contains(letter) => {
                        letters.next();
                        return;
                    }
                    _ => return,
                };
            }
        }
        Some(']') => {
            for _ in 0..LONGEST {
                match letters.peek() {
                    None | Some('\n') => return,
                    Some('\u{7}') => {
                        letters.next();
                        return;
                    }
                    Some('\u{1b}') => {
                        letters.next();
                        letters.next_if_eq(&'\\');
                        return;
                    }
                    Some(_) => letters.next(),
                };
            }
        }
        _ => {}
    }
}

fn floor_boundary(text: &str, mut position: usize) -> usize {
    while !text.is_char_boundary(position) {
        position -= 1;
    }
    position
}

fn ceil_boundary(text: &str, mut position: usize) -> usize {
    while !text.is_char_boundary(position) {
        position += 1;
    }
    position
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn escapes_and_control_characters_go() {
        let text = "\u{1b}[1;31merror\u{1b}[0m: x\r\n 50%\r100%\u{8}\u{1b}]8;;http://x\u{7}link\u{1b}]8;;\u{1b}\\ end\u{1b}";
        assert_eq!(clean_output(text), "error: x\n 50%\n100%link end");
    }

    #[test]
    fn start_and_end_of_a_long_text_stay() {
        let text = (0..1000).map(|number| format!("line {number}")).collect::<Vec<_>>().join("\n");
        let short = bounded_output(&text, 400);
        assert!(short.starts_with("line 0\n") && short.ends_with("line 999"), "{short}");
        assert!(short.contains("bytes left out") && short.len() < 450);
    }

    proptest! {
        #[test]
        fn any_text_is_cut_without_harm(text in "\\PC{0,200}|[äß\n\u{1b}\\[\\]m;0]{0,200}", limit in 0_usize..120) {
            let short = bounded_output(&text, limit);
            prop_assert!(short.len() <= limit.max(text.len().min(limit)) + 60);
            let clean = clean_output(&text);
            prop_assert!(clean.chars().all(|letter| letter == '\n' || letter == '\t' || !letter.is_control()));
        }
    }
}
