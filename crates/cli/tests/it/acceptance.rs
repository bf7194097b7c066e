//! The task loop's acceptance list: base refs, odd changes, odd names, odd agents.
