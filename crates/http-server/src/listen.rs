//! Where the server listens. Keys travel in headers, so what leaves this machine must be encrypted, by us or by a proxy
//! that somebody has named.

use crate::limits::Limits;
use crate::tls::Tls;
use std::net::SocketAddr;
use thiserror::Error;
use tokio::net::TcpListener;

/// How what is said on the wire is kept from others.
pub enum Reach {
    /// Plain, and therefore on this machine only.
    ThisMachine,
    /// Plain, because a proxy in front of this server encrypts.
    BehindProxy,
    Encrypted(Tls),
}

#[derive(Debug, Error)]
pub enum ListenError {
    #[error("{0} can be reached from other machines, and keys would travel in the clear")]
    InTheClear(SocketAddr),
    #[error("cannot listen on {address}: {why}")]
    Address { address: SocketAddr, why: std::io::Error },
    #[error("cannot use {file} for TLS: {why}")]
    Certificate { file: String, why: String },
}

/// Bound, so that its address is known, and not yet served.
pub struct Listener {
    pub(crate) socket: TcpListener,
    pub(crate) address: SocketAddr,
    pub(crate) tls: Option<Tls>,
    pub(crate) limits: Limits,
}

impl Listener {
    /// Port 0 takes any that is free.
    pub async fn bind(address: SocketAddr, reach: Reach) -> Result<Self, ListenError> {
        let mut limits = Limits::default();
        if matches!(reach, Reach::BehindProxy) {
            // Everybody comes from the proxy's address, and it is the proxy that keeps them apart.
            limits.from_one_address = limits.connections;
        }
        let tls = match reach {
            Reach::Encrypted(tls) => Some(tls),
            Reach::BehindProxy => None,
            Reach::ThisMachine if address.ip().is_loopback() => None,
            Reach::ThisMachine => return Err(ListenError::InTheClear(address)),
        };
        let cannot = |why| ListenError::Address { address, why };
        let socket = TcpListener::bind(address).await.map_err(cannot)?;
        let address = socket.local_addr().map_err(cannot)?;
        Ok(Self { socket, address, tls, limits })
    }

    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// As a client writes it.
    pub fn url(&self) -> String {
        let scheme = if self.tls.is_some() { "https" } else { "http" };
        format!("{scheme}://{}", self.address)
    }
}
