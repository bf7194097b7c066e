//! Places and line ends of a text that is edited in part. It knows no file in particular.

use std::borrow::Cow;
use std::ops::Range;

/// The line a byte stands on, counted from one.
pub(crate) fn line_of(text: &str, offset: usize) -> usize {
    text[..offset.min(text.len())].matches('\n').count() + 1
}

/// The text with a byte order mark turned into blanks of the same length, so that the first line can be a heading and
/// every place stays what it is.
pub(crate) fn without_mark(text: &str) -> Cow<'_, str> {
    match text.strip_prefix('\u{feff}') {
        Some(rest) => Cow::Owned(format!("   {rest}")),
        None => Cow::Borrowed(text),
    }
}

/// The line break the text uses.
pub(crate) fn newline_of(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}

/// A block put behind a text with one blank line between them, in the text's own line ends.
pub(crate) fn appended(text: &str, block: &str) -> String {
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

/// Where a part of the text stands in it. The parts are slices of the text, so their addresses say it.
pub(crate) fn span(text: &str, part: &str) -> Range<usize> {
    let start = part.as_ptr().addr().saturating_sub(text.as_ptr().addr());
    start..start + part.len()
}
