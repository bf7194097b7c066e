//! From one table of a script to one action: exactly one verb, and only the keys that go with it.

use super::fields::{Fields, Node, ScriptError, ScriptProblem};
use super::template::Template;
use super::{Action, ClaimKind, Content, CrashSignal, ForkKind, Hang, HeldStdout, Output, RunFailure, Thing};

/// Each verb with the further keys its table may have.
pub(super) const VERBS: [(&str, &[&str]); 25] = [
    ("write", &["text", "hex", "size", "mode"]),
    ("append", &["text", "hex", "size"]),
    ("delete", &[]),
    ("rename", &["to"]),
    ("chmod", &["mode"]),
    ("symlink", &["target"]),
    ("mkdir", &[]),
    ("run", &["may_fail"]),
    ("handoff", &["without"]),
    ("verdict", &["without"]),
    ("audit", &["without"]),
    ("artifact", &["text", "hex", "size", "symlink_to", "hardlink_to", "fifo", "directory", "mode"]),
    ("say", &[]),
    ("complain", &[]),
    ("flood", &[]),
    ("hang", &[]),
    ("ignore_term", &[]),
    ("crash", &[]),
    ("exit", &[]),
    ("fork", &[]),
    ("fork_storm", &[]),
    ("wait_for", &[]),
    ("count", &[]),
    ("beat", &["every_ms"]),
    ("save_prompt", &[]),
];
const OUTPUTS: [(&str, Output); 2] = [("stdout", Output::Stdout), ("stderr", Output::Stderr)];

pub(super) fn read_actions(node: &Node<'_>) -> Result<Vec<Action>, ScriptError> {
    node.list()?.iter().map(read_action).collect()
}

fn read_action(node: &Node<'_>) -> Result<Action, ScriptError> {
    let fields = node.fields()?;
    let (verb, value) = verb_of(&fields)?;
    Ok(match verb {
        "run" => read_run(&fields, &value)?,
        "handoff" => read_claim(&fields, &value, ClaimKind::Handoff)?,
        "verdict" => read_claim(&fields, &value, ClaimKind::Verdict)?,
        "audit" => read_claim(&fields, &value, ClaimKind::Audit)?,
        "say" => Action::Say { stream: Output::Stdout, content: read_words(&value)? },
        "complain" => Action::Say { stream: Output::Stderr, content: read_words(&value)? },
        "flood" => read_flood(&value)?,
        "hang" => Action::Hang(read_hang(&value)?),
        "ignore_term" => {
            value.must_be_true()?;
            Action::IgnoreTerm
        }
        "crash" => {
            let signals =
                [("KILL", CrashSignal::Kill), ("SEGV", CrashSignal::Segv), ("ABRT", CrashSignal::Abrt)];
            Action::Crash(value.one_of("signal", &signals)?)
        }
        "exit" => {
            let code = u8::try_from(value.number()?);
            Action::Exit { code: code.map_err(|_| value.wrong_type("an exit code from 0 to 255"))? }
        }
        "fork" => read_fork(&value)?,
        "fork_storm" => read_fork_storm(&value)?,
        on_a_path => read_path_action(on_a_path, &fields, &value)?,
    })
}

/// The verbs whose value is a path.
fn read_path_action(verb: &str, fields: &Fields<'_>, value: &Node<'_>) -> Result<Action, ScriptError> {
    let place = format!("`{verb}`");
    let path_of_action = path(value)?;
    Ok(match verb {
        "write" => {
            let content = read_content(fields, &place)?;
            Action::Write { path: path_of_action, content, mode: read_mode(fields)? }
        }
        "append" => Action::Append { path: path_of_action, content: read_content(fields, &place)? },
        "delete" => Action::Delete { path: path_of_action },
        "rename" => {
            let to = fields.need("to", &place, "`to`: the new path")?;
            Action::Rename { from: path_of_action, to: path(&to)? }
        }
        "chmod" => {
            let mode = fields.need("mode", &place, "`mode`, such as 0o755")?;
            Action::Chmod { path: path_of_action, mode: mode_from(&mode)? }
        }
        "symlink" => {
            let target = fields.need("target", &place, "`target`: what the link points to")?;
            Action::Symlink { path: path_of_action, target: path(&target)? }
        }
        "mkdir" => Action::Mkdir { path: path_of_action },
        "artifact" => {
            let thing = read_thing(fields, &place)?;
            Action::Artifact { name: path_of_action, thing, mode: read_mode(fields)? }
        }
        "wait_for" => Action::WaitFor { path: path_of_action },
        "count" => Action::Count { path: path_of_action },
        "beat" => {
            let every_ms = fields.get("every_ms").map_or(Ok(50), |every| every.number())?;
            Action::Beat { path: path_of_action, every_ms }
        }
        "save_prompt" => Action::SavePrompt { path: path_of_action },
        other => {
            unreachable!("`{other}` is in the list of verbs, so it has an arm in one of the two functions")
        }
    })
}

