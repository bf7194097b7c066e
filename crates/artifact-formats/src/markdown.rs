//! Just enough Markdown for the loop's files: headings outside of fences, code blocks, and text that cannot be
//! mistaken for structure. It knows no file in particular.

/// A heading outside of every fence, and where its line starts and its content begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Heading<'a> {
    pub(crate) level: usize,
    /// Without the number signs, the blanks and a colon at the end.
    pub(crate) title: &'a str,
    pub(crate) line_start: usize,
    pub(crate) content_start: usize,
}

impl Heading<'_> {
    pub(crate) fn is(&self, title: &str) -> bool {
        self.title.eq_ignore_ascii_case(title)
    }

    pub(crate) fn opens_with(&self, title: &str) -> bool {
        self.title.get(..title.len()).is_some_and(|start| start.eq_ignore_ascii_case(title))
    }
}

pub(crate) fn headings(text: &str) -> Vec<Heading<'_>> {
    let mut found = Vec::new();
    let mut fence = None;
    let mut offset = 0;
    for line in text.split_inclusive('\n') {
        let line_start = offset;
        offset += line.len();
        if Fence::step(&mut fence, line) {
            continue;
        }
        if let Some((level, title)) = heading(line) {
            found.push(Heading { level, title, line_start, content_start: offset });
        }
    }
    found
}

/// A line with its line break, and where it starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Line<'a> {
    pub(crate) text: &'a str,
    pub(crate) start: usize,
    /// Inside of fenced code, the fences included.
    pub(crate) is_code: bool,
}

impl Line<'_> {
    pub(crate) fn end(&self) -> usize {
        self.start + self.text.len()
    }

    pub(crate) fn is_blank(&self) -> bool {
        self.text.trim().is_empty()
    }

    pub(crate) fn is_heading(&self) -> bool {
        !self.is_code && heading(self.text).is_some()
    }
}

pub(crate) fn lines(text: &str) -> Vec<Line<'_>> {
    let mut fence = None;
    let mut start = 0;
    text.split_inclusive('\n')
        .map(|line| {
            let found = Line { text: line, start, is_code: Fence::step(&mut fence, line) };
            start += line.len();
            found
        })
        .collect()
}

/// A list item's mark, indentation included, and the words behind it.
pub(crate) fn list_item(line: &str) -> Option<(&str, &str)> {
    let bare = line.trim_start();
    let indent = line.len() - bare.len();
    if matches!(bare.trim_end(), "-" | "*" | "+") {
        return Some((&line[..=indent], ""));
    }
    let words = ["- ", "* ", "+ "].iter().find_map(|mark| bare.strip_prefix(mark))?;
    Some((&line[..line.len() - words.len()], words.trim_end()))
}

