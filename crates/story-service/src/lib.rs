//! The story queue behind its one door (`control_api::stories`): who asks, the table of routes, views, and the ledger of each
//! tenant on the journal. Rules of roles and custody are the core's (`protocols::story_queue`); sockets are the server's.
//! Reading order: `route` (the table), `service` (a call's way), `stream` (decide, believe, append, answer), `handlers`.

mod asked;
mod built_in_skills;
mod data_dir;
mod deliveries;
mod envelope;
mod everywhere;
mod feed;
mod handlers;
mod heads;
mod jobs;
mod keys;
mod limits;
mod once;
mod openapi;
mod operator;
mod outside;
mod proof_of_caller;
mod proofs;
mod resolve;
mod ring;
mod route;
mod seen;
mod service;
mod stream;
mod streams;
mod tokens;
mod views;
mod witness;

pub use data_dir::{DataDir, DataDirError, OpenQueue};
pub use deliveries::WebhookReach;
pub use operator::{Founded, OperatorError, OperatorName};
pub use outside::{Machine, Outside};
pub use ring::KeyRing;
pub use route::{Field, Handler, Kind, Need, Place, Route, Who};
pub use service::Service;
pub use windlass_engine::Journal;
pub use windlass_protocols::protocol::story_queue::refusal_code::RefusalCode;
pub use windlass_protocols::protocol::story_queue::vocabulary::Micros;
