//! The hash tree over a chain's entry hashes, as RFC 6962 builds it: leaves and inner nodes are hashed under different
//! prefixes, and an odd node is carried up as it is. The original hashes both alike and repeats the last leaf of an odd
//! level; there [a, b, c] and [a, b, c, c] have one root, and an inner node can be shown as an entry.

use sha2::{Digest, Sha256};

pub type Hash = [u8; 32];

fn leaf(entry: &Hash) -> Hash {
    Sha256::new().chain_update([0]).chain_update(entry).finalize().into()
}

fn node(left: &Hash, right: &Hash) -> Hash {
    Sha256::new().chain_update([1]).chain_update(left).chain_update(right).finalize().into()
}

/// The tree as far as it can still grow: the roots of its full subtrees, the largest first. Adding an entry and asking
/// for the root take a number of steps that grows with the logarithm.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Frontier {
    size: u64,
    peaks: Vec<Hash>,
}

impl Frontier {
    pub fn of(entries: &[Hash]) -> Self {
        let mut frontier = Self::default();
        for entry in entries {
            frontier.push(entry);
        }
        frontier
    }

    pub fn size(&self) -> u64 {
        self.size
    }

    pub fn push(&mut self, entry: &Hash) {
        let mut hash = leaf(entry);
        for _ in 0..self.size.trailing_ones() {
            let left = self.peaks.pop().expect("one peak for each bit of the size");
            hash = node(&left, &hash);
        }
        self.peaks.push(hash);
        self.size += 1;
    }

    pub fn root(&self) -> Hash {
        let folded = self.peaks.iter().rev().copied().reduce(|right, left| node(&left, &right));
        folded.unwrap_or_else(|| Sha256::digest(b"").into())
    }
}

pub fn root(entries: &[Hash]) -> Hash {
    Frontier::of(entries).root()
}

/// The hashes that lead from one entry to the root, from below; `None` when there is no such entry.
pub fn inclusion(entries: &[Hash], index: usize) -> Option<Vec<Hash>> {
    (index < entries.len()).then(|| path(entries, index))
}

fn path(entries: &[Hash], index: usize) -> Vec<Hash> {
    if entries.len() == 1 {
        return Vec::new();
    }
    let (left, right) = entries.split_at(split(entries.len()));
    let (mut below, beside) = match index.checked_sub(left.len()) {
        None => (path(left, index), root(right)),
        Some(index) => (path(right, index), root(left)),
    };
    below.push(beside);
    below
}

/// The hashes that show the tree of the first `old` entries to be the beginning of this one; `None` when it is longer.
pub fn consistency(entries: &[Hash], old: usize) -> Option<Vec<Hash>> {
    match old {
        0 => Some(Vec::new()),
        _ => (old <= entries.len()).then(|| growth(entries, old, Known::Yes)),
    }
}

/// Whether the whole left part was the old tree, whose root the asker has.
#[derive(Clone, Copy)]
enum Known {
    Yes,
    No,
}

fn growth(entries: &[Hash], old: usize, known: Known) -> Vec<Hash> {
    if old == entries.len() {
        return match known {
            Known::Yes => Vec::new(),
            Known::No => vec![root(entries)],
        };
    }
    let (left, right) = entries.split_at(split(entries.len()));
    let (mut below, beside) = match old.checked_sub(left.len()) {
        None | Some(0) => (growth(left, old, known), root(right)),
        Some(old) => (growth(right, old, Known::No), root(left)),
    };
    below.push(beside);
    below
}

/// The largest power of two below the length.
fn split(length: usize) -> usize {
    1 << (length - 1).ilog2()
}

/// Whether the entry stands at this place of a tree of this size and root (RFC 9162, 2.1.3.2).
pub fn includes(root: &Hash, size: u64, index: u64, entry: &Hash, proof: &[Hash]) -> bool {
    if index >= size {
        return false;
    }
    let (mut place, mut last, mut hash) = (index, size - 1, leaf(entry));
    for beside in proof {
        if last == 0 {
            return false;
        }
        if place & 1 == 1 || place == last {
            hash = node(beside, &hash);
            while place & 1 == 0 && place != 0 {
                place >>= 1;
                last >>= 1;
            }
        } else {
            hash = node(&hash, beside);
        }
        place >>= 1;
        last >>= 1;
    }
    last == 0 && hash == *root
}

