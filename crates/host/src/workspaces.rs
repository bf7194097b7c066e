//! What the workspaces of a run are made of: ordinary worktrees, or layers over one checkout that all runs on the same base
//! share. Which of the two is asked for once, at the start; a run whose layers were unfolded goes on with worktrees.

use crate::context::{RunContext, git_commit, git_tree};
use crate::durable_file::ensure;
use crate::fault::{file_fault, git_fault};
use crate::fence::SET_APART;
use crate::host::Host;
use crate::settings::Settings;
use crate::state_dir::{StateDir, make_private};
use std::io::Read;
use std::path::{Path, PathBuf};
use windlass_control_api::{Code, Fault};
use windlass_git_workspaces::{
    Checkout, Commit, GitError, Layers, Pristine, Snapshot, SnapshotLimits, Standing, Unfolded, Worktree,
};
use windlass_process_supervisor::{OverlayMount, try_overlay};
use windlass_protocols::kernel::fence::Workspaces;
use windlass_protocols::{Role, RunId, TreeId};

/// Where, in the private directory of a run, the layers of its workspaces lie.
pub(crate) const OVERLAY: &str = "overlay";
/// Names the base tree. As long as it is there, the run works in layers.
const MARK: &str = "base";
/// Stands where a workspace of layers is while somebody works in it, for whoever looks there at another time.
pub(crate) const SIGN: &str = "HOW-TO-LOOK.txt";
/// Below this an ordinary checkout takes little time, and people can walk into it.
pub(crate) const MANY_FILES: u32 = 5_000;

/// Which kind a new run gets.
pub(crate) fn choose(host: &Host, settings: &Settings, checkout: &Checkout) -> Result<Workspaces, Fault> {
    let sandbox_is_off = settings.text("sandbox") == Some("off");
    match settings.text("workspaces") {
        Some("overlay") => match can_be_had(host) {
            Ok(()) => Ok(Workspaces::Overlay),
            Err(why) => {
                Err(Fault::new(Code::NoSandbox, format!("overlay workspaces cannot be had here: {why}"))
                    .kept("nothing was started")
                    .hint("`windlass doctor` says what is missing")
                    .hint("`--workspaces auto` uses worktrees where there are no overlays"))
            }
        },
        // Without a sandbox nothing keeps an agent from writing into the checkout that others share.
        Some("auto") if !sandbox_is_off && has_many_files(checkout) && can_be_had(host).is_ok() => {
            Ok(Workspaces::Overlay)
        }
        _ => Ok(Workspaces::Worktrees),
    }
}

/// Whether the kernel and the file system of the state directory offer overlays, or why not.
pub(crate) fn can_be_had(host: &Host) -> Result<(), String> {
    try_overlay(&host.program, host.state.path())
}

/// By what git noted of the user's checkout: a number at the beginning of one file.
fn has_many_files(checkout: &Checkout) -> bool {
    let mut header = [0_u8; 12];
    let read = std::fs::File::open(checkout.git_dir().join("index"));
    let read = read.and_then(|mut file| file.read_exact(&mut header));
    let count = u32::from_be_bytes([header[8], header[9], header[10], header[11]]);
    read.is_ok() && header.starts_with(b"DIRC") && count > MANY_FILES
}

/// One workspace of layers.
pub(crate) struct Layered {
    pub(crate) pristine: Pristine,
    pub(crate) layers: Layers,
    /// Where git inside it has its own directories.
    pub(crate) apart: PathBuf,
    pub(crate) place: PathBuf,
    worktree: Worktree,
}

impl RunContext {
    fn overlay_dir(&self) -> PathBuf {
        self.state.run(&self.run).join(OVERLAY)
    }

    /// Checkouts that the runs of this repository share.
    pub(crate) fn pristine_dir(&self) -> PathBuf {
        self.state.pristine(&self.repository.checkout().repository_key())
    }

    pub(crate) fn is_layered(&self) -> bool {
        self.overlay_dir().join(MARK).is_file()
    }

    /// The layers of this role's workspace; `None` in a run that works in worktrees.
    pub(crate) fn layered(&self, role: Role) -> Result<Option<Layered>, Fault> {
        let Some(base) = base_of_layers(&self.state, &self.run) else { return Ok(None) };
        let base = git_tree(&TreeId::new(base.as_str()))?;
        let pristine = self.repository.pristine(&self.pristine_dir(), &base).map_err(git_fault)?;
        pristine.map(|pristine| self.layers_on(pristine, role)).transpose()
    }

