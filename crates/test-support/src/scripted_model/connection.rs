//! One client: finds out what a request is, chooses the turn, plays it with its fault.

use super::asked::{Asked, Form, Wire};
use super::http::{HttpConnection, HttpRequest};
use super::ledger::{HangEnd, Ledger, ModelRequest, RequestEnd, RequestKind};
use super::script::{Action, FaultKind, ModelScript, Refusal, Retry, Turn};
use super::tools::{Part, part_for, smallest};
use super::usage::Usage;
use super::wire::{self, Ending, Event, Reply};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::io;
use std::net::TcpStream;

/// What token counters answer; no program depends on the number.
const COUNTED_TOKENS: u64 = 1000;

const OVERLOADED: &str = "The model is overloaded (scripted).";

pub(super) fn serve(stream: TcpStream, script: &ModelScript, ledger: &Ledger) {
    let Ok(http) = HttpConnection::new(stream) else { return };
    let mut connection = Connection { http, script, ledger };
    // A client that leaves in the middle ends its connection and nothing else.
    while let Ok(Some(request)) = connection.http.next() {
        let more = connection.answer(&request);
        if request.wants_close() || !more.is_ok_and(|more| more == More::MayFollow) {
            break;
        }
    }
    connection.http.cut();
}

#[derive(PartialEq, Eq)]
enum More {
    MayFollow,
    Never,
}

struct Connection<'a> {
    http: HttpConnection,
    script: &'a ModelScript,
    ledger: &'a Ledger,
}

/// What a path asks for.
enum Route {
    Model { wire: Wire, model: Option<String>, form: Form },
    TokenCount(&'static str),
    ModelList,
    Unknown,
}

fn route(request: &HttpRequest) -> Route {
    let path = request.path.as_str();
    let whole = |wire| Route::Model { wire, model: None, form: Form::Whole };
    if request.method == "GET" && path.ends_with("/models") {
        return Route::ModelList;
    } else if request.method != "POST" {
        return Route::Unknown;
    } else if path.ends_with("/responses") {
        return whole(Wire::Responses);
    } else if path.ends_with("/chat/completions") {
        return whole(Wire::ChatCompletions);
    } else if path.ends_with("/messages") {
        return whole(Wire::Messages);
    } else if path.ends_with("/messages/count_tokens") {
        return Route::TokenCount("input_tokens");
    }
    let Some((_, asked)) = path.rsplit_once("/models/") else { return Route::Unknown };
    let Some((model, method)) = asked.split_once(':') else { return Route::Unknown };
    let form = match method {
        "streamGenerateContent" => Form::Stream,
        "generateContent" => Form::Whole,
        "countTokens" => return Route::TokenCount("totalTokens"),
        _ => return Route::Unknown,
    };
    Route::Model { wire: Wire::Gemini, model: Some(model.to_owned()), form }
}

impl Connection<'_> {
    fn answer(&mut self, request: &HttpRequest) -> io::Result<More> {
        match route(request) {
            Route::Model { wire, model, form } => {
                let Ok(body) = serde_json::from_slice::<Value>(&request.body) else {
                    let message = "the body is not JSON, or compressed".to_owned();
                    return self.plain(
                        request,
                        RequestKind::Unknown,
                        415,
                        &json!({ "error": { "message": message } }),
                    );
                };
                let model = model.unwrap_or_else(|| body["model"].as_str().unwrap_or_default().to_owned());
                let asked = wire::read(wire, &model, form, &body);
                self.model(request, &asked)
            }
            Route::TokenCount(field) => {
                self.plain(request, RequestKind::TokenCount, 200, &json!({ field: COUNTED_TOKENS }))
            }
            Route::ModelList => {
                let list = json!({ "object": "list", "models": [], "data": [
                    { "id": "scripted", "object": "model", "type": "model", "created": 0, "owned_by": "script" }] });
                self.plain(request, RequestKind::ModelList, 200, &list)
            }
            Route::Unknown => {
                let message = format!("the scripted model has no {} {}", request.method, request.path);
                self.plain(request, RequestKind::Unknown, 404, &json!({ "error": { "message": message } }))
            }
        }
    }

    fn plain(
        &mut self,
        request: &HttpRequest,
        kind: RequestKind,
        status: u16,
        body: &Value,
    ) -> io::Result<More> {
        let end = if status == 200 { RequestEnd::Served(Usage::NONE) } else { RequestEnd::Refused(status) };
        let number = self.ledger.begin(record(request, kind, None));
        self.ledger.end(number, end);
        self.http.answer(status, &[], &body.to_string())?;
        Ok(More::MayFollow)
    }

