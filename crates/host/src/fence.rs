//! Who may write where: the policy of the sandbox, one for all loops. The supervisor knows the means, the drivers know the
//! places of their programs; here they become the fence around one step.

use crate::context::RunContext;
use crate::fault::git_fault;
use crate::foreign::is_real_directory;
use crate::state_dir::make_private;
use crate::workspaces::Layered;
use std::collections::BTreeSet;
use std::io::Read;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use windlass_agent_drivers::{
    AgentChoice, brings_own_sandbox, own_places, rooms_in_tmp, temporary_variables,
};
use windlass_control_api::{Code, Fault};
use windlass_process_supervisor::{
    ChildSpec, Sandbox, SandboxKind as Means, SandboxMeans, landlock_version, may_look_into_others,
    sandbox_means,
};
use windlass_protocols::Role;
use windlass_protocols::kernel::fence::{SandboxKind, SandboxWish};

/// What package managers and compilers share between projects. Not where they keep programs: what lies there is found
/// through `PATH` by the checks too.
const CACHES: [&str; 11] = [
    ".cache",
    ".cargo/registry",
    ".cargo/git",
    ".cargo/.package-cache",
    ".cargo/.package-cache-mutate",
    ".npm",
    ".m2/repository",
    ".gradle/caches",
    ".nuget/packages",
    ".local/share/pnpm/store",
    "go/pkg",
];
const TEMPORARY: [&str; 2] = [USUAL_TEMPORARY, "/var/tmp"];
/// Where programs put them that are not told otherwise.
const USUAL_TEMPORARY: &str = "/tmp";
/// Programs talk to their own children through it; a repository or a state directory may lie there as well.
const SHARED_MEMORY: &str = "/dev/shm";
/// Where builds put what they make, whether an ignore rule ends with a slash or not.
const BUILD_OUTPUT: [&str; 10] = [
    "target",
    "build",
    "dist",
    "out",
    "node_modules",
    "coverage",
    ".venv",
    "__pycache__",
    ".pytest_cache",
    ".mypy_cache",
];
/// Where, in the private directory of a run, git directories of agents lie that may not write the user's.
pub(crate) const SET_APART: &str = "git";
/// No honest ignore file is larger.
const IGNORE_FILE_BYTES: u64 = 64 * 1024;

/// One step that is to be fenced in.
pub(crate) struct Step<'a> {
    /// Where the supervisor keeps its records of this step.
    pub(crate) directory: &'a Path,
    pub(crate) worktree: &'a Path,
    pub(crate) who: Who<'a>,
}

