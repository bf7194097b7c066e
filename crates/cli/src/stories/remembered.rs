//! What servers showed of their audit chains: the last tree head per server, key and tenant, in a file beside the
//! configuration. A server that later shows less, or something else for the same place, has two histories, and that is said
//! aloud.

use super::config::write_private;
use serde_json::{Map, Value, json};
use std::path::PathBuf;
use windlass_control_api::stories::{Answer, Call};

const REMEMBERED: &str = "x-loopctl-last-known-sth";
const BOOTSTRAP: &str = "x-loopctl-sth-bootstrap";
/// For whom an operator asks.
const TENANT: &str = "x-impersonate-tenant";
const CURRENT: &str = "x-loopctl-current-sth";

#[derive(Clone, Debug, Default)]
pub(crate) struct Remembered {
    /// Absent: nothing is remembered beyond a call.
    file: Option<PathBuf>,
}

impl Remembered {
    pub(crate) fn in_file(file: Option<PathBuf>) -> Self {
        Self { file }
    }

    /// The call, saying what was seen last.
    pub(crate) fn told(&self, server: &str, call: Call) -> Call {
        match self.of(server, &call) {
            Some(seen) => call.with_header(REMEMBERED, &seen),
            None => call.with_header(BOOTSTRAP, "true"),
        }
    }

    /// The answer, or what is to be said of a server that shows another history than before.
    pub(crate) fn heard(&self, server: &str, call: &Call, answer: Answer) -> Answer {
        let seen = self.of(server, call);
        let Some(shown) = answer.header(CURRENT).map(ToOwned::to_owned) else { return answer };
        if refused_as_divergent(&answer) {
            return self.divergence(server, seen.as_deref().unwrap_or("nothing"), &shown, "nothing was done");
        }
        if let Some(seen) = seen.as_deref().filter(|seen| contradicts(seen, &shown)) {
            return self.divergence(server, seen, &shown, "what was asked may have been done");
        }
        if seen.as_deref() != Some(&shown) {
            self.keep(server, call, &shown);
        }
        answer
    }

    fn divergence(&self, server: &str, seen: &str, shown: &str, done: &str) -> Answer {
        let file = self.file.as_ref().map(|file| file.display().to_string()).unwrap_or_default();
        let message = format!(
            "{server} shows another audit chain than before: it showed the head {seen} and now has {shown}; {done}"
        );
        let remedy = format!(
            "ask its operator whether a backup was restored or the past was rewritten; `windlass story audit verify` checks \
             the chain; when you know, remove the server's line from {file}"
        );
        let error = json!({
            "status": 409, "code": "witness_divergence", "message": message, "remediation": { "do": remedy },
        });
        Answer::json(409, &json!({ "error": error }))
    }

    fn of(&self, server: &str, call: &Call) -> Option<String> {
        self.read().get(&name(server, call)).and_then(Value::as_str).map(ToOwned::to_owned)
    }

    fn keep(&self, server: &str, call: &Call, shown: &str) {
        let Some(file) = &self.file else { return };
        let mut all = self.read();
        all.insert(name(server, call), Value::from(shown));
        // A head that could not be kept is kept the next time; the call itself has been answered.
        let _ = file.parent().map_or(Ok(()), std::fs::create_dir_all);
        let _ = write_private(file, Value::Object(all).to_string().as_bytes());
    }

    fn read(&self) -> Map<String, Value> {
        let text = self.file.as_ref().and_then(|file| std::fs::read_to_string(file).ok());
        text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
    }
}

/// Tenants of one server have chains of their own, and an operator's key sees as many as there are tenants. A key is told
/// from others by what lists of keys show of it.
fn name(server: &str, call: &Call) -> String {
    let key =
        call.header("authorization").and_then(|value| value.strip_prefix("Bearer ")).unwrap_or_default();
    let own = format!("{server} {}", key.chars().take(8).collect::<String>());
    match call.header(TENANT) {
        Some(tenant) => format!("{own} {}", tenant.trim().to_lowercase()),
        None => own,
    }
}

fn refused_as_divergent(answer: &Answer) -> bool {
    answer.status == 409 && answer.value()["error"]["code"] == "witness_divergence"
}

/// A chain only grows, and for one place there is one head.
fn contradicts(seen: &str, shown: &str) -> bool {
    let place = |text: &str| text.split(':').next().and_then(|place| place.parse::<u64>().ok());
    match (place(seen), place(shown)) {
        (Some(before), Some(now)) => now < before || (now == before && seen != shown),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use windlass_control_api::stories::Method;

    const SERVER: &str = "http://127.0.0.1:4000";

    fn call(key: &str) -> Call {
        Call::new(Method::Get, "/api/v1/projects").with_key(key)
    }

    fn showing(head: &str) -> Answer {
        Answer::json(200, &json!({})).with_header(CURRENT, head)
    }

    #[test]
    fn a_chain_that_grows_is_followed_for_each_key() {
        let home = tempfile::tempdir().unwrap();
        let remembered = Remembered::in_file(Some(home.path().join("heads.json")));
        assert_eq!(remembered.told(SERVER, call("lc_alice1")).header(BOOTSTRAP), Some("true"));
        for head in ["0:AAAA", "3:abcd", "3:abcd", "7:efgh"] {
            assert_eq!(remembered.heard(SERVER, &call("lc_alice1"), showing(head)).status, 200, "{head}");
        }
        assert_eq!(remembered.told(SERVER, call("lc_alice1")).header(REMEMBERED), Some("7:efgh"));
        assert_eq!(remembered.told(SERVER, call("lc_bobby1")).header(BOOTSTRAP), Some("true"));
    }

    #[test]
    fn an_operators_key_sees_the_chains_of_many_tenants() {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join("heads.json");
        // As it was written before tenants were told apart.
        std::fs::write(&file, format!(r#"{{"{SERVER} lc_opera": "723:abcd"}}"#)).unwrap();
        let remembered = Remembered::in_file(Some(file));
        let inside = |tenant: &str| call("lc_operator").with_header(TENANT, tenant);
        for (tenant, head) in [("default", "723:abcd"), ("blue", "2:efgh"), ("default", "724:ijkl")] {
            let answer = remembered.heard(SERVER, &inside(tenant), showing(head));
            assert_eq!(answer.status, 200, "{tenant} {head}: {}", answer.value());
        }
        assert_eq!(remembered.told(SERVER, inside("blue")).header(REMEMBERED), Some("2:efgh"));
        assert_eq!(remembered.told(SERVER, call("lc_operator")).header(REMEMBERED), Some("723:abcd"));
        assert_eq!(remembered.heard(SERVER, &inside("blue"), showing("1:efgh")).status, 409);
    }

    #[test]
    fn a_chain_that_shrank_or_changed_is_complained_of_and_not_forgotten() {
        let home = tempfile::tempdir().unwrap();
        let remembered = Remembered::in_file(Some(home.path().join("heads.json")));
        let _ = remembered.heard(SERVER, &call("lc_alice1"), showing("7:efgh"));
        for head in ["6:efgh", "7:eeee", "0:AAAA"] {
            let said = remembered.heard(SERVER, &call("lc_alice1"), showing(head));
            assert_eq!(
                (said.status, said.value()["error"]["code"].as_str()),
                (409, Some("witness_divergence")),
                "{head}"
            );
            assert!(said.value()["error"]["message"].as_str().unwrap().contains("7:efgh"));
        }
        assert_eq!(remembered.told(SERVER, call("lc_alice1")).header(REMEMBERED), Some("7:efgh"));
    }
}
