//! What this process has seen of trees: their listings, and what came of putting some together. An id means the same for
//! ever, so nothing here grows old; it is bounded because trees can be large.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use crate::ids::TreeId;
use crate::index_file::Index;

/// As many as one round of work looks at.
const LISTINGS: usize = 8;
/// Of all listings together: some sixty megabytes. A round looks at three, of the base, of the change and of the one before;
/// one that is not kept is listed by git each time, which in a large repository is most of a round.
const ENTRIES: usize = 400_000;
const OVERLAYS: usize = 8;

/// Names the parts that an overlay was made of.
pub(crate) type PartsDigest = [u8; 32];

/// Shared by all handles on one repository.
#[derive(Debug, Clone, Default)]
pub(crate) struct TreeMemory {
    known: Arc<Mutex<Known>>,
}

#[derive(Debug, Default)]
struct Known {
    /// The one that was looked at last stands first.
    listings: VecDeque<(TreeId, Arc<Index>)>,
    overlays: VecDeque<(PartsDigest, TreeId)>,
}

impl TreeMemory {
    pub(crate) fn listing(&self, tree: &TreeId) -> Option<Arc<Index>> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let at = known.listings.iter().position(|(found, _)| found == tree)?;
        let found = known.listings.remove(at)?;
        let listing = Arc::clone(&found.1);
        known.listings.push_front(found);
        Some(listing)
    }

    pub(crate) fn keep_listing(&self, tree: &TreeId, listing: &Arc<Index>) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.listings.retain(|(found, _)| found != tree);
        known.listings.push_front((tree.clone(), Arc::clone(listing)));
        let mut room = ENTRIES;
        let fits = known.listings.iter().take(LISTINGS).take_while(|(_, listing)| {
            let left = room.checked_sub(listing.entries.len());
            room = left.unwrap_or_default();
            left.is_some()
        });
        let fits = fits.count();
        known.listings.truncate(fits);
    }

    pub(crate) fn overlay(&self, parts: &PartsDigest) -> Option<TreeId> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.overlays.iter().find(|(found, _)| found == parts).map(|(_, tree)| tree.clone())
    }

    pub(crate) fn keep_overlay(&self, parts: PartsDigest, tree: &TreeId) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.overlays.push_front((parts, tree.clone()));
        known.overlays.truncate(OVERLAYS);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::Oid;
    use crate::index_file::{CachedStat, IndexEntry};
    use crate::repo_path::RepoPath;

    fn listing(entries: usize) -> Arc<Index> {
        let entry = |number: usize| IndexEntry {
            path: RepoPath::new(number.to_string()),
            mode: 0o100_644,
            oid: Oid::from_bytes(&[1; 20]),
            stat: CachedStat::default(),
        };
        Arc::new(Index::of_entries((0..entries).map(entry).collect()))
    }

    #[test]
    fn the_trees_looked_at_last_stay_as_far_as_there_is_room() {
        let memory = TreeMemory::default();
        let tree = |digit: char| TreeId::parse(&digit.to_string().repeat(40)).unwrap();
        for digit in '0'..='8' {
            memory.keep_listing(&tree(digit), &listing(1));
        }
        assert!(memory.listing(&tree('0')).is_none());
        assert!(memory.listing(&tree('1')).is_some(), "eight stay");
        memory.keep_listing(&tree('a'), &listing(ENTRIES - 1));
        assert!(memory.listing(&tree('1')).is_some() && memory.listing(&tree('8')).is_none());
        memory.keep_listing(&tree('b'), &listing(ENTRIES + 1));
        assert!(memory.listing(&tree('b')).is_none(), "too large to be kept");
    }
}