#[derive(Clone, Copy)]
pub(crate) enum Who<'a> {
    /// Changes its worktree, and leaves an answer.
    Maker(&'a AgentChoice),
    /// Leaves an answer and nothing else, but build output where the repository ignores it.
    Reader(&'a AgentChoice),
    /// A command of the user's that the engine runs on a tree of its own.
    Command,
}

/// Refuses a run that must not go on without a sandbox where there is none.
pub(crate) fn require(context: &RunContext) -> Result<(), Fault> {
    let fence = &context.spec.place().fence;
    if fence.sandbox != SandboxWish::Required {
        return Ok(());
    }
    let means = sandbox_means(&context.program);
    if chosen(allowed(context), &means).is_some() {
        return Ok(());
    }
    let mut reasons = Vec::new();
    reasons.extend(means.landlock.err());
    reasons.extend(means.namespaces.err());
    if reasons.is_empty() {
        reasons.push("`sandbox-means` allows none of those that are there".to_owned());
    }
    Err(Fault::new(Code::NoSandbox, format!("no sandbox can be set up: {}", reasons.join("; ")))
        .kept("nothing was started")
        .hint("`windlass doctor` says what is missing")
        .hint("`--sandbox auto` starts a run without one where there is none"))
}

/// Whether an agent of this run could look into this very process, and read what was told to it alone.
pub(crate) fn lets_agents_look_in(context: &RunContext) -> bool {
    may_look_into_others() && kind(context, Who::Command).is_none()
}

/// Puts the fence around the child of this step, and what it needs inside.
pub(crate) fn put_around(context: &RunContext, spec: &mut ChildSpec, step: &Step<'_>) -> Result<(), Fault> {
    let layered = layered(context, step)?;
    let git = match (&layered, step.who) {
        (Some(layered), Who::Maker(_)) => layered.go_on(context)?,
        // It was shown its tree already.
        (Some(layered), Who::Command) => vec![layered.apart.clone()],
        (Some(_), Who::Reader(_)) | (None, _) => Vec::new(),
    };
    spec.overlay = layered.as_ref().map(Layered::mount);
    let Some(kind) = kind(context, step.who) else { return Ok(()) };
    let mut writable = vec![];
    let own = match &layered {
        Some(layered) => own_in_layers(step, layered, git),
        None => own(context, step)?,
    };
    // What lies in the layers is there for the child alone.
    let is_inside = |place: &Path| layered.is_some() && place.starts_with(step.worktree);
    writable.extend(own.iter().filter(|place| is_inside(place) || is_real_directory(place)).cloned());
    let ambient = ambient(context, step.who);
    let usual = context.environment.get("TMPDIR").unwrap_or(USUAL_TEMPORARY);
    let can_be_used = Path::new(usual).canonicalize().is_ok_and(|usual| ambient.contains(&usual));
    writable.extend(ambient);
    if !can_be_used {
        let own = step.directory.join("tmp");
        make_private(&own)?;
        let variables = temporary_variables().into_iter();
        spec.environment.extend(variables.map(|name| (name.into(), own.clone().into())));
        writable.push(own);
    }
    spec.sandbox = Some(Sandbox { kind, writable });
    Ok(())
}

/// As it stands in the record of a step.
pub(crate) const fn held_by(means: Option<Means>) -> SandboxKind {
    match means {
        Some(Means::Landlock) => SandboxKind::Landlock,
        Some(Means::Namespaces) => SandboxKind::Namespaces,
        None => SandboxKind::None,
    }
}

fn kind(context: &RunContext, who: Who<'_>) -> Option<Means> {
    if context.spec.place().fence.sandbox == SandboxWish::Off {
        return None;
    }
    let mut allowed = allowed(context);
    let nests = matches!(who, Who::Maker(choice) | Who::Reader(choice) if brings_own_sandbox(choice));
    if nests {
        // Landlock would keep it from building its own.
        allowed.sort_by_key(|kind| *kind == Means::Landlock);
    }
    // A process is needed only to find out about namespaces.
    if allowed.first() == Some(&Means::Landlock) && landlock_version().is_ok() {
        return Some(Means::Landlock);
    }
    chosen(allowed, &sandbox_means(&context.program))
}

/// In the order of the user's choice.
fn allowed(context: &RunContext) -> Vec<Means> {
    match &context.spec.place().fence.means {
        None => vec![Means::Landlock, Means::Namespaces],
        Some(means) => means
            .iter()
            .filter_map(|kind| match kind {
                SandboxKind::Landlock => Some(Means::Landlock),
                SandboxKind::Namespaces => Some(Means::Namespaces),
                SandboxKind::None => None,
            })
            .collect(),
    }
}

fn chosen(allowed: Vec<Means>, means: &SandboxMeans) -> Option<Means> {
    let is_there = |kind: &Means| match kind {
        Means::Landlock => means.landlock.is_ok(),
        Means::Namespaces => means.namespaces.is_ok(),
    };
    allowed.into_iter().find(is_there)
}

/// The places of this step alone.
fn own(context: &RunContext, step: &Step<'_>) -> Result<Vec<PathBuf>, Fault> {
    let mut places = Vec::new();
    match step.who {
        Who::Maker(_) => {
            places.push(step.worktree.to_owned());
            places.extend(set_git_apart(context, step)?);
        }
        Who::Reader(_) => places.extend(build_output(step.worktree)),
        Who::Command => {
            places.push(step.worktree.to_owned());
            places.extend(set_git_apart(context, step)?);
            return Ok(places);
        }
    }
    places.extend([step.directory.join("outbox"), step.directory.join("told")]);
    Ok(places)
}

/// The layers that this step works in, if it does.
fn layered(context: &RunContext, step: &Step<'_>) -> Result<Option<Layered>, Fault> {
    let role = if matches!(step.who, Who::Maker(_)) { Role::Doer } else { Role::Judge };
    if !context.is_layered() || context.worktree(role) != step.worktree {
        return Ok(None);
    }
    context.layered(role)
}

/// As [`own`], of which git has its places already.
fn own_in_layers(step: &Step<'_>, layered: &Layered, git: Vec<PathBuf>) -> Vec<PathBuf> {
    let mut places = git;
    match step.who {
        Who::Maker(_) => places.push(step.worktree.to_owned()),
        Who::Reader(_) => places.extend(build_output_in_layers(layered)),
        Who::Command => {
            places.push(step.worktree.to_owned());
            return places;
        }
    }
    places.extend([step.directory.join("outbox"), step.directory.join("told")]);
    places
}

/// As [`build_output`], made in the upper layer where nothing lies below.
fn build_output_in_layers(layered: &Layered) -> Vec<PathBuf> {
    let below = |name: &str| layered.layers.shown_below(&layered.pristine, name);
    let Some(rules) = below(".gitignore").and_then(|file| ignore_rules(&file)) else { return Vec::new() };
    let free = ignored_directories(&rules).into_iter().filter(|name| below(name).is_none());
    let upper = layered.layers.upper();
    let made = free.filter(|name| std::fs::create_dir(upper.join(name)).is_ok());
    made.map(|name| layered.place.join(name)).collect()
}

/// What it does with git stays out of the user's repository.
fn set_git_apart(context: &RunContext, step: &Step<'_>) -> Result<Vec<PathBuf>, Fault> {
    if context.adopted().is_some() || !is_real_directory(step.worktree) {
        return Ok(Vec::new());
    }
    let worktree = context.repository.worktree_at(step.worktree).map_err(git_fault)?;
    let name = step.worktree.file_name().unwrap_or_default();
    let folder = context.state.run(&context.run).join(SET_APART).join(name);
    make_private(&folder)?;
    context.repository.set_apart(&worktree, &folder).map_err(git_fault)
}

/// Directories that the repository's own rules ignore and that hold nothing of the tree: made, so that they can be written.
fn build_output(worktree: &Path) -> Vec<PathBuf> {
    let Some(text) = ignore_rules(&worktree.join(".gitignore")) else { return Vec::new() };
    let mut places = Vec::new();
    for name in ignored_directories(&text) {
        let place = worktree.join(name);
        match std::fs::create_dir(&place) {
            Ok(()) => places.push(place),
            // Something of the tree, or a build that was here before: the second may be written, and the two are told
            // apart by whether the tree would put anything there.
            Err(_) if is_real_directory(&place) && holds_nothing(&place) => places.push(place),
            Err(_) => {}
        }
    }
    places
}

/// The text of a file of rules; nothing but a plain file is one.
fn ignore_rules(file: &Path) -> Option<String> {
    let mut text = String::new();
    let opened = std::fs::OpenOptions::new()
        .read(true)
        .custom_flags(
            rustix::fs::OFlags::NOFOLLOW.bits().cast_signed()
                | rustix::fs::OFlags::NONBLOCK.bits().cast_signed(),
        )
        .open(file);
    let file = opened.ok().filter(|file| file.metadata().is_ok_and(|about| about.is_file()))?;
    // Rules in another encoding than text are nobody's build output.
    let _ = file.take(IGNORE_FILE_BYTES).read_to_string(&mut text);
    Some(text)
}

fn holds_nothing(directory: &Path) -> bool {
    std::fs::read_dir(directory).is_ok_and(|mut entries| entries.next().is_none())
}

fn ignored_directories(rules: &str) -> BTreeSet<&str> {
    let rules = rules.lines().map(str::trim_end).filter(|line| !line.starts_with(['#', '!']));
    rules
        .filter_map(|rule| {
            let rule = rule.strip_prefix('/').unwrap_or(rule);
            let (name, is_directory) = match rule.strip_suffix('/') {
                Some(name) => (name, true),
                None => (rule, BUILD_OUTPUT.contains(&rule)),
            };
            let plain = !name.is_empty() && !name.contains(['/', '*', '?', '[', '\\']);
            (plain && is_directory && !matches!(name, "." | ".." | ".git")).then_some(name)
        })
        .collect()
}

/// What belongs to no step: temporary files, caches, the agent's own home, and what the user adds. A place that holds something
/// nobody may write is left out, whatever it is called.
fn ambient(context: &RunContext, who: Who<'_>) -> BTreeSet<PathBuf> {
    let variable = |name: &str| context.environment.get(name).map(str::to_owned);
    let home = variable("HOME").map(PathBuf::from);
    let mut places: Vec<PathBuf> = TEMPORARY.iter().map(PathBuf::from).collect();
    places.push(PathBuf::from(SHARED_MEMORY));
    places.extend(variable("TMPDIR").map(PathBuf::from));
    places.extend(variable("XDG_CACHE_HOME").map(PathBuf::from));
    places.extend(home.iter().flat_map(|home| CACHES.iter().map(|cache| home.join(cache))));
    if let Who::Maker(choice) | Who::Reader(choice) = who {
        for place in own_places(choice, variable) {
            // A program that was never started has no place yet. Of a command nobody knows which one it will start.
            if matches!(choice, AgentChoice::Known { .. }) && place.extension().is_none() {
                // Where it cannot be made it cannot be used either, and the program will say so itself.
                let _ = std::fs::create_dir_all(&place);
            }
            places.push(place);
        }
        let user = rustix::process::getuid().as_raw();
        places.extend(rooms_in_tmp(choice, user).into_iter().filter(|room| is_room_of(room, user)));
    }
    let protected = protected(context, home.as_deref());
    let holds_protected = |place: &PathBuf| protected.iter().any(|kept| kept.starts_with(place));
    let given =
        context.spec.place().fence.writable.iter().filter_map(|place| at_home(place, home.as_deref()));
    let real = |place: PathBuf| place.canonicalize().ok().map(|real| (place, real));
    let usual = places.into_iter().filter_map(real).filter(|(_, real)| !holds_protected(real));
    // Whoever names a place means it.
    safe_from_each_other(usual.chain(given.filter_map(real)).collect())
}

/// Makes it where nothing is. Anybody may put something of that name into `/tmp`, so it counts only as a directory of this user's.
fn is_room_of(room: &Path, user: u32) -> bool {
    let _ = make_private(room);
    room.symlink_metadata().is_ok_and(|found| found.is_dir() && found.uid() == user)
}

/// Of places as they are named and as they really are: those that nobody can have put a link in the place of who was let into
/// another one. Else a maker that may write `/tmp` would lead the next step, to which `/tmp/cache` is given, wherever it
/// likes. A directory inside another place needs no word of its own.
fn safe_from_each_other(mut places: Vec<(PathBuf, PathBuf)>) -> BTreeSet<PathBuf> {
    places.sort_by_key(|(named, _)| named.components().count());
    let mut safe = BTreeSet::<PathBuf>::new();
    for (named, real) in places {
        let lies_in_another = named.ancestors().filter_map(Path::parent).any(|folder| {
            folder.canonicalize().is_ok_and(|folder| safe.iter().any(|other| folder.starts_with(other)))
        });
        if !lies_in_another {
            safe.insert(real);
        }
    }
    safe
}

fn at_home(place: &str, home: Option<&Path>) -> Option<PathBuf> {
    match place.strip_prefix("~/") {
        Some(rest) => home.map(|home| home.join(rest)),
        None => Some(PathBuf::from(place)),
    }
}

/// What no agent and no check may write: the user's checkout and git directory, the state directory, the run's own files, this
/// program, and the home as a whole, where shells look for what they run first.
fn protected(context: &RunContext, home: Option<&Path>) -> Vec<PathBuf> {
    let place = context.spec.place();
    let named = [
        PathBuf::from(&place.repository),
        PathBuf::from(&place.common_dir),
        PathBuf::from(&place.run_dir),
        context.state.path().to_owned(),
        context.program.clone(),
    ];
    let named = named.iter().map(PathBuf::as_path).chain(home);
    named.flat_map(|path| [Some(path.to_owned()), path.canonicalize().ok()]).flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_names_of_directories_are_build_output() {
        let rules =
            "# c\ntarget\n/dist/\nbuild/\n*.log\n!keep/\na/b/\n.env\nnode_modules\n\n../x/\n./\n.git/\n";
        let expected = BTreeSet::from(["target", "dist", "build", "node_modules"]);
        assert_eq!(ignored_directories(rules), expected);
    }

    #[test]
    fn a_link_in_a_place_that_others_may_write_leads_nowhere() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        let at = |name: &str| root.join(name);
        for name in ["shared/inside", "secret/deep", "own"] {
            std::fs::create_dir_all(at(name)).unwrap();
        }
        std::os::unix::fs::symlink(at("secret"), at("shared/planted")).unwrap();
        std::os::unix::fs::symlink(at("own"), at("of-the-user")).unwrap();
        let places = ["shared/planted", "shared/planted/deep", "shared/inside", "shared", "of-the-user"];
        let places = places.map(|name| (at(name), at(name).canonicalize().unwrap()));
        assert_eq!(safe_from_each_other(places.to_vec()), BTreeSet::from([at("own"), at("shared")]));
    }

    #[test]
    fn a_room_in_tmp_is_made_and_a_link_of_its_name_is_none() {
        let tmp = tempfile::tempdir().unwrap();
        let user = rustix::process::getuid().as_raw();
        let (room, link) = (tmp.path().join("room"), tmp.path().join("link"));
        assert!(is_room_of(&room, user));
        assert_eq!(room.metadata().unwrap().mode() & 0o777, 0o700);
        assert!(!is_room_of(&room, user + 1), "it is somebody else's");
        std::os::unix::fs::symlink(tmp.path(), &link).unwrap();
        assert!(!is_room_of(&link, user));
    }

    #[test]
    fn a_link_or_a_directory_of_the_tree_is_never_build_output() {
        let tree = tempfile::tempdir().unwrap();
        let path = |name: &str| tree.path().join(name);
        std::fs::write(path(".gitignore"), "build/\nsrc/\nlink/\nfile/\n").unwrap();
        std::fs::create_dir(path("src")).unwrap();
        std::fs::write(path("src/a"), "a").unwrap();
        std::os::unix::fs::symlink("/", path("link")).unwrap();
        std::fs::write(path("file"), "").unwrap();
        assert_eq!(build_output(tree.path()), [path("build")]);
        std::fs::remove_file(path(".gitignore")).unwrap();
        std::os::unix::fs::symlink(path("src/a"), path(".gitignore")).unwrap();
        assert_eq!(build_output(tree.path()), Vec::<PathBuf>::new());
    }
}
