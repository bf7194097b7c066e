//! The story queue as a program: the server on a real socket, killed wherever it writes.

mod crashes;
mod faces;
mod heads;
mod held;
mod local;
mod orchestrate;
mod server;
mod tools;
mod webhooks;