    fn layers_on(&self, pristine: Pristine, role: Role) -> Result<Layered, Fault> {
        let place = self.worktree(role);
        let name = place.file_name().unwrap_or_default();
        let apart = self.state.run(&self.run).join(SET_APART).join(name);
        make_private(&apart)?;
        let layers = Layers::at(&self.overlay_dir().join(name));
        let worktree = self.repository.worktree_at(&place).map_err(git_fault)?;
        Ok(Layered { pristine, layers, apart, place, worktree })
    }
}

/// The base tree of a run that works in layers.
pub(crate) fn base_of_layers(state: &StateDir, run: &RunId) -> Option<String> {
    let mark = std::fs::read_to_string(state.run(run).join(OVERLAY).join(MARK)).ok()?;
    Some(mark.trim_end().to_owned())
}

/// Makes both workspaces. `false` where the base cannot be had in layers; a fault or a refusal of git's is told as it is.
pub(crate) fn prepare(context: &RunContext, base: &Commit) -> Result<Result<bool, GitError>, Fault> {
    if context.spec.place().fence.workspaces != Workspaces::Overlay || context.adopted().is_some() {
        return Ok(Ok(false));
    }
    if context.is_layered() {
        return Ok(Ok(true));
    }
    // Git's own lists of directories have one in each line.
    if context.spec.place().common_dir.contains('\n')
        || context.state.path().as_os_str().as_encoded_bytes().contains(&b'\n')
    {
        return Ok(Ok(false));
    }
    let folder = context.pristine_dir();
    make_private(&folder)?;
    let pristine = match context.repository.pristine(&folder, &base.tree) {
        Ok(Some(pristine)) => pristine,
        Ok(None) => return Ok(Ok(false)),
        Err(error) => return Ok(Err(error)),
    };
    let place = context.spec.place();
    let branches = [&place.doer_branch, &place.judge_branch].map(|branch| format!("refs/heads/{branch}"));
    let branches: Vec<&str> = branches.iter().map(String::as_str).collect();
    if let Err(error) = context.repository.branch_off(&branches, base) {
        return Ok(Err(error));
    }
    make_private(&context.overlay_dir())?;
    for role in [Role::Doer, Role::Judge] {
        let layered = context.layers_on(pristine.clone(), role)?;
        layered.layers.make().map_err(git_fault)?;
        layered.put_sign(context)?;
    }
    ensure(&context.overlay_dir().join(MARK), format!("{}\n", base.tree).as_bytes())?;
    Ok(Ok(true))
}

impl Layered {
    /// What the child of a step has to mount.
    pub(crate) fn mount(&self) -> OverlayMount {
        OverlayMount {
            place: self.place.clone(),
            lower: self.layers.lower(&self.pristine),
            upper: self.layers.upper(),
            work: self.layers.work(),
        }
    }

    fn put_sign(&self, context: &RunContext) -> Result<(), Fault> {
        let place = &self.place;
        std::fs::create_dir_all(place).map_err(|error| file_fault("make the directory", place, &error))?;
        let text = format!(
            "Whoever works for this run sees a directory of layers here, and nobody else does.\n\n\
             windlass checkout {run}     a worktree of what was last captured\n\
             windlass take-over {run}    go on by hand with what is there now\n\n\
             What was changed lies in {upper}\n",
            run = context.run,
            upper = self.layers.upper().display(),
        );
        ensure(&place.join(SIGN), text.as_bytes())
    }

    /// Somebody may have taken the place away, or put something else there.
    fn stand_ready(&self, context: &RunContext) -> Result<(), Fault> {
        if crate::foreign::is_real_directory(&self.place) {
            return Ok(());
        }
        if self.place.symlink_metadata().is_ok() {
            let name = Path::new("worktrees").join(self.place.file_name().unwrap_or_default());
            crate::foreign::ForeignShelf::of(context).take(&self.place, &name)?;
        }
        self.put_sign(context)
    }

