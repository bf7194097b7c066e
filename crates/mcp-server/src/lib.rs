//! The story queue as tools for agents, in the Model Context Protocol: over pipes (`stdio`) or HTTP (`over_http`). It
//! knows the queue by its one door only; who may do what is decided behind that door.

mod keys;
mod message;
mod over_http;
mod rows;
mod server;
pub mod stdio;
mod tools;

pub use keys::{Keys, SharedIdentity, refuse_shared_identity};
pub use over_http::OverHttp;
pub use server::Server;
