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
pub(super) enum Answer {
    Status(u16),
    /// The connection stays open and nothing comes.
    Silence,
}

pub(super) struct Request {
    pub(super) headers: BTreeMap<String, String>,
    pub(super) body: String,
}

impl Request {
    pub(super) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.body).unwrap()
    }

    pub(super) fn id(&self) -> &str {
        &self.headers["webhook-id"]
    }
}

pub(super) struct Receiver {
    scheme: &'static str,
    port: u16,
    requests: Channel<Request>,
}

/// A connection, whatever carries it.
trait Talk: Read + Write + Send {}

impl<T: Read + Write + Send> Talk for T {}

impl Receiver {
    /// Gives these answers in turn, and the last one to everybody after.
    pub(super) fn that_answers(answers: &[Answer]) -> Self {
        Self::on(TcpListener::bind("127.0.0.1:0").unwrap(), answers)
    }

    pub(super) fn on(listener: TcpListener, answers: &[Answer]) -> Self {
        Self::serving("http", listener, answers, |stream| Box::new(stream))
    }

    /// Speaks HTTPS only, and shows who it is with this.
    pub(super) fn over_tls(config: Arc<ServerConfig>, answers: &[Answer]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        Self::serving("https", listener, answers, move |stream| {
            let session = ServerConnection::new(Arc::clone(&config)).unwrap();
            Box::new(StreamOwned::new(session, stream))
        })
    }

    fn serving(
        scheme: &'static str,
        listener: TcpListener,
        answers: &[Answer],
        talk: impl Fn(TcpStream) -> Box<dyn Talk> + Send + 'static,
    ) -> Self {
        let port = listener.local_addr().unwrap().port();
        let (sender, requests) = channel();
        let mut answers = answers.to_vec();
        std::thread::spawn(move || {
            // Connections that get no answer must stay open.
            let mut open = Vec::new();
            for stream in listener.incoming() {
                let mut stream = talk(stream.unwrap());
                let Some(request) = read(&mut stream) else { continue };
                let answer = if answers.len() > 1 { answers.remove(0) } else { answers[0] };
                if let Answer::Status(status) = answer {
                    let text =
                        format!("HTTP/1.1 {status} Said\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
                    stream.write_all(text.as_bytes()).unwrap();
                    stream.flush().unwrap();
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

    pub(super) fn url(&self) -> String {
        format!("{}://127.0.0.1:{}/hook", self.scheme, self.port)
    }

    /// The next request, waited for.
    #[track_caller]
    pub(super) fn next(&self) -> Request {
        self.requests.recv_timeout(PATIENCE).expect("a request")
    }

    pub(super) fn has_more(&self) -> bool {
        self.requests.try_recv().is_ok()
    }
}

fn read(stream: &mut dyn Read) -> Option<Request> {
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
    Some(Request { headers, body: String::from_utf8(body).ok()? })
}
