//! What an idempotency key makes of a request: whether two are the same, and what the second is told. The capability that opens
//! a call is no part of what is asked: whoever repeats a request after a crash can only show another one.

use crate::asked::Asked;
use crate::envelope;
use crate::keys;
use crate::route::Server;
use crate::service::{Proven, Service, millis, unavailable};
use serde_json::{Map, Value};
use windlass_control_api::stories::{Answer, Call};
use windlass_engine::Journal;
use windlass_protocols::protocol::story_queue::answers::{self, Stored};
use windlass_protocols::protocol::story_queue::caller::Caller;
use windlass_protocols::protocol::story_queue::decide::Decided;
use windlass_protocols::protocol::story_queue::facts::{Change, Entry};
use windlass_protocols::protocol::story_queue::registry;
use windlass_protocols::protocol::story_queue::vocabulary::Micros;

const LONGEST_KEY: usize = 255;
/// Where a body holds a capability.
const CAPABILITIES: [&str; 2] = ["cap", "capability"];
/// Where a bulk request holds the bodies of the single ones.
const SINGLE_BODIES: &str = "stories";

pub(crate) struct Once {
    pub(crate) key: String,
    /// The digest that is kept.
    pub(crate) request: String,
    /// The digest older versions kept: of the bytes as they came.
    before: String,
}

impl Once {
    /// Nothing where no key was given.
    pub(crate) fn of(call: &Call, body: &Map<String, Value>) -> Result<Option<Self>, Answer> {
        let Some(key) = call.header("idempotency-key").filter(|key| !key.is_empty()) else { return Ok(None) };
        if key.len() > LONGEST_KEY {
            return Err(envelope::plain(422, None, "an idempotency key is at most 255 characters long"));
        }
        let asked = without_capabilities(body);
        Ok(Some(Self {
            key: key.to_owned(),
            request: digest(call, &Value::Object(asked).to_string()),
            before: digest(call, &String::from_utf8_lossy(&call.body)),
        }))
    }

    pub(crate) fn recall<'a>(
        &self,
        answers: &'a answers::State,
        by: &Caller,
        at: Micros,
    ) -> Decided<Option<&'a Stored>> {
        answers.recall(by, &self.key, &[&self.request, &self.before], at)
    }
}

impl<J: Journal + Send + Sync> Service<J> {
    /// What an operator does is remembered in the server's own list, after it was done: what a crash in between leaves is refused
    /// when it is asked for again (the slug is taken, the halt is cleared), never done twice. A change of a tenant's audit key
    /// would be, so its answer is kept with it, in the tenant.
    pub(crate) async fn serve_once(
        &self,
        what: Server,
        proven: Option<Proven>,
        asked: &Asked,
        once: Option<Once>,
    ) -> Answer {
        if matches!(what, Server::RotateKey | Server::BootstrapKey) {
            return self.change_key(what, proven, asked, once).await;
        }
        let operator = proven.as_ref().filter(|proven| proven.tenant.is_none());
        let (Some(once), Some(caller)) = (once, operator.map(|proven| proven.caller.clone())) else {
            return self.serve(what, proven, asked).await;
        };
        let _one_after_the_other = self.operating.lock().await;
        let known = self.registry.look(&self.journal, millis(asked.at), |registry, _| {
            once.recall(&registry.answers, &caller, asked.at).map(|stored| stored.map(replayed))
        });
        match known.await {
            Ok(Ok(None)) => {}
            Ok(Ok(Some(answer))) => return answer,
            Ok(Err(refusal)) => {
                return Answer::json(envelope::status_of(refusal.kind), &envelope::refusal(&refusal));
            }
            Err(error) => return unavailable(&error),
        }
        let answer = self.serve(what, proven, asked).await;
        if !answer.is_success() {
            return answer;
        }
        self.remember(once, &caller, answer, asked).await
    }

    async fn remember(&self, once: Once, caller: &Caller, answer: Answer, asked: &Asked) -> Answer {
        let mut body = answer.value();
        if let Some(secret) = body.get_mut("raw_key") {
            *secret = Value::Null;
        }
        let kept = answers::Change::Answered {
            key: once.key,
            request: once.request,
            status: answer.status,
            body: body.to_string(),
        };
        let entry = Entry { at: asked.at, by: caller.actor(), project: None, change: Change::Answers(kept) };
        let keep = |registry: &mut registry::State, _: &crate::feed::Feed| {
            crate::stream::Fold::evolve(registry, &entry);
            ((), vec![entry])
        };
        let kept = self.registry.decide(&self.journal, millis(asked.at), keep).await;
        kept.map_or_else(|error| unavailable(&error), |()| answer)
    }
}

pub(crate) fn replayed(stored: &Stored) -> Answer {
    let mut answer = Answer::json(stored.status, &Value::Null);
    answer.body = stored.body.clone().into_bytes();
    answer.with_header("idempotency-replayed", "true")
}

fn digest(call: &Call, body: &str) -> String {
    let body = keys::digest(body);
    keys::digest(&format!("{} {}?{} {body}", call.method.name(), call.path, call.query))
}

fn without_capabilities(body: &Map<String, Value>) -> Map<String, Value> {
    let plain = |body: &Map<String, Value>| -> Map<String, Value> {
        let kept = body.iter().filter(|(name, _)| !CAPABILITIES.contains(&name.as_str()));
        kept.map(|(name, value)| (name.clone(), value.clone())).collect()
    };
    let mut asked = plain(body);
    if let Some(Value::Array(bodies)) = asked.get_mut(SINGLE_BODIES) {
        for one in bodies.iter_mut() {
            if let Value::Object(single) = one {
                *single = plain(single);
            }
        }
    }
    asked
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use windlass_control_api::stories::Method;

    fn request(body: &Value) -> String {
        let call = Call::new(Method::Post, "/api/v1/x").with_header("idempotency-key", "k").with_json(body);
        Once::of(&call, body.as_object().unwrap()).ok().flatten().unwrap().request
    }

    #[test]
    fn another_capability_asks_for_the_same_and_other_words_do_not() {
        let asked = request(&json!({ "result": "pass", "cap": "one" }));

        assert_eq!(asked, request(&json!({ "result": "pass", "cap": "two" })));
        assert_eq!(asked, request(&json!({ "result": "pass" })));
        assert_ne!(asked, request(&json!({ "result": "fail", "cap": "one" })));
        let bulk = |cap: &str| request(&json!({ "stories": [{ "story_id": "1.1", "cap": cap }] }));
        assert_eq!(bulk("one"), bulk("two"));
    }
}
