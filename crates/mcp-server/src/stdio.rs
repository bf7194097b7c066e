//! One message on each line of a pipe. Standard output carries messages and nothing else; the end of the input is the end.

use crate::{Keys, Server};
use std::io::{self, BufRead, Write};
use tokio::sync::mpsc;

/// Serves until the client closes its end.
pub async fn serve(server: &Server<'_>, keys: &Keys) -> io::Result<()> {
    let (send, mut lines) = mpsc::channel::<io::Result<String>>(16);
    // Reading blocks. The thread ends with the input, or with the process while it waits for a client that says nothing.
    std::thread::Builder::new().name("standard-input".to_owned()).spawn(move || {
        for line in io::stdin().lock().lines() {
            if send.blocking_send(line).is_err() {
                return;
            }
        }
    })?;
    while let Some(line) = lines.recv().await {
        let line = line?;
        if line.trim().is_empty() {
            continue;
        }
        if let Some(answer) = server.answer(&line, keys).await {
            let mut out = io::stdout().lock();
            writeln!(out, "{answer}")?;
            out.flush()?;
        }
    }
    Ok(())
}
