//! The original's known weaknesses, each by its number, as things that no longer happen.
