//! The same messages over HTTP, as the protocol's "streamable" transport has it: each POST is answered with JSON at once,
//! nothing is streamed, nobody has a session. Every request brings its own key: ours are never lent to the network.

use crate::server::VERSIONS;
use crate::{Keys, Server};
use serde_json::json;
use std::sync::Arc;
use windlass_control_api::stories::{Answer, Answering, Call, Method, StoryApi};

const PATH: &str = "/mcp";

pub struct OverHttp {
    queue: Arc<dyn StoryApi>,
    version: &'static str,
}

impl OverHttp {
    pub fn new(queue: Arc<dyn StoryApi>, version: &'static str) -> Self {
        Self { queue, version }
    }

    async fn answer(&self, call: Call) -> Answer {
        if call.path == "/health" {
            return Answer::json(200, &json!({ "status": "ok" }));
        }
        if call.path.trim_end_matches('/') != PATH {
            return refused(404, "the tools are at /mcp");
        }
        if !is_local(call.header("origin")) {
            return refused(403, "a page of another site may not call these tools");
        }
        if call.method != Method::Post {
            return refused(405, "messages are posted; there is no stream to listen to")
                .with_header("allow", "POST");
        }
        if let Some(version) = call.header("mcp-protocol-version").filter(|asked| !VERSIONS.contains(asked)) {
            return refused(400, &format!("protocol version {version} is not spoken here"));
        }
        let Some(key) = call.header("authorization").and_then(|value| value.strip_prefix("Bearer ")) else {
            return refused(401, "each request needs `Authorization: Bearer KEY` with a key of the queue")
                .with_header("www-authenticate", "Bearer");
        };
        let server = Server::new(&*self.queue, self.version).for_others();
        let text = String::from_utf8_lossy(&call.body);
        match server.answer(&text, &Keys::one(key.trim())).await {
            Some(answer) => {
                let headers = vec![("content-type".to_owned(), "application/json".to_owned())];
                Answer { status: 200, headers, body: answer.into_bytes() }
            }
            None => Answer { status: 202, headers: Vec::new(), body: Vec::new() },
        }
    }
}

impl StoryApi for OverHttp {
    fn call(&self, call: Call) -> Answering<'_> {
        Box::pin(async move { Ok(self.answer(call).await) })
    }
}

fn refused(status: u16, message: &str) -> Answer {
    Answer::json(status, &json!({ "error": { "status": status, "message": message } }))
}

/// A browser names the site whose page asks. A name that was bent to this machine is still another site.
fn is_local(origin: Option<&str>) -> bool {
    let Some(origin) = origin else { return true };
    let host = origin.split_once("://").map_or(origin, |(_, rest)| rest);
    let host = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    matches!(host, "localhost" | "127.0.0.1" | "::1")
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Nobody;

    impl StoryApi for Nobody {
        fn call(&self, _: Call) -> Answering<'_> {
            Box::pin(async { Ok(Answer::json(401, &json!({}))) })
        }
    }

    async fn asked(call: Call) -> Answer {
        OverHttp::new(Arc::new(Nobody), "1").call(call).await.unwrap()
    }

    fn post(body: &serde_json::Value) -> Call {
        Call::new(Method::Post, PATH).with_key("lc_x").with_json(body)
    }

    #[tokio::test]
    async fn a_request_is_answered_and_a_notification_is_accepted() {
        let ping = asked(post(&json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}))).await;
        assert_eq!((ping.status, ping.value()["id"].clone()), (200, json!(1)));
        let heard = asked(post(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))).await;
        assert_eq!((heard.status, heard.body.len()), (202, 0));
    }

    #[tokio::test]
    async fn without_a_key_from_another_site_or_in_another_way_it_is_refused() {
        let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
        assert_eq!(asked(Call::new(Method::Post, PATH).with_json(&ping)).await.status, 401);
        assert_eq!(asked(post(&ping).with_header("origin", "https://evil.example")).await.status, 403);
        assert_eq!(
            asked(post(&ping).with_header("origin", "http://127.0.0.1.evil.example")).await.status,
            403
        );
        assert_eq!(asked(post(&ping).with_header("origin", "http://localhost:3000")).await.status, 200);
        assert_eq!(asked(post(&ping).with_header("mcp-protocol-version", "1999-01-01")).await.status, 400);
        assert_eq!(asked(Call::new(Method::Get, PATH).with_key("k")).await.status, 405);
        assert_eq!(asked(Call::new(Method::Get, "/other")).await.status, 404);
    }
}
