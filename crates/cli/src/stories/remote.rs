//! The queue behind a server. What changes something carries an idempotency key, so that a call whose answer was lost can
//! be sent again and still has one effect.

use super::remembered::Remembered;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use ureq::tls::{Certificate, RootCerts, TlsConfig};
use windlass_control_api::stories::{Answer, Answering, Call, Method, StoryApi, Unreachable};
use windlass_control_api::{Code, Fault};
use windlass_process_supervisor::aside;

const PATIENCE: Duration = Duration::from_secs(30);
/// For a plan that takes its time, on its way and at the server.
const PATIENCE_FOR_LONG: Duration = Duration::from_mins(3);
/// From so many bytes on the server is asked first whether it takes them: one that does not answers, and hangs up while the
/// body is still being written, which loses the answer.
const LONG: usize = 500_000;
/// How often a call is sent before its server counts as gone.
const TRIES: u32 = 3;
/// An export of ten thousand stories is some megabytes.
const LARGEST_ANSWER: u64 = 256 * 1024 * 1024;

pub(crate) struct Remote {
    server: String,
    agent: ureq::Agent,
    /// Names this process among all clients; its calls are counted.
    session: String,
    sent: AtomicU64,
    remembered: Remembered,
}

impl Remote {
    pub(crate) fn at(server: &str, remembered: Remembered) -> Result<Self, Fault> {
        let server = server.trim_end_matches('/').trim_end_matches("/api/v1").to_owned();
        if !server.starts_with("http://") && !server.starts_with("https://") {
            let message = format!("`{server}` is no address of a server");
            return Err(Fault::new(Code::BadArgument, message).hint("such as http://127.0.0.1:4000"));
        }
        let agent = agent(&server)?;
        Ok(Self { server, agent, session: session()?, sent: AtomicU64::new(0), remembered })
    }

    fn prepared(&self, call: Call) -> Call {
        if call.method == Method::Get || call.header("idempotency-key").is_some() {
            return call;
        }
        let number = self.sent.fetch_add(1, Ordering::Relaxed);
        let key = format!("{}-{number}", self.session);
        call.with_header("idempotency-key", &key)
    }
}

impl StoryApi for Remote {
    fn call(&self, call: Call) -> Answering<'_> {
        let (agent, server, call) = (self.agent.clone(), self.server.clone(), self.prepared(call));
        let remembered = self.remembered.clone();
        Box::pin(async move {
            let asked = move || {
                let call = remembered.told(&server, call);
                send(&agent, &server, &call).map(|answer| remembered.heard(&server, &call, answer))
            };
            match aside(asked) {
                Ok(sent) => sent.done().await,
                Err(error) => Err(Unreachable(format!("there is no room for a thread to ask it: {error}"))),
            }
        })
    }
}

fn send(agent: &ureq::Agent, server: &str, call: &Call) -> Result<Answer, Unreachable> {
    let mut why = String::new();
    for _ in 0..TRIES {
        match send_once(agent, server, call) {
            Ok(answer) => return Ok(answer),
            Err(error) => why = error.to_string(),
        }
    }
    if why.contains("CaUsedAsEndEntity") {
        let told = "shows the certificate of an authority as its own, which nobody may";
        let way = "make one that is none: `openssl req -x509 … -addext basicConstraints=critical,CA:FALSE`";
        return Err(Unreachable(format!("{server} {told} ({why}); {way}")));
    }
    if is_untrusted(&why) {
        let told = "shows a certificate that no authority known on this machine vouches for";
        let way = "if it is your own, name its file in SSL_CERT_FILE";
        return Err(Unreachable(format!("{server} {told} ({why}); {way}")));
    }
    if call.body.len() > LONG && ["Broken pipe", "Connection reset"].iter().any(|word| why.contains(word)) {
        let bytes = call.body.len();
        let told = "hung up while it was sent; it may take less at once";
        return Err(Unreachable(format!("{server} {told}: {bytes} bytes ({why})")));
    }
    if server.starts_with("http:") && why.contains("http parse fail") {
        let told = "does not speak plain HTTP; if it speaks TLS, its address begins with https:";
        return Err(Unreachable(format!("{server} {told} ({why})")));
    }
    Err(Unreachable(format!("{server} does not answer: {why}")))
}

/// By the words of the library, which has no other way to say it.
fn is_untrusted(why: &str) -> bool {
    ["UnknownIssuer", "invalid peer certificate"].iter().any(|word| why.contains(word))
}

