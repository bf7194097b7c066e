//! A control group around one child, where the kernel lets us make one: a hard limit on memory and processes that a fork bomb
//! cannot outrun, and a list of members that nobody leaves. Used only where a limit was asked for, because moving a process
//! between groups takes the kernel milliseconds.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::child_spec::Limits;
use crate::os_text;

/// The kernel counts threads; the supervisor counts processes and is exact, this only stops what is too fast for it.
const THREADS_A_PROCESS: u64 = 64;
/// For the same reason the kernel steps in later: it takes one member away, the supervisor ends the step.
const MEMORY_ROOM: u64 = 2;

/// The directories that make up the group: one in the unified hierarchy, or one in each of the older ones.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Cgroup {
    #[serde(with = "os_text::paths")]
    directories: Vec<PathBuf>,
}

/// Where this process came from, to go back there.
#[derive(Debug)]
pub(crate) struct Left(Vec<PathBuf>);

impl Cgroup {
    /// `None` where no limit is asked for or no group can be made; the supervisor watches the limits in any case.
    pub(crate) fn make(limits: &Limits, name: &str) -> Option<Self> {
        if limits.memory_bytes.is_none() && limits.processes.is_none() {
            return None;
        }
        let own = fs::read_to_string("/proc/self/cgroup").ok()?;
        let mounts = fs::read_to_string("/proc/self/mounts").ok()?;
        unified(&own, &mounts, limits, name).or_else(|| older(&own, &mounts, limits, name))
    }

    /// Moves this process in, so that the child is born inside.
    pub(crate) fn enter(&self) -> Option<Left> {
        let own = fs::read_to_string("/proc/self/cgroup").ok()?;
        let mounts = fs::read_to_string("/proc/self/mounts").ok()?;
        let left = self.directories.iter().map(|directory| directory_of(directory, &own, &mounts));
        let left = Left(left.collect::<Option<_>>()?);
        let entered = self.directories.iter().all(|directory| move_to(directory));
        if !entered {
            left.go_back();
        }
        entered.then_some(left)
    }

    /// Whether the kernel ended a member because there was no memory left for it.
    pub(crate) fn ran_out_of_memory(&self) -> bool {
        let files = ["memory.events", "memory.oom_control"];
        self.directories.iter().flat_map(|directory| files.map(|file| directory.join(file))).any(|file| {
            let text = fs::read_to_string(file).unwrap_or_default();
            text.lines().filter_map(|line| line.strip_prefix("oom_kill ")).any(|count| count != "0")
        })
    }

    pub(crate) fn members(&self) -> Vec<u32> {
        let lists = self.directories.iter().map(|directory| directory.join("cgroup.procs"));
        let text: String = lists.filter_map(|list| fs::read_to_string(list).ok()).collect();
        text.lines().filter_map(|pid| pid.parse().ok()).collect()
    }

    /// Only an empty group can be removed; one that is not is still needed.
    pub(crate) fn remove(&self) {
        for directory in &self.directories {
            let _ = fs::remove_dir(directory);
        }
    }
}

impl Left {
    pub(crate) fn go_back(&self) {
        for directory in &self.0 {
            move_to(directory);
        }
    }
}

fn move_to(directory: &Path) -> bool {
    fs::write(directory.join("cgroup.procs"), "0").is_ok()
}

/// Beside the group we are in, where a service manager has delegated that, else below it.
fn unified(own: &str, mounts: &str, limits: &Limits, name: &str) -> Option<Cgroup> {
    let mount = mounted(mounts, |kind, _| kind == "cgroup2")?;
    let path = own.lines().find_map(|line| line.strip_prefix("0::/"))?;
    let here = mount.join(path);
    let beside = here.parent().filter(|parent| parent.starts_with(&mount)).map(Path::to_owned);
    beside.into_iter().chain([here]).find_map(|parent| {
        let directory = parent.join(name);
        fs::create_dir(&directory).ok()?;
        let limited =
            limit(&directory, "memory.max", memory(limits)) && limit(&directory, "pids.max", threads(limits));
        if !limited {
            let _ = fs::remove_dir(&directory);
        }
        limited.then(|| Cgroup { directories: vec![directory] })
    })
}

