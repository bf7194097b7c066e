//! One turn: initialize, open or load a session, prompt, and everything the agent says and asks in between. Version 1 of
//! the protocol; no files and no terminals are offered, because the agent has its own hands.

use std::sync::mpsc::{Receiver, Sender, SyncSender};
use std::time::Duration;

use serde_json::{Value, json};
use windlass_agent_drivers::{Access, AcpUpdates, ErrorKind, Severity, Signal, acp_answer};

use crate::agent_lines::{Event, LINE_BYTES, send_after};
use crate::failure::Failure;
use crate::fence::{self, Fence, Ruling};
use crate::order::Order;
use crate::report::Report;
use crate::session_offers;

const PROTOCOL_VERSION: u64 = 1;
/// How long a cancelled agent may take to say so. Shorter than the patience of whoever told us to end.
const TIME_TO_CANCEL: Duration = Duration::from_secs(2);
/// How long what an agent left behind may hold its output open: its last words may still be in the pipe.
const TIME_TO_LEAK: Duration = Duration::from_millis(500);
/// The pause by which an agent shows that it has told all of an earlier session.
const TIME_OF_QUIET: Duration = Duration::from_millis(250);
const METHOD_NOT_FOUND: i64 = -32601;

pub(crate) struct Conversation<'a> {
    report: &'a mut Report,
    /// Closes the agent's input when dropped.
    to_agent: Sender<String>,
    alarms: SyncSender<Event>,
    events: Receiver<Event>,
    fence: Fence,
    updates: AcpUpdates,
    hearing: Hearing,
    session: Option<String>,
    last_id: u64,
    is_cancelled: bool,
}

/// What the agent's updates are about.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Hearing {
    /// Earlier turns, told again while a session is loaded. They were reported when they happened.
    Past,
    Present,
}

impl<'a> Conversation<'a> {
    pub(crate) fn new(
        order: &Order,
        report: &'a mut Report,
        to_agent: Sender<String>,
        alarms: SyncSender<Event>,
        events: Receiver<Event>,
    ) -> Self {
        let fence = Fence::new(order.access, &order.workspace, order.outbox.as_deref());
        Self {
            report,
            to_agent,
            alarms,
            events,
            fence,
            updates: AcpUpdates::default(),
            hearing: Hearing::Past,
            session: None,
            last_id: 0,
            is_cancelled: false,
        }
    }

    /// The whole turn. Returns the last signals of the step, which the caller reports.
    pub(crate) fn hold(&mut self, order: &Order, prompt: &str) -> Result<Vec<Signal>, Failure> {
        let answer = self.prompt(order, prompt);
        let rest = self.updates.finish_message();
        self.report.tell(&rest)?;
        let mut signals = acp_answer(&answer?);
        if self.is_cancelled {
            // An agent that was told to stop may still say that all is well. What it used counts all the same.
            signals.retain(|signal| !matches!(signal, Signal::End { .. }));
            signals.extend(Failure::Interrupted.signals());
        }
        Ok(signals)
    }

    fn prompt(&mut self, order: &Order, prompt: &str) -> Result<Value, Failure> {
        let agent = self.ask("initialize", introduction())?;
        let version = agent.get("protocolVersion").cloned().unwrap_or_default();
        if version != PROTOCOL_VERSION {
            return Err(Failure::Version { ours: PROTOCOL_VERSION, theirs: version });
        }
        let session = self.open_session(order, &agent)?;
        self.session = Some(session.clone());
        self.hearing = Hearing::Present;
        let prompt = json!({ "sessionId": session, "prompt": [{ "type": "text", "text": prompt }] });
        self.ask("session/prompt", prompt)
    }

    fn open_session(&mut self, order: &Order, agent: &Value) -> Result<String, Failure> {
        let directory = order.workspace.to_str().ok_or(Failure::UnnameableWorkspace)?;
        let mut params = json!({ "cwd": directory, "mcpServers": [] });
        let can_load = agent.pointer("/agentCapabilities/loadSession") == Some(&Value::Bool(true));
        let (session, opened) = match &order.resume {
            Some(id) if can_load => {
                params["sessionId"] = json!(id);
                let opened = self.ask("session/load", params)?;
                self.let_the_past_pass()?;
                (id.clone(), opened)
            }
            asked => {
                if asked.is_some() {
                    let message = "the agent cannot go on with an earlier session: a new one is begun";
                    self.report.tell(&[passing(ErrorKind::Setup, message)])?;
                }
                let opened = self.ask("session/new", params)?;
                let id = opened.get("sessionId").and_then(Value::as_str).filter(|id| !id.is_empty());
                (id.ok_or(Failure::NoSession)?.to_owned(), opened)
            }
        };
        self.report.tell(&[Signal::Session { id: session.clone() }])?;
        if let Some(name) = session_offers::model(&opened) {
            self.report.tell(&[Signal::Model { name: name.to_owned() }])?;
        }
        if order.access == Access::ReadOnly
            && let Some(request) = session_offers::read_only_mode(&opened, &session)
        {
            self.switch_mode(request)?;
        }
        Ok(session)
    }

    /// An agent that keeps its mode still asks before it writes, and is refused then.
    fn switch_mode(&mut self, request: session_offers::ModeRequest) -> Result<(), Failure> {
        match self.ask(request.method, request.params) {
            Ok(_) => Ok(()),
            Err(Failure::Refused { error }) => {
                let message = format!("the agent did not switch to its read-only mode: {error}");
                self.report.tell(&[passing(ErrorKind::Setup, &message)])
            }
            Err(failure) => Err(failure),
        }
    }

