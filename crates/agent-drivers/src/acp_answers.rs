//! How a turn of an agent behind the Agent Client Protocol ended: its answer or its error, as the last signals of a step.

use serde_json::Value;

use crate::programs::{fatal, kind_of_message, limit_in, text};
use crate::signal::{EndClaim, ErrorKind, Signal, UsageScope};
use crate::usage::Totals;

/// The answer to `session/prompt`: what the turn used and how it ended.
pub fn acp_answer(result: &Value) -> Vec<Signal> {
    let claim = match text(result, "/stopReason") {
        Some("end_turn") => EndClaim::Finished,
        Some("max_tokens") => failed(ErrorKind::TokenLimit, "a reply ended at the token limit"),
        Some("refusal") => failed(ErrorKind::Refused, "the model declined to go on"),
        Some("max_turn_requests") => {
            failed(ErrorKind::Other, "the agent reached its limit of requests in a turn")
        }
        Some("cancelled") => failed(ErrorKind::Interrupted, "the turn was cancelled"),
        Some(other) => failed(ErrorKind::Other, &format!("the agent stopped for an unknown reason: {other}")),
        None => failed(ErrorKind::Other, "the agent told no reason for its stop"),
    };
    usage(result).into_iter().chain([Signal::End { claim, answer: None }]).collect()
}

/// The `error` of any answer. It ends the step: what was asked for is needed.
pub fn acp_error(error: &Value) -> Vec<Signal> {
    let message = text(error, "/message").unwrap_or("the agent told no reason");
    let details = ["/data", "/data/details", "/data/message"].iter().find_map(|pointer| text(error, pointer));
    let words = match details {
        Some(details) if !message.contains(details) => format!("{message}: {details}"),
        _ => message.to_owned(),
    };
    let code = error.get("code").and_then(Value::as_i64).unwrap_or(0);
    acp_failure(kind_of(code, &words, text(error, "/data/errorKind")), &words)
}

/// The signals of a step that failed for this reason.
pub fn acp_failure(kind: ErrorKind, reason: &str) -> Vec<Signal> {
    let end = Signal::End { claim: failed(kind, reason), answer: None };
    limit_in(reason).into_iter().chain([fatal(kind, reason), end]).collect()
}

fn failed(kind: ErrorKind, reason: &str) -> EndClaim {
    EndClaim::Failed { reason: reason.to_owned(), kind }
}

/// Gemini puts an HTTP status where the protocol has its own codes; claude's adapter names a kind beside them.
fn kind_of(code: i64, words: &str, named: Option<&str>) -> ErrorKind {
    let status = u16::try_from(code).ok().filter(|status| (400..600).contains(status));
    let named = named.unwrap_or_default().replace('_', " ");
    match kind_of_message(status, &format!("{words} {named}")) {
        ErrorKind::Other => match code {
            AUTHENTICATION_REQUIRED => ErrorKind::Authentication,
            RESOURCE_NOT_FOUND => ErrorKind::Setup,
            _ => ErrorKind::Other,
        },
        kind => kind,
    }
}

const AUTHENTICATION_REQUIRED: i64 = -32000;
/// A session that is to be loaded, as a rule.
const RESOURCE_NOT_FOUND: i64 = -32002;

/// The turn's figures. Where several are told, one may leave out what helpers and titles cost, so the largest counts.
fn usage(result: &Value) -> Option<Signal> {
    let by_model = result.pointer("/_meta/quota/model_usage").and_then(Value::as_array);
    let of_models = by_model.map(|models| {
        let counts = models.iter().filter_map(|model| model.get("token_count")).map(totals);
        counts.fold(Totals::default(), Totals::plus)
    });
    let told = ["/usage", "/_meta/quota/token_count"].iter().filter_map(|pointer| result.pointer(pointer));
    let all = told.filter(|counts| counts.is_object()).map(totals).chain(of_models);
    let Totals { input, cached, output, reasoning, cost_micros } = all.reduce(Totals::at_least)?;
    Some(Signal::Usage {
        scope: UsageScope::Process,
        reply: None,
        input,
        cached,
        output,
        reasoning,
        cost_micros,
    })
}

