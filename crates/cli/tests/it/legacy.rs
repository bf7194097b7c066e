//! Run directories of the original: ours read like theirs, theirs are resumed.