fn send_once(agent: &ureq::Agent, server: &str, call: &Call) -> Result<Answer, ureq::Error> {
    let question = if call.query.is_empty() { "" } else { "?" };
    let address = format!("{server}{}{question}{}", call.path, call.query);
    let mut request = ureq::http::Request::builder().method(call.method.name()).uri(address);
    request = request.header("user-agent", concat!("windlass/", env!("CARGO_PKG_VERSION")));
    if !call.body.is_empty() && call.header("content-type").is_none() {
        request = request.header("content-type", "application/json");
    }
    for (name, value) in &call.headers {
        request = request.header(name, value);
    }
    let is_long = call.body.len() > LONG;
    if is_long {
        request = request.header("expect", "100-continue");
    }
    let patience = if is_long { PATIENCE_FOR_LONG } else { PATIENCE };
    let request = agent.configure_request(request.body(call.body.clone())?).timeout_global(Some(patience));
    let mut response = agent.run(request.build())?;
    let header = |(name, value): (&ureq::http::HeaderName, &ureq::http::HeaderValue)| {
        Some((name.as_str().to_owned(), value.to_str().ok()?.to_owned()))
    };
    let headers = response.headers().iter().filter_map(header).collect();
    let status = response.status().as_u16();
    let body = response.body_mut().with_config().limit(LARGEST_ANSWER).read_to_vec()?;
    Ok(Answer { status, headers, body })
}

/// Trusts whom this machine trusts, so that a company's own authority counts.
fn agent(server: &str) -> Result<ureq::Agent, Fault> {
    let mut tls = TlsConfig::builder()
        .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::ring::default_provider()));
    if server.starts_with("https:") {
        let found = rustls_native_certs::load_native_certs();
        if found.certs.is_empty() {
            let message = "no authority is known on this machine that could vouch for the server";
            return Err(Fault::new(Code::StoryServer, message).hint("install the system's CA certificates"));
        }
        let known: Vec<_> = found.certs.iter().map(|one| Certificate::from_der(one).to_owned()).collect();
        tls = tls.root_certs(RootCerts::from(known));
    }
    let config = ureq::Agent::config_builder()
        .tls_config(tls.build())
        .http_status_as_error(false)
        // A key is for the server that was named.
        .max_redirects(0)
        .max_redirects_will_error(false)
        .allow_non_standard_methods(true)
        .proxy(None)
        // Shorter than servers keep a connection that nobody uses.
        .max_idle_age(Duration::from_secs(5))
        .timeout_global(Some(PATIENCE));
    Ok(config.build().new_agent())
}

fn session() -> Result<String, Fault> {
    let mut bytes = [0u8; 16];
    getrandom::fill(&mut bytes)
        .map_err(|error| Fault::new(Code::Supervisor, format!("this machine has no randomness: {error}")))?;
    Ok(format!("{:032x}", u128::from_be_bytes(bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufRead as _, BufReader, Write as _};
    use std::net::TcpListener;

    /// Hangs up on the first `deaf` connections after reading the head, then answers; gives back the keys it saw.
    fn server(deaf: usize) -> (String, std::thread::JoinHandle<Vec<String>>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let played = std::thread::spawn(move || {
            let mut keys = Vec::new();
            for number in 0..=deaf {
                let (mut stream, _) = listener.accept().unwrap();
                let head = BufReader::new(stream.try_clone().unwrap()).lines().map_while(Result::ok);
                for line in head.take_while(|line| !line.is_empty()) {
                    keys.extend(line.strip_prefix("idempotency-key: ").map(str::to_owned));
                }
                if number == deaf {
                    stream
                        .write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}")
                        .unwrap();
                }
            }
            keys
        });
        (address, played)
    }

    #[tokio::test]
    async fn a_call_whose_answer_was_lost_is_sent_again_under_the_same_key() {
        let (address, played) = server(2);
        let remote = Remote::at(&address, Remembered::default()).unwrap();
        let answer = remote.call(Call::new(Method::Post, "/api/v1/stories/1.1/claim")).await.unwrap();
        assert_eq!(answer.status, 200);
        let keys = played.join().unwrap();
        assert_eq!(keys.len(), 3);
        assert!(keys.iter().all(|key| *key == keys[0]), "{keys:?}");
    }

    /// Answers as soon as it has read the head, and hangs up on the rest.
    fn impatient_server() -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        std::thread::spawn(move || {
            while let Ok((mut stream, _)) = listener.accept() {
                let head = BufReader::new(stream.try_clone().unwrap()).lines().map_while(Result::ok);
                let _ = head.take_while(|line| !line.is_empty()).count();
                let said =
                    b"HTTP/1.1 413 Payload Too Large\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}";
                stream.write_all(said).unwrap();
            }
        });
        address
    }

    #[tokio::test]
    async fn a_body_that_is_too_long_is_told_as_such() {
        let remote = Remote::at(&impatient_server(), Remembered::default()).unwrap();
        let mut call = Call::new(Method::Post, "/api/v1/projects/x/import");
        call.body = vec![b' '; 20_000_000];
        assert_eq!(remote.call(call).await.unwrap().status, 413);
    }

    #[tokio::test]
    async fn a_server_that_is_not_there_is_no_answer() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        drop(listener);
        let remote = Remote::at(&address, Remembered::default()).unwrap();
        let unreachable = remote.call(Call::new(Method::Get, "/health")).await.unwrap_err();
        assert!(unreachable.0.contains("does not answer"), "{unreachable}");
    }

    #[test]
    fn an_address_without_a_scheme_is_refused() {
        assert_eq!(
            Remote::at("localhost:4000", Remembered::default()).err().unwrap().code,
            Code::BadArgument
        );
    }
}
