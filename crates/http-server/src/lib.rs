//! The story queue over HTTP/1.1: connections, limits, TLS, and an end in good order. Knows `control_api::stories` only:
//! what a call means is none of its business. Reading order: `listen` (where, and what is refused), `serve`,
//! `guests` (who takes whose place), `exchange`.

mod exchange;
mod guests;
mod limits;
mod listen;
mod serve;
mod tls;

pub use limits::Limits;
pub use listen::{ListenError, Listener, Reach};
pub use tls::Tls;