/// Agents differ in whether cached tokens are part of the input and thoughts part of the output; their total tells.
fn totals(counts: &Value) -> Totals {
    let number = |names: &[&str]| {
        names.iter().find_map(|name| counts.get(name).and_then(Value::as_u64)).unwrap_or_default()
    };
    let input = number(&["inputTokens", "input_tokens"]);
    let output = number(&["outputTokens", "output_tokens"]);
    let cached = number(&["cachedReadTokens", "cachedInputTokens"]);
    let written = number(&["cachedWriteTokens"]);
    let reasoning = number(&["thoughtTokens", "reasoningOutputTokens"]);
    let total = number(&["totalTokens"]);
    let apart = input.saturating_add(cached).saturating_add(written);
    let input = if total >= apart.saturating_add(output) { apart } else { input };
    Totals { input, cached, output: output.max(total.saturating_sub(input)), reasoning, cost_micros: None }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::signal::{RateLimitWait, Severity};

    fn kind_of_end(signals: &[Signal]) -> Option<ErrorKind> {
        match signals.last() {
            Some(Signal::End { claim: EndClaim::Failed { kind, .. }, .. }) => Some(*kind),
            Some(Signal::End { claim: EndClaim::Finished, .. }) => None,
            other => panic!("{other:?} is no end"),
        }
    }

    #[test]
    fn every_reason_to_stop_has_its_kind() {
        let table = [
            (json!("end_turn"), None),
            (json!("max_tokens"), Some(ErrorKind::TokenLimit)),
            (json!("refusal"), Some(ErrorKind::Refused)),
            (json!("max_turn_requests"), Some(ErrorKind::Other)),
            (json!("cancelled"), Some(ErrorKind::Interrupted)),
            (json!("sunset"), Some(ErrorKind::Other)),
            (json!(null), Some(ErrorKind::Other)),
        ];
        for (reason, kind) in table {
            assert_eq!(kind_of_end(&acp_answer(&json!({"stopReason": reason}))), kind, "{reason}");
        }
        assert_eq!(kind_of_end(&acp_answer(&json!(null))), Some(ErrorKind::Other));
    }

    #[test]
    fn errors_are_known_by_status_code_and_words() {
        let table = [
            (json!({"code": -32000, "message": "Authentication required"}), ErrorKind::Authentication),
            (json!({"code": -32000, "message": "Gemini API key is missing"}), ErrorKind::Authentication),
            (json!({"code": -32000, "message": "Rate limit reached"}), ErrorKind::RateLimit),
            (json!({"code": 429, "message": "slow down"}), ErrorKind::RateLimit),
            (json!({"code": 500, "message": "{}"}), ErrorKind::Server),
            (json!({"code": 401, "message": "no"}), ErrorKind::Authentication),
            (
                json!({"code": -32603, "message": "Internal error: API Error: Request rejected (429)"}),
                ErrorKind::RateLimit,
            ),
            (
                json!({"code": -32603, "message": "no", "data": {"errorKind": "server_error"}}),
                ErrorKind::Server,
            ),
            (
                json!({"code": -32603, "message": "Internal error", "data": {"details": "fetch failed"}}),
                ErrorKind::Network,
            ),
            (json!({"code": -32002, "message": "Resource not found: s"}), ErrorKind::Setup),
            (json!({"code": -32603, "message": "Internal error"}), ErrorKind::Other),
            (json!("odd"), ErrorKind::Other),
        ];
        for (error, kind) in table {
            assert_eq!(kind_of_end(&acp_error(&error)), Some(kind), "{error}");
        }
    }

    #[test]
    fn a_failure_tells_the_wait_the_error_and_the_end() {
        let signals = acp_error(&json!({"code": 429, "message": "retry in 3s"}));
        let [limit, error, end] = &signals[..] else { panic!("{signals:?}") };
        assert_eq!(*limit, Signal::RateLimit { wait: RateLimitWait::ForMs(3000) });
        let kind = ErrorKind::RateLimit;
        assert_eq!(
            *error,
            Signal::Error { severity: Severity::Fatal, kind, message: "retry in 3s".to_owned() }
        );
        assert_eq!(
            *end,
            Signal::End { claim: EndClaim::Failed { reason: "retry in 3s".to_owned(), kind }, answer: None }
        );
    }

    #[test]
    fn figures_are_read_whatever_an_agent_counts_as_input_and_output() {
        let counted = |result: Value| match &usage(&result)? {
            Signal::Usage { scope: UsageScope::Process, input, cached, output, reasoning, .. } => {
                Some((*input, *cached, *output, *reasoning))
            }
            other => panic!("{other:?}"),
        };
        let copilot = json!({"inputTokens": 3500, "outputTokens": 250, "totalTokens": 3750, "thoughtTokens": 0,
            "cachedReadTokens": 1400, "cachedWriteTokens": 0});
        assert_eq!(counted(json!({"usage": copilot})), Some((3500, 1400, 250, 0)));
        let opencode =
            json!({"inputTokens": 500, "outputTokens": 50, "totalTokens": 1550, "cachedReadTokens": 1000});
        assert_eq!(counted(json!({"usage": opencode})), Some((1500, 1000, 50, 0)));
        let thoughts_apart =
            json!({"inputTokens": 500, "outputTokens": 50, "totalTokens": 580, "thoughtTokens": 30});
        assert_eq!(counted(json!({"usage": thoughts_apart})), Some((500, 0, 80, 30)));
        let gemini = json!({"token_count": {"input_tokens": 3500, "output_tokens": 250}, "model_usage": [
            {"model": "a", "token_count": {"input_tokens": 1000, "output_tokens": 100}},
            {"model": "b", "token_count": {"input_tokens": 2500, "output_tokens": 150}}]});
        assert_eq!(counted(json!({"_meta": {"quota": gemini}})), Some((3500, 0, 250, 0)));
        assert_eq!(counted(json!({"stopReason": "end_turn", "usage": null, "_meta": {}})), None);
    }

    #[test]
    fn what_titles_and_helpers_cost_counts_where_it_is_told() {
        let result = json!({
            "usage": {"inputTokens": 2100, "outputTokens": 250, "cachedReadTokens": 1400, "totalTokens": 3750},
            "_meta": {"quota": {"model_usage": [{"model": "m", "token_count": {"totalTokens": 4850, "inputTokens": 2900,
                "cachedInputTokens": 1600, "cachedWriteTokens": 0, "outputTokens": 350}}]}},
        });
        let Some(Signal::Usage { input: 4500, cached: 1600, output: 350, .. }) = usage(&result) else {
            panic!("{:?}", usage(&result));
        };
    }
}
