//! Front matter: the YAML between two lines of dashes, and the Markdown below it.
//! It knows how to split, read and write it; not which keys a file needs.

use super::yaml::{Yaml, scalar};
use crate::faults::Faults;

/// A file taken apart. Without front matter the whole text is the body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Split<'a> {
    pub(crate) front: Option<&'a str>,
    pub(crate) body: &'a str,
}

pub(crate) fn split(text: &str) -> Split<'_> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let start = text.len() - text.trim_start_matches(['\n', '\r', ' ', '\t']).len();
    // Blank lines above are forgiven; an indented first line is content.
    let start = text[..start].rfind('\n').map_or(0, |newline| newline + 1);
    let opened = &text[start..];
    let Some((first, rest)) = opened.split_once('\n') else { return Split { front: None, body: text } };
    if first.trim_end() != "---" {
        return Split { front: None, body: text };
    }
    let mut offset = 0;
    for line in rest.split_inclusive('\n') {
        let end = offset + line.len();
        if line.trim_end() == "---" {
            return Split { front: Some(&rest[..offset]), body: &rest[end..] };
        }
        offset = end;
    }
    Split { front: None, body: text }
}

/// A whole answer in one Markdown fence is taken out of it: agents like to show a file instead of writing it.
pub(crate) fn without_outer_fence(text: &str) -> &str {
    let trimmed = text.trim();
    let Some((opening, rest)) = trimmed.split_once('\n') else { return text };
    let fence = &opening[..opening.len() - opening.trim_start_matches('`').len()];
    let info = opening[fence.len()..].trim();
    if fence.len() < 3
        || !matches!(info, "" | "markdown" | "md" | "yaml")
        || !rest.trim_start().starts_with("---")
    {
        return text;
    }
    match rest.rsplit_once('\n') {
        Some((inner, closing)) if closing.trim() == fence => inner,
        _ => text,
    }
}

/// The keys of a front matter in file order, and the faults of reading them.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Keys {
    entries: Vec<(String, Yaml)>,
    pub(crate) faults: Vec<String>,
}

impl Keys {
    pub(crate) fn read(file: &str, front: &str) -> Result<Self, Faults> {
        match Yaml::parse(front) {
            Ok(Yaml::Map(entries)) => Ok(Self { entries, faults: Vec::new() }),
            Ok(Yaml::Null) => Ok(Self::default()),
            Ok(other) => Err(Faults::one(
                file,
                format!("its front matter is {}, not `key: value` lines", other.kind()),
            )),
            Err(error) => Err(Faults::one(file, format!("its front matter is not YAML: {error}"))),
        }
    }

    /// As [`Keys::read`]; where YAML refuses, each `key: value` line is taken as it stands. The original pasted values
    /// unescaped, so its own files often are no YAML. The note says that it happened.
    pub(crate) fn read_forgiving(front: &str) -> (Self, Option<String>) {
        match Self::read("", front) {
            Ok(keys) => (keys, None),
            Err(faults) => {
                let note = format!("{}; each line was taken as it stands", faults.sentences()[0]);
                (Self { entries: plain_lines(front), faults: Vec::new() }, Some(note))
            }
        }
    }

    pub(crate) fn get(&self, key: &str) -> Option<&Yaml> {
        self.entries.iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    pub(crate) fn words(&self, key: &str) -> Option<String> {
        self.get(key)?.as_words()
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|(name, _)| name.as_str())
    }

    /// The text of a key that must be there; a fault and an empty text otherwise.
    pub(crate) fn required_words(&mut self, key: &str) -> String {
        self.words(key).unwrap_or_else(|| {
            self.faults.push(format!("`{key}` is missing from the front matter"));
            String::new()
        })
    }

    pub(crate) fn required_number(&mut self, key: &str) -> u32 {
        let number = match self.get(key) {
            Some(Yaml::Int(number)) => u32::try_from(*number).ok(),
            Some(Yaml::Text(text)) => text.trim().parse().ok(),
            _ => None,
        };
        number.unwrap_or_else(|| {
            self.faults.push(format!("`{key}` must be a whole number that is not negative"));
            0
        })
    }

