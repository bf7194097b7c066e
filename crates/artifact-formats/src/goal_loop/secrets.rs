//! Secrets in added lines: assignments to telling names, bearer strings, connection strings, keys. A finding names file
//! and line and never shows the value. It sees lines only; what a finding stops is decided elsewhere.

use std::fmt;
use std::sync::LazyLock;

use regex_lite::Regex;

use super::allowed_paths::is_test_path;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AddedLine {
    pub file: String,
    pub line: u32,
    pub text: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SecretKind {
    Assignment,
    Bearer,
    ConnectionString,
    PrivateKey,
    /// A shape that one provider gives its keys.
    KnownToken,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecretFinding {
    pub file: String,
    pub line: u32,
    pub kind: SecretKind,
    /// Two letters of the value and its length.
    pub shown: String,
}

impl fmt::Display for SecretFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.kind {
            SecretKind::Assignment => "a secret in an assignment",
            SecretKind::Bearer => "a bearer token",
            SecretKind::ConnectionString => "a password in a connection string",
            SecretKind::PrivateKey => "a private key",
            SecretKind::KnownToken => "a provider's key",
        };
        write!(f, "{}:{}: {what} ({})", self.file, self.line, self.shown)
    }
}

struct Patterns {
    quoted: Regex,
    bare: Regex,
    bearer: Regex,
    connection: Regex,
    key_block: Regex,
    tokens: Regex,
}

static PATTERNS: LazyLock<Patterns> = LazyLock::new(|| {
    let regex = |text: &str| Regex::new(text).expect("a fixed expression that the tests compile");
    let name = r"(?:pass(?:word|wd|phrase)|pwd|api[_-]?key|secret(?:[_-]?key)?|token|access[_-]?key|private[_-]?key|credentials?)";
    Patterns {
        quoted: regex(&format!(
            r#"(?i)({name})["'\]]*\s*(?::\s*[&\w<>\[\]' ]+\s*=|:=|=>|=|:)\s*[rbuf]?["'`]([^"'`\s]{{6,}})["'`]"#
        )),
        bare: regex(&format!(
            r#"(?i)^\s*(?:export\s+|-\s+)?["']?[\w.-]*{name}["']?\s*[:=]\s*([^\s"'#;,]{{8,}})\s*(?:#.*)?$"#
        )),
        bearer: regex(r"(?i)bearer\s+([A-Za-z0-9._~+/=-]{16,})"),
        connection: regex(r#"[A-Za-z][A-Za-z0-9+.-]*://[^\s/:@"']+:([^\s/@"']+)@[^\s"']+"#),
        key_block: regex(r"-----BEGIN (?:[A-Z]+ )*PRIVATE KEY(?: BLOCK)?-----"),
        tokens: regex(
            r"\b(AKIA[0-9A-Z]{16}|gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{30,}|xox[abprs]-[A-Za-z0-9-]{10,}|sk-[A-Za-z0-9_-]{20,}|AIza[A-Za-z0-9_-]{30,}|glpat-[A-Za-z0-9_-]{20,})",
        ),
    }
});

/// At most one finding per line: the first line of a leak is enough to stop it.
pub fn scan_secrets(added: &[AddedLine]) -> Vec<SecretFinding> {
    added.iter().filter_map(finding).collect()
}

fn finding(line: &AddedLine) -> Option<SecretFinding> {
    let found = |kind: SecretKind, value: &str| SecretFinding {
        file: line.file.clone(),
        line: line.line,
        kind,
        shown: shown(value),
    };
    let patterns = &*PATTERNS;
    if patterns.key_block.is_match(&line.text) {
        let fake = is_test_path(&line.file) && obviously_fake(&line.text);
        return (!fake).then(|| found(SecretKind::PrivateKey, "-----BEGIN"));
    }
    let value_of = |regex: &Regex| {
        let values =
            regex.captures_iter(&line.text).filter_map(|captures| Some(captures.get(1)?.as_str().to_owned()));
        values.into_iter().find(|value| !is_exempt(value, &line.file))
    };
    if let Some(value) = value_of(&patterns.tokens) {
        return Some(found(SecretKind::KnownToken, &value));
    }
    if let Some(value) = value_of(&patterns.connection) {
        return Some(found(SecretKind::ConnectionString, &value));
    }
    if let Some(value) = value_of(&patterns.bearer) {
        return Some(found(SecretKind::Bearer, &value));
    }
    if let Some(value) = quoted_value(&patterns.quoted, line) {
        return Some(found(SecretKind::Assignment, &value));
    }
    // Without quotes the value may be code, so it must stand in a configuration file and look like no word.
    let mixed = |value: &String| {
        value.bytes().any(|byte| byte.is_ascii_digit())
            && value.bytes().any(|byte| byte.is_ascii_alphabetic())
            && !value.contains(['(', '[', '$', '{', '<'])
    };
    let bare = value_of(&patterns.bare).filter(|value| is_configuration(&line.file) && mixed(value));
    bare.map(|value| found(SecretKind::Assignment, &value))
}

/// A text in quotes behind a telling name. A token or secret of plain letters is a word of a grammar or a label.
fn quoted_value(pattern: &Regex, line: &AddedLine) -> Option<String> {
    let is_word = |value: &str| {
        value.len() < 20 && value.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'_')
    };
    let mut found = pattern.captures_iter(&line.text).filter_map(|captures| {
        let name = captures.get(1)?.as_str().to_ascii_lowercase();
        Some((name, captures.get(2)?.as_str().to_owned()))
    });
    let secret = found.find(|(name, value)| {
        let often_a_label = ["token", "secret", "credential", "credentials"].contains(&name.as_str());
        let harmless = is_type_name(value) || (often_a_label && is_word(value));
        !harmless && !is_exempt(value, &line.file)
    });
    secret.map(|(_, value)| value)
}

