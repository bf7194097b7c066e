//! A shell line taken apart as a careful person reads it: its simple commands, what becomes of their output, the variables it
//! sets itself, and what stands behind an interpreter's options. It knows words; which files they are is found elsewhere.

use std::collections::BTreeMap;

/// Other spellings of the folder in which a command is run.
const HERE: &[&str] = &[
    "$(git rev-parse --show-toplevel)",
    "`git rev-parse --show-toplevel`",
    "$(pwd)",
    "`pwd`",
    "${PWD}",
    "$PWD",
];
/// Words before the program proper, and their options that take the next word along.
const LEADS: &[(&str, &[&str])] = &[
    ("if", &[]),
    ("then", &[]),
    ("else", &[]),
    ("elif", &[]),
    ("do", &[]),
    ("while", &[]),
    ("until", &[]),
    ("!", &[]),
    ("time", &["-f", "-o"]),
    ("exec", &["-a"]),
    ("command", &[]),
    ("env", &["-u", "--unset", "-C", "--chdir"]),
    ("nohup", &[]),
    ("sudo", &["-u", "-g", "-D"]),
    ("nice", &["-n"]),
    ("timeout", &["-s", "--signal", "-k", "--kill-after"]),
    ("xargs", &["-a", "-d", "-I", "-L", "-n", "-P", "-s"]),
    ("eval", &[]),
    ("export", &[]),
];
pub(super) const SHELLS: &[&str] = &["sh", "bash", "dash", "zsh", "ksh"];

/// What becomes of a simple command.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Seen {
    ByItsExit,
    /// Piped on or put into another command.
    ByItsOutput,
}

/// One program with its words.
pub(super) struct Simple {
    pub(super) program: String,
    pub(super) rest: Vec<String>,
    pub(super) seen: Seen,
    /// Where it goes before it begins.
    pub(super) folder: Option<String>,
    /// The file it reads as if it were typed in.
    pub(super) fed_from: Option<String>,
    /// Entries of a search path that the line sets.
    pub(super) search_path: Vec<String>,
}

/// What an interpreter is told to run.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Behind<'a> {
    Script(&'a str),
    /// A module by its name, found by Python.
    Module(&'a str),
    /// A line of its own.
    Words(String),
    /// Text of another language, in the command itself.
    Text,
    Nothing,
}

pub(super) fn simple_commands(line: &str) -> Vec<Simple> {
    let line = HERE.iter().fold(line.to_owned(), |line, spelling| line.replace(spelling, "."));
    let mut variables = BTreeMap::new();
    let parts = split(&line);
    parts.into_iter().filter_map(|(text, seen)| simple(&text, seen, &mut variables)).collect()
}

fn simple(text: &str, seen: Seen, variables: &mut BTreeMap<String, String>) -> Option<Simple> {
    let text = variables.iter().fold(text.to_owned(), |text, (name, value)| {
        text.replace(&format!("${{{name}}}"), value).replace(&format!("${name}"), value)
    });
    let mut words: Vec<String> = text.split_whitespace().map(|word| word.replace(['"', '\''], "")).collect();
    words.retain(|word| !word.is_empty());
    let fed_from = taken_in(&mut words);
    let (mut at, mut lead, mut folder) = (0, None, None);
    let mut search_path = entries(variables.get("PATH"));
    let mut set = Vec::new();
    while let Some(word) = words.get(at) {
        if let Some((name, value)) = assignment(word) {
            if name == "PATH" {
                search_path = entries(Some(&value.to_owned()));
            }
            set.push((name.to_owned(), value.to_owned()));
        } else if let Some(known) = LEADS.iter().find(|(name, _)| name == word) {
            lead = Some(known);
        } else if word.starts_with('-') {
            let takes = lead.is_some_and(|(_, options)| options.contains(&word.as_str()));
            if takes && ["-C", "--chdir"].contains(&word.as_str()) {
                folder = words.get(at + 1).cloned();
            }
            at += usize::from(takes);
        } else if !word.starts_with(|one: char| one.is_ascii_digit()) {
            break;
        }
        at += 1;
    }
    let Some(program) = words.get(at).cloned() else {
        // Nothing is run: what is set holds for the rest of the line.
        variables.extend(set.into_iter().filter(|(name, value)| name == "PATH" || !value.contains('$')));
        return None;
    };
    let rest = words.split_off(at + 1);
    Some(Simple { program, rest, seen, folder, fed_from, search_path })
}

/// Takes `< file` out of the words.
fn taken_in(words: &mut Vec<String>) -> Option<String> {
    let at = words.iter().position(|word| word.starts_with('<') && !word.starts_with("<<"))?;
    let attached = words.remove(at)[1..].to_owned();
    match attached.is_empty() {
        true if at < words.len() => Some(words.remove(at)),
        true => None,
        false => Some(attached),
    }
}

fn entries(path: Option<&String>) -> Vec<String> {
    let entry =
        |entry: &str| (!entry.is_empty() && !entry.starts_with(['/', '$', '~'])).then(|| entry.to_owned());
    path.map(|path| path.split(':').filter_map(entry).collect()).unwrap_or_default()
}

fn assignment(word: &str) -> Option<(&str, &str)> {
    let (name, value) = word.split_once('=')?;
    let plain = !name.is_empty() && name.chars().all(|one| one.is_ascii_alphanumeric() || one == '_');
    plain.then_some((name, value))
}

fn split(line: &str) -> Vec<(String, Seen)> {
    let mut found = Vec::new();
    let mut current = String::new();
    let (mut inside, mut quoted) = (0_usize, false);
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        let piped = letter == '|' && letters.peek() != Some(&'|');
        let seen = if piped || inside > 0 || quoted { Seen::ByItsOutput } else { Seen::ByItsExit };
        match letter {
            '$' if letters.peek() == Some(&'(') => {
                letters.next();
                found.push((std::mem::take(&mut current), seen));
                inside += 1;
            }
            '$' if letters.peek() == Some(&'{') => {
                current.push('$');
                current.extend(letters.by_ref().take_while(|one| *one != '}').chain(['}']));
            }
            ')' => {
                found.push((std::mem::take(&mut current), seen));
                inside = inside.saturating_sub(1);
            }
            '`' => {
                found.push((std::mem::take(&mut current), seen));
                quoted = !quoted;
            }
            ';' | '&' | '|' | '(' | '\n' | '{' | '}' => found.push((std::mem::take(&mut current), seen)),
            letter => current.push(letter),
        }
    }
    found.push((current, if inside > 0 || quoted { Seen::ByItsOutput } else { Seen::ByItsExit }));
    found
}

