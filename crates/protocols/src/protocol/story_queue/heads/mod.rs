//! What a server signed of a tenant's chain, in a stream beside it: a head inside the chain would have to cover itself. The
//! core cannot check a signature, so heads and keys are kept as the shell wrote them.

use super::vocabulary::JsonText;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "kebab-case")]
pub enum Change {
    /// A signed tree head. There is one for a position, and it never changes.
    Signed { position: u64, head: JsonText },
    /// The next key of the tenant, endorsed by the one before it.
    KeyTaken { period: JsonText },
}
