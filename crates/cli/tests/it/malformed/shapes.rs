//! What can lie where an answer is expected, made from a sound one: whatever is refused of it is refused for what was done to
//! it, and for nothing else.

use crate::under_attack::{Answer, Attacked, Given, Loop, hex};
use serde_json::Value;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    Nothing,
    Empty,
    Truncated,
    NoStructure,
    Fenced,
    AList,
    AString,
    WrongTypes,
    DoubledKey,
    EscapedNul,
    RawNul,
    InvalidUtf8,
    ByteOrderMark,
    Depth100000,
    TwoMegabytes,
    OneGigabyte,
    AnotherId,
    WrongCase,
    WrongCaseOfItsName,
    SymbolicLinkToASoundOne,
    LinkToAnEndlessDevice,
    HardLinkToASoundOne,
    Pipe,
    Directory,
    Socket,
    Device,
    UnreadableMode,
    ChangedWhileRead,
}

/// What must come of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Expected {
    /// With these words in the record; nothing is let through.
    Refused(&'static str),
    /// It can be read all the same, and is.
    Read,
    /// By when it happens, or by what the machine allows.
    Either,
}
use Expected::{Either, Read, Refused};

impl Shape {
    pub(super) const ALL: [Self; 28] = [
        Self::Nothing,
        Self::Empty,
        Self::Truncated,
        Self::NoStructure,
        Self::Fenced,
        Self::AList,
        Self::AString,
        Self::WrongTypes,
        Self::DoubledKey,
        Self::EscapedNul,
        Self::RawNul,
        Self::InvalidUtf8,
        Self::ByteOrderMark,
        Self::Depth100000,
        Self::TwoMegabytes,
        Self::OneGigabyte,
        Self::AnotherId,
        Self::WrongCase,
        Self::WrongCaseOfItsName,
        Self::SymbolicLinkToASoundOne,
        Self::LinkToAnEndlessDevice,
        Self::HardLinkToASoundOne,
        Self::Pipe,
        Self::Directory,
        Self::Socket,
        Self::Device,
        Self::UnreadableMode,
        Self::ChangedWhileRead,
    ];

    /// The actions that leave it in the place of the sound one; none where the answer has no such thing.
    pub(super) fn left(self, attacked: &Attacked) -> Option<Vec<String>> {
        let sound = attacked.sound();
        let place = &sound.place;
        let action = match self {
            Self::Nothing => "{ say = 'done' }".to_owned(),
            Self::TwoMegabytes => special(place, "size = 2_000_000"),
            Self::OneGigabyte => {
                let folder = place.rsplit_once('/').map_or("", |(folder, _)| folder);
                format!("{{ run = ['sh', '-c', 'mkdir -p {folder}; truncate --size 1G {place}'] }}")
            }
            Self::WrongCaseOfItsName => {
                let name = sound.name();
                content(&place.replace(name, &name.to_uppercase()), sound.text.as_bytes())
            }
            Self::SymbolicLinkToASoundOne => special(place, &format!("symlink_to = '{}'", beside(attacked))),
            Self::LinkToAnEndlessDevice => special(place, "symlink_to = '/dev/zero'"),
            Self::HardLinkToASoundOne => special(place, &format!("hardlink_to = '{}'", beside(attacked))),
            Self::Pipe => special(place, "fifo = true"),
            Self::Directory => special(place, "directory = true"),
            Self::Socket => socket(attacked, place),
            // Not everybody may make devices; then nothing is left, which is refused as well.
            Self::Device => format!("{{ run = ['mknod', '{place}', 'c', '1', '5'], may_fail = true }}"),
            Self::UnreadableMode => {
                let hex = hex(sound.text.as_bytes());
                format!("{{ artifact = '{place}', hex = '{hex}', mode = 0 }}")
            }
            Self::ChangedWhileRead => {
                let goes_on =
                    "{ fork = { kind = 'double', hold_stdout = true, then = [{ ignore_term = true }, ";
                return Some(vec![
                    content(place, sound.text.as_bytes()),
                    format!("{goes_on}{{ beat = '{place}', every_ms = 1 }}] }} }}"),
                ]);
            }
            _ => content(place, &self.bytes(sound)?),
        };
        // Asked again, it finds in a worktree what it left there.
        let again = format!("{{ run = ['rm', '-rf', '{place}'] }}");
        Some(if sound.is_in_outbox() { vec![action] } else { vec![again, action] })
    }

