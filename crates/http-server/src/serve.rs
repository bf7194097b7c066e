//! Accepts connections until it is told to stop, then lets the requests in flight be answered.

use crate::exchange::Exchange;
use crate::guests::{Guests, Seat};
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

const HANDSHAKE_PATIENCE: Duration = Duration::from_secs(10);
/// How long requests in flight may take once the server was told to stop.
const LAST_PATIENCE: Duration = Duration::from_secs(20);
/// Out of file descriptors: so long until the next connection is tried.
const BREATH: Duration = Duration::from_millis(50);

impl Listener {
    /// Returns when `stop` has come and every request taken in was answered.
    pub async fn serve(self, api: Arc<dyn StoryApi>, stop: impl Future<Output = ()>) {
        let places = Arc::new(Semaphore::new(self.limits.connections));
        let guests = Guests::new(self.limits.from_one_address);
        let exchange = Exchange::new(api, self.limits);
        let graceful = GracefulShutdown::new();
        let accept = async {
            loop {
                let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
                match self.socket.accept().await {
                    Ok((stream, from)) => {
                        // Whoever finds no seat is hung up on: all their other connections are being answered.
                        if let Some(seat) = guests.seat(from.ip()) {
                            self.take_in(stream, exchange.clone(), graceful.watcher(), (place, seat));
                        }
                    }
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
        exchange: Exchange,
        watcher: Watcher,
        (place, seat): (OwnedSemaphorePermit, Seat),
    ) {
        let tls = self.tls.clone();
        // Answers are small and waited for.
        let _ = stream.set_nodelay(true);
        tokio::spawn(async move {
            let seat = Arc::new(seat);
            let talk = async {
                match tls {
                    None => converse(stream, exchange, Arc::clone(&seat), watcher).await,
                    Some(tls) => {
                        let shaken = tokio::time::timeout(HANDSHAKE_PATIENCE, tls.0.accept(stream)).await;
                        if let Ok(Ok(stream)) = shaken {
                            converse(stream, exchange, Arc::clone(&seat), watcher).await;
                        }
                    }
                }
            };
            tokio::select! {
                () = talk => {}
                () = seat.taken() => {}
            }
            drop(place);
        });
    }
}

async fn converse(
    stream: impl AsyncRead + AsyncWrite + Unpin + 'static,
    exchange: Exchange,
    seat: Arc<Seat>,
    watcher: Watcher,
) {
    let head_patience = exchange.limits.head_patience;
    let service = service_fn(move |request| {
        let (exchange, seat) = (exchange.clone(), Arc::clone(&seat));
        async move { Ok::<_, Infallible>(exchange.answer(request, &seat).await) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(head_patience)
        .max_headers(64)
        .serve_connection(TokioIo::new(stream), service);
    // A connection that breaks concerns its client alone.
    let _ = watcher.watch(connection).await;
}
