//! Whether a recorded command destroys what no loop may destroy, read word by word as a shell would, not by substrings:
//! a quoted mention is harmless, and a flag in another spelling is not. It runs nothing and asks no file system.

use std::fmt;
use std::iter::Peekable;
use std::str::Chars;

/// What a command would destroy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Destroys {
    /// The root, a system folder, the home folder, or the whole working folder.
    WholeFolder,
    /// Uncommitted work.
    LocalWork,
    /// Commits that others have.
    SharedHistory,
    /// A table or database.
    Database,
    /// A disk or file system.
    Disk,
}

impl fmt::Display for Destroys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::WholeFolder => "deletes the root, the home or the whole working folder",
            Self::LocalWork => "throws uncommitted work away",
            Self::SharedHistory => "rewrites commits that others have",
            Self::Database => "drops a table or database",
            Self::Disk => "overwrites a disk or file system",
        })
    }
}

/// How deep `sh -c '…'` is followed.
const MOST_NESTED: usize = 4;

/// The first destructive part of a command line, if there is one.
pub fn destructive(command: &str) -> Option<Destroys> {
    in_line(command, MOST_NESTED)
}

fn in_line(command: &str, depth: usize) -> Option<Destroys> {
    simple_commands(command, depth).iter().find_map(|words| in_words(words, depth))
}

/// One simple command. Wrappers such as `sudo` and `env A=b` are looked through.
fn in_words(words: &[String], depth: usize) -> Option<Destroys> {
    let (program, arguments) = unwrapped(words)?;
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match program {
        "rm" => removal(&arguments),
        "rmdir" | "rd" | "del" | "erase" => windows_removal(&arguments),
        "find" => found_and_deleted(&arguments),
        "git" => git(&arguments),
        "dd" => arguments.iter().any(|word| word.starts_with("of=/dev/")).then_some(Destroys::Disk),
        "format" | "format.com" => {
            let is_drive = |word: &&str| word.len() == 2 && word.ends_with(':');
            arguments.iter().any(is_drive).then_some(Destroys::Disk)
        }
        _ if program == "mkfs" || program.starts_with("mkfs.") => Some(Destroys::Disk),
        "dropdb" => Some(Destroys::Database),
        "psql" | "mysql" | "mariadb" | "sqlite3" | "sqlcmd" | "mysqladmin" | "mongosh"
        | "clickhouse-client" | "duckdb" | "cockroach" => drops(program, &arguments),
        "sh" | "bash" | "zsh" | "dash" | "ksh" | "fish" | "eval" | "cmd" | "cmd.exe" | "powershell"
        | "pwsh" => shell_argument(program, &arguments)
            .and_then(|inner| if depth == 0 { None } else { in_line(&inner, depth - 1) }),
        _ => None,
    }
}

fn unwrapped(words: &[String]) -> Option<(&str, &[String])> {
    let mut rest = words;
    loop {
        let (first, after) = rest.split_first()?;
        let name = first.rsplit(['/', '\\']).next().unwrap_or(first);
        let is_assignment = first.split_once('=').is_some_and(|(key, _)| {
            !key.is_empty() && key.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
        });
        let wraps = [
            "sudo", "doas", "env", "command", "exec", "nohup", "time", "nice", "xargs", "then", "do", "else",
            "!",
        ];
        if is_assignment {
            rest = after;
        } else if wraps.contains(&name) {
            rest = after;
            // Options of the wrapper; their values are rarely commands of ours.
            while rest.first().is_some_and(|word| word.starts_with('-')) {
                let takes_value = matches!(rest[0].as_str(), "-u" | "-g" | "-n" | "-I" | "-P" | "-C");
                rest = rest.get(if takes_value { 2.. } else { 1.. })?;
            }
        } else {
            return Some((name, after));
        }
    }
}

fn removal(arguments: &[&str]) -> Option<Destroys> {
    let mut recursive = false;
    let mut places = Vec::new();
    let mut options = true;
    for word in arguments {
        match *word {
            "--" => options = false,
            "--recursive" if options => recursive = true,
            "--no-preserve-root" if options => return Some(Destroys::WholeFolder),
            word if options && word.starts_with("--") => {}
            word if options && word.starts_with('-') && word.len() > 1 => {
                recursive |= word.contains(['r', 'R']);
            }
            word => places.push(word),
        }
    }
    (recursive && places.iter().any(|place| is_whole(place))).then_some(Destroys::WholeFolder)
}