    fn model(&mut self, request: &HttpRequest, asked: &Asked) -> io::Result<More> {
        let (kind, turn, fault) = self.choose(request, asked);
        let parts: Vec<Part> =
            turn.actions.iter().map(|action| part_for(&filled(action, asked), asked)).collect();
        let mut entry = record(request, kind, Some(asked));
        let impossible = |part: &Part| match part {
            Part::Impossible(words) => Some(words.clone()),
            _ => None,
        };
        entry.impossible = parts.iter().filter_map(impossible).collect();
        let number = self.ledger.begin(entry);
        let played = self.play(&Play { asked, parts, usage: turn.usage, fault, number });
        if played.is_err() {
            self.ledger.end(number, RequestEnd::ClientLeft);
        }
        played
    }

    /// The turn that is due, and what is wrong with it this time.
    fn choose(&self, request: &HttpRequest, asked: &Asked) -> (RequestKind, Turn, Option<FaultKind>) {
        let wire = asked.wire;
        if asked.is_aside() {
            let words =
                asked.schema.as_ref().map_or_else(|| "ok".to_owned(), |schema| smallest(schema).to_string());
            return (RequestKind::Aside { wire }, Turn::say(&words).usage(Usage::NONE), None);
        }
        let conversation = conversation(request, asked);
        let entry = self.ledger.entry_for(self.script, &conversation, &asked.prompt());
        let turn = asked.replies;
        let kind = RequestKind::Turn { wire, entry, turn, conversation };
        let Some(number) = entry else {
            return (kind, Turn::say("The script has no entry for this prompt.").usage(Usage::NONE), None);
        };
        let Some(due) = self.script.entries[number].turn_number(turn) else {
            return (kind, Turn::say("The script is over.").usage(Usage::NONE), None);
        };
        let attempt = self.ledger.attempt(number, turn);
        let fault = due.fault.as_ref().filter(|fault| fault.times.is_none_or(|times| attempt <= times));
        (kind, due.clone(), fault.map(|fault| fault.kind.clone()))
    }

    /// How a request ends is recorded before its last byte goes out: a client that has the whole reply may end at once,
    /// and the test that waits for the client must find the record complete.
    fn play(&mut self, play: &Play<'_>) -> io::Result<More> {
        if let Some(FaultKind::Refused(refusal)) = &play.fault {
            return self.refuse(play, refusal);
        }
        if matches!(play.fault, Some(FaultKind::HangBeforeReply)) {
            self.hang()?;
        }
        let mut reply = wire::reply_to(play.asked, play.usage, play.number);
        match play.asked.form {
            Form::Stream => self.stream(play, reply.as_mut()),
            Form::Whole => self.whole(play, reply.as_mut()),
        }
    }

    fn stream(&mut self, play: &Play<'_>, reply: &mut dyn Reply) -> io::Result<More> {
        self.http.open_stream()?;
        if let Some(fault @ (FaultKind::Cut | FaultKind::ErrorInStream)) = &play.fault {
            return self.break_off(play, fault, reply);
        }
        let mut events = reply.open();
        for part in &play.parts {
            events.extend(part.say_to(reply));
        }
        let mut ending = Ending::Complete;
        match play.fault {
            Some(FaultKind::HangInReply) => {
                self.send(&events)?;
                events.clear();
                self.hang()?;
            }
            Some(FaultKind::TokenLimit) => ending = Ending::TokenLimit,
            _ => {}
        }
        events.extend(reply.close(ending));
        self.ledger.end(play.number, RequestEnd::Served(play.usage));
        self.send(&events)?;
        self.http.close_stream()?;
        Ok(More::MayFollow)
    }

    /// Always inside the first part. A part that came to its end would be kept by some programs, and their next request
    /// would be for the next turn instead of for this one again.
    fn break_off(&mut self, play: &Play<'_>, fault: &FaultKind, reply: &mut dyn Reply) -> io::Result<More> {
        let mut events = reply.open();
        let first = play.parts.first().map(|part| part.say_to(reply)).unwrap_or_default();
        let half = first.len() / 2;
        events.extend(first.into_iter().take(half));
        self.ledger.end(play.number, RequestEnd::Broken(reply.told_at_opening()));
        if matches!(fault, FaultKind::Cut) {
            self.send(&events)?;
            return Ok(More::Never);
        }
        events.extend(reply.failure(OVERLOADED));
        self.send(&events)?;
        self.http.close_stream()?;
        Ok(More::MayFollow)
    }

