//! What is wrong with a file of a loop, as sentences that a person or an agent can act on.
//! It knows no file in particular.

use std::fmt;

/// Longest file that is read at all; the loop's files hold plans and reports, not data.
pub const MAX_FILE_BYTES: usize = 1024 * 1024;

/// Most sentences kept; a file with more faults than these needs no longer list.
const MAX_SENTENCES: usize = 40;

/// A value and what was odd about its file without making it unusable, or everything that makes it unusable.
pub type Parsed<T> = Result<(T, Vec<String>), Faults>;

/// Everything found wrong with one file; never empty.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct Faults {
    file: String,
    sentences: Vec<String>,
}

impl Faults {
    pub(crate) fn one(file: &str, sentence: impl Into<String>) -> Self {
        Self { file: file.to_owned(), sentences: vec![sentence.into()] }
    }

    /// `value` if nothing was found, else what was found.
    pub(crate) fn unless_empty<T>(
        file: &str,
        mut sentences: Vec<String>,
        value: impl FnOnce() -> Option<T>,
    ) -> Result<T, Self> {
        if sentences.is_empty() {
            if let Some(value) = value() {
                return Ok(value);
            }
            // A reader that found nothing wrong and has no value would otherwise pass for a sound file.
            sentences.push("it holds no usable content".to_owned());
        }
        sentences.truncate(MAX_SENTENCES);
        Err(Self { file: file.to_owned(), sentences })
    }

    pub fn file(&self) -> &str {
        &self.file
    }

    pub fn sentences(&self) -> &[String] {
        &self.sentences
    }
}

impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} cannot be used:", self.file)?;
        for sentence in &self.sentences {
            write!(f, "\n- {sentence}")?;
        }
        Ok(())
    }
}

/// Foreign bytes as text, or why they cannot be read as one.
pub fn readable_text<'a>(file: &str, bytes: &'a [u8]) -> Result<&'a str, Faults> {
    if bytes.len() > MAX_FILE_BYTES {
        return Err(Faults::one(file, format!("it is longer than {MAX_FILE_BYTES} bytes")));
    }
    let text = std::str::from_utf8(bytes).map_err(|error| {
        Faults::one(file, format!("it is not UTF-8: invalid byte at offset {}", error.valid_up_to()))
    })?;
    match text.find('\0') {
        Some(offset) => Err(Faults::one(file, format!("it contains a NUL byte at offset {offset}"))),
        None => Ok(text.strip_prefix('\u{feff}').unwrap_or(text)),
    }
}