/// `find . -delete`; with a test on names, ages or kinds it is how caches are cleaned.
fn found_and_deleted(arguments: &[&str]) -> Option<Destroys> {
    let tests = [
        "-name", "-iname", "-path", "-ipath", "-regex", "-mtime", "-mmin", "-newer", "-empty", "-size",
        "-user",
    ];
    let chooses = arguments.iter().any(|word| tests.contains(word));
    let whole = arguments.first().is_some_and(|place| is_whole(place));
    (whole && !chooses && arguments.contains(&"-delete")).then_some(Destroys::WholeFolder)
}

fn windows_removal(arguments: &[&str]) -> Option<Destroys> {
    let recursive = arguments.iter().any(|word| word.eq_ignore_ascii_case("/s"));
    let is_drive = |word: &str| {
        let bare = word.trim_end_matches(['\\', '/', '*', '.']);
        (bare.len() == 2 && bare.ends_with(':')) || matches!(word, "\\" | "*" | "*.*" | ".")
    };
    (recursive && arguments.iter().any(|word| is_drive(word))).then_some(Destroys::WholeFolder)
}

/// The root, a top folder, home, or all of the working folder; a folder below one of these is somebody's scratch.
fn is_whole(place: &str) -> bool {
    let place =
        place.replace("${HOME}", "~").replace("$HOME", "~").replace("$PWD", ".").replace("${PWD}", ".");
    let bare = place.trim_end_matches('*').trim_end_matches('/');
    let mut parts: Vec<&str> = bare.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
    if place.starts_with('/') {
        // `/tmp/..` and `/usr/` are as much as their names say.
        while let Some(up) = parts.iter().position(|part| *part == "..") {
            parts.drain(up.saturating_sub(1)..=up);
        }
        let system = [
            "bin", "boot", "dev", "etc", "home", "lib", "lib64", "opt", "proc", "root", "sbin", "sys", "usr",
            "var",
        ];
        return match parts.as_slice() {
            [] | ["home", _] => true,
            [one] => system.contains(one),
            _ => false,
        };
    }
    match parts.as_slice() {
        [] | [".git"] => true,
        [home] if home.starts_with('~') => true,
        parts => parts.iter().all(|part| *part == ".."),
    }
}

fn git(arguments: &[&str]) -> Option<Destroys> {
    let mut rest = arguments;
    while let [option, after @ ..] = rest
        && option.starts_with('-')
    {
        let takes_value = matches!(*option, "-C" | "-c" | "--git-dir" | "--work-tree");
        rest = after.get(usize::from(takes_value)..).unwrap_or_default();
    }
    let (verb, rest) = rest.split_first()?;
    let has = |option: &str| rest.contains(&option);
    let short = |letter: char| {
        rest.iter().any(|word| word.starts_with('-') && !word.starts_with("--") && word.contains(letter))
    };
    let forced_clean = has("--force") || short('f');
    match *verb {
        "reset" if has("--hard") => Some(Destroys::LocalWork),
        "clean" if forced_clean && !short('n') && !has("--dry-run") => Some(Destroys::LocalWork),
        "checkout" | "restore" if rest.iter().any(|word| matches!(*word, "." | ":/")) && !has("--staged") => {
            Some(Destroys::LocalWork)
        }
        "stash" if has("clear") || has("drop") => Some(Destroys::LocalWork),
        "push" => {
            let forced = short('f') || has("--mirror") || rest.iter().any(|word| word.starts_with("--force"));
            let deletes = has("--delete") || short('d');
            let by_refspec = rest.iter().any(|word| {
                !word.starts_with('-') && (word.starts_with('+') || (word.starts_with(':') && word.len() > 1))
            });
            (forced || deletes || by_refspec).then_some(Destroys::SharedHistory)
        }
        "filter-branch" | "filter-repo" => Some(Destroys::SharedHistory),
        _ => None,
    }
}

/// `drop table` and its kin in the words a client is given; words of a search or an echo never come here.
fn drops(program: &str, arguments: &[&str]) -> Option<Destroys> {
    let statement = arguments.join(" ").to_ascii_lowercase();
    let words: Vec<&str> = statement
        .split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_')
        .filter(|word| !word.is_empty())
        .collect();
    let pair = words
        .windows(2)
        .any(|pair| matches!(pair, ["drop", "table" | "database" | "schema"] | ["truncate", "table"]));
    let by_method = statement.contains("dropdatabase(") || statement.contains(".drop(");
    let by_admin = program == "mysqladmin" && words.contains(&"drop");
    (pair || by_method || by_admin).then_some(Destroys::Database)
}

