//! Where the program is that fuzzes the REST interface; `cargo xtask set-up` installs it. It does not know what is fuzzed.

use crate::agent_programs::{cache_directory, can_run_here, variable};
use std::path::PathBuf;

/// Read by xtask too, which installs what stands there.
const PINNED: &str = include_str!("../schemathesis.txt");
const NAME: &str = "schemathesis";

pub struct RestFuzzer;

impl RestFuzzer {
    pub fn path() -> PathBuf {
        cache_directory(&variable).join(format!("{NAME}-{}", version())).join("bin/st")
    }

    /// False only where xtask, or whoever runs the tests, has said that it is skipped; missing otherwise, it fails the test.
    #[track_caller]
    pub fn can_run() -> bool {
        let path = Self::path();
        let missing = || format!("{NAME} {} is not installed at {}", version(), path.display());
        can_run_here(NAME, (!path.is_file()).then(missing))
    }
}

fn version() -> &'static str {
    let pinned = PINNED.lines().find_map(|line| line.strip_prefix(NAME)?.strip_prefix("=="));
    pinned.expect("the list pins the fuzzer")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fuzzer_stands_where_xtask_puts_it() {
        let path = RestFuzzer::path();
        assert!(path.ends_with(format!("schemathesis-{}/bin/st", version())), "{}", path.display());
    }
}
