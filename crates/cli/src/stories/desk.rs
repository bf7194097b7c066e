//! A place at the queue: one key, asked in paths and JSON; what comes back is a value or a fault with what to do next.
//! Projects and epics are found by id, slug, name or number.

use serde_json::Value;
use std::sync::Arc;
use windlass_control_api::stories::{Answer, BASE, Call, Method, StoryApi, escaped};
use windlass_control_api::{Code, Fault};

/// More fields than this are counted, not told.
const MOST_DETAILS: usize = 20;
/// More projects than this are not named where one of them was meant.
const MOST_TOLD: usize = 10;
/// The queue's largest page of a list of names.
const LARGEST_PAGE: usize = 100;

pub(crate) struct Desk {
    api: Arc<dyn StoryApi>,
    key: Option<String>,
}

impl Desk {
    pub(crate) fn new(api: Arc<dyn StoryApi>, key: Option<String>) -> Self {
        Self { api, key }
    }

    pub(crate) async fn get(&self, path: &str, query: &[(&str, Option<String>)]) -> Result<Value, Fault> {
        self.ask(with_query(Method::Get, path, query)).await
    }

    pub(crate) async fn post(&self, path: &str, body: Value) -> Result<Value, Fault> {
        self.send(Method::Post, path, &[], body).await
    }

    pub(crate) async fn send(
        &self,
        method: Method,
        path: &str,
        query: &[(&str, Option<String>)],
        body: Value,
    ) -> Result<Value, Fault> {
        self.ask(with_query(method, path, query).with_json(&without_nothing(body))).await
    }

    pub(crate) async fn delete(&self, path: &str) -> Result<Value, Fault> {
        self.ask(with_query(Method::Delete, path, &[])).await
    }

    /// A request about several things: also where every one of them was refused each has its answer.
    pub(crate) async fn results(&self, path: &str, body: Value) -> Result<Value, Fault> {
        let call = with_query(Method::Post, path, &[]).with_json(&without_nothing(body));
        let answer = self.answer(call).await?;
        if answer.is_success() || answer.value()["results"].is_array() {
            return Ok(content(&answer));
        }
        Err(fault(&answer))
    }

    pub(crate) async fn ask(&self, call: Call) -> Result<Value, Fault> {
        let answer = self.answer(call).await?;
        if answer.is_success() { Ok(content(&answer)) } else { Err(fault(&answer)) }
    }

    async fn answer(&self, call: Call) -> Result<Answer, Fault> {
        let call = match &self.key {
            Some(key) => call.with_key(key),
            None => call,
        };
        self.api.call(call).await.map_err(|unreachable| {
            Fault::new(Code::StoryServer, unreachable.0)
                .kept("what the queue acknowledged before")
                .hint("is the server running, and is its address right? `windlass story config show`")
        })
    }

    /// The project that was named; where none was, the only one there is.
    pub(crate) async fn project(&self, named: Option<&str>) -> Result<String, Fault> {
        if let Some(named) = named {
            if is_id(named) {
                return Ok(named.to_owned());
            }
            // By slug or exact name, however many there are, archived ones too.
            match self.get(&format!("/projects/{}", escaped(named)), &[]).await {
                Ok(project) => return Ok(found(&project)["id"].as_str().unwrap_or_default().to_owned()),
                Err(fault) if fault.code == Code::StoryUnknown => {}
                Err(fault) => return Err(fault),
            }
        }
        let all = self.get("/projects", &[("page_size", Some("100".into()))]).await?;
        let all: Vec<&Value> = all["data"].as_array().into_iter().flatten().collect();
        let same =
            |value: &Value, name: &str| value.as_str().is_some_and(|text| text.eq_ignore_ascii_case(name));
        let fitting: Vec<&&Value> = match named {
            Some(name) => {
                all.iter().filter(|one| same(&one["slug"], name) || same(&one["name"], name)).collect()
            }
            None => all.iter().filter(|one| one["status"] != "archived").collect(),
        };
        if let [only] = fitting.as_slice() {
            return Ok(only["id"].as_str().unwrap_or_default().to_owned());
        }
        let slugs: Vec<&str> = all.iter().filter_map(|one| one["slug"].as_str()).collect();
        let there = match slugs.len().checked_sub(MOST_TOLD) {
            _ if slugs.is_empty() => "there is none yet".to_owned(),
            Some(more) if more > 0 => {
                format!(
                    "there are: {} and more (`windlass story project list`)",
                    slugs[..MOST_TOLD].join(", ")
                )
            }
            _ => format!("there are: {}", slugs.join(", ")),
        };
        Err(match named {
            Some(name) => Fault::new(Code::StoryUnknown, format!("no project is called `{name}`; {there}"))
                .hint("`windlass story project create NAME` makes one"),
            None => Fault::new(Code::BadArgument, format!("which project? {there}"))
                .hint("name it with `--project`, by id, slug or name"),
        })
    }

