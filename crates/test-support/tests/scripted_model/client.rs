//! A client that speaks HTTP by hand, and requests in each wire format.

use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::TcpStream;
use windlass_test_support::scripted_model::{ScriptedModel, Wire};

pub(crate) const WIRES: [Wire; 4] = [Wire::Responses, Wire::ChatCompletions, Wire::Messages, Wire::Gemini];

#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
    /// Whether the reply came to its proper end.
    pub(crate) complete: bool,
}

impl Answer {
    /// Name and data of each event.
    pub(crate) fn events(&self) -> Vec<(Option<String>, String)> {
        let event = |text: &str| {
            let name = text.lines().find_map(|line| line.strip_prefix("event: ")).map(str::to_owned);
            let data = text.lines().find_map(|line| line.strip_prefix("data: ")).unwrap_or_default();
            (name, data.to_owned())
        };
        self.body.split("\n\n").filter(|text| !text.is_empty()).map(event).collect()
    }

    /// The events that are JSON.
    pub(crate) fn data(&self) -> Vec<Value> {
        self.events().iter().filter_map(|(_, data)| serde_json::from_str(data).ok()).collect()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }

    pub(crate) fn header<'a>(&'a self, name: &str) -> Option<&'a str> {
        let value = |line: &'a str| line.split_once(": ").filter(|(known, _)| *known == name);
        self.head.lines().find_map(value).map(|(_, value)| value)
    }
}

/// What a program asks after so many replies of the model.
#[derive(Clone, Copy)]
pub(crate) struct Question<'a> {
    pub(crate) wire: Wire,
    pub(crate) prompt: &'a str,
    pub(crate) replies: usize,
    pub(crate) stream: bool,
    pub(crate) session: &'a str,
}

impl<'a> Question<'a> {
    pub(crate) fn new(wire: Wire, prompt: &'a str) -> Self {
        Self { wire, prompt, replies: 0, stream: true, session: "one" }
    }

    pub(crate) fn path(&self) -> &'static str {
        match self.wire {
            Wire::Responses => "/v1/responses",
            Wire::ChatCompletions => "/v1/chat/completions",
            Wire::Messages => "/v1/messages",
            Wire::Gemini if self.stream => "/v1beta/models/gemini-x:streamGenerateContent?alt=sse",
            Wire::Gemini => "/v1beta/models/gemini-x:generateContent",
        }
    }

    pub(crate) fn body(&self) -> Value {
        let schema = json!({ "type": "object", "properties": { "command": { "type": "string" } } });
        let prompt = self.prompt;
        match self.wire {
            Wire::Responses => json!({ "model": "gpt-x", "stream": self.stream,
                "tools": [{ "type": "function", "name": "exec_command", "parameters": schema }],
                "input": self.history(
                    json!({ "type": "message", "role": "user", "content": [{ "type": "input_text", "text": prompt }] }),
                    &[json!({ "type": "function_call", "name": "exec_command", "arguments": "{}", "call_id": "c" }),
                      json!({ "type": "function_call_output", "call_id": "c", "output": "result" })]) }),
            Wire::ChatCompletions => json!({ "model": "gpt-x", "stream": self.stream,
                "tools": [{ "type": "function", "function": { "name": "bash", "parameters": schema } }],
                "messages": self.history(json!({ "role": "user", "content": prompt }),
                    &[json!({ "role": "assistant", "content": "" }), json!({ "role": "tool", "content": "result" })]) }),
            Wire::Messages => json!({ "model": "claude-x", "stream": self.stream,
                "tools": [{ "name": "Bash", "input_schema": schema }],
                "messages": self.history(json!({ "role": "user", "content": prompt }),
                    &[json!({ "role": "assistant", "content": [] }),
                      json!({ "role": "user", "content": [{ "type": "tool_result", "content": "result" }] })]) }),
            Wire::Gemini => json!({
                "tools": [{ "functionDeclarations": [{ "name": "run_shell_command", "parametersJsonSchema": schema }] }],
                "contents": self.history(json!({ "role": "user", "parts": [{ "text": prompt }] }),
                    &[json!({ "role": "model", "parts": [] }), json!({ "role": "user", "parts": [
                        { "functionResponse": { "name": "run_shell_command", "response": { "output": "result" } } }] })]) }),
        }
    }

    fn history(&self, prompt: Value, reply: &[Value]) -> Value {
        let replies = std::iter::repeat_n(reply, self.replies).flatten().cloned();
        std::iter::once(prompt).chain(replies).collect()
    }

    pub(crate) fn ask(&self, model: &ScriptedModel) -> Answer {
        self.send(model).answer()
    }

    /// Sends the question and leaves the answer to be read.
    pub(crate) fn send(&self, model: &ScriptedModel) -> Client {
        let mut client = Client::connect(model);
        client.post(
            self.path(),
            &format!("x-session-affinity: {}\r\n", self.session),
            &self.body().to_string(),
        );
        client
    }
}

pub(crate) struct Client(TcpStream);

impl Client {
    pub(crate) fn connect(model: &ScriptedModel) -> Self {
        Self(TcpStream::connect(model.address()).unwrap())
    }

    pub(crate) fn post(&mut self, path: &str, headers: &str, body: &str) {
        let length = body.len();
        let head =
            format!("POST {path} HTTP/1.1\r\nhost: model\r\n{headers}content-length: {length}\r\n\r\n");
        self.raw(&format!("{head}{body}"));
    }

    pub(crate) fn raw(&mut self, text: &str) {
        self.0.write_all(text.as_bytes()).unwrap();
    }

    /// One answer; the connection stays usable.
    pub(crate) fn answer(&mut self) -> Answer {
        let head = self.until("\r\n\r\n");
        let mut answer = Answer {
            status: head.split(' ').nth(1).and_then(|word| word.parse().ok()).unwrap_or_default(),
            head,
            body: String::new(),
            complete: false,
        };
        if let Some(length) = answer.header("content-length") {
            let mut body = vec![0; length.parse().unwrap()];
            answer.complete = self.0.read_exact(&mut body).is_ok();
            answer.body = String::from_utf8(body).unwrap();
        } else if answer.header("transfer-encoding") == Some("chunked") {
            while let Ok(size) = usize::from_str_radix(self.until("\r\n").trim_end(), 16) {
                let mut chunk = vec![0; size + 2];
                self.0.read_exact(&mut chunk).unwrap();
                answer.body.push_str(&String::from_utf8_lossy(&chunk[..size]));
                if size == 0 {
                    answer.complete = true;
                    break;
                }
            }
        }
        answer
    }

    /// Up to the mark, or up to the end of the connection.
    fn until(&mut self, mark: &str) -> String {
        let mut text = Vec::new();
        let mut byte = [0];
        while !text.ends_with(mark.as_bytes()) && self.0.read(&mut byte).is_ok_and(|read| read == 1) {
            text.push(byte[0]);
        }
        String::from_utf8(text).unwrap()
    }
}