    /// Other bytes than the sound ones.
    fn bytes(self, sound: &Given) -> Option<Vec<u8>> {
        let text = sound.text.as_str();
        let is_json = sound.is_json();
        let bytes = match self {
            Self::Empty => String::new(),
            Self::Truncated => text[..text.len() / if is_json { 2 } else { 3 }].to_owned(),
            Self::NoStructure => "PASS".to_owned(),
            Self::Fenced if is_json => format!("```json\n{text}\n```"),
            Self::AList if is_json => format!("[{text}]"),
            Self::AString if is_json => "\"PASS\"".to_owned(),
            Self::WrongTypes => wrong_types(text, is_json)?,
            Self::DoubledKey => doubled_key(text, is_json)?,
            Self::EscapedNul if is_json => {
                let end = text.rfind('"')?;
                format!("{}a\\u0000b{}", &text[..end], &text[end..])
            }
            Self::RawNul => format!("{text}\u{0}"),
            Self::InvalidUtf8 => {
                let at = if is_json { text.rfind('"')? } else { text.len() - 2 };
                return Some([&text.as_bytes()[..at], &[0xFF], &text.as_bytes()[at..]].concat());
            }
            Self::ByteOrderMark => format!("\u{FEFF}{text}"),
            Self::Depth100000 => deep(text, is_json),
            Self::AnotherId => another_id(text)?,
            Self::WrongCase => wrong_case(text, is_json)?,
            _ => return None,
        };
        Some(bytes.into_bytes())
    }

    pub(super) fn expected(self, answer: Answer, is_json: bool) -> Expected {
        if answer.of() == Loop::Roadmap {
            return self.expected_in_a_worktree(answer);
        }
        match (self, answer, is_json) {
            (Self::UnreadableMode | Self::ChangedWhileRead | Self::Device, ..) => Either,
            (Self::Nothing, ..) if answer.of() == Loop::Task => Refused("was not left"),
            (Self::Empty, _, true) => Refused("the file is empty"),
            (Self::Truncated | Self::NoStructure, _, true) => Refused("not valid JSON"),
            (Self::Fenced, ..) => Refused("Markdown fence"),
            (Self::AList | Self::AString, ..) => Refused("one JSON object"),
            (Self::DoubledKey, _, true) => Refused("more than once"),
            (Self::EscapedNul, ..) => Refused("u0000"),
            (Self::RawNul, _, true) => Refused("NUL byte"),
            (Self::InvalidUtf8, _, true) => Refused("not UTF-8"),
            (Self::Depth100000, _, true) => Refused("nested deeper than"),
            (Self::AnotherId, ..) if answer.of() == Loop::Task => Refused("/task_id"),
            (Self::ByteOrderMark, _, true) => Refused("byte order mark"),
            (Self::TwoMegabytes | Self::OneGigabyte, ..) => Refused("larger than"),
            (Self::SymbolicLinkToASoundOne | Self::LinkToAnEndlessDevice, ..) => Refused("symbolic link"),
            (Self::HardLinkToASoundOne, ..) => Refused("hard link"),
            (Self::Pipe, ..) => Refused("a pipe"),
            (Self::Directory, ..) => Refused("a directory"),
            (Self::Socket, ..) => Refused("cannot be opened"),
            (Self::ByteOrderMark, ..) => Read,
            _ => Refused(""),
        }
    }

