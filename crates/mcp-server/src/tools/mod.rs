//! The tools, as a table: from one row come the schema a client reads, the check of what it sends, and the call to the
//! queue. A few tools need more than one call; they are in `composed`.

mod composed;
mod custody;
mod knowledge;
mod money;
mod plan;
mod row;
mod work;

pub(crate) use row::Tool;

use crate::keys::Keys;
use crate::rows::{plain, shortened};
use row::Way;
use serde_json::{Map, Value, json};
use windlass_control_api::stories::{Answer, Call, StoryApi};

const TABLES: [&[Tool]; 5] = [plan::TOOLS, work::TOOLS, custody::TOOLS, money::TOOLS, knowledge::TOOLS];

pub(crate) fn all() -> impl Iterator<Item = &'static Tool> {
    TABLES.into_iter().flatten()
}

pub(crate) fn named(name: &str) -> Option<&'static Tool> {
    all().find(|tool| tool.name == name)
}

/// As `tools/list` shows them.
pub(crate) fn listed() -> Vec<Value> {
    all().map(Tool::listing).collect()
}

/// Why a tool did not do it, as the model reads it.
#[derive(Debug)]
pub(crate) struct Refused {
    error: String,
    /// Zero where the queue was not asked, or did not answer.
    status: u16,
    body: Value,
}

impl Refused {
    pub(crate) fn ours(why: &str) -> Self {
        Self { error: why.to_owned(), status: 0, body: Value::Null }
    }

    fn answered(answer: &Answer) -> Self {
        let body = match answer.value() {
            Value::Null => Value::String(plain(&String::from_utf8_lossy(&answer.body))),
            body => body,
        };
        let said = body.pointer("/error/message").and_then(Value::as_str);
        let error = said.map_or_else(|| format!("the queue answered {}", answer.status), str::to_owned);
        Self { error, status: answer.status, body }
    }

    pub(crate) fn value(&self) -> Value {
        json!({ "error": self.error, "status": self.status, "body": self.body })
    }
}

/// Plays a tool whose arguments were checked.
pub(crate) async fn play(
    tool: &Tool,
    arguments: &Map<String, Value>,
    keys: &Keys,
    api: &dyn StoryApi,
) -> Result<Value, Refused> {
    let key = keys.for_tool(tool.wanted).ok_or_else(|| {
        let wanted = format!("{:?}", tool.wanted).to_lowercase();
        Refused::ours(&format!("no key for this tool: it wants one of role {wanted} (LOOPCTL_API_KEY, LOOPCTL_AGENT_KEY, LOOPCTL_ORCH_KEY or LOOPCTL_USER_KEY)"))
    })?;
    let queue = Queue { api, key };
    match tool.way {
        Way::OneCall => queue.ask(tool.call(arguments)).await,
        Way::Rows => {
            let answer = queue.ask(tool.call(&composed::with_few_rows(tool, arguments))).await?;
            Ok(shortened(answer))
        }
        Way::SaveState => composed::save_state(arguments, &queue).await,
        Way::Import => queue.ask(composed::import(tool, arguments)?).await,
        Way::CreateStory => queue.ask(composed::create_story(tool, arguments)?).await,
        Way::SystemArticles => queue.ask(composed::system_articles(arguments)).await.map(shortened),
        Way::AgentUsage => queue.ask(composed::agent_usage(arguments)?).await,
    }
}

/// The queue, asked with one key.
struct Queue<'a> {
    api: &'a dyn StoryApi,
    key: &'a str,
}

impl Queue<'_> {
    async fn ask(&self, call: Call) -> Result<Value, Refused> {
        let answer = self
            .api
            .call(call.with_key(self.key))
            .await
            .map_err(|unreachable| Refused::ours(&unreachable.0))?;
        if !answer.is_success() {
            return Err(Refused::answered(&answer));
        }
        Ok(match answer.value() {
            Value::Null if !answer.body.is_empty() => {
                Value::String(String::from_utf8_lossy(&answer.body).into_owned())
            }
            Value::Null => json!({ "done": true }),
            value => value,
        })
    }
}

#[cfg(test)]
mod tests;
