//! As much of HTTP/1.1 as the agent programs use: bodies with a length or in chunks, connections that are kept.
//! It does not know what is asked.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;

/// A head longer than this is not a request of any client we know.
const LONGEST_LINE: u64 = 64 * 1024;

#[derive(Debug)]
pub(super) struct HttpRequest {
    pub(super) method: String,
    /// Without the query.
    pub(super) path: String,
    pub(super) query: String,
    headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
}

impl HttpRequest {
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    pub(super) fn wants_close(&self) -> bool {
        self.header("connection").is_some_and(|value| value.eq_ignore_ascii_case("close"))
    }
}

/// One client. Requests come in one after the other.
pub(super) struct HttpConnection {
    reader: BufReader<TcpStream>,
    writer: TcpStream,
}

impl HttpConnection {
    pub(super) fn new(stream: TcpStream) -> io::Result<Self> {
        // A stream of many small events must not wait for acknowledgements.
        stream.set_nodelay(true)?;
        Ok(Self { reader: BufReader::new(stream.try_clone()?), writer: stream })
    }

    /// `None` when the client has closed the connection between two requests.
    pub(super) fn next(&mut self) -> io::Result<Option<HttpRequest>> {
        let first = self.line()?;
        let mut words = first.split(' ');
        let (Some(method), Some(target)) = (words.next(), words.next()) else { return Ok(None) };
        let mut headers = Vec::new();
        loop {
            let line = self.line()?;
            if line.is_empty() {
                break;
            }
            let (name, value) = line.split_once(':').ok_or_else(|| malformed("a header without a colon"))?;
            headers.push((name.trim().to_owned(), value.trim().to_owned()));
        }
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let (path, query) = (path.to_owned(), query.to_owned());
        let mut request = HttpRequest { method: method.to_owned(), path, query, headers, body: Vec::new() };
        if request.header("expect").is_some_and(|value| value.eq_ignore_ascii_case("100-continue")) {
            self.writer.write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
        }
        request.body = self.body(&request)?;
        Ok(Some(request))
    }

    fn body(&mut self, request: &HttpRequest) -> io::Result<Vec<u8>> {
        let chunked =
            request.header("transfer-encoding").is_some_and(|value| value.eq_ignore_ascii_case("chunked"));
        if !chunked {
            let length = request.header("content-length").unwrap_or("0");
            let length = length.parse().map_err(|_| malformed("a content-length that is no number"))?;
            return self.exactly(length);
        }
        let mut body = Vec::new();
        loop {
            let line = self.line()?;
            let size = line.split(';').next().unwrap_or_default().trim();
            let size = u64::from_str_radix(size, 16).map_err(|_| malformed("a chunk without its size"))?;
            if size == 0 {
                // Trailers may follow; an empty line ends them.
                while !self.line()?.is_empty() {}
                return Ok(body);
            }
            body.extend(self.exactly(size)?);
            self.line()?;
        }
    }

    fn exactly(&mut self, length: u64) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let read = self.reader.by_ref().take(length).read_to_end(&mut bytes)?;
        if read as u64 == length { Ok(bytes) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
    }

    /// Without its end; empty also at the end of the connection.
    fn line(&mut self) -> io::Result<String> {
        let mut line = String::new();
        self.reader.by_ref().take(LONGEST_LINE).read_line(&mut line)?;
        line.truncate(line.trim_end_matches(['\r', '\n']).len());
        Ok(line)
    }

    pub(super) fn answer(&mut self, status: u16, headers: &[(&str, String)], body: &str) -> io::Result<()> {
        let length = ("content-length", body.len().to_string());
        let content = ("content-type", "application/json".to_owned());
        let head = head(status, [&content, &length].into_iter().chain(headers));
        self.writer.write_all(format!("{head}{body}").as_bytes())
    }

    pub(super) fn open_stream(&mut self) -> io::Result<()> {
        let headers = [("content-type", "text/event-stream"), ("transfer-encoding", "chunked")];
        let headers = headers.map(|(name, value)| (name, value.to_owned()));
        self.writer.write_all(head(200, &headers).as_bytes())
    }

    pub(super) fn chunk(&mut self, text: &str) -> io::Result<()> {
        self.writer.write_all(format!("{:x}\r\n{text}\r\n", text.len()).as_bytes())
    }

    pub(super) fn close_stream(&mut self) -> io::Result<()> {
        self.writer.write_all(b"0\r\n\r\n")
    }

    /// Ends the connection at once, whatever was promised.
    pub(super) fn cut(&self) {
        // The client may have been faster.
        let _ = self.writer.shutdown(std::net::Shutdown::Both);
    }

    /// Whether the other side has closed, seen without taking anything from the connection.
    pub(super) fn client_has_left(&self) -> bool {
        if self.writer.set_nonblocking(true).is_err() {
            return true;
        }
        let seen = self.writer.peek(&mut [0]);
        let back = self.writer.set_nonblocking(false);
        back.is_err()
            || matches!(seen, Ok(0))
            || seen.is_err_and(|error| error.kind() != io::ErrorKind::WouldBlock)
    }
}

fn malformed(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

fn head<'a>(status: u16, headers: impl IntoIterator<Item = &'a (&'a str, String)>) -> String {
    let reason = match status {
        200 => "OK",
        400 => "Bad Request",
        401 => "Unauthorized",
        404 => "Not Found",
        415 => "Unsupported Media Type",
        429 => "Too Many Requests",
        _ => "Internal Server Error",
    };
    let mut head = format!("HTTP/1.1 {status} {reason}\r\n");
    for (name, value) in headers {
        head.extend([name, ": ", value.as_str(), "\r\n"]);
    }
    head.push_str("\r\n");
    head
}
