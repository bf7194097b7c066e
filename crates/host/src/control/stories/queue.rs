//! The queue as the orchestrator asks it: one call, one key, an answer or a refusal with its code. Every call that moves
//! something carries an idempotency key, so that whoever repeats it after a crash repeats nothing.

use serde_json::Value;
use std::time::Duration;
use windlass_control_api::stories::{Answer, BASE, Call, Method, StoryApi, escaped};
use windlass_control_api::{Code, Fault};

/// How often a queue that has enough of us is asked again.
const PATIENCE: u32 = 10;
const LONGEST_WAIT: u64 = 60;
const PAGE: &str = "500";

pub(super) struct Queue<'a> {
    api: &'a dyn StoryApi,
}

/// The queue said no; the story is as it was.
#[derive(Clone, Debug)]
pub(super) struct Refused {
    pub(super) status: u16,
    pub(super) code: String,
    pub(super) message: String,
}

impl Refused {
    pub(super) fn fault(&self, doing: &str) -> Fault {
        let code = match (self.status, self.code.as_str()) {
            (401, _) => Code::StoryKey,
            (503, "journal_unavailable") => Code::StoryServer,
            _ => Code::StoryRefused,
        };
        let mut fault = Fault::new(code, format!("cannot {doing}: {}", self.message))
            .kept("what the queue acknowledged before");
        fault.case = Some(self.code.clone()).filter(|code| !code.is_empty());
        fault
    }
}

pub(super) type Said = Result<Value, Refused>;

impl<'a> Queue<'a> {
    pub(super) const fn new(api: &'a dyn StoryApi) -> Self {
        Self { api }
    }

    /// Something that must be answered: a refusal is a fault.
    pub(super) async fn get(&self, key: &str, path: &str, query: &[(&str, &str)]) -> Result<Value, Fault> {
        let said = self.look(key, path, query).await?;
        said.map_err(|refused| refused.fault("read the queue"))
    }

    /// A list, however many pages it has.
    pub(super) async fn all(
        &self,
        key: &str,
        path: &str,
        query: &[(&str, &str)],
    ) -> Result<Vec<Value>, Fault> {
        let mut found = Vec::new();
        loop {
            let offset = found.len().to_string();
            let page = [query, &[("limit", PAGE), ("offset", offset.as_str())]].concat();
            let answer = self.get(key, path, &page).await?;
            let rows = answer["data"].as_array().cloned().unwrap_or_default();
            let last = rows.is_empty();
            found.extend(rows);
            let all = answer["meta"]["total_count"].as_u64();
            if last || all.is_none_or(|all| all <= found.len() as u64) {
                return Ok(found);
            }
        }
    }

    pub(super) async fn look(&self, key: &str, path: &str, query: &[(&str, &str)]) -> Result<Said, Fault> {
        let call = Call::new(Method::Get, format!("{BASE}{path}"));
        let call = query.iter().fold(call, |call, (name, value)| call.with_query(name, value));
        self.ask(call.with_key(key)).await
    }

    /// `once` names this very deed: asked again under the same name it is answered, not done again.
    pub(super) async fn send(
        &self,
        (method, path): (Method, &str),
        key: &str,
        once: Option<&str>,
        body: &Value,
    ) -> Result<Said, Fault> {
        let call = Call::new(method, format!("{BASE}{path}")).with_key(key).with_json(body);
        let call = match once {
            Some(once) => call.with_header("idempotency-key", once),
            None => call,
        };
        self.ask(call).await
    }

    async fn ask(&self, call: Call) -> Result<Said, Fault> {
        let mut asked = 0;
        loop {
            let answer = self.api.call(call.clone()).await.map_err(|unreachable| {
                Fault::new(Code::StoryServer, unreachable.0)
                    .kept("everything is recorded; the same command goes on where this one stopped")
            })?;
            asked += 1;
            if answer.status == 429 && asked < PATIENCE {
                tokio::time::sleep(wait(&answer)).await;
                continue;
            }
            return Ok(read(&answer));
        }
    }
}

fn wait(answer: &Answer) -> Duration {
    let seconds = answer.header("retry-after").and_then(|text| text.parse().ok()).unwrap_or(1_u64);
    Duration::from_secs(seconds.clamp(1, LONGEST_WAIT))
}

fn read(answer: &Answer) -> Said {
    let body = answer.value();
    if answer.is_success() {
        return Ok(body);
    }
    let error = &body["error"];
    let text = |name: &str| error[name].as_str().unwrap_or_default().to_owned();
    let message = match text("message") {
        empty if empty.is_empty() => format!("the queue answered {}", answer.status),
        message => message,
    };
    Err(Refused { status: answer.status, code: text("code"), message })
}

/// The thing in an answer that names it: `{"story": {…}}` is the story.
pub(super) fn inner<'v>(answer: &'v Value, name: &str) -> &'v Value {
    answer.get(name).or_else(|| answer.get("data")).unwrap_or(answer)
}

pub(super) fn text_of(value: &Value, name: &str) -> String {
    value[name].as_str().unwrap_or_default().to_owned()
}

pub(super) fn story_path(id: &str, step: &str) -> String {
    format!("/stories/{}{step}", escaped(id))
}