/// Whether the older tree is the beginning of the newer one (RFC 9162, 2.1.4.2).
pub fn extends(old: (u64, &Hash), new: (u64, &Hash), proof: &[Hash]) -> bool {
    let ((old_size, old_root), (new_size, new_root)) = (old, new);
    if old_size == 0 {
        return proof.is_empty() && *old_root == root(&[]);
    }
    if old_size >= new_size {
        return old_size == new_size && proof.is_empty() && old_root == new_root;
    }
    let whole = old_size.is_power_of_two().then_some(old_root);
    let mut path = whole.into_iter().chain(proof);
    let Some(first) = path.next() else { return false };
    let (mut place, mut last) = (old_size - 1, new_size - 1);
    while place & 1 == 1 {
        place >>= 1;
        last >>= 1;
    }
    let (mut before, mut after) = (*first, *first);
    for beside in path {
        if last == 0 {
            return false;
        }
        if place & 1 == 1 || place == last {
            before = node(beside, &before);
            after = node(beside, &after);
            while place & 1 == 0 && place != 0 {
                place >>= 1;
                last >>= 1;
            }
        } else {
            after = node(&after, beside);
        }
        place >>= 1;
        last >>= 1;
    }
    last == 0 && before == *old_root && after == *new_root
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn entries(count: usize) -> Vec<Hash> {
        (0..count).map(|number| Sha256::digest(number.to_be_bytes()).into()).collect()
    }

    fn size(entries: &[Hash]) -> u64 {
        entries.len().try_into().unwrap()
    }

    /// Written down from the definition, without peaks.
    fn by_definition(entries: &[Hash]) -> Hash {
        match entries {
            [] => Sha256::digest(b"").into(),
            [one] => leaf(one),
            many => {
                let (left, right) = many.split_at(split(many.len()));
                node(&by_definition(left), &by_definition(right))
            }
        }
    }

    #[test]
    fn the_growing_tree_has_the_root_of_the_definition() {
        for count in 0..70 {
            assert_eq!(root(&entries(count)), by_definition(&entries(count)), "{count}");
        }
    }

    #[test]
    fn repeating_the_last_entry_or_showing_a_node_as_an_entry_changes_the_root() {
        let three = entries(3);
        let repeated = [three.clone(), vec![three[2]]].concat();
        assert_ne!(root(&three), root(&repeated));
        let inner = node(&leaf(&three[0]), &leaf(&three[1]));
        assert_ne!(root(&three), root(&[inner, three[2]]));
    }

    #[test]
    fn every_entry_of_every_tree_is_proven_at_its_place_only() {
        for count in 1..33 {
            let entries = entries(count);
            let root = root(&entries);
            for (index, entry) in entries.iter().enumerate() {
                let proof = inclusion(&entries, index).unwrap();
                let at =
                    |place: usize| includes(&root, size(&entries), place.try_into().unwrap(), entry, &proof);
                assert!(at(index), "{index} of {count}");
                assert!((0..count + 2).all(|place| place == index || !at(place)), "{index} of {count}");
            }
            assert_eq!(inclusion(&entries, count), None);
        }
    }

    #[test]
    fn every_tree_extends_all_its_beginnings() {
        for count in 0..33 {
            let new = entries(count);
            for old in 0..=count {
                let proof = consistency(&new, old).unwrap();
                let before = (old.try_into().unwrap(), &root(&new[..old]));
                assert!(extends(before, (size(&new), &root(&new)), &proof), "{old} of {count}");
            }
            assert_eq!(consistency(&new, count + 1), None);
        }
    }

    proptest! {
        #[test]
        fn a_rewritten_past_is_no_extension(count in 2_usize..60, old in 1_usize..60, changed in 0_usize..60) {
            let old = old.min(count);
            let before = entries(count);
            let mut after = before.clone();
            after[changed % old][0] ^= 1;
            let proof = consistency(&after, old).unwrap();
            let seen = (old.try_into().unwrap(), &root(&before[..old]));
            prop_assert!(!extends(seen, (size(&after), &root(&after)), &proof));
        }

        #[test]
        fn a_changed_proof_proves_nothing(count in 2_usize..60, index in 0_usize..60, place in 0_usize..10) {
            let entries = entries(count);
            let index = index % count;
            let mut proof = inclusion(&entries, index).unwrap();
            let place = place % proof.len();
            proof[place][7] ^= 4;
            let index = index.try_into().unwrap();
            prop_assert!(!includes(&root(&entries), size(&entries), index, &entries[usize::try_from(index).unwrap()], &proof));
        }
    }
}
