//! One HTTP request to somebody's webhook, and how it is signed. Knows nothing of tries before or after, nor of what is told;
//! no redirect is followed, because the signature is for the address that was agreed to, and no answer's body is read.

mod post;
pub mod signature;

pub use post::{Reach, post};
