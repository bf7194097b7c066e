//! Words as a shell takes them, for commands that people copy. Nothing is ever run through a shell by this program.

/// As a shell wants it.
pub(crate) fn quoted(text: &str) -> String {
    let harmless = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-+=:@%,".contains(&byte);
    if !text.is_empty() && text.bytes().all(harmless) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_quoted_only_where_a_shell_would_stumble() {
        assert_eq!(quoted("/tmp/windlass-demo-aB3"), "/tmp/windlass-demo-aB3");
        assert_eq!(quoted("/tmp/it's here"), r"'/tmp/it'\''s here'");
        assert_eq!(quoted(""), "''");
    }
}
