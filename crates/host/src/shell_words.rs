//! Words as a shell takes them, for commands that people copy from reports and hints. Nothing is run through a shell by this.

/// The name of a branch can hold nearly everything that means something to a shell.
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
    fn a_name_is_quoted_only_where_a_shell_would_stumble() {
        assert_eq!(quoted("ai-loop/x"), "ai-loop/x");
        assert_eq!(quoted("main..fix(ui)"), "'main..fix(ui)'");
        assert_eq!(quoted("f/$(touch${IFS}x)'"), r"'f/$(touch${IFS}x)'\'''");
    }
}
