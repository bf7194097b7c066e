//! Run directories of the original: ours read like theirs, theirs are resumed.

mod our_directories;
mod stand_ins;
mod their_directories;
