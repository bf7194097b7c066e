//! Accepts connections until it is told to stop, then lets the requests in flight be answered.

use crate::exchange;
use crate::listen::Listener;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use std::convert::Infallible;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use windlass_control_api::stories::StoryApi;

/// Whoever comes when so many are connected waits.
const MOST_CONNECTIONS: usize = 1024;
/// The head of a request must have arrived by then; an idle connection is closed after it.
const HEAD_PATIENCE: Duration = Duration::from_mins(1);
const HANDSHAKE_PATIENCE: Duration = Duration::from_secs(10);
/// How long requests in flight may take once the server was told to stop.
const LAST_PATIENCE: Duration = Duration::from_secs(20);
/// Out of file descriptors: so long until the next connection is tried.
const BREATH: Duration = Duration::from_millis(50);

impl Listener {
    /// Returns when `stop` has come and every request taken in was answered.
    pub async fn serve(self, api: Arc<dyn StoryApi>, stop: impl Future<Output = ()>) {
        let places = Arc::new(Semaphore::new(MOST_CONNECTIONS));
        let graceful = GracefulShutdown::new();
        let accept = async {
            loop {
                let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
                match self.socket.accept().await {
                    Ok((stream, _)) => self.take_in(stream, &api, graceful.watcher(), place),
                    Err(_) => tokio::time::sleep(BREATH).await,
                }
            }
        };
        tokio::select! {
            () = accept => {}
            () = stop => {}
        }
        // Nobody new is accepted; whoever is idle is let go at once.
        drop(self.socket);
        let _ = tokio::time::timeout(LAST_PATIENCE, graceful.shutdown()).await;
    }

    fn take_in(
        &self,
        stream: TcpStream,
        api: &Arc<dyn StoryApi>,
        watcher: Watcher,
        place: OwnedSemaphorePermit,
    ) {
        let api = Arc::clone(api);
        let tls = self.tls.clone();
        // Answers are small and waited for.
        let _ = stream.set_nodelay(true);
        tokio::spawn(async move {
            match tls {
                None => converse(stream, api, watcher).await,
                Some(tls) => {
                    let shaken = tokio::time::timeout(HANDSHAKE_PATIENCE, tls.0.accept(stream)).await;
                    if let Ok(Ok(stream)) = shaken {
                        converse(stream, api, watcher).await;
                    }
                }
            }
            drop(place);
        });
    }
}

async fn converse(
    stream: impl AsyncRead + AsyncWrite + Unpin + 'static,
    api: Arc<dyn StoryApi>,
    watcher: Watcher,
) {
    let service = service_fn(move |request| {
        let api = Arc::clone(&api);
        async move { Ok::<_, Infallible>(exchange::answer(api, request).await) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_PATIENCE)
        .max_headers(64)
        .serve_connection(TokioIo::new(stream), service);
    // A connection that breaks concerns its client alone.
    let _ = watcher.watch(connection).await;
}