    /// Sends a request and serves the agent until its answer is there.
    fn ask(&mut self, method: &'static str, params: Value) -> Result<Value, Failure> {
        self.last_id += 1;
        let id = json!(self.last_id);
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        loop {
            // We hold a sender ourselves, so the channel cannot be closed.
            let event =
                self.events.recv().map_err(|_| Failure::AgentGone { while_asked: method, status: None })?;
            if let Some(answer) = self.take(event, method, &id)? {
                return answer;
            }
        }
    }

    /// Gemini answers before it has told the past, and nothing marks the end of that. It is over when it is quiet.
    fn let_the_past_pass(&mut self) -> Result<(), Failure> {
        while let Ok(event) = self.events.recv_timeout(TIME_OF_QUIET) {
            let nothing_awaited = Value::Null;
            let _ = self.take(event, "session/load", &nothing_awaited)?;
        }
        Ok(())
    }

    /// Deals with one event; the answer to the request `awaited`, when this is it.
    fn take(
        &mut self,
        event: Event,
        method: &'static str,
        awaited: &Value,
    ) -> Result<Option<Result<Value, Failure>>, Failure> {
        match event {
            Event::Message(message) => return self.hear(message, awaited),
            Event::Noise(line) => self.report.tell(&[Signal::Unknown { line }])?,
            Event::TooLong => return Err(Failure::LineTooLong { limit: LINE_BYTES }),
            Event::Exited => send_after(TIME_TO_LEAK, Event::LeakTimedOut, &self.alarms)?,
            Event::Closed | Event::LeakTimedOut | Event::CancelTimedOut if self.is_cancelled => {
                return Err(Failure::Interrupted);
            }
            Event::Closed | Event::LeakTimedOut | Event::CancelTimedOut => {
                return Err(Failure::AgentGone { while_asked: method, status: None });
            }
            Event::Shutdown => self.cancel()?,
        }
        Ok(None)
    }

    fn cancel(&mut self) -> Result<(), Failure> {
        // Before the prompt there is nothing to cancel, and whoever asks twice is in a hurry.
        let (Some(session), false) = (&self.session, self.is_cancelled) else {
            return Err(Failure::Interrupted);
        };
        self.is_cancelled = true;
        let params = json!({ "sessionId": session });
        self.send(&json!({ "jsonrpc": "2.0", "method": "session/cancel", "params": params }));
        send_after(TIME_TO_CANCEL, Event::CancelTimedOut, &self.alarms)
    }

    fn hear(
        &mut self,
        mut message: Value,
        awaited: &Value,
    ) -> Result<Option<Result<Value, Failure>>, Failure> {
        let method = message.get("method").and_then(Value::as_str).map(str::to_owned);
        let params = message.get("params").cloned().unwrap_or_default();
        match (method, message.get("id").cloned()) {
            (Some(method), Some(id)) => self.serve(&method, &id, &params)?,
            (Some(method), None) => self.heed(&method, &params)?,
            (None, Some(id)) if id == *awaited => {
                return Ok(Some(match message.get_mut("error").map(Value::take) {
                    Some(error) if !error.is_null() => Err(Failure::Refused { error }),
                    _ => Ok(message.get_mut("result").map(Value::take).unwrap_or_default()),
                }));
            }
            (None, _) => self.report.tell(&[Signal::Unknown { line: message.to_string() }])?,
        }
        Ok(None)
    }

    fn heed(&mut self, method: &str, params: &Value) -> Result<(), Failure> {
        let is_ours = params.get("sessionId").and_then(Value::as_str) == self.session.as_deref();
        let signals = match (method, params.get("update")) {
            ("session/update", Some(update)) if is_ours && self.hearing == Hearing::Present => {
                self.updates.read(update)
            }
            _ => Vec::new(),
        };
        if signals.is_empty() { self.report.sign_of_life() } else { self.report.tell(&signals) }
    }

    fn serve(&mut self, method: &str, id: &Value, params: &Value) -> Result<(), Failure> {
        let answer = if method == "session/request_permission" {
            json!({ "jsonrpc": "2.0", "id": id, "result": self.permit(params)? })
        } else {
            let error = json!({ "code": METHOD_NOT_FOUND, "message": format!("{method} is not offered") });
            json!({ "jsonrpc": "2.0", "id": id, "error": error })
        };
        self.send(&answer);
        Ok(())
    }

    fn permit(&mut self, params: &Value) -> Result<Value, Failure> {
        let tool_call = params.get("toolCall").unwrap_or(&Value::Null);
        let mut signals = self.updates.read_asked(tool_call);
        let id = tool_call.get("toolCallId").and_then(Value::as_str).unwrap_or_default();
        let ruling = self.updates.call(id).map(|call| self.fence.rule(call));
        let ruling = ruling.unwrap_or_else(|| Ruling::Refused { reason: "nobody knows what for".to_owned() });
        if let Ruling::Refused { reason } = &ruling {
            signals.push(passing(ErrorKind::Other, &format!("permission refused: {reason}")));
        }
        self.report.tell(&signals)?;
        let options = params.get("options").unwrap_or(&Value::Null);
        Ok(if self.is_cancelled { fence::cancelled() } else { fence::answer(&ruling, options) })
    }

    fn send(&self, message: &Value) {
        // Fails only after the agent stopped reading, and then its end is on the way.
        let _ = self.to_agent.send(message.to_string());
    }
}

fn introduction() -> Value {
    json!({
        "protocolVersion": PROTOCOL_VERSION,
        "clientInfo": { "name": "windlass", "title": "Windlass", "version": env!("CARGO_PKG_VERSION") },
        "clientCapabilities": { "fs": { "readTextFile": false, "writeTextFile": false }, "terminal": false },
    })
}

fn passing(kind: ErrorKind, message: &str) -> Signal {
    Signal::Error { severity: Severity::Passing, kind, message: message.to_owned() }
}
