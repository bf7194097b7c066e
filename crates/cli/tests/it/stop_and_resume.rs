//! Stopping, taking up again, giving more room.