    /// A truth value; the exact texts "true" and "false" count as the values they spell.
    pub(crate) fn required_truth(&mut self, key: &str, notes: &mut Vec<String>) -> Option<bool> {
        let fault = match self.get(key) {
            Some(Yaml::Bool(value)) => return Some(*value),
            Some(Yaml::Text(text)) if text == "true" || text == "false" => {
                notes.push(format!("`{key}` is quoted; it was read as {text}"));
                return Some(text == "true");
            }
            None => {
                format!("`{key}` is missing from the front matter; write `{key}: true` or `{key}: false`")
            }
            Some(other) => {
                let found = other
                    .as_words()
                    .map_or_else(|| other.kind().to_owned(), |words| crate::fault::excerpt(&words));
                format!("`{key}` must be true or false; found {found}")
            }
        };
        self.faults.push(fault);
        None
    }

    /// One of a few words; a fault names all of them.
    pub(crate) fn required_choice<T: Copy>(&mut self, key: &str, choices: &[(&str, T)]) -> Option<T> {
        let words = self.required_words(key);
        let found = choices.iter().find(|(word, _)| *word == words.trim()).map(|(_, value)| *value);
        if found.is_none() && !words.is_empty() {
            let allowed = choices.iter().map(|(word, _)| format!("`{word}`")).collect::<Vec<_>>().join(", ");
            self.faults
                .push(format!("`{key}` must be one of {allowed}; found {}", crate::fault::excerpt(&words)));
        }
        found
    }
}

/// The front matter of a file that must have one.
pub(crate) fn required<'a>(file: &str, text: &'a str) -> Result<(Keys, &'a str), Faults> {
    let Split { front, body } = split(without_outer_fence(text));
    match front {
        Some(front) => Ok((Keys::read(file, front)?, body)),
        None => Err(Faults::one(file, "it does not open with front matter between two lines of `---`")),
    }
}

/// Writes front matter, one key per line. Values are already YAML: see [`scalar`].
pub(crate) fn render(entries: &[(&str, String)]) -> String {
    let mut text = String::from("---\n");
    for (key, value) in entries {
        text.push_str(key);
        text.push_str(": ");
        text.push_str(value);
        text.push('\n');
    }
    text.push_str("---\n");
    text
}

/// A text as the value of a front matter key.
pub(crate) fn text(value: &str) -> String {
    scalar(value)
}

fn plain_lines(front: &str) -> Vec<(String, Yaml)> {
    let mut entries: Vec<(String, Yaml)> = Vec::new();
    for line in front.lines() {
        let Some((key, value)) = line.split_once(':') else { continue };
        let is_key = !key.is_empty()
            && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
        if is_key && !entries.iter().any(|(name, _)| name == key) {
            entries.push((key.to_owned(), Yaml::Text(unquoted(value.trim()).to_owned())));
        }
    }
    entries
}

fn unquoted(value: &str) -> &str {
    for quote in ['"', '\''] {
        if let Some(inner) = value.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote)) {
            return inner;
        }
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn front_matter_is_split_from_the_body() {
        let read = split("---\na: 1\n---\nbody\n---\nmore\n");
        assert_eq!(read, Split { front: Some("a: 1\n"), body: "body\n---\nmore\n" });
        assert_eq!(split("\n\n---\r\na: 1\r\n---\r\nb").front, Some("a: 1\r\n"));
        assert_eq!(split("# Heading\n---\na: 1\n---\n").front, None);
        assert_eq!(split("---\nnever closed\n").front, None);
        assert_eq!(split("").body, "");
        assert_eq!(split("---\n---").front, Some(""));
    }

    #[test]
    fn a_file_shown_in_a_fence_is_taken_out_of_it() {
        let file = "---\na: 1\n---\n\n```\ncode\n```\n";
        assert_eq!(without_outer_fence(&format!("````markdown\n{file}````\n")), file.trim_end());
        assert_eq!(without_outer_fence(file), file);
        assert_eq!(without_outer_fence("```\nnot a file\n```"), "```\nnot a file\n```");
    }

    #[test]
    fn broken_yaml_is_read_line_by_line_only_where_that_is_allowed() {
        let front = "name: x\ndescription: Runs: all \"tests\"\ntask: 'do: it'\nname: y\n";
        assert!(Keys::read("f", front).is_err());
        let (keys, note) = Keys::read_forgiving(front);
        assert!(note.is_some());
        assert_eq!(keys.words("description").unwrap(), "Runs: all \"tests\"");
        assert_eq!(keys.words("task").unwrap(), "do: it");
        assert_eq!(keys.words("name").unwrap(), "x");
    }
}