    /// The same mishaps for clients that fall back to replies in one piece.
    fn whole(&mut self, play: &Play<'_>, reply: &mut dyn Reply) -> io::Result<More> {
        for part in &play.parts {
            part.say_to(reply);
        }
        let mut ending = Ending::Complete;
        match play.fault {
            Some(FaultKind::Cut) => {
                self.ledger.end(play.number, RequestEnd::Broken(Usage::NONE));
                return Ok(More::Never);
            }
            Some(FaultKind::ErrorInStream) => {
                let (message, retry) = (OVERLOADED.to_owned(), Retry::Unsaid);
                return self.refuse(play, &Refusal { status: 500, message, retry });
            }
            Some(FaultKind::HangInReply) => self.hang()?,
            Some(FaultKind::TokenLimit) => ending = Ending::TokenLimit,
            Some(FaultKind::Refused(_) | FaultKind::HangBeforeReply) | None => {}
        }
        self.ledger.end(play.number, RequestEnd::Served(play.usage));
        self.http.answer(200, &[], &reply.whole(ending).to_string())?;
        Ok(More::MayFollow)
    }

    fn refuse(&mut self, play: &Play<'_>, refusal: &Refusal) -> io::Result<More> {
        let (headers, body) = wire::refuse(play.asked.wire, refusal);
        self.ledger.end(play.number, RequestEnd::Refused(refusal.status));
        self.http.answer(refusal.status, &headers, &body.to_string())?;
        Ok(More::MayFollow)
    }

    fn send(&mut self, events: &[Event]) -> io::Result<()> {
        events.iter().try_for_each(|event| self.http.chunk(&event.text()))
    }

    /// An error when nobody waits for the reply any more.
    fn hang(&self) -> io::Result<()> {
        match self.ledger.hang(|| self.http.client_has_left()) {
            HangEnd::Released => Ok(()),
            HangEnd::NobodyWaits => Err(io::ErrorKind::ConnectionAborted.into()),
        }
    }
}

/// One turn as it is played now.
struct Play<'a> {
    asked: &'a Asked,
    parts: Vec<Part>,
    usage: Usage,
    fault: Option<FaultKind>,
    number: usize,
}

impl Part {
    fn say_to(&self, reply: &mut dyn Reply) -> Vec<Event> {
        match self {
            Self::Text(text) | Self::Impossible(text) => reply.text(text),
            Self::Call(call) => reply.call(call),
        }
    }
}

/// A name for the conversation that stays the same from turn to turn.
fn conversation(request: &HttpRequest, asked: &Asked) -> String {
    const NAMED_BY: [&str; 6] = [
        "session-id",
        "session_id",
        "x-claude-code-session-id",
        "x-session-affinity",
        "x-opencode-session",
        "x-interaction-id",
    ];
    let named = NAMED_BY.iter().find_map(|name| request.header(name)).or(asked.cache_key.as_deref());
    named.map_or_else(
        || {
            // Without a name the beginning must do: it tells the directory, the day and the prompt.
            let digest = Sha256::digest(asked.opening());
            format!(
                "unnamed-{}",
                digest.iter().take(8).fold(String::new(), |name, byte| format!("{name}{byte:02x}"))
            )
        },
        str::to_owned,
    )
}

fn filled(action: &Action, asked: &Asked) -> Action {
    let fill = |text: &String| {
        let directory = asked.working_directory().unwrap_or_else(|| ".".to_owned());
        let text = text.replace("${cwd}", &directory);
        asked.outbox().map_or_else(|| text.clone(), |outbox| text.replace("${outbox}", &outbox))
    };
    match action {
        Action::Say(text) => Action::Say(fill(text)),
        Action::Shell(command) => Action::Shell(fill(command)),
        Action::Write { path, text } => Action::Write { path: fill(path), text: fill(text) },
        Action::Read { path } => Action::Read { path: fill(path) },
        Action::Answer(value) => Action::Answer(value.clone()),
        Action::Tool { name, input } => Action::Tool { name: name.clone(), input: input.clone() },
    }
}

fn record(request: &HttpRequest, kind: RequestKind, asked: Option<&Asked>) -> ModelRequest {
    let bearer = request.header("authorization").and_then(|value| value.strip_prefix("Bearer "));
    let in_query = || request.query.split('&').find_map(|pair| pair.strip_prefix("key="));
    let key = bearer
        .or_else(|| request.header("x-api-key"))
        .or_else(|| request.header("x-goog-api-key"))
        .or_else(in_query);
    ModelRequest {
        kind,
        path: request.path.clone(),
        model: asked.map(|asked| asked.model.clone()).unwrap_or_default(),
        api_key: key.map(str::to_owned),
        prompt: asked.map(Asked::prompt).unwrap_or_default(),
        tools: asked
            .map(|asked| asked.tools.iter().map(|tool| tool.name.clone()).collect())
            .unwrap_or_default(),
        tool_results: asked.map(|asked| asked.results.clone()).unwrap_or_default(),
        impossible: Vec::new(),
        end: RequestEnd::Underway,
    }
}
