//! What an agent behind the Agent Client Protocol tells while it works, as signals: pieces of messages are joined, and
//! a tool call that is told bit by bit is reported once. Whoever carries the messages lives elsewhere.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::programs::{micros, shortened, text, tool_call, tool_result, unknown};
use crate::signal::{Signal, UsageScope};

/// A message that never ends must not fill the memory: from here on it is passed on in parts.
const MESSAGE_BYTES: usize = 1 << 20;

/// Reads the updates of one session, in their order.
#[derive(Debug, Default)]
pub struct AcpUpdates {
    message: Message,
    calls: BTreeMap<String, AcpCall>,
    cost_micros: Option<u64>,
}

#[derive(Debug, Default)]
struct Message {
    id: Option<String>,
    text: String,
    /// Its beginning was passed on already; the rest must be marked as belonging to it.
    is_begun: bool,
}

/// A tool call as far as it is known: agents tell its parts in several messages and leave out what has not changed.
#[derive(Debug, Default)]
pub struct AcpCall {
    name: Option<String>,
    kind: Option<String>,
    title: String,
    input: Value,
    paths: BTreeSet<String>,
    is_told: bool,
    is_over: bool,
}

impl AcpCall {
    /// One word of the protocol's list; an agent that says none does something else.
    pub fn kind(&self) -> &str {
        self.kind.as_deref().unwrap_or("other")
    }

    /// What a person would be shown.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// Every file and directory the call is known to be about.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        let named = PATH_FIELDS.iter().filter_map(|field| self.input.get(field)?.as_str());
        self.paths.iter().map(String::as_str).chain(named)
    }
}

/// The protocol leaves the input of a tool to the agent; these are the names the known ones give to paths.
const PATH_FIELDS: [&str; 10] = [
    "file_path",
    "filePath",
    "fileName",
    "path",
    "notebook_path",
    "cwd",
    "workdir",
    "directory",
    "dir_path",
    "destination",
];

/// Updates that say nothing about the work.
const SILENT: [&str; 6] = [
    "user_message_chunk",
    "plan",
    "available_commands_update",
    "current_mode_update",
    "config_option_update",
    "session_info_update",
];

impl AcpUpdates {
    /// The `update` of one `session/update` notification.
    pub fn read(&mut self, update: &Value) -> Vec<Signal> {
        match text(update, "/sessionUpdate").unwrap_or_default() {
            // What a helper of the agent says is not the agent's word.
            "agent_message_chunk" if update.pointer("/_meta/claudeCode/parentToolUseId").is_some() => {
                Vec::new()
            }
            "agent_message_chunk" => self.hear_piece(update),
            "agent_thought_chunk" => self.finish_message(),
            "tool_call" => self.follow(update, Telling::Announced),
            "tool_call_update" => self.follow(update, Telling::Changed),
            "usage_update" => self.price(update).into_iter().collect(),
            silent if SILENT.contains(&silent) => Vec::new(),
            _ => unknown(&shortened(&update.to_string())),
        }
    }

    /// The `toolCall` of a request for permission; some agents speak of a call there for the first time.
    pub fn read_asked(&mut self, tool_call: &Value) -> Vec<Signal> {
        self.follow(tool_call, Telling::Asked)
    }

    /// The call with this `toolCallId`.
    pub fn call(&self, id: &str) -> Option<&AcpCall> {
        self.calls.get(id)
    }

    /// The message so far, when nothing more of it will come.
    pub fn finish_message(&mut self) -> Vec<Signal> {
        self.flush(Piece::Last)
    }

    fn hear_piece(&mut self, update: &Value) -> Vec<Signal> {
        let id = text(update, "/messageId").map(str::to_owned);
        let before = if id == self.message.id { Vec::new() } else { self.finish_message() };
        self.message.id = id;
        self.message.text.push_str(text(update, "/content/text").unwrap_or_default());
        let after =
            if self.message.text.len() < MESSAGE_BYTES { Vec::new() } else { self.flush(Piece::More) };
        [before, after].concat()
    }

    fn flush(&mut self, piece: Piece) -> Vec<Signal> {
        let text = std::mem::take(&mut self.message.text);
        let is_begun = std::mem::replace(&mut self.message.is_begun, piece == Piece::More);
        if text.is_empty() {
            return Vec::new();
        }
        vec![Signal::Message { text, partial: is_begun || piece == Piece::More }]
    }

