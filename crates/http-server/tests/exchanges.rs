//! The server on a real socket: what reaches the queue, what is answered before it does, and how it ends.
#![expect(clippy::unwrap_used, reason = "a helper of a test fails by panicking")]

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::{Notify, oneshot};
use windlass_control_api::stories::{Answer, Answering, Call, LONGEST_BODY, Method, StoryApi};
use windlass_http_server::{Limits, ListenError, Listener, Reach};

/// Says back what it was asked; at `/slow` only when it is allowed to.
#[derive(Default)]
struct Echo {
    arrived: Notify,
    go_on: Notify,
}

impl StoryApi for Echo {
    fn call(&self, call: Call) -> Answering<'_> {
        Box::pin(async move {
            if call.path == "/slow" {
                self.arrived.notify_one();
                self.go_on.notified().await;
            }
            assert!(call.path != "/panic", "asked for");
            let said = format!("{} {} {} {}", call.method.name(), call.path, call.query, call.body.len());
            let key = call.header("authorization").unwrap_or_default().to_owned();
            Ok(Answer::json(200, &said.into()).with_header("x-key", key))
        })
    }

    fn longest_body(&self, _method: Method, path: &str) -> usize {
        if path == "/plan" { LONGEST_BODY + 10 } else { LONGEST_BODY }
    }
}

struct Running {
    address: SocketAddr,
    stop: oneshot::Sender<()>,
    ended: tokio::task::JoinHandle<()>,
    echo: Arc<Echo>,
}

async fn start() -> Running {
    start_with(Limits::default()).await
}

async fn start_with(limits: Limits) -> Running {
    let listener = Listener::bind("127.0.0.1:0".parse().unwrap(), Reach::ThisMachine).await.unwrap();
    let listener = listener.with_limits(limits);
    let (address, echo) = (listener.address(), Arc::new(Echo::default()));
    let (stop, stopped) = oneshot::channel();
    let api: Arc<dyn StoryApi> = echo.clone();
    let ended = tokio::spawn(listener.serve(api, async {
        let _ = stopped.await;
    }));
    Running { address, stop, ended, echo }
}

async fn ask(stream: &mut TcpStream, request: &str) -> String {
    stream.write_all(request.as_bytes()).await.unwrap();
    read_one(stream).await
}

/// One answer, by its length, so that the connection can be used again.
async fn read_one(stream: &mut TcpStream) -> String {
    let mut text = Vec::new();
    loop {
        let mut byte = [0];
        if stream.read(&mut byte).await.unwrap() == 0 {
            return String::from_utf8(text).unwrap();
        }
        text.push(byte[0]);
        let Some(head) =
            String::from_utf8_lossy(&text).split_once("\r\n\r\n").map(|(head, _)| head.to_owned())
        else {
            continue;
        };
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
        let mut body = vec![0; length.parse().unwrap()];
        stream.read_exact(&mut body).await.unwrap();
        text.extend(body);
        return String::from_utf8(text).unwrap();
    }
}

#[tokio::test]
async fn one_connection_carries_several_calls() {
    let server = start().await;
    let mut stream = TcpStream::connect(server.address).await.unwrap();

    let first = ask(&mut stream, "GET /a?b=c HTTP/1.1\r\nhost: x\r\nAuthorization: Bearer k\r\n\r\n").await;
    let second = ask(&mut stream, "POST /d HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\r\n{}").await;

    assert!(first.contains("x-key: Bearer k") && first.ends_with("\"GET /a b=c 0\""), "{first}");
    assert!(second.ends_with("\"POST /d  2\""), "{second}");
}