fn older(own: &str, mounts: &str, limits: &Limits, name: &str) -> Option<Cgroup> {
    let wanted = [("memory", "memory.limit_in_bytes", memory(limits)), ("pids", "pids.max", threads(limits))];
    let mut group = Cgroup { directories: Vec::new() };
    for (controller, file, value) in wanted.into_iter().filter(|(.., value)| value.is_some()) {
        let made = older_directory(own, mounts, controller).map(|here| here.join(name)).filter(|directory| {
            fs::create_dir(directory).is_ok() && {
                group.directories.push(directory.clone());
                limit(directory, file, value)
            }
        });
        if made.is_none() {
            group.remove();
            return None;
        }
    }
    Some(group)
}

fn older_directory(own: &str, mounts: &str, controller: &str) -> Option<PathBuf> {
    let mount = mounted(mounts, |kind, options| {
        kind == "cgroup" && options.split(',').any(|option| option == controller)
    })?;
    let line = own.lines().map(|line| line.splitn(3, ':').collect::<Vec<_>>()).find(
        |line| matches!(line.as_slice(), [_, names, _] if names.split(',').any(|name| name == controller)),
    )?;
    Some(mount.join(line.last()?.trim_start_matches('/')))
}

/// The directory of this process in the hierarchy that `directory` belongs to.
fn directory_of(directory: &Path, own: &str, mounts: &str) -> Option<PathBuf> {
    let unified = mounted(mounts, |kind, _| kind == "cgroup2")?;
    if directory.starts_with(&unified) {
        return Some(unified.join(own.lines().find_map(|line| line.strip_prefix("0::/"))?));
    }
    ["memory", "pids"]
        .into_iter()
        .filter_map(|controller| older_directory(own, mounts, controller))
        .find(|here| directory.parent() == Some(here))
}

fn mounted(mounts: &str, wanted: impl Fn(&str, &str) -> bool) -> Option<PathBuf> {
    mounts.lines().find_map(|line| {
        let fields: Vec<&str> = line.split(' ').collect();
        let [_, place, kind, options, ..] = fields.as_slice() else { return None };
        wanted(kind, options).then(|| PathBuf::from(place))
    })
}

fn limit(directory: &Path, file: &str, value: Option<u64>) -> bool {
    value.is_none_or(|value| fs::write(directory.join(file), value.to_string()).is_ok())
}

fn memory(limits: &Limits) -> Option<u64> {
    limits.memory_bytes.map(|bytes| bytes.saturating_mul(MEMORY_ROOM))
}

fn threads(limits: &Limits) -> Option<u64> {
    limits.processes.map(|processes| processes.saturating_mul(THREADS_A_PROCESS))
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLDER: &str = "cgroup /sys/fs/cgroup/pids cgroup rw,relatime,pids 0 0\n\
                         cgroup2 /sys/fs/cgroup/unified cgroup2 rw,relatime 0 0\n";

    #[test]
    fn the_directory_of_a_controller_is_read_from_the_mounts_and_our_own_groups() {
        let own = "8:pids:/a/b\n0::/\n";
        assert_eq!(older_directory(own, OLDER, "pids").unwrap(), Path::new("/sys/fs/cgroup/pids/a/b"));
        assert_eq!(older_directory(own, OLDER, "memory"), None);
        let inside = Path::new("/sys/fs/cgroup/pids/a/b/windlass-1");
        assert_eq!(directory_of(inside, own, OLDER).unwrap(), Path::new("/sys/fs/cgroup/pids/a/b"));
    }

    #[test]
    fn without_a_limit_there_is_no_group() {
        assert_eq!(Cgroup::make(&Limits::default(), "windlass-test"), None);
    }
}