/// What stands behind `password:` in descriptions of types and forms.
fn is_type_name(value: &str) -> bool {
    let words =
        ["string", "password", "passwd", "number", "boolean", "hidden", "required", "optional", "undefined"];
    words.iter().any(|word| value.eq_ignore_ascii_case(word))
}

/// Places to be filled in are exempt everywhere, obvious fakes in tests only.
fn is_exempt(value: &str, file: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    let placeholder = value.contains("${")
        || value.contains("{{")
        || value.contains("%(")
        || value.starts_with(['$', '<', '{', '%', '*'])
        || [
            "changeme",
            "change-me",
            "change_me",
            "placeholder",
            "your-",
            "your_",
            "redacted",
            "example",
            "xxxx",
            "env.",
        ]
        .iter()
        .any(|mark| lower.contains(mark))
        || one_letter_repeated(value);
    placeholder || (is_test_path(file) && obviously_fake(value))
}

fn obviously_fake(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    [
        "test", "fake", "dummy", "mock", "sample", "secret", "passw", "foo", "bar", "abc", "123", "invalid",
        "hunter", "token",
    ]
    .iter()
    .any(|mark| lower.contains(mark))
}

fn one_letter_repeated(value: &str) -> bool {
    let mut letters = value.chars();
    letters.next().is_some_and(|first| letters.all(|letter| letter == first))
}

fn is_configuration(file: &str) -> bool {
    let name = file.rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
    let ends = ["yaml", "yml", "toml", "ini", "cfg", "conf", "properties", "env", "sh", "tfvars", "netrc"];
    name.starts_with(".env")
        || name == "dockerfile"
        || name.rsplit_once('.').is_some_and(|(_, extension)| ends.contains(&extension))
}

fn shown(value: &str) -> String {
    let start: String = value.chars().take(2).collect();
    format!("{start}…, {} characters", value.chars().count())
}

/// The added lines of a unified diff with their numbers in the new files.
pub fn added_lines(diff: &str) -> Vec<AddedLine> {
    let mut added = Vec::new();
    let mut file = String::new();
    // Lines that the current hunk still holds, old and new; outside of hunks a `+` is no content.
    let (mut old, mut new, mut number) = (0_u32, 0_u32, 0_u32);
    for line in diff.lines() {
        if old == 0 && new == 0 {
            if let Some(path) = line.strip_prefix("+++ ") {
                let path = path.split('\t').next().unwrap_or(path).trim_matches('"');
                path.strip_prefix("b/").unwrap_or(path).clone_into(&mut file);
            } else if let Some((before, after)) = hunk(line) {
                (old, new, number) = (before, after.1, after.0);
            }
            continue;
        }
        match line.as_bytes().first() {
            Some(b'+') => {
                added.push(AddedLine { file: file.clone(), line: number, text: line[1..].to_owned() });
                new = new.saturating_sub(1);
                number = number.saturating_add(1);
            }
            Some(b'-') => old = old.saturating_sub(1),
            Some(b'\\') => {}
            _ => {
                old = old.saturating_sub(1);
                new = new.saturating_sub(1);
                number = number.saturating_add(1);
            }
        }
    }
    added
}

/// `@@ -1,4 +1,5 @@`: length before; start and length after.
fn hunk(line: &str) -> Option<(u32, (u32, u32))> {
    let (old, rest) = line.strip_prefix("@@ -")?.split_once(" +")?;
    let new = rest.split_once(" @@")?.0;
    let pair = |text: &str| -> Option<(u32, u32)> {
        let (start, length) = text.split_once(',').unwrap_or((text, "1"));
        Some((start.parse().ok()?, length.parse().ok()?))
    };
    Some((pair(old)?.1, pair(new)?))
}