    fn follow(&mut self, update: &Value, telling: Telling) -> Vec<Signal> {
        let mut signals = self.finish_message();
        let id = text(update, "/toolCallId").unwrap_or_default();
        let call = self.calls.entry(id.to_owned()).or_default();
        call.learn(update);
        let status = text(update, "/status").unwrap_or_default();
        let is_over = matches!(status, "completed" | "failed");
        let is_whole = match telling {
            Telling::Asked => true,
            Telling::Changed => call.input.as_object().is_some_and(|input| !input.is_empty()),
            // The input of a call that was only announced is often still to come.
            Telling::Announced => false,
        };
        if !call.is_told && (is_whole || is_over || status == "in_progress") {
            call.is_told = true;
            signals.push(call.signal(id));
        }
        if is_over && !call.is_over {
            call.is_over = true;
            // It may hold whole files, and nobody will ask for it again.
            call.input = Value::Null;
            let is_ok = status == "completed";
            signals.push(tool_result(Some(id), is_ok, &result_text(update)));
            if is_ok && matches!(call.kind(), "edit" | "delete" | "move") {
                signals.extend(call.paths.iter().map(|path| Signal::FileChange { path: path.clone() }));
            }
        }
        signals
    }

    fn price(&mut self, update: &Value) -> Option<Signal> {
        let cost_micros = micros(update, "/cost/amount");
        if cost_micros.is_none() || cost_micros == self.cost_micros {
            return None;
        }
        self.cost_micros = cost_micros;
        Some(Signal::Usage {
            scope: UsageScope::Session,
            reply: None,
            input: 0,
            cached: 0,
            output: 0,
            reasoning: 0,
            cost_micros,
        })
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Piece {
    More,
    Last,
}

/// On which occasion an agent speaks of a tool call.
#[derive(Clone, Copy)]
enum Telling {
    Announced,
    Changed,
    Asked,
}

impl AcpCall {
    fn learn(&mut self, update: &Value) {
        if let Some(name) = text(update, "/name") {
            self.name = Some(name.to_owned());
        }
        if let Some(kind) = text(update, "/kind") {
            self.kind = Some(kind.to_owned());
        }
        if let Some(title) = text(update, "/title") {
            title.clone_into(&mut self.title);
        }
        if let Some(input) = update.get("rawInput").filter(|input| !input.is_null()) {
            self.input = input.clone();
        }
        let entries = |field| update.get(field).and_then(Value::as_array).into_iter().flatten();
        let diffs = entries("content").filter(|part| text(part, "/type") == Some("diff"));
        let paths = diffs.chain(entries("locations")).filter_map(|part| text(part, "/path"));
        self.paths.extend(paths.map(str::to_owned));
    }

    fn signal(&self, id: &str) -> Signal {
        let name = self.name.as_deref().unwrap_or_else(|| self.kind());
        match self.input.as_object().filter(|input| !input.is_empty()) {
            Some(_) => tool_call(name, Some(&self.input), Some(id)),
            None => Signal::ToolCall {
                name: name.to_owned(),
                detail: shortened(&self.title),
                id: Some(id.to_owned()),
            },
        }
    }
}

fn result_text(update: &Value) -> String {
    let content = update.get("content").and_then(Value::as_array).into_iter().flatten();
    let said: Vec<&str> = content.filter_map(|part| text(part, "/content/text")).collect();
    if !said.is_empty() {
        return said.join("\n");
    }
    let raw = ["/rawOutput", "/rawOutput/output", "/rawOutput/content", "/rawOutput/error"];
    raw.iter().find_map(|pointer| text(update, pointer)).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn said(text: &str) -> Signal {
        Signal::Message { text: text.to_owned(), partial: false }
    }

    fn piece(text: &str, id: Option<&str>) -> Value {
        json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}, "messageId": id})
    }

    fn called(name: &str, detail: &str, id: &str) -> Signal {
        Signal::ToolCall { name: name.to_owned(), detail: detail.to_owned(), id: Some(id.to_owned()) }
    }

    fn result(id: &str, ok: bool, detail: &str) -> Signal {
        Signal::ToolResult { id: Some(id.to_owned()), ok, detail: detail.to_owned() }
    }

    fn changed(path: &str) -> Signal {
        Signal::FileChange { path: path.to_owned() }
    }

    fn read_all(updates: &[Value]) -> Vec<Signal> {
        let mut reader = AcpUpdates::default();
        let mut signals: Vec<Signal> = updates.iter().flat_map(|update| reader.read(update)).collect();
        signals.extend(reader.finish_message());
        signals
    }

    #[test]
    fn pieces_are_joined_until_another_message_a_thought_or_a_tool_call_begins() {
        let thought =
            json!({"sessionUpdate": "agent_thought_chunk", "content": {"type": "text", "text": "hm"}});
        let tool = json!({"sessionUpdate": "tool_call", "toolCallId": "t", "status": "in_progress", "title": "look"});
        let updates = [
            piece("a", Some("1")),
            json!({"sessionUpdate": "usage_update", "used": 7}),
            piece("b", Some("1")),
            piece("c", Some("2")),
            thought,
            piece("d", Some("2")),
            tool,
            piece("e", None),
        ];
        let expected = [said("ab"), said("c"), said("d"), called("other", "look", "t"), said("e")];
        assert_eq!(read_all(&updates), expected);
    }

    #[test]
    fn a_message_without_end_is_passed_on_in_parts_and_joined_by_whoever_reads_them() {
        let half = "x".repeat(MESSAGE_BYTES / 2);
        let signals = read_all(&[piece(&half, None), piece(&half, None), piece("end", None)]);
        assert_eq!(signals.len(), 2);
        assert_eq!(crate::final_message(&signals), Some(format!("{half}{half}end")));
        let mut whole = AcpUpdates::default();
        assert_eq!([whole.read(&piece("a", None)), whole.finish_message()].concat(), [said("a")]);
    }

    #[test]
    fn what_a_helper_says_is_not_the_agent_s_word() {
        let mut update = piece("I am the helper", None);
        update["_meta"] = json!({"claudeCode": {"parentToolUseId": "toolu_1"}});
        assert_eq!(read_all(&[update, piece("done", None)]), [said("done")]);
    }

    #[test]
    fn a_call_is_told_once_when_its_input_is_there_and_its_change_when_it_is_done() {
        let updates = [
            json!({"sessionUpdate": "tool_call", "toolCallId": "t1", "name": "Write", "rawInput": {}, "status": "pending",
                "title": "Preparing file…", "kind": "edit", "content": [], "locations": []}),
            json!({"sessionUpdate": "tool_call_update", "toolCallId": "t1", "title": "Write a.txt",
                "rawInput": {"file_path": "/w/a.txt", "content": "x"}, "locations": [{"path": "/w/a.txt"}],
                "content": [{"type": "diff", "path": "/w/a.txt", "newText": "x"}]}),
            json!({"sessionUpdate": "tool_call_update", "toolCallId": "t1", "status": "in_progress"}),
            json!({"sessionUpdate": "tool_call_update", "toolCallId": "t1", "status": "completed", "rawOutput": "created"}),
            json!({"sessionUpdate": "tool_call_update", "toolCallId": "t1", "status": "completed", "rawOutput": "created"}),
        ];
        let expected =
            [called("Write", "/w/a.txt", "t1"), result("t1", true, "created"), changed("/w/a.txt")];
        assert_eq!(read_all(&updates), expected);
    }

    #[test]
    fn a_command_and_a_failed_edit_change_no_file() {
        let over = |id: &str, kind: &str, status: &str| {
            json!({"sessionUpdate": "tool_call", "toolCallId": id, "kind": kind, "status": status, "title": "it",
                "locations": [{"path": "/w"}],
                "content": [{"type": "content", "content": {"type": "text", "text": "told"}}]})
        };
        let updates =
            [over("1", "execute", "completed"), over("2", "edit", "failed"), over("3", "move", "completed")];
        let expected = [
            called("execute", "it", "1"),
            result("1", true, "told"),
            called("edit", "it", "2"),
            result("2", false, "told"),
            called("move", "it", "3"),
            result("3", true, "told"),
            changed("/w"),
        ];
        assert_eq!(read_all(&updates), expected);
    }

    #[test]
    fn a_call_that_is_first_heard_of_in_a_request_for_permission_is_known_with_all_its_paths() {
        let mut reader = AcpUpdates::default();
        let asked = json!({"toolCallId": "t", "title": "ls", "kind": "execute", "rawInput": {"command": "ls", "cwd": "/x"},
            "locations": [{"path": "/w/out"}]});
        assert_eq!(reader.read_asked(&asked), [called("execute", "ls", "t")]);
        assert_eq!(reader.read_asked(&asked), []);
        let call = reader.call("t").unwrap();
        assert_eq!((call.kind(), call.title()), ("execute", "ls"));
        assert_eq!(call.paths().collect::<Vec<_>>(), ["/w/out", "/x"]);
    }

    #[test]
    fn money_is_told_for_the_conversation_and_only_when_it_changed() {
        let priced = json!({"sessionUpdate": "usage_update", "used": 1, "cost": {"amount": 0.01892, "currency": "USD"}});
        let [Signal::Usage { scope: UsageScope::Session, cost_micros: Some(18_920), input: 0, .. }] =
            &read_all(&[priced.clone(), priced])[..]
        else {
            panic!("one price is told once");
        };
    }

    #[test]
    fn an_update_of_a_newer_protocol_is_kept_and_one_without_meaning_for_the_work_is_not() {
        let newer = json!({"sessionUpdate": "dance"});
        assert_eq!(read_all(std::slice::from_ref(&newer)), [Signal::Unknown { line: newer.to_string() }]);
        for silent in SILENT {
            assert_eq!(read_all(&[json!({ "sessionUpdate": silent })]), [], "{silent}");
        }
        assert_eq!(read_all(&[json!(7)]).len(), 1);
    }
}