/// The one verb of the table, after a look at the other keys.
fn verb_of<'t>(fields: &Fields<'t>) -> Result<(&'static str, Node<'t>), ScriptError> {
    let found: Vec<_> =
        VERBS.iter().filter_map(|(verb, more)| Some((*verb, *more, fields.get(verb)?))).collect();
    match found.as_slice() {
        [] => {
            // The further keys are let pass here, or a mistyped verb would be blamed on its innocent neighbour.
            let further: Vec<&'static str> =
                VERBS.iter().flat_map(|(_, further)| *further).copied().collect();
            fields.only_or("an action", &VERBS.map(|(verb, _)| verb), &further)?;
            Err(fields.error(ScriptProblem::Missing {
                place: "an action".to_owned(),
                wanted: "a verb, such as `write` or `say`",
            }))
        }
        [(verb, more, value)] => {
            let known: Vec<&'static str> = std::iter::once(*verb).chain(more.iter().copied()).collect();
            fields.only(&format!("`{verb}`"), &known)?;
            Ok((verb, *value))
        }
        several => {
            let keys = several.iter().map(|(verb, ..)| format!("`{verb}`")).collect();
            Err(fields.error(ScriptProblem::TooMany { place: "an action".to_owned(), keys }))
        }
    }
}

fn path(node: &Node<'_>) -> Result<Template, ScriptError> {
    match node.text()? {
        "" => Err(node.wrong_type("a path")),
        text => Template::strict(text).map_err(|problem| node.error(problem)),
    }
}

fn read_mode(fields: &Fields<'_>) -> Result<Option<u32>, ScriptError> {
    fields.get("mode").map(|mode| mode_from(&mode)).transpose()
}

fn mode_from(node: &Node<'_>) -> Result<u32, ScriptError> {
    match node.small_number()? {
        mode @ 0..=0o7777 => Ok(mode),
        _ => Err(node.wrong_type("a file mode from 0o0 to 0o7777")),
    }
}

/// The key among `keys` that is there; more than one contradict each other.
fn at_most_one<'t>(fields: &Fields<'t>, place: &str, keys: &[&str]) -> Result<Option<Node<'t>>, ScriptError> {
    let found: Vec<Node<'t>> = keys.iter().filter_map(|key| fields.get(key)).collect();
    match found.as_slice() {
        [] => Ok(None),
        [node] => Ok(Some(*node)),
        several => {
            let keys = several.iter().map(|node| format!("`{}`", node.key)).collect();
            Err(fields.error(ScriptProblem::TooMany { place: place.to_owned(), keys }))
        }
    }
}

fn read_content(fields: &Fields<'_>, place: &str) -> Result<Content, ScriptError> {
    match at_most_one(fields, place, &["text", "hex", "size"])? {
        Some(node) => content_from(&node),
        None => Err(fields.error(ScriptProblem::Missing {
            place: place.to_owned(),
            wanted: "one of `text`, `hex`, `size`",
        })),
    }
}

fn content_from(node: &Node<'_>) -> Result<Content, ScriptError> {
    Ok(match node.key {
        "text" => Content::Text(node.text()?.to_owned()),
        "hex" => Content::Bytes(node.hex()?),
        _ => Content::Size(node.number()?),
    })
}

/// `"text"` is a line; `{ hex = "…" }` are exactly those bytes.
fn read_words(node: &Node<'_>) -> Result<Content, ScriptError> {
    if let Some(text) = node.as_text() {
        return Ok(Content::Text(format!("{text}\n")));
    }
    let place = format!("`{}`", node.key);
    let fields = node.fields()?;
    fields.only(&place, &["text", "hex"])?;
    read_content(&fields, &place)
}

fn read_thing(fields: &Fields<'_>, place: &str) -> Result<Thing, ScriptError> {
    let keys = ["text", "hex", "size", "symlink_to", "hardlink_to", "fifo", "directory"];
    let Some(node) = at_most_one(fields, place, &keys)? else {
        return Err(fields.error(ScriptProblem::Missing {
            place: place.to_owned(),
            wanted: "one of `text`, `hex`, `size`, `symlink_to`, `hardlink_to`, `fifo`, `directory`",
        }));
    };
    Ok(match node.key {
        "symlink_to" => Thing::Symlink { target: path(&node)? },
        "hardlink_to" => Thing::HardLink { target: path(&node)? },
        "fifo" => {
            node.must_be_true()?;
            Thing::Fifo
        }
        "directory" => {
            node.must_be_true()?;
            Thing::Directory
        }
        _ => Thing::File(content_from(&node)?),
    })
}