    /// A repository that somebody made in the place of the file that names the git directory: it is in no tree.
    fn shelve_own_repository(&self, context: &RunContext) -> Result<(), Fault> {
        let dot_git = self.layers.upper().join(".git");
        if !crate::foreign::is_real_directory(&dot_git) {
            return Ok(());
        }
        let place = Path::new("worktrees").join(self.place.file_name().unwrap_or_default());
        crate::foreign::ForeignShelf::of(context).take(&dot_git, &place.join(".git")).map(drop)
    }

    /// For a maker, who goes on with what was left. Comes back with what git writes.
    pub(crate) fn go_on(&self, context: &RunContext) -> Result<Vec<PathBuf>, Fault> {
        self.stand_ready(context)?;
        self.layers.make().map_err(git_fault)?;
        self.shelve_own_repository(context)?;
        let branch = &context.spec.place().doer_branch;
        let standing = Standing::AsLeft { branch, pristine: &self.pristine };
        let place = (self.apart.as_path(), &self.layers);
        context.repository.set_apart_in_layers(&self.worktree, place, &standing).map_err(git_fault)
    }

    /// For checkers, who see exactly this tree, with git inside showing the change against the base.
    pub(crate) fn show(&self, context: &RunContext, tree: &TreeId) -> Result<(), Fault> {
        self.stand_ready(context)?;
        let tree = git_tree(tree)?;
        let commit = git_commit(&context.spec.place().base)?;
        let repository = &context.repository;
        repository.show_in_layers(&self.layers, &self.pristine, &tree).map_err(git_fault)?;
        let standing = Standing::At { commit: &commit, pristine: &self.pristine, tree: &tree };
        let place = (self.apart.as_path(), &self.layers);
        repository.set_apart_in_layers(&self.worktree, place, &standing).map(drop).map_err(git_fault)
    }

    /// What was changed since `tree` was shown, or was the base.
    pub(crate) fn changes(
        &self,
        context: &RunContext,
        (role, tree): (Role, &windlass_git_workspaces::TreeId),
        limits: SnapshotLimits,
    ) -> Result<Snapshot, GitError> {
        let place = (&self.layers, &self.pristine);
        context.repository.snapshot_layers(place, &context.index_key(role), tree, limits)
    }

    /// Whether git inside still stands where [`Self::show`] left it.
    pub(crate) fn stands_at(&self, context: &RunContext, commit: &windlass_git_workspaces::CommitId) -> bool {
        let place = (self.apart.as_path(), &self.layers);
        context.repository.layers_stand_at(&self.worktree, place, commit)
    }
}

/// Makes an ordinary worktree of the maker's layers and takes the layers away: from now on the run works in worktrees. What the
/// checkers saw can be shown again and goes, with what they or the checks made there: the next look would have cleared it.
/// Nothing where the run has no layers; refused, with the layers untouched, where something in them cannot be taken along.
pub(crate) fn unfold(context: &RunContext) -> Result<Result<(), GitError>, Fault> {
    let Some(maker) = context.layered(Role::Doer)? else { return remove_rest(context).map(Ok) };
    maker.shelve_own_repository(context)?;
    let base = Commit { id: git_commit(&context.spec.place().base)?, tree: maker.pristine.tree().clone() };
    let unfolded = Unfolded {
        layers: &maker.layers,
        base: &base,
        branch: &context.spec.place().doer_branch,
        key: &context.index_key(Role::Doer),
        apart: &maker.apart,
    };
    match context.repository.unfold(&maker.place, &[SIGN], &unfolded) {
        Ok(_) => {}
        Err(error @ GitError::NotUnfolded { .. }) => return Ok(Err(error)),
        Err(error) => return Err(git_fault(error)),
    }
    if let Some(checkers) = context.layered(Role::Judge)? {
        let sign = checkers.place.join(SIGN);
        let _ = std::fs::remove_file(sign);
        // One in which somebody put something stays, and is told of as any worktree that is not ours.
        let _ = std::fs::remove_dir(&checkers.place);
    }
    let mark = context.overlay_dir().join(MARK);
    std::fs::remove_file(&mark).map_err(|error| file_fault("remove", &mark, &error))?;
    remove_rest(context).map(Ok)
}

/// What an unfolding that was cut off left.
fn remove_rest(context: &RunContext) -> Result<(), Fault> {
    Layers::at(&context.overlay_dir()).remove().map_err(git_fault)
}
