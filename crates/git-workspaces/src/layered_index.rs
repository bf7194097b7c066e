//! The index of git in a workspace of layers: what the checkout's has, with the entries of what another tree has differently.
//! Copied in a few long pieces, for it grows with the repository.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

use rustix::fs::AtFlags;

use crate::durable_file::unique_beside;
use crate::error::GitError;
use crate::index_file::{Index, write_entry};
use crate::layered_view::{View, entry_of};
use crate::layers::Layers;
use crate::repository::Repository;
use crate::scan::FileStat;

impl Repository {
    pub(crate) fn write_index_of_layers(
        &self,
        target: &Path,
        layers: &Layers,
        view: &View,
    ) -> Result<(), GitError> {
        let pieces = pieces(layers, view, self.format.id_bytes());
        let temporary = unique_beside(target);
        let written = File::create(&temporary)
            .and_then(|mut file| pieces.iter().try_for_each(|piece| file.write_all(piece.bytes(view))))
            .and_then(|()| fs::rename(&temporary, target));
        written.map_err(GitError::io("write", target))
    }
}

enum Piece {
    OfBase(std::ops::Range<usize>),
    New(Vec<u8>),
}

impl Piece {
    fn bytes<'p>(&'p self, view: &'p View) -> &'p [u8] {
        match self {
            Self::OfBase(range) => &view.base.raw[range.clone()],
            Self::New(bytes) => bytes,
        }
    }
}

fn pieces(layers: &Layers, view: &View, hash_length: usize) -> Vec<Piece> {
    let (base, change) = (&view.base, layers.change());
    let entries = &base.index.entries;
    let start = |at: usize| base.starts.get(at).copied().unwrap_or(base.raw.len());
    let mut pieces = vec![Piece::New(Vec::new())];
    let (mut count, mut from) = (entries.len(), 0);
    for (path, id) in view.delta.iter() {
        let place = entries.binary_search_by(|entry| entry.path.cmp(path));
        let (upto, next) = match place {
            Ok(at) => (at, at + 1),
            Err(at) => (at, at),
        };
        pieces.push(Piece::OfBase(start(from)..start(upto)));
        from = next;
        count -= next - upto;
        if let Some(id) = id {
            let mut entry = entry_of(path, *id);
            let found =
                rustix::fs::statat(rustix::fs::CWD, change.join(path.as_path()), AtFlags::SYMLINK_NOFOLLOW);
            if let Ok(found) = found {
                entry.stat = FileStat::new(&found, None).cached();
            }
            let mut bytes = Vec::new();
            write_entry(&mut bytes, &entry);
            pieces.push(Piece::New(bytes));
            count += 1;
        }
    }
    pieces.push(Piece::OfBase(start(from)..base.raw.len()));
    // The closing checksum is left zero: git reads past it, and replaces it with the first file it writes.
    pieces.push(Piece::New(vec![0; hash_length]));
    pieces[0] = Piece::New(Index::header(count));
    pieces
}
