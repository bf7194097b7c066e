//! Reads a loop commit the way the original's web viewer does, with its limits, and flat commits besides.
//! For `status` and for proving that what we write is seen.

/// A commit as a reader of the loop's history sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ViewedCommit {
    /// Ids in the subject joined by ` > `; nothing in the flat form.
    pub nodes: Option<String>,
    pub title: String,
    pub node_path: Option<String>,
    pub level: u32,
    pub iteration: String,
    pub status: String,
    pub target_met: String,
    pub sensors: Vec<ViewedSensor>,
    pub action: String,
    pub run_id: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ViewedSensor {
    pub name: String,
    /// `pass`, `fail`, `partial`, `pending`, else `unknown`.
    pub status: String,
    pub details: Option<String>,
}

/// What the viewer shows for a commit; nothing where it takes it for a commit of somebody else. Flat commits are
/// invisible to it.
pub fn seen_by_viewer(message: &str) -> Option<ViewedCommit> {
    read_loop_commit(message).filter(|commit| commit.nodes.is_some() && commit.node_path.is_some())
}

/// As the viewer, and flat commits too.
pub fn read_loop_commit(message: &str) -> Option<ViewedCommit> {
    let (subject, body) = message.split_once('\n').unwrap_or((message, ""));
    let subject = Subject::read(subject.trim_end())?;
    let fields: Vec<(&str, &str)> = body.trim().lines().filter_map(field).collect();
    // A field that is written twice counts as it stands last.
    let last = |name: &str| fields.iter().rev().find(|(key, _)| *key == name).map(|(_, value)| *value);
    let or_unknown = |name: &str| last(name).unwrap_or("unknown").to_owned();
    Some(ViewedCommit {
        nodes: subject.nodes.map(str::to_owned),
        title: subject.title.to_owned(),
        node_path: last("node-path").map(str::to_owned),
        level: last("level").and_then(|level| level.parse().ok()).unwrap_or(0),
        iteration: last("iteration")?.to_owned(),
        status: or_unknown("status"),
        target_met: or_unknown("target-met"),
        sensors: last("sensors").map(sensors).unwrap_or_default(),
        action: last("action").unwrap_or_default().to_owned(),
        run_id: last("run-id").map(str::to_owned),
    })
}

struct Subject<'a> {
    nodes: Option<&'a str>,
    title: &'a str,
}

impl<'a> Subject<'a> {
    /// `ai-loop[a > b]: iteration 1.2 — title`, with an em dash, `--` or `-`.
    fn read(subject: &'a str) -> Option<Self> {
        let rest = subject.strip_prefix("ai-loop")?;
        let (nodes, rest) = match rest.strip_prefix('[') {
            Some(opened) => {
                let (nodes, rest) = opened.split_once("]:").filter(|(nodes, _)| !nodes.is_empty())?;
                (Some(nodes), rest)
            }
            None => (None, rest.strip_prefix(':')?),
        };
        let rest = rest.trim_start().strip_prefix("iteration")?;
        let labelled = rest.trim_start();
        if labelled.len() == rest.len() {
            return None;
        }
        // The label takes as much as it can and still leaves a dash and a title.
        let longest = labelled.find(char::is_whitespace).unwrap_or(labelled.len());
        let mut ends = (1..=longest).rev().filter(|end| labelled.is_char_boundary(*end));
        let title = ends.find_map(|end| {
            let after = labelled[end..].trim_start();
            let title = ["—", "--", "-"].iter().find_map(|dash| after.strip_prefix(dash))?.trim_start();
            (!title.is_empty()).then_some(title)
        })?;
        Some(Self { nodes, title })
    }
}

/// `[name] value`: a name of letters, digits, `_` and inner hyphens; a value that is not empty.
fn field(line: &str) -> Option<(&str, &str)> {
    let (name, value) = line.strip_prefix('[')?.split_once(']')?;
    let value = value.trim();
    (is_field_name(name) && !value.is_empty()).then_some((name, value))
}

fn is_field_name(name: &str) -> bool {
    name.bytes().next().is_some_and(is_word_byte)
        && name.bytes().all(|byte| is_word_byte(byte) || byte == b'-')
}

fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Splits at a comma and blanks that stand before a plain word and a colon; the rest is left together.
fn sensors(list: &str) -> Vec<ViewedSensor> {
    let mut parts = Vec::new();
    let mut start = 0;
    for (comma, _) in list.match_indices(',') {
        let after = &list[comma + 1..];
        let next = after.trim_start();
        let word = next.len()
            - next.trim_start_matches(|letter: char| letter.is_ascii() && is_word_byte(letter as u8)).len();
        if next.len() < after.len() && word > 0 && next[word..].starts_with(':') && comma >= start {
            parts.push(&list[start..comma]);
            start = list.len() - next.len();
        }
    }
    parts.push(&list[start..]);
    parts.into_iter().map(sensor).collect()
}

/// `name: status`, and a detail in parentheses if there is one.
fn sensor(part: &str) -> ViewedSensor {
    let known = part.split_once(':').filter(|(name, _)| is_field_name(name)).and_then(|(name, rest)| {
        let rest = rest.trim_start();
        let status =
            ["pass", "fail", "partial", "pending"].into_iter().find(|status| rest.starts_with(status))?;
        let details = rest[status.len()..].trim_start();
        let details = match details {
            "" => None,
            _ => Some(
                details.strip_prefix('(')?.strip_suffix(')').filter(|inner| !inner.is_empty())?.to_owned(),
            ),
        };
        Some(ViewedSensor { name: name.to_owned(), status: status.to_owned(), details })
    });
    known.unwrap_or_else(|| ViewedSensor {
        name: part.trim().to_owned(),
        status: "unknown".to_owned(),
        details: Some(part.trim().to_owned()),
    })
}
