//! What cleaning takes away, and what it keeps.
