//! A real HTTP server on loopback, plain or over TLS, that answers as it is told and remembers what it was sent.

use rustls::{ServerConfig, ServerConnection, StreamOwned};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::mpsc::{Receiver as Channel, channel};
use std::time::Duration;

const PATIENCE: Duration = Duration::from_mins(1);

#[derive(Clone, Copy)]
pub enum Said {
    Status(u16),
    /// The connection stays open and nothing comes.
    Silence,
}

pub struct Told {
    pub headers: BTreeMap<String, String>,
    pub body: String,
}

impl Told {
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.body).expect("what is told is JSON")
    }

    pub fn id(&self) -> &str {
        let id = self.headers.get("webhook-id").or_else(|| self.headers.get("x-webhook-id"));
        id.expect("what is told has an id")
    }
}

pub struct WebhookReceiver {
    scheme: &'static str,
    port: u16,
    requests: Channel<Told>,
}

/// A connection, whatever carries it.
trait Talk: Read + Write + Send {}

impl<T: Read + Write + Send> Talk for T {}

impl WebhookReceiver {
    /// Says these in turn, and the last one to everybody after.
    pub fn that_answers(answers: &[Said]) -> Self {
        Self::on(TcpListener::bind("127.0.0.1:0").expect("loopback has a free port"), answers)
    }

    pub fn on(listener: TcpListener, answers: &[Said]) -> Self {
        Self::serving("http", listener, answers, |stream| Box::new(stream))
    }

    /// Speaks HTTPS only, and shows who it is with this.
    pub fn over_tls(config: Arc<ServerConfig>, answers: &[Said]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has a free port");
        Self::serving("https", listener, answers, move |stream| {
            let session = ServerConnection::new(Arc::clone(&config)).expect("the configuration was checked");
            Box::new(StreamOwned::new(session, stream))
        })
    }

    fn serving(
        scheme: &'static str,
        listener: TcpListener,
        answers: &[Said],
        talk: impl Fn(TcpStream) -> Box<dyn Talk> + Send + 'static,
    ) -> Self {
        let port = listener.local_addr().expect("it is bound").port();
        let (sender, requests) = channel();
        let mut answers = answers.to_vec();
        std::thread::spawn(move || {
            // Connections that get no answer must stay open.
            let mut open = Vec::new();
            for stream in listener.incoming() {
                let mut stream = talk(stream.expect("loopback accepts"));
                let Some(request) = read(&mut stream) else { continue };
                let answer = if answers.len() > 1 { answers.remove(0) } else { answers[0] };
                if let Said::Status(status) = answer {
                    let text =
                        format!("HTTP/1.1 {status} Said\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
                    // Whoever was killed meanwhile hears nothing.
                    let _ = stream.write_all(text.as_bytes()).and_then(|()| stream.flush());
                } else {
                    open.push(stream);
                }
                if sender.send(request).is_err() {
                    return;
                }
            }
        });
        Self { scheme, port, requests }
    }

    pub fn url(&self) -> String {
        format!("{}://127.0.0.1:{}/hook", self.scheme, self.port)
    }

    /// The next request, waited for.
    #[track_caller]
    pub fn next(&self) -> Told {
        self.requests.recv_timeout(PATIENCE).expect("a request")
    }

    pub fn has_more(&self) -> bool {
        self.requests.try_recv().is_ok()
    }
}

fn read(stream: &mut dyn Read) -> Option<Told> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok().filter(|read| *read > 0)?;
    assert!(line.starts_with("POST /hook "), "{line}");
    let mut headers = BTreeMap::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(": ") else { break };
        headers.insert(name.to_ascii_lowercase(), value.to_owned());
    }
    let mut body = vec![0; headers.get("content-length")?.parse().ok()?];
    reader.read_exact(&mut body).ok()?;
    Some(Told { headers, body: String::from_utf8(body).ok()? })
}
