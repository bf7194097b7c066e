//! One request and its answer: HTTP becomes a call of the queue and back. What is too big, too slow or no call at all is
//! answered here, in the queue's own form of an error.

use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::{Body as _, Bytes, Incoming};
use hyper::header::{CONTENT_TYPE, HeaderName, HeaderValue};
use hyper::{Request, Response, StatusCode};
use std::sync::Arc;
use std::time::Duration;
use windlass_control_api::stories::{Answer, Call, Method, StoryApi};

/// A body that is longer is refused before it is read.
pub const MOST_BYTES: usize = 2_000_000;
const TOO_LONG: (StatusCode, &str) = (StatusCode::PAYLOAD_TOO_LARGE, "the body is longer than 2000000 bytes");
/// A body must have arrived by then.
const PATIENCE: Duration = Duration::from_secs(30);

pub(crate) async fn answer(api: Arc<dyn StoryApi>, request: Request<Incoming>) -> Response<Full<Bytes>> {
    let call = match call(request).await {
        Ok(call) => call,
        Err((status, message)) => return refusal(status, message),
    };
    // On a task of its own: a client that hangs up must not leave a decision half made.
    let asked = tokio::spawn(async move { api.call(call).await });
    match asked.await {
        Ok(Ok(answer)) => response(answer),
        Ok(Err(unreachable)) => refusal(StatusCode::SERVICE_UNAVAILABLE, &unreachable.to_string()),
        Err(_) => refusal(StatusCode::INTERNAL_SERVER_ERROR, "the server failed at this request"),
    }
}

async fn call(request: Request<Incoming>) -> Result<Call, (StatusCode, &'static str)> {
    let (head, body) = request.into_parts();
    let method = Method::named(head.method.as_str())
        .ok_or((StatusCode::METHOD_NOT_ALLOWED, "only GET, POST, PUT, PATCH and DELETE are understood"))?;
    let text = |value: &HeaderValue| value.to_str().map(ToOwned::to_owned).ok();
    let headers = head
        .headers
        .iter()
        .filter_map(|(name, value)| Some((name.as_str().to_owned(), text(value)?)))
        .collect();
    // What says beforehand that it is too long is not waited for.
    if body.size_hint().lower() > MOST_BYTES as u64 {
        return Err(TOO_LONG);
    }
    let body = tokio::time::timeout(PATIENCE, Limited::new(body, MOST_BYTES).collect())
        .await
        .map_err(|_| (StatusCode::REQUEST_TIMEOUT, "the body did not arrive in time"))?
        .map_err(|error| match error.downcast_ref::<LengthLimitError>() {
            Some(_) => TOO_LONG,
            None => (StatusCode::BAD_REQUEST, "the body could not be read"),
        })?;
    Ok(Call {
        method,
        path: head.uri.path().to_owned(),
        query: head.uri.query().unwrap_or_default().to_owned(),
        headers,
        body: body.to_bytes().to_vec(),
    })
}

fn response(answer: Answer) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from(answer.body)));
    *response.status_mut() = StatusCode::from_u16(answer.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    for (name, value) in answer.headers {
        let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::try_from(value)) else {
            continue;
        };
        response.headers_mut().append(name, value);
    }
    response
}

pub(crate) fn refusal(status: StatusCode, message: &str) -> Response<Full<Bytes>> {
    let quoted: String = message.chars().flat_map(char::escape_default).collect();
    let body = format!(r#"{{"error":{{"status":{},"message":"{quoted}"}}}}"#, status.as_u16());
    let mut response = Response::new(Full::new(Bytes::from(body)));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}
