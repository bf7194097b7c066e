//! Splits a line into words by POSIX quoting, and quotes words so that they split back into themselves.
//! Quoting only: nothing is expanded, so `$HOME`, `*` and `~` stay the characters they are.

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WordsError {
    #[error("the quote {quote} opened at character {position} is never closed")]
    UnclosedQuote { quote: char, position: usize },
    #[error("the backslash at the end escapes nothing")]
    TrailingBackslash,
    #[error("character {position} is a NUL, which no program can be given")]
    Nul { position: usize },
}

/// The words of a line. Positions in errors count characters from 1.
pub fn split_words(line: &str) -> Result<Vec<String>, WordsError> {
    if let Some(index) = line.chars().position(|character| character == '\0') {
        return Err(WordsError::Nul { position: index + 1 });
    }
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut characters = line.chars().enumerate();
    while let Some((index, character)) = characters.next() {
        match character {
            ' ' | '\t' | '\n' => words.extend(word.take()),
            '\'' | '"' => {
                let quoted = quoted_part(&mut characters, character)
                    .ok_or(WordsError::UnclosedQuote { quote: character, position: index + 1 })?;
                word.get_or_insert_default().push_str(&quoted);
            }
            '\\' => match characters.next() {
                // A backslash before a line's end joins two lines and stands for nothing.
                Some((_, '\n')) => {}
                Some((_, escaped)) => word.get_or_insert_default().push(escaped),
                None => return Err(WordsError::TrailingBackslash),
            },
            other => word.get_or_insert_default().push(other),
        }
    }
    words.extend(word);
    Ok(words)
}

/// Reads up to the closing quote; `None` when there is none.
fn quoted_part(characters: &mut impl Iterator<Item = (usize, char)>, quote: char) -> Option<String> {
    let mut text = String::new();
    loop {
        let (_, character) = characters.next()?;
        match character {
            closing if closing == quote => return Some(text),
            '\\' if quote == '"' => match characters.next()?.1 {
                '\n' => {}
                escaped @ ('"' | '\\' | '$' | '`') => text.push(escaped),
                other => text.extend(['\\', other]),
            },
            other => text.push(other),
        }
    }
}

/// One line that [`split_words`] turns back into exactly these words, and a shell too.
pub fn quote_words<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    words.into_iter().map(quote_word).collect::<Vec<_>>().join(" ")
}

fn quote_word(word: &str) -> String {
    let is_plain = |character: char| character.is_alphanumeric() || "/._-+=:,@%".contains(character);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn quoting_follows_posix_and_expands_nothing() {
        let table: [(&str, &[&str]); 16] = [
            ("", &[]),
            ("  \t\n ", &[]),
            ("a b\tc\nd", &["a", "b", "c", "d"]),
            ("--flag 'a b'", &["--flag", "a b"]),
            ("''", &[""]),
            (r#"a"" ''b"#, &["a", "b"]),
            (r#"pre'mid dle'"post fix""#, &["premid dlepost fix"]),
            (r"a\ b", &["a b"]),
            (r"\'", &["'"]),
            (r"'\n\'", &[r"\n\"]),
            (r#""\" \\ \$ \` \n""#, &[r#"" \ $ ` \n"#]),
            ("$HOME *.rs ~ `id` $(id)", &["$HOME", "*.rs", "~", "`id`", "$(id)"]),
            ("a;b|c>d #e", &["a;b|c>d", "#e"]),
            ("a\\\nb", &["ab"]),
            ("\"a\\\nb\"", &["ab"]),
            ("größe '日本 語'", &["größe", "日本 語"]),
        ];
        for (line, words) in table {
            assert_eq!(split_words(line).unwrap(), words, "{line:?}");
        }
    }

    #[test]
    fn unfinished_lines_say_where() {
        assert_eq!(split_words("ab 'c"), Err(WordsError::UnclosedQuote { quote: '\'', position: 4 }));
        assert_eq!(split_words("\"a\\\""), Err(WordsError::UnclosedQuote { quote: '"', position: 1 }));
        assert_eq!(split_words("a\\"), Err(WordsError::TrailingBackslash));
        assert_eq!(split_words("ä\0"), Err(WordsError::Nul { position: 2 }));
    }

    #[test]
    fn plain_words_stay_readable() {
        assert_eq!(quote_words(["/bin/agent", "--model=x", "a b", ""]), "/bin/agent --model=x 'a b' ''");
    }

    proptest! {
        #[test]
        fn quoted_words_split_back_into_themselves(words in prop::collection::vec("[^\0]*", 0..6)) {
            let line = quote_words(words.iter().map(String::as_str));
            prop_assert_eq!(split_words(&line).unwrap(), words);
        }

        #[test]
        fn splitting_never_panics(line in any::<String>()) {
            let _ = split_words(&line);
        }
    }
}