#[tokio::test]
async fn what_is_too_long_no_call_or_a_failure_of_ours_is_an_error_in_the_queues_form() {
    let server = start().await;
    let one = |request: String| async move {
        ask(&mut TcpStream::connect(server.address).await.unwrap(), &request).await
    };

    let long =
        one(format!("POST /d HTTP/1.1\r\nhost: x\r\ncontent-length: {}\r\n\r\n", LONGEST_BODY + 1)).await;
    let odd = one("BREW /d HTTP/1.1\r\nhost: x\r\n\r\n".to_owned()).await;
    let broken = one("GET /panic HTTP/1.1\r\nhost: x\r\n\r\n".to_owned()).await;

    assert!(long.starts_with("HTTP/1.1 413") && long.contains(r#"{"error":{"status":413,"#), "{long}");
    assert!(odd.starts_with("HTTP/1.1 405") && odd.contains(r#"{"error":{"status":405,"#), "{odd}");
    assert!(broken.starts_with("HTTP/1.1 500"), "{broken}");
}

#[tokio::test]
async fn what_may_be_longer_is_taken_in_up_to_its_own_length() {
    let server = start().await;
    let sent = |path: &'static str, length: usize| async move {
        let mut stream = TcpStream::connect(server.address).await.unwrap();
        let head = format!("POST {path} HTTP/1.1\r\nhost: x\r\ncontent-length: {length}\r\n\r\n");
        stream.write_all(head.as_bytes()).await.unwrap();
        // Whoever is refused early may be hung up on.
        let _ = stream.write_all(&vec![b' '; length]).await;
        read_one(&mut stream).await
    };
    let whole = sent("/plan", LONGEST_BODY + 10).await;
    assert!(whole.ends_with(&format!("\"POST /plan  {}\"", LONGEST_BODY + 10)), "{whole}");
    let head = format!("POST /plan HTTP/1.1\r\nhost: x\r\ncontent-length: {}\r\n\r\n", LONGEST_BODY + 11);
    let longer = ask(&mut TcpStream::connect(server.address).await.unwrap(), &head).await;
    assert!(longer.starts_with("HTTP/1.1 413") && longer.contains("than 2000010 bytes"), "{longer}");
}

/// So long may something take that must not hang.
const SOON: Duration = Duration::from_secs(20);

#[tokio::test]
async fn half_a_request_from_everywhere_keeps_no_whole_one_out() {
    let limits = Limits { connections: 4, from_one_address: 2, ..Limits::default() };
    let server = start_with(limits).await;
    let mut halves = Vec::new();
    for _ in 0..8 {
        let mut half = TcpStream::connect(server.address).await.unwrap();
        half.write_all(b"GET /h").await.unwrap();
        halves.push(half);
    }
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    let answer = tokio::time::timeout(SOON, ask(&mut stream, "GET /a HTTP/1.1\r\nhost: x\r\n\r\n")).await;
    assert!(answer.expect("the server is not locked").ends_with("\"GET /a  0\""));
    let first = tokio::time::timeout(SOON, halves[0].read(&mut [0])).await;
    assert!(matches!(first, Ok(Ok(0) | Err(_))), "who waited longest lost the place: {first:?}");
}

#[tokio::test]
async fn whoever_is_being_answered_keeps_the_place() {
    let limits = Limits { from_one_address: 1, ..Limits::default() };
    let server = start_with(limits).await;
    let mut slow = TcpStream::connect(server.address).await.unwrap();
    slow.write_all(b"GET /slow HTTP/1.1\r\nhost: x\r\n\r\n").await.unwrap();
    server.echo.arrived.notified().await;
    let mut other = TcpStream::connect(server.address).await.unwrap();
    let told = tokio::time::timeout(SOON, other.read(&mut [0])).await;
    assert!(matches!(told, Ok(Ok(0) | Err(_))), "there is no place for another: {told:?}");
    server.echo.go_on.notify_one();
    assert!(read_one(&mut slow).await.ends_with("\"GET /slow  0\""));
}

#[tokio::test]
async fn a_head_that_does_not_come_is_not_waited_for() {
    let limits = Limits { head_patience: Duration::from_millis(20), ..Limits::default() };
    let server = start_with(limits).await;
    let mut half = TcpStream::connect(server.address).await.unwrap();
    half.write_all(b"GET /h").await.unwrap();
    let mut told = Vec::new();
    let ended = tokio::time::timeout(SOON, half.read_to_end(&mut told)).await;
    assert!(ended.is_ok(), "the connection stays open");
    assert!(Limits::default().head_patience <= Duration::from_secs(10));
}

#[tokio::test]
async fn whoever_is_being_answered_when_it_stops_gets_the_answer() {
    let server = start().await;
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    let mut idle = TcpStream::connect(server.address).await.unwrap();
    let _ = ask(&mut idle, "GET /a HTTP/1.1\r\nhost: x\r\n\r\n").await;
    stream.write_all(b"GET /slow HTTP/1.1\r\nhost: x\r\n\r\n").await.unwrap();
    server.echo.arrived.notified().await;

    server.stop.send(()).unwrap();
    assert_eq!(idle.read(&mut [0]).await.unwrap(), 0, "an idle connection is closed");
    server.echo.go_on.notify_one();

    assert!(read_one(&mut stream).await.ends_with("\"GET /slow  0\""));
    server.ended.await.unwrap();
    assert!(TcpStream::connect(server.address).await.is_err(), "nobody listens any more");
}

#[tokio::test]
async fn keys_do_not_leave_the_machine_in_the_clear() {
    let everywhere: SocketAddr = "0.0.0.0:0".parse().unwrap();

    let refused = Listener::bind(everywhere, Reach::ThisMachine).await;

    assert!(matches!(refused, Err(ListenError::InTheClear(_))));
    assert!(Listener::bind(everywhere, Reach::BehindProxy).await.is_ok());
}
