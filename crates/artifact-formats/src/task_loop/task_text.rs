//! `task.txt`: the task in the user's words and one newline.
//! It knows nothing about what the words ask for.

/// Why a task text cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TaskTextError {
    #[error("the task text is empty")]
    Empty,
    #[error("the task text is not UTF-8: invalid byte at offset {offset}")]
    NotUtf8 { offset: usize },
    #[error("the task text contains a NUL byte at offset {offset}")]
    Nul { offset: usize },
}

/// Content of `task.txt` for a task text.
pub fn render_task_text(text: &str) -> String {
    format!("{text}\n")
}

/// The task text in `task.txt`: everything but the newline that rendering added.
pub fn parse_task_text(bytes: &[u8]) -> Result<String, TaskTextError> {
    let text =
        std::str::from_utf8(bytes).map_err(|error| TaskTextError::NotUtf8 { offset: error.valid_up_to() })?;
    if let Some(offset) = text.find('\0') {
        return Err(TaskTextError::Nul { offset });
    }
    if text.trim().is_empty() {
        return Err(TaskTextError::Empty);
    }
    Ok(text.strip_suffix('\n').unwrap_or(text).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_added_newline_comes_off_and_the_users_own_stay() {
        for text in ["do it", "two\nlines", "ends with newline\n", "  spaces  "] {
            assert_eq!(parse_task_text(render_task_text(text).as_bytes()).unwrap(), text);
        }
    }

    #[test]
    fn unusable_texts_are_refused_by_kind() {
        assert_eq!(parse_task_text(b" \n\t\n"), Err(TaskTextError::Empty));
        assert_eq!(parse_task_text(b"ab\xff"), Err(TaskTextError::NotUtf8 { offset: 2 }));
        assert_eq!(parse_task_text(b"ab\0c"), Err(TaskTextError::Nul { offset: 2 }));
    }
}
