//! A model server on loopback that plays a script to the real agent programs: OpenAI Responses and Chat Completions,
//! Anthropic Messages, Gemini. It knows what a model says and what can go wrong with saying it, not who asks.

mod asked;
mod connection;
mod http;
mod ledger;
mod script;
mod tools;
mod usage;
mod wire;

pub use asked::Wire;
pub use ledger::{ModelRequest, RequestEnd, RequestKind};
pub use script::{Action, Fault, ModelScript, ScriptEntry, Turn};
pub use usage::Usage;

use ledger::Ledger;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread::JoinHandle;

/// The running server. It ends, with all its connections, when the value goes.
pub struct ScriptedModel {
    address: SocketAddr,
    ledger: Arc<Ledger>,
    acceptor: Option<JoinHandle<Vec<JoinHandle<()>>>>,
}

impl ScriptedModel {
    pub fn start(script: ModelScript) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("loopback has a free port");
        let address = listener.local_addr().expect("a bound listener has an address");
        let ledger = Arc::new(Ledger::default());
        let (script, shared) = (Arc::new(script), Arc::clone(&ledger));
        let acceptor = std::thread::spawn(move || accept(&listener, &script, &shared));
        Self { address, ledger, acceptor: Some(acceptor) }
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Without a slash at its end.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Everything that was asked, in the order of arrival.
    pub fn requests(&self) -> Vec<ModelRequest> {
        self.ledger.requests()
    }

    /// The sum of all figures in complete replies. What a broken one told before it broke is in its record only.
    pub fn served_usage(&self) -> Usage {
        self.served_where(|_| true)
    }

    pub fn served_usage_of_entry(&self, number: usize) -> Usage {
        self.served_where(|kind| matches!(kind, RequestKind::Turn { entry, .. } if *entry == Some(number)))
    }

    fn served_where(&self, counts: impl Fn(&RequestKind) -> bool) -> Usage {
        let served = |request: &ModelRequest| match request.end {
            RequestEnd::Served(usage) if counts(&request.kind) => usage,
            _ => Usage::NONE,
        };
        self.requests().iter().map(served).sum()
    }

    /// Comes back when so many turns have been asked for since the start.
    #[track_caller]
    pub fn wait_for_turns(&self, count: usize) {
        self.ledger.wait_for_turns(count);
    }

    /// Comes back when exactly so many replies are being held back. None hang any more when their clients have left.
    #[track_caller]
    pub fn wait_for_hanging(&self, count: usize) {
        self.ledger.wait_for_hanging(count);
    }

    /// Lets every reply that hangs now go on as the script says.
    pub fn release(&self) {
        self.ledger.release();
    }
}

impl Drop for ScriptedModel {
    fn drop(&mut self) {
        self.ledger.stop();
        // The acceptor sits in `accept`; one more client makes it look up. Where it has died there is nobody to wake.
        let _ = TcpStream::connect(self.address);
        let connections = self.acceptor.take().map(JoinHandle::join);
        let ended = match connections {
            Some(Ok(connections)) => connections.into_iter().all(|connection| connection.join().is_ok()),
            _ => false,
        };
        assert!(ended || std::thread::panicking(), "the scripted model has a bug: one of its threads died");
    }
}

/// Until the server stops; comes back with the threads of its connections.
fn accept(listener: &TcpListener, script: &Arc<ModelScript>, ledger: &Arc<Ledger>) -> Vec<JoinHandle<()>> {
    let mut connections = Vec::new();
    loop {
        let Ok((stream, _)) = listener.accept() else { continue };
        let Ok(handle) = stream.try_clone() else { continue };
        if !ledger.admit(handle) {
            return connections;
        }
        let (script, ledger) = (Arc::clone(script), Arc::clone(ledger));
        connections.push(std::thread::spawn(move || connection::serve(stream, &script, &ledger)));
    }
}
