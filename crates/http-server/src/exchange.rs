//! One request and its answer: HTTP becomes a call of the queue and back. What is too big, too slow or no call at all is
//! answered here, in the queue's own form of an error.

use crate::guests::Seat;
use crate::limits::Limits;
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::{Body as _, Bytes, Incoming};
use hyper::header::{CONTENT_TYPE, HeaderName, HeaderValue};
use hyper::{Request, Response, StatusCode};
use std::sync::Arc;
use tokio::sync::Semaphore;
use windlass_control_api::stories::{Answer, Call, LONGEST_BODY, Method, StoryApi};

/// Why a request did not become a call.
type Refused = (StatusCode, String);

/// What every request of a server is answered with.
#[derive(Clone)]
pub(crate) struct Exchange {
    api: Arc<dyn StoryApi>,
    pub(crate) limits: Limits,
    /// Turns for long bodies: anybody can begin one, and each may take a lot of memory.
    long_bodies: Arc<Semaphore>,
}

impl Exchange {
    pub(crate) fn new(api: Arc<dyn StoryApi>, limits: Limits) -> Self {
        Self { api, limits, long_bodies: Arc::new(Semaphore::new(limits.long_bodies)) }
    }

    pub(crate) async fn answer(&self, request: Request<Incoming>, seat: &Seat) -> Response<Full<Bytes>> {
        let call = match self.call(request).await {
            Ok(call) => call,
            Err((status, message)) => return refusal(status, &message),
        };
        seat.is_answered();
        // On a task of its own: a client that hangs up must not leave a decision half made.
        let api = Arc::clone(&self.api);
        let asked = tokio::spawn(async move { api.call(call).await });
        let answer = match asked.await {
            Ok(Ok(answer)) => response(answer),
            Ok(Err(unreachable)) => refusal(StatusCode::SERVICE_UNAVAILABLE, &unreachable.to_string()),
            Err(_) => refusal(StatusCode::INTERNAL_SERVER_ERROR, "the server failed at this request"),
        };
        seat.waits();
        answer
    }

    async fn call(&self, request: Request<Incoming>) -> Result<Call, Refused> {
        let (head, body) = request.into_parts();
        let method = Method::named(head.method.as_str()).ok_or_else(|| {
            let understood = "only GET, POST, PUT, PATCH and DELETE are understood";
            (StatusCode::METHOD_NOT_ALLOWED, understood.to_owned())
        })?;
        let text = |value: &HeaderValue| value.to_str().map(ToOwned::to_owned).ok();
        let headers = head
            .headers
            .iter()
            .filter_map(|(name, value)| Some((name.as_str().to_owned(), text(value)?)))
            .collect();
        let path = head.uri.path().to_owned();
        let body = self.body(body, self.api.longest_body(method, &path)).await?;
        let query = head.uri.query().unwrap_or_default().to_owned();
        Ok(Call { method, path, query, headers, body })
    }

    async fn body(&self, body: Incoming, longest: usize) -> Result<Vec<u8>, Refused> {
        let too_long = || (StatusCode::PAYLOAD_TOO_LARGE, format!("the body is longer than {longest} bytes"));
        // What says beforehand that it is too long is not waited for.
        if body.size_hint().lower() > longest as u64 {
            return Err(too_long());
        }
        let usual = LONGEST_BODY.min(longest);
        let is_long = longest > usual && body.size_hint().upper().is_none_or(|bytes| bytes > usual as u64);
        let patience = self.limits.body_patience * if is_long { 4 } else { 1 };
        let read = async {
            let _turn = if is_long { self.long_bodies.acquire().await.ok() } else { None };
            Limited::new(body, longest).collect().await
        };
        let read = tokio::time::timeout(patience, read).await;
        let read =
            read.map_err(|_| (StatusCode::REQUEST_TIMEOUT, "the body did not arrive in time".to_owned()))?;
        let read = read.map_err(|error| match error.downcast_ref::<LengthLimitError>() {
            Some(_) => too_long(),
            None => (StatusCode::BAD_REQUEST, "the body could not be read".to_owned()),
        })?;
        Ok(read.to_bytes().to_vec())
    }
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
