//! What an agent can leave in its outbox, and the typed end each of it comes to.