/// The text under the first heading of the level that satisfies `opens`, up to the first later one that satisfies
/// `ends`, without blank lines around it.
pub(crate) fn section(
    text: &str,
    opens: impl Fn(&Heading<'_>) -> bool,
    ends: impl Fn(&Heading<'_>) -> bool,
) -> Option<&str> {
    let all = headings(text);
    let position = all.iter().position(opens)?;
    let end = all[position + 1..]
        .iter()
        .find(|heading| ends(heading))
        .map_or(text.len(), |heading| heading.line_start);
    Some(without_blank_lines(&text[all[position].content_start..end]))
}

/// Blank lines at both ends go; the indentation of the first line stays, for it may be code.
pub(crate) fn without_blank_lines(text: &str) -> &str {
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        if !line.trim().is_empty() {
            break;
        }
        start += line.len();
    }
    text[start..].trim_end()
}

/// The contents of all fenced and indented code blocks.
pub(crate) fn code_blocks(text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.lines().collect();
    let mut blocks = Vec::new();
    let mut number = 0;
    while let Some(line) = lines.get(number) {
        if let Some(fence) = Fence::opened_by(line) {
            let inner: Vec<&str> =
                lines[number + 1..].iter().take_while(|line| !fence.closed_by(line)).copied().collect();
            // The lines of the fence, and what is between them.
            number += inner.len() + 2;
            blocks.push(inner.join("\n"));
            continue;
        }
        // Indented text right below a paragraph or a list item continues it; a block needs a blank line above.
        let stands_alone = number == 0 || lines[number - 1].trim().is_empty();
        if stands_alone && unindented(line).is_some_and(|code| !code.trim().is_empty()) {
            let inner: Vec<&str> = lines[number..].iter().map_while(|line| unindented(line)).collect();
            number += inner.len();
            blocks.push(inner.join("\n").trim_end().to_owned());
            continue;
        }
        number += 1;
    }
    blocks
}

/// A fence around any text that nothing inside can close.
pub(crate) fn fenced(text: &str) -> String {
    let longest = text.split(|letter| letter != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest.max(2) + 1);
    let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    format!("{fence}\n{text}{end}{fence}\n")
}

/// What [`fenced`] was given, save for a newline at its end; other text as it stands.
pub(crate) fn unfenced(text: &str) -> String {
    let text = without_blank_lines(text);
    let lines: Vec<&str> = text.split('\n').collect();
    let Some(fence) = lines.first().and_then(|line| Fence::opened_by(line)) else { return text.to_owned() };
    let closing = lines[1..].iter().position(|line| fence.closed_by(line));
    match closing {
        Some(position) if position + 2 == lines.len() => lines[1..=position].join("\n"),
        _ => text.to_owned(),
    }
}

/// Foreign text for the middle of a file: its first and second level headings are escaped and an open fence is
/// closed, so that it cannot open a section of ours.
pub(crate) fn contained(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    let mut fence = None;
    for line in without_blank_lines(text).split_inclusive('\n') {
        let in_fence = Fence::step(&mut fence, line);
        if !in_fence && heading(line).is_some_and(|(level, _)| level <= 2) {
            safe.push('\\');
            safe.push_str(line.trim_start());
        } else {
            safe.push_str(line);
        }
    }
    with_closed_fence(&safe)
}

pub(crate) fn with_closed_fence(text: &str) -> String {
    let mut fence = None;
    for line in text.split_inclusive('\n') {
        Fence::step(&mut fence, line);
    }
    match fence {
        Some(Fence { mark, length }) => format!("{text}\n{}", String::from(mark).repeat(length)),
        None => text.to_owned(),
    }
}

/// The text with every HTML comment blanked out, byte for byte, so that places stay what they are. Fenced code is left
/// alone: what looks like a comment there is code. An open comment hides the rest, so its line is an error.
pub(crate) fn without_comments(text: &str) -> Result<String, usize> {
    let mut kept = String::with_capacity(text.len());
    let mut fence = None;
    let mut opened_at = None;
    for (number, line) in text.split_inclusive('\n').enumerate() {
        let mut rest = line;
        if opened_at.is_none() && Fence::step(&mut fence, line) {
            kept.push_str(line);
            continue;
        }
        loop {
            if opened_at.is_some() {
                let Some(end) = rest.find("-->") else { break };
                blank(&mut kept, &rest[..end + 3]);
                rest = &rest[end + 3..];
                opened_at = None;
            }
            let Some(start) = rest.find("<!--") else { break };
            kept.push_str(&rest[..start]);
            blank(&mut kept, "<!--");
            rest = &rest[start + 4..];
            opened_at = Some(number + 1);
        }
        if opened_at.is_some() {
            blank(&mut kept, rest);
        } else {
            kept.push_str(rest);
        }
    }
    opened_at.map_or(Ok(kept), Err)
}

fn blank(kept: &mut String, hidden: &str) {
    kept.extend(
        hidden.bytes().map(|byte| if matches!(byte, b'\n' | b'\r') { char::from(byte) } else { ' ' }),
    );
}

/// One item of a list, with the lines that continue it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Bullet {
    /// Words without the mark, on one line.
    pub(crate) text: String,
    /// Its lines, the last line break included.
    pub(crate) span: std::ops::Range<usize>,
}

/// The items of all flat lists in a part of a text, `offset` being where the part begins. Fenced code holds none.
pub(crate) fn bullets(part: &str, offset: usize) -> Vec<Bullet> {
    let mut found: Vec<Bullet> = Vec::new();
    let mut fence = None;
    let mut open = false;
    let mut at = offset;
    for line in part.split_inclusive('\n') {
        let start = at;
        at += line.len();
        if Fence::step(&mut fence, line) {
            open = false;
            continue;
        }
        let bare = line.trim_start();
        let words = ["- ", "* ", "+ "].iter().find_map(|mark| bare.strip_prefix(mark));
        if let Some(words) = words {
            found.push(Bullet { text: words.trim().to_owned(), span: start..at });
            open = true;
        } else if bare.is_empty() || !line.starts_with([' ', '\t']) {
            open = false;
        } else if let Some(last) = found.last_mut().filter(|_| open) {
            last.text = format!("{} {}", last.text, bare.trim_end());
            last.span.end = at;
        }
    }
    found
}

