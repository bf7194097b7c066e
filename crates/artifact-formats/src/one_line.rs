//! Foreign text brought on one line, for subjects, bullets and table cells. It knows no file in particular.

/// Foreign text on one line: no line break can start a field of its own.
pub(crate) fn one_line(text: &str, max_chars: usize) -> String {
    let words: String = text
        .chars()
        .map(|letter| if letter.is_control() || is_line_break(letter) { ' ' } else { letter })
        .collect();
    let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
    if words.chars().count() <= max_chars {
        return words;
    }
    let kept: String = words.chars().take(max_chars.saturating_sub(1)).collect();
    format!("{}…", kept.trim_end())
}

fn is_line_break(letter: char) -> bool {
    matches!(letter, '\u{2028}' | '\u{2029}' | '\u{85}')
}