/// What a shell is told to run.
fn shell_argument(program: &str, arguments: &[&str]) -> Option<String> {
    if program == "eval" {
        return Some(arguments.join(" "));
    }
    let is_flag = |word: &str| {
        let lower = word.to_ascii_lowercase();
        matches!(lower.as_str(), "/c" | "/k" | "-command")
            || (lower.starts_with('-') && !lower.starts_with("--") && lower.ends_with('c'))
    };
    let position = arguments.iter().position(|word| is_flag(word))?;
    let rest = &arguments[position + 1..];
    // `cmd /c` takes the rest of the line, the others one word.
    if program.starts_with("cmd") || program.ends_with("sh") && program.starts_with('p') {
        return Some(rest.join(" "));
    }
    rest.first().map(|word| (*word).to_owned())
}

/// A command line cut into simple commands of words, quotes and escapes resolved. Substitutions are commands too; what
/// is fed to a program by a here-document or a pipe from `echo` belongs to the program that reads it.
fn simple_commands(line: &str, depth: usize) -> Vec<Vec<String>> {
    let mut cutter = Cutter::default();
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\'' => {
                cutter.in_word = true;
                for inner in letters.by_ref().take_while(|inner| *inner != '\'') {
                    cutter.word.push(inner);
                }
            }
            '"' => {
                cutter.in_word = true;
                for inside in double_quoted(&mut letters, &mut cutter.word).iter().filter(|_| depth > 0) {
                    cutter.commands.extend(simple_commands(inside, depth - 1));
                }
            }
            '\\' => match letters.next() {
                Some('\n') | None => {}
                Some(next) => {
                    // A backslash before a plain letter is a path of another system, not an escape.
                    if next.is_ascii_alphanumeric() {
                        cutter.word.push('\\');
                    }
                    cutter.push(next);
                }
            },
            '#' if !cutter.in_word => while letters.next_if(|next| *next != '\n').is_some() {},
            ';' | '\n' | '&' | '(' | ')' | '`' | '{' | '}'
                if letter != '{' && letter != '}' || !cutter.in_word =>
            {
                cutter.end_command();
            }
            '|' => cutter.end_piped(),
            '>' | '<' => cutter.end_word(),
            letter if letter.is_whitespace() => cutter.end_word(),
            letter => cutter.push(letter),
        }
    }
    cutter.end_command();
    cutter.commands
}

/// Reads up to the closing quote into the word, and hands out the commands that are substituted inside.
fn double_quoted(letters: &mut Peekable<Chars<'_>>, word: &mut String) -> Vec<String> {
    let mut substituted = Vec::new();
    while let Some(letter) = letters.next() {
        match letter {
            '"' => break,
            '\\' if letters.peek().is_some_and(|next| "\"\\$`\n".contains(*next)) => {
                word.extend(letters.next());
            }
            '`' => substituted.push(letters.by_ref().take_while(|inner| *inner != '`').collect()),
            '$' if letters.peek() == Some(&'(') => {
                let mut open = 0_usize;
                let inside = letters.by_ref().take_while(|inner| {
                    open = match inner {
                        '(' => open + 1,
                        ')' => open - 1,
                        _ => open,
                    };
                    open > 0
                });
                substituted.push(inside.skip(1).collect());
            }
            _ => word.push(letter),
        }
    }
    substituted
}

#[derive(Default)]
struct Cutter {
    commands: Vec<Vec<String>>,
    words: Vec<String>,
    word: String,
    in_word: bool,
    /// What an `echo` before a pipe says: the next command reads it.
    piped: Vec<String>,
}

impl Cutter {
    fn push(&mut self, letter: char) {
        self.word.push(letter);
        self.in_word = true;
    }

    fn end_word(&mut self) {
        if std::mem::take(&mut self.in_word) {
            self.words.push(std::mem::take(&mut self.word));
        }
        self.word.clear();
    }

    fn end_command(&mut self) {
        self.end_word();
        let piped = std::mem::take(&mut self.piped);
        if !self.words.is_empty() {
            let mut words = std::mem::take(&mut self.words);
            words.extend(piped);
            self.commands.push(words);
        }
    }

    fn end_piped(&mut self) {
        self.end_word();
        let said = match self.words.first().map(String::as_str) {
            Some("echo" | "printf") => self.words[1..].to_vec(),
            _ => Vec::new(),
        };
        self.end_command();
        self.piped = said;
    }
}