    /// The id of a story that was named by number or id.
    pub(crate) async fn story(&self, named: &str, project: Option<&str>) -> Result<String, Fault> {
        if is_id(named) {
            return Ok(named.to_owned());
        }
        let story = self.get(&story_path(named, ""), &self.in_project(project).await?).await?;
        Ok(found(&story)["id"].as_str().unwrap_or_default().to_owned())
    }

    /// The id of an epic that was named by number or id.
    pub(crate) async fn epic(&self, named: &str, project: Option<&str>) -> Result<String, Fault> {
        if is_id(named) {
            return Ok(named.to_owned());
        }
        let project = self.project(project).await?;
        let path = format!("/projects/{project}/epics");
        let number = named.trim_start_matches(|letter: char| !letter.is_ascii_digit());
        let fits = |one: &&Value| {
            one["number"] == number || one["number"].as_u64().is_some_and(|own| number.parse() == Ok(own))
        };
        for page in 1.. {
            let size = ("page_size", Some(LARGEST_PAGE.to_string()));
            let all = self.get(&path, &[("page", Some(page.to_string())), size]).await?;
            let rows = all["data"].as_array().map(Vec::as_slice).unwrap_or_default();
            if let Some(id) = rows.iter().find(fits).and_then(|one| one["id"].as_str()) {
                return Ok(id.to_owned());
            }
            if rows.len() < LARGEST_PAGE {
                break;
            }
        }
        Err(Fault::new(Code::StoryUnknown, format!("the project has no epic `{named}`")))
    }