    /// What lies in a worktree is read from its snapshot: a file is a file there, whoever else has a name for it, and text
    /// around the parts that are looked for is only text.
    const fn expected_in_a_worktree(self, answer: Answer) -> Expected {
        let is_text = matches!(answer, Answer::Plan | Answer::Notes | Answer::Review);
        match self {
            Self::HardLinkToASoundOne => Read,
            Self::UnreadableMode | Self::ChangedWhileRead | Self::Device => Either,
            Self::Depth100000 | Self::RawNul | Self::InvalidUtf8 | Self::ByteOrderMark | Self::Truncated
                if is_text =>
            {
                Either
            }
            _ => Refused(""),
        }
    }
}

fn content(place: &str, bytes: &[u8]) -> String {
    format!("{{ artifact = '{place}', hex = '{}' }}", hex(bytes))
}

fn special(place: &str, what: &str) -> String {
    format!("{{ artifact = '{place}', {what} }}")
}

/// A sound answer that lies elsewhere.
fn beside(attacked: &Attacked) -> String {
    let file = attacked.world.shared("sound");
    std::fs::write(&file, &attacked.sound().text).expect("the scripts' directory can be written");
    file.display().to_string()
}

/// One for each attempt: it is moved to its place, and whoever made it is gone.
fn socket(attacked: &Attacked, place: &str) -> String {
    for attempt in 1..=6 {
        let file = attacked.world.shared(&format!("socket-{attempt}"));
        drop(std::os::unix::net::UnixListener::bind(file).expect("a socket can be made"));
    }
    let folder = place.rsplit_once('/').map_or("", |(folder, _)| folder);
    let from = attacked.world.shared("socket-");
    format!("{{ run = ['sh', '-c', 'mkdir -p {folder}; mv {}{{attempt}} {place}'] }}", from.display())
}

fn wrong_types(text: &str, is_json: bool) -> Option<String> {
    if is_json {
        let mut value: Value = serde_json::from_str(text).ok()?;
        value.as_object_mut()?.values_mut().filter(|member| member.is_string()).for_each(|member| {
            *member = Value::from(7);
        });
        return Some(value.to_string());
    }
    let other = text.replace("target-met: true", "target-met: [7]").replace("status: pass", "status: [7]");
    (other != text).then_some(other)
}

fn doubled_key(text: &str, is_json: bool) -> Option<String> {
    if is_json {
        let value: Value = serde_json::from_str(text).ok()?;
        let (key, member) = value.as_object()?.iter().next()?;
        let open = text.trim_end().strip_suffix('}')?;
        return Some(format!("{open},{}:{member}}}", Value::from(key.as_str())));
    }
    let other = text
        .replace("target-met: true", "target-met: false\ntarget-met: true")
        .replace("status: pass", "status: fail\nstatus: pass");
    (other != text).then_some(other)
}

fn deep(text: &str, is_json: bool) -> String {
    let nest = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    if is_json {
        return text.replacen('{', &format!("{{\"deep\":{nest},"), 1);
    }
    match text.strip_prefix("---\n") {
        Some(rest) => format!("---\ndeep: {nest}\n{rest}"),
        None => format!("{text}\n{} deep\n", ">".repeat(100_000)),
    }
}

fn another_id(text: &str) -> Option<String> {
    let ids = [
        ("TASK-1", "TASK-2"),
        ("US-1.1-1", "US-1.1-2"),
        ("F001", "F002"),
        ("sensor: taste", "sensor: smell"),
    ];
    let other = ids.iter().fold(text.to_owned(), |text, (id, other)| text.replace(id, other));
    let other = if other == text { text.replace("m-1", "m-9") } else { other };
    (other != text).then_some(other)
}

fn wrong_case(text: &str, is_json: bool) -> Option<String> {
    if is_json {
        let value: Value = serde_json::from_str(text).ok()?;
        let members = value.as_object()?.iter().map(|(key, member)| (key.to_uppercase(), member.clone()));
        return Some(Value::Object(members.collect()).to_string());
    }
    let other = text.replace("target-met: true", "TARGET-MET: TRUE").replace("status: pass", "STATUS: PASS");
    (other != text).then_some(other)
}