fn read_run(fields: &Fields<'_>, value: &Node<'_>) -> Result<Action, ScriptError> {
    let words: Vec<Template> = value
        .list()?
        .iter()
        .map(|word| Ok(Template::lenient(word.text()?)))
        .collect::<Result<_, ScriptError>>()?;
    if words.is_empty() {
        return Err(
            fields.error(ScriptProblem::Missing { place: "`run`".to_owned(), wanted: "at least a program" })
        );
    }
    let may_fail = fields.get("may_fail").map_or(Ok(false), |may_fail| may_fail.boolean())?;
    let failure = if may_fail { RunFailure::IsIgnored } else { RunFailure::EndsTheScript };
    Ok(Action::Run { words, failure })
}

/// A bare text stands for the one key that says most.
fn read_claim(fields: &Fields<'_>, value: &Node<'_>, artifact: ClaimKind) -> Result<Action, ScriptError> {
    let keys = match value.as_text() {
        Some(text) => {
            let key = match artifact {
                ClaimKind::Handoff => "summary",
                ClaimKind::Verdict => "verdict",
                ClaimKind::Audit => "gate",
            };
            [(key.to_owned(), serde_json::Value::from(text))].into_iter().collect()
        }
        None => value.fields()?.json()?,
    };
    let without = fields.get("without").map_or(Ok(Vec::new()), |without| {
        without.list()?.iter().map(|key| Ok(key.text()?.to_owned())).collect()
    })?;
    Ok(Action::Claim { artifact, keys, without })
}

fn read_flood(value: &Node<'_>) -> Result<Action, ScriptError> {
    let fields = value.fields()?;
    fields.only("`flood`", &["bytes", "stream", "line_length", "newline"])?;
    let newline = fields.get("newline").map_or(Ok(true), |newline| newline.boolean())?;
    let line_length = fields.get("line_length").map(|length| length.number()).transpose()?;
    if let (false, Some(_)) = (newline, line_length) {
        return Err(fields.error(ScriptProblem::TooMany {
            place: "`flood`".to_owned(),
            keys: vec!["`line_length`".to_owned(), "`newline = false`".to_owned()],
        }));
    }
    Ok(Action::Flood {
        stream: fields
            .get("stream")
            .map_or(Ok(Output::Stdout), |stream| stream.one_of("stream", &OUTPUTS))?,
        bytes: fields.need("bytes", "`flood`", "`bytes`: how many")?.number()?,
        line_length: newline.then(|| line_length.unwrap_or(79)),
    })
}

fn read_hang(value: &Node<'_>) -> Result<Hang, ScriptError> {
    if value.as_text().is_some() {
        return value.one_of("way to hang", &[("quiet", ())]).map(|()| Hang::Quiet);
    }
    let fields = value.fields()?;
    fields.only("`hang`", &["every_ms", "text"])?;
    Ok(Hang::Chatty {
        every_ms: fields.need("every_ms", "`hang`", "`every_ms`, or to be \"quiet\"")?.number()?,
        text: fields.get("text").map_or(Ok("still here"), |text| text.text())?.to_owned(),
    })
}

fn read_fork(value: &Node<'_>) -> Result<Action, ScriptError> {
    let fields = value.fields()?;
    fields.only("`fork`", &["kind", "hold_stdout", "then"])?;
    let kinds = [("child", ForkKind::Child), ("setsid", ForkKind::Setsid), ("double", ForkKind::Double)];
    let held = fields.get("hold_stdout").map_or(Ok(false), |held| held.boolean())?;
    Ok(Action::Fork {
        kind: fields
            .need("kind", "`fork`", "`kind`: child, setsid or double")?
            .one_of("kind of fork", &kinds)?,
        stdout: if held { HeldStdout::Kept } else { HeldStdout::Closed },
        then: read_then(&fields)?,
    })
}

fn read_fork_storm(value: &Node<'_>) -> Result<Action, ScriptError> {
    let fields = value.fields()?;
    fields.only("`fork_storm`", &["count", "then"])?;
    Ok(Action::ForkStorm {
        count: fields.need("count", "`fork_storm`", "`count`: how many")?.small_number()?,
        then: read_then(&fields)?,
    })
}

fn read_then(fields: &Fields<'_>) -> Result<Vec<Action>, ScriptError> {
    fields.get("then").map_or(Ok(vec![Action::Hang(Hang::Quiet)]), |then| read_actions(&then))
}

#[cfg(test)]
#[path = "action_reader_tests.rs"]
mod tests;
