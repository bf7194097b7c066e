//! Where the words of a task come from: the command line, a file, or standard input.

use std::io::Read;
use std::path::Path;
use windlass_control_api::{Code, Fault};

/// The task as given in words; `-` stands for standard input.
pub(super) fn from_words(words: &str) -> Result<String, Fault> {
    if words == "-" { from_standard_input() } else { not_empty(words.to_owned(), "the task") }
}

pub(super) fn from_file(path: &Path) -> Result<String, Fault> {
    if path == Path::new("-") {
        return from_standard_input();
    }
    let text = std::fs::read_to_string(path).map_err(|error| {
        Fault::new(Code::BadArgument, format!("cannot read the task file {}: {error}", path.display()))
            .hint("the task file is plain UTF-8 text; `-` reads it from standard input")
    })?;
    not_empty(text, &format!("the task file {}", path.display()))
}

fn from_standard_input() -> Result<String, Fault> {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text).map_err(|error| {
        Fault::new(Code::BadArgument, format!("cannot read the task from standard input: {error}"))
    })?;
    not_empty(text, "the task on standard input")
}

fn not_empty(text: String, what: &str) -> Result<String, Fault> {
    if text.trim().is_empty() {
        let fault = Fault::new(Code::BadArgument, format!("{what} is empty"));
        return Err(fault.hint("say in a sentence or more what shall be done, and how one sees that it is"));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_task_is_refused_before_anything_starts() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("task.md");
        std::fs::write(&file, "  \n").unwrap();
        assert_eq!(from_words(" ").unwrap_err().message, "the task is empty");
        assert!(from_file(&file).unwrap_err().message.ends_with("task.md is empty"));
        std::fs::write(&file, "do it\n").unwrap();
        assert_eq!(from_file(&file).unwrap(), "do it\n");
    }
}
