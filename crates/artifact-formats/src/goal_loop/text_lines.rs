//! Places and line ends of a text that is edited in part. It knows no file in particular.

use std::borrow::Cow;

/// The line a byte stands on, counted from one.
pub(super) fn line_of(text: &str, offset: usize) -> usize {
    text[..offset.min(text.len())].matches('\n').count() + 1
}

/// The text with a byte order mark turned into blanks of the same length, so that the first line can be a heading and
/// every place stays what it is.
pub(super) fn without_mark(text: &str) -> Cow<'_, str> {
    match text.strip_prefix('\u{feff}') {
        Some(rest) => Cow::Owned(format!("   {rest}")),
        None => Cow::Borrowed(text),
    }
}

/// The line break the text uses.
pub(super) fn newline_of(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}

/// A block put behind a text with one blank line between them, in the text's own line ends.
pub(super) fn appended(text: &str, block: &str) -> String {
    let newline = newline_of(text);
    let block = block.replace('\n', newline);
    let gap = match text {
        "" => "",
        _ if text.ends_with("\n\n") || text.ends_with("\n\r\n") => "",
        _ if text.ends_with('\n') => newline,
        _ => &newline.repeat(2),
    };
    format!("{text}{gap}{block}")
}
