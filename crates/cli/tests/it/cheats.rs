//! Agents that try to decide for themselves.