    /// For a story that is named by its number: the query that says of which project.
    pub(crate) async fn in_project(
        &self,
        project: Option<&str>,
    ) -> Result<[(&'static str, Option<String>); 1], Fault> {
        Ok([(
            "project",
            match project {
                Some(named) => Some(self.project(Some(named)).await?),
                None => None,
            },
        )])
    }
}

fn with_query(method: Method, path: &str, query: &[(&str, Option<String>)]) -> Call {
    let given = query.iter().filter_map(|(name, value)| Some((name, value.as_ref()?)));
    given.fold(Call::new(method, format!("{BASE}{path}")), |call, (name, value)| call.with_query(name, value))
}

/// `/stories/US-3.1/claim`, whatever the name is made of.
pub(crate) fn story_path(named: &str, step: &str) -> String {
    format!("/stories/{}{step}", escaped(named))
}

pub(crate) fn is_id(text: &str) -> bool {
    let lengths: Vec<usize> = text.split('-').map(str::len).collect();
    lengths == [8, 4, 4, 4, 12] && text.bytes().all(|byte| byte == b'-' || byte.is_ascii_hexdigit())
}

/// The thing in an answer that names it: `{"story": {…}}` is the story. Beside it may stand what to do next.
pub(crate) fn found(answer: &Value) -> &Value {
    const NAMES: [&str; 16] = [
        "data",
        "story",
        "project",
        "epic",
        "tenant",
        "agent",
        "api_key",
        "dispatch",
        "skill",
        "state",
        "webhook",
        "article",
        "dependency",
        "token_budget",
        "progress",
        "capability",
    ];
    NAMES.iter().find_map(|name| answer.get(name).filter(|value| value.is_object())).unwrap_or(answer)
}

/// Fields nobody filled in are not sent.
fn without_nothing(body: Value) -> Value {
    match body {
        Value::Object(fields) => {
            Value::Object(fields.into_iter().filter(|(_, value)| !value.is_null()).collect())
        }
        other => other,
    }
}

fn content(answer: &Answer) -> Value {
    match answer.value() {
        Value::Null if !answer.body.is_empty() => {
            Value::String(String::from_utf8_lossy(&answer.body).into_owned())
        }
        value => value,
    }
}

fn fault(answer: &Answer) -> Fault {
    let body = answer.value();
    let error = &body["error"];
    let code = match answer.status {
        401 => Code::StoryKey,
        404 => Code::StoryUnknown,
        429 | 500 | 502 | 504 => Code::StoryServer,
        // Nobody refused anything: the queue could not be read or written.
        503 if error["code"] == "journal_unavailable" => Code::StoryServer,
        _ => Code::StoryRefused,
    };
    let said = error["message"].as_str();
    let mut fault =
        Fault::new(code, said.map_or_else(|| format!("the queue answered {}", answer.status), str::to_owned));
    fault.case = error["code"].as_str().map(str::to_owned);
    let details: Vec<String> = untold_details(error, &fault.message);
    let more = details.len().saturating_sub(MOST_DETAILS);
    for told in details.into_iter().take(MOST_DETAILS) {
        fault.message = format!("{}; {told}", fault.message);
    }
    if more > 0 {
        fault.message = format!("{}; and {more} more", fault.message);
    }
    for place in ["do", "message", "learn_more"] {
        if let Some(remedy) = error["remediation"][place].as_str() {
            fault = fault.hint(remedy);
        }
    }
    if answer.status == 413 {
        return fault
            .hint("send less at once; a plan can come in parts: `windlass story import PART --merge`");
    }
    match (code, answer.header("retry-after")) {
        // What the queue says of it names the wait already.
        (Code::StoryServer, Some(_)) if answer.status == 429 && !fault.hints.is_empty() => fault,
        (Code::StoryServer, Some(seconds)) => fault.hint(format!("ask again in {seconds} s")),
        (Code::StoryKey, _) => fault.hint("`windlass story login --server URL --key KEY`, or `--local`"),
        _ => fault,
    }
}

/// What is wrong with which field, as far as the message does not say it.
fn untold_details(error: &Value, message: &str) -> Vec<String> {
    let of_field = |(field, why): (&String, &Value)| {
        let why: Vec<&str> = why.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let why = why.join(", ");
        let told =
            message.contains(&format!("{field} {why}")) || message.contains(&format!("{field}: {why}"));
        (!told && !why.is_empty()).then(|| format!("{field} {why}"))
    };
    error["details"].as_object().into_iter().flatten().filter_map(of_field).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_refusal_keeps_its_case_its_fields_and_its_remedy() {
        let body = json!({"error": {"status": 422, "message": "not accepted", "code": "invalid",
            "details": {"title": ["is missing"]}, "remediation": {"do": "give a title"}}});
        let fault = fault(&Answer::json(422, &body));
        assert_eq!((fault.code, fault.case.as_deref()), (Code::StoryRefused, Some("invalid")));
        assert_eq!(fault.message, "not accepted; title is missing");
        assert_eq!(fault.hints, ["give a title"]);
        assert_ne!(fault.code.exit_code(), 0);
    }

    #[test]
    fn every_refusing_status_ends_with_a_code_that_is_not_zero() {
        for status in [400, 401, 403, 404, 409, 422, 428, 429, 500, 502, 503] {
            assert_ne!(fault(&Answer::json(status, &json!({}))).code.exit_code(), 0, "{status}");
        }
    }

    #[test]
    fn ids_are_told_from_numbers_and_slugs() {
        assert!(is_id("018f3c5e-0000-7000-8000-00000000abcd"));
        for other in ["US-3.1", "3.1", "my-project", "018f3c5e-0000-7000-8000-00000000abcx"] {
            assert!(!is_id(other), "{other}");
        }
    }
}
