//! Files that the words of a criterion name, as far as words can tell. What stands alone between backquotes and ends like a file is
//! meant; anything else is a guess, and a guess is for a reviewer to answer.

/// A file that a criterion speaks of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedFile {
    pub path: String,
    pub named: Named,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Named {
    /// It must be there.
    Plainly,
    /// Somebody should say whether it must.
    Perhaps,
}

/// Without a folder only these endings make a file of a word: `user.name` is none.
const ENDINGS: [&str; 66] = [
    "adoc", "astro", "avif", "bash", "bat", "c", "cc", "cfg", "clj", "conf", "cpp", "cs", "css", "csv",
    "dart", "ex", "exs", "go", "gradle", "graphql", "h", "hbs", "hpp", "html", "ico", "ini", "ipynb", "java",
    "jpg", "js", "json", "jsonl", "jsx", "kt", "lock", "lua", "md", "mjs", "php", "pl", "plist", "png",
    "proto", "ps1", "py", "rb", "rs", "rst", "scala", "scss", "sh", "sql", "svelte", "svg", "swift", "tf",
    "toml", "ts", "tsx", "txt", "vue", "xml", "yaml", "yml", "zig", "zsh",
];

/// With one of these a sentence may well say that the file is *not* to be there.
const TURNING_WORDS: [&str; 22] = [
    "no", "not", "never", "neither", "nor", "without", "cannot", "remove", "removed", "removes", "delete",
    "deleted", "deletes", "drop", "dropped", "gone", "absent", "rename", "renamed", "moved", "instead",
    "unless",
];
const LONGEST: usize = 200;

/// In the order in which they stand there, each once.
pub fn named_files(text: &str) -> Vec<NamedFile> {
    let turned = text.split(|letter: char| !letter.is_alphanumeric() && letter != '\'').any(|word| {
        let word = word.to_lowercase();
        TURNING_WORDS.contains(&word.as_str()) || word.ends_with("n't")
    });
    let mut found: Vec<NamedFile> = Vec::new();
    let parts: Vec<&str> = text.split('`').collect();
    for (place, part) in parts.iter().enumerate() {
        // The last part is closed by nothing, so it is no code, wherever it stands.
        let code = place % 2 == 1 && place + 1 < parts.len();
        let alone = code && part.split_whitespace().count() == 1;
        for word in part.split_whitespace() {
            let Some(path) = path_in(word, alone) else { continue };
            let named = if alone && !turned { Named::Plainly } else { Named::Perhaps };
            match found.iter_mut().find(|known| known.path == path) {
                Some(known) if named == Named::Plainly => known.named = named,
                Some(_) => {}
                None => found.push(NamedFile { path, named }),
            }
        }
    }
    found
}

/// The path that a word is. A word alone in code stands as it is; in prose there are commas around it.
fn path_in(word: &str, alone: bool) -> Option<String> {
    let trimmed =
        if alone { word } else { word.trim_matches(|letter: char| ".,;:!?\"'()[]".contains(letter)) };
    let path = without_line(trimmed.strip_prefix("./").unwrap_or(trimmed));
    let plain = |letter: char| letter.is_alphanumeric() || "._-+@/".contains(letter);
    let folders: Vec<&str> = path.split('/').collect();
    if path.len() > LONGEST
        || !path.chars().all(plain)
        || folders.iter().any(|folder| folder.is_empty() || *folder == "..")
    {
        return None;
    }
    let (name, folders) = folders.split_last()?;
    let (stem, ending) = name.rsplit_once('.')?;
    let begins_with_letter = ending.starts_with(|letter: char| letter.is_ascii_alphabetic());
    if stem.is_empty()
        || ending.len() > 10
        || !begins_with_letter
        || !ending.chars().all(char::is_alphanumeric)
    {
        return None;
    }
    let known = ENDINGS.contains(&ending.to_ascii_lowercase().as_str());
    let is_file = match folders.first() {
        None => alone && known,
        // `example.org/page.html` is an address; `.github/ci.yml` is none.
        Some(first) => (known || ending.len() > 1) && !first.trim_start_matches('.').contains('.'),
    };
    is_file.then(|| path.to_owned())
}

/// `src/a.rs:12` is about a line of `src/a.rs`.
fn without_line(path: &str) -> &str {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    match path.rsplit_once(':') {
        Some((before, after)) if digits(after) => without_line(before),
        _ => path,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(text: &str) -> Vec<(String, Named)> {
        named_files(text).into_iter().map(|file| (file.path, file.named)).collect()
    }

    fn plainly(path: &str) -> (String, Named) {
        (path.to_owned(), Named::Plainly)
    }

    fn perhaps(path: &str) -> (String, Named) {
        (path.to_owned(), Named::Perhaps)
    }

    #[test]
    fn what_stands_alone_in_backquotes_with_an_ending_is_meant() {
        assert_eq!(named("`hello.txt` says hello"), [plainly("hello.txt")]);
        assert_eq!(named("see `./src/a.rs:12` and `docs/x.md`"), [plainly("src/a.rs"), plainly("docs/x.md")]);
        assert_eq!(named("a.rs is `a.rs`, in short `a.rs`"), [plainly("a.rs")]);
    }

    #[test]
    fn a_folder_and_an_ending_in_prose_or_in_a_command_are_a_guess() {
        assert_eq!(named("There is a file src/hello.txt, that says it."), [perhaps("src/hello.txt")]);
        assert_eq!(named("`sh tests/run.sh` passes"), [perhaps("tests/run.sh")]);
        assert_eq!(named("hello.txt says hello"), []);
    }

    #[test]
    fn a_sentence_that_may_mean_the_opposite_is_a_guess() {
        for text in
            ["`old.txt` is removed", "there is no `old.txt`", "`old.txt` isn't there", "moved to `old.txt`"]
        {
            assert_eq!(named(text), [perhaps("old.txt")], "{text}");
        }
    }

    #[test]
    fn what_is_no_file_of_a_tree_is_passed_over() {
        for text in [
            "`user.name` is set and `response.status` is 200",
            "`/etc/app.conf`, `~/x.toml`, `../y.toml`, `https://a.b/c.html` stay",
            "`*.rs`, `src/**/a.ts`, `<name>.json`, `$HOME/a.json`, `{id}/a.json`, `f(a/b.c)`",
            "version `1.2` or 3/4.5, and/or, `.gitignore`, `Foo.`, `a//b.txt`, i.e./e.g., application/vnd.api+json",
            "`example.org/page.html` links to it; an open ` and hello.txt",
        ] {
            assert_eq!(named(text), [], "{text}");
        }
    }
}