/// Reads past the options of an interpreter, which is called without its version.
pub(super) fn behind<'a>(interpreter: &str, words: &'a [String]) -> Behind<'a> {
    let mut at = 0;
    while let Some(word) = words.get(at).map(String::as_str) {
        let next = words.get(at + 1).map(String::as_str);
        let option = word.starts_with('-') || (word.starts_with('+') && SHELLS.contains(&interpreter));
        if word == "--" {
            return next.map_or(Behind::Nothing, Behind::Script);
        }
        if word == "-" {
            return Behind::Nothing;
        }
        if interpreter == "deno" && word == "run" {
            at += 1;
            continue;
        }
        if !option {
            return Behind::Script(word);
        }
        match told(interpreter, word) {
            Told::Line => return Behind::Words(words[at + 1..].join(" ")),
            Told::Text => return Behind::Text,
            Told::Module => return next.map_or(Behind::Nothing, Behind::Module),
            Told::File => return next.map_or(Behind::Nothing, Behind::Script),
            Told::Value => at += 2,
            Told::Alone => at += 1,
        }
    }
    Behind::Nothing
}

/// What an option makes of the word behind it.
enum Told {
    Alone,
    Value,
    File,
    Module,
    Line,
    Text,
}

fn told(interpreter: &str, option: &str) -> Told {
    let short = !option.starts_with("--");
    let ends_with = |letters: &[char]| short && option.ends_with(letters);
    match interpreter {
        "sh" | "bash" | "dash" | "zsh" | "ksh" => match option {
            "--rcfile" | "--init-file" => Told::Value,
            _ if short && option.contains('c') => Told::Line,
            _ if ends_with(&['o', 'O']) => Told::Value,
            _ => Told::Alone,
        },
        "python" => match option {
            "-W" | "-X" | "--check-hash-based-pycs" => Told::Value,
            _ if ends_with(&['m']) => Told::Module,
            _ if ends_with(&['c']) => Told::Text,
            _ => Told::Alone,
        },
        "node" | "bun" | "deno" => match option {
            "-r"
            | "--require"
            | "--import"
            | "--loader"
            | "--experimental-loader"
            | "-C"
            | "--conditions"
            | "--config" => Told::Value,
            "-e" | "--eval" | "-p" | "--print" => Told::Text,
            _ => Told::Alone,
        },
        "ruby" | "perl" => match option {
            "-I" | "-r" | "-C" | "-E" if interpreter == "ruby" => Told::Value,
            "-I" => Told::Value,
            _ if ends_with(&['e']) => Told::Text,
            _ => Told::Alone,
        },
        "php" => match option {
            "-f" => Told::File,
            "-d" | "-c" => Told::Value,
            "-r" => Told::Text,
            _ => Told::Alone,
        },
        _ => Told::Alone,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn an_option_that_takes_a_word_along_does_not_hide_the_script_behind_it() {
        let script = Behind::Script("ci");
        for (interpreter, line) in [
            ("bash", "-euo pipefail ci"),
            ("bash", "-o pipefail -e ci --all"),
            ("bash", "+o posix ci"),
            ("bash", "--rcfile x ci"),
            ("sh", "-- ci"),
            ("python", "-W error -B ci"),
            ("node", "--require ./x ci"),
            ("deno", "run -A ci"),
            ("perl", "-I lib ci"),
            ("php", "-d a=b -f ci"),
        ] {
            assert_eq!(behind(interpreter, &words(line)), script, "{interpreter} {line}");
        }
        assert_eq!(behind("python", &words("-Bm unittest discover")), Behind::Module("unittest"));
        assert_eq!(behind("sh", &words("-ec ./go now")), Behind::Words("./go now".to_owned()));
        assert_eq!(behind("python", &words("-c import x")), Behind::Text);
        assert_eq!(behind("sh", &words("-e")), Behind::Nothing);
    }

    #[test]
    fn a_program_is_found_behind_everything_that_may_stand_before_it() {
        for line in [
            "go",
            "X=1 go",
            "env -u FOO -C . go",
            "timeout -s KILL 60 go",
            "sudo -u ci nice -n 5 go",
            "if ! go; then exit 1; fi",
            "P=go; $P",
            "P=go && ${P}",
        ] {
            let found = simple_commands(line);
            assert!(found.first().is_some_and(|simple| simple.program == "go"), "{line}");
        }
    }
}