fn heading(line: &str) -> Option<(usize, &str)> {
    let bare = line.trim_start_matches(' ');
    if line.len() - bare.len() > 3 {
        return None;
    }
    let title = bare.trim_start_matches('#');
    let level = bare.len() - title.len();
    let is_heading = (1..=6).contains(&level) && (title.trim().is_empty() || title.starts_with([' ', '\t']));
    is_heading.then(|| (level, title.trim().trim_end_matches('#').trim_end().trim_end_matches(':')))
}

fn unindented(line: &str) -> Option<&str> {
    if line.trim().is_empty() {
        return Some("");
    }
    line.strip_prefix("    ").or_else(|| line.strip_prefix('\t'))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Fence {
    mark: char,
    length: usize,
}

impl Fence {
    /// Moves past one line; true if the line belongs to a fence or is one.
    fn step(open: &mut Option<Self>, line: &str) -> bool {
        let Some(fence) = open else {
            *open = Self::opened_by(line);
            return open.is_some();
        };
        if fence.closed_by(line) {
            *open = None;
        }
        true
    }

    fn opened_by(line: &str) -> Option<Self> {
        let bare = line.trim_start_matches(' ');
        let mark = bare.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
        let info = bare.trim_start_matches(mark);
        let length = bare.len() - info.len();
        let is_fence = length >= 3 && line.len() - bare.len() <= 3 && !(mark == '`' && info.contains('`'));
        is_fence.then_some(Self { mark, length })
    }

    fn closed_by(self, line: &str) -> bool {
        let bare = line.trim_start_matches(' ');
        let rest = bare.trim_start_matches(self.mark);
        bare.len() - rest.len() >= self.length && rest.trim().is_empty() && line.len() - bare.len() <= 3
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn headings_in_fences_are_text() {
        let text = "# One\n```md\n## Not\n```\n## Two: \n    ## code\n~~~\n# Not\n";
        let titles: Vec<_> = headings(text).iter().map(|heading| (heading.level, heading.title)).collect();
        assert_eq!(titles, [(1, "One"), (2, "Two")]);
    }

    #[test]
    fn code_blocks_are_found_in_both_forms() {
        assert_eq!(code_blocks("Run:\n\n    a b\n      c\n\n    d\n\nThen"), ["a b\n  c\n\nd"]);
        assert_eq!(code_blocks("Run:\n```sh\na\nb\n```\n"), ["a\nb"]);
        assert_eq!(code_blocks("- item\n    continued\n"), [""; 0]);
        assert_eq!(code_blocks("Run it and look.\n"), [""; 0]);
        assert_eq!(code_blocks("```\n```\n"), [""]);
        assert_eq!(code_blocks("    a\n\nthen\n\n    b\n\n```\nc\n```\n~~~\nd"), ["a", "b", "c", "d"]);
    }

    #[test]
    fn comments_are_blanked_and_code_is_not() {
        let text = "a <!-- L3\n## no ä --> b\n```\n<!-- code -->\n```\nc<!----><!-- x -->d\n";
        let clean = without_comments(text).unwrap();
        assert_eq!(clean.len(), text.len());
        assert_eq!(
            clean.split_whitespace().collect::<Vec<_>>(),
            ["a", "b", "```", "<!--", "code", "-->", "```", "c", "d"]
        );
        assert_eq!(without_comments("a\n<!-- open\n"), Err(2));
    }

    #[test]
    fn bullets_come_with_the_lines_that_continue_them() {
        let text = "- one\n  more\n* two\n\n  not\n```\n- code\n```\n+ three";
        let found = bullets(text, 10);
        let words: Vec<_> = found.iter().map(|bullet| bullet.text.as_str()).collect();
        assert_eq!(words, ["one more", "two", "three"]);
        assert_eq!(&text[found[0].span.start - 10..found[0].span.end - 10], "- one\n  more\n");
    }

    proptest! {
        #[test]
        fn fenced_text_comes_back(text in "[`~#\n a-c]{0,60}") {
            let block = fenced(&text);
            prop_assert_eq!(unfenced(&block), text.strip_suffix('\n').unwrap_or(&text));
            prop_assert!(headings(&block).is_empty());
        }

        #[test]
        fn contained_text_opens_no_section(text in "[`~#\n ab]{0,80}") {
            let safe = contained(&text);
            let after = format!("{safe}\n## Ours\n");
            let found: Vec<_> = headings(&after).into_iter().filter(|heading| heading.level <= 2).collect();
            prop_assert_eq!(found.len(), 1, "{:?}", after);
            prop_assert_eq!(contained(&safe), safe.clone());
        }
    }
}
