//! Temporary files of processes that were killed before they could rename them. Whoever writes the same file next takes
//! them away, so that no store has to be searched for them.

use std::path::Path;

use crate::process_table;

/// Removes what killed processes left beside `target`: files in its directory named `prefix`, then the number of a
/// process that is gone, then anything. Files of living processes stay: they are being written.
pub fn remove_leftovers(target: &Path, prefix: &str) {
    let Some(directory) = target.parent() else { return };
    // What cannot be listed or removed is litter, not a fault.
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        if writer(entry.file_name().as_encoded_bytes(), prefix).is_some_and(is_gone) {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

fn writer(name: &[u8], prefix: &str) -> Option<u32> {
    let rest = name.strip_prefix(prefix.as_bytes())?;
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    std::str::from_utf8(&rest[..digits]).ok()?.parse().ok()
}

fn is_gone(pid: u32) -> bool {
    process_table::read(pid).is_none_or(|entry| entry.is_zombie())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_temporary_files_of_processes_that_are_gone_are_removed() {
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(name);
        let own = format!(".a.{}-0.part", std::process::id());
        // Above the largest pid Linux gives out.
        let gone = ".a.4194305-0.part";
        let others = ["a", "a.4194305-0", ".ab.4194305-0.part", ".a.part", own.as_str()];
        for name in others.iter().chain([&gone]) {
            std::fs::write(path(name), "").unwrap();
        }
        remove_leftovers(&path("a"), ".a.");
        assert!(!path(gone).exists());
        for name in others {
            assert!(path(name).exists(), "{name}");
        }
    }
}
