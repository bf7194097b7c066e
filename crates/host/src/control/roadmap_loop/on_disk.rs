//! The control plane's files as they lie in the user's checkout: which there are, what each says, and of which kind the
//! plane is. Reads plain files only; nothing is written here and no git is asked.

use std::path::{Path, PathBuf};
use windlass_artifact_formats::goal_loop::Recognised;
use windlass_artifact_formats::roadmap_loop::plane::names::{PLANE_DIR, history_file};
use windlass_artifact_formats::roadmap_loop::plane::{
    ActiveBundle, BundleTexts, Generation, PlaneKind, STATE_FILE, StateFile,
};
use windlass_artifact_formats::roadmap_loop::scaffold::{IGNORE_FILE, ignores_worktrees};

/// No honest file of a plane is larger; what is larger is not read.
const MAX_BYTES: u64 = 8 * 1024 * 1024;

pub(crate) struct OnDisk {
    top: PathBuf,
    /// From the top of the repository, sorted; the rounds' worktrees are left out.
    pub(crate) files: Vec<String>,
    /// Whether there is something under the plane's name at all.
    pub(crate) exists: bool,
}

/// The texts of a bundle, owned.
pub(crate) struct Bundle {
    pub(crate) generation: Generation,
    pub(crate) active: ActiveBundle,
    roadmap: String,
    view: Option<String>,
    history: Option<String>,
}

impl Bundle {
    pub(crate) fn texts(&self) -> BundleTexts<'_> {
        BundleTexts {
            generation: self.generation,
            bundle: &self.active,
            roadmap: &self.roadmap,
            view: self.view.as_deref(),
            history: self.history.as_deref(),
        }
    }
}

impl OnDisk {
    pub(crate) fn look(top: &Path) -> Self {
        let plane = top.join(PLANE_DIR);
        let mut files = Vec::new();
        let exists = plane.symlink_metadata().is_ok();
        list(&plane, PLANE_DIR, &mut files);
        files.sort();
        Self { top: top.to_owned(), files, exists }
    }

    /// Whether there is room for a plane: nothing is there under its name, or an empty folder.
    pub(crate) fn is_free(&self) -> bool {
        !self.exists || (self.files.is_empty() && self.no_folder().is_none() && !self.has(STATE_FILE))
    }

    /// Something else has the plane's name.
    pub(crate) fn no_folder(&self) -> Option<String> {
        let plane = self.top.join(PLANE_DIR).symlink_metadata();
        let other = plane.is_ok_and(|found| !found.is_dir());
        other.then(|| format!("{PLANE_DIR} is there and is no folder, so no control plane can be in it"))
    }

    /// The text of a file, or why it cannot be read; nothing where there is no such file.
    pub(crate) fn text(&self, path: &str) -> Result<Option<String>, String> {
        let full = self.top.join(path);
        let Ok(found) = full.symlink_metadata() else { return Ok(None) };
        if !found.is_file() {
            return Err(format!("{path} is no plain file"));
        }
        if found.len() > MAX_BYTES {
            return Err(format!("{path} is larger than {MAX_BYTES} bytes"));
        }
        let bytes = std::fs::read(&full).map_err(|error| format!("{path} cannot be read: {error}"))?;
        String::from_utf8(bytes).map(Some).map_err(|error| {
            format!("{path} is not UTF-8: invalid byte at offset {}", error.utf8_error().valid_up_to())
        })
    }

    pub(crate) fn has(&self, path: &str) -> bool {
        self.top.join(path).symlink_metadata().is_ok()
    }

    /// The state as it was recognised; nothing where there is none.
    pub(crate) fn state(&self) -> Result<Option<Recognised<StateFile>>, String> {
        Ok(self.text(STATE_FILE)?.map(|text| StateFile::recognise(&text)))
    }

    pub(crate) fn kind(&self, state: &Recognised<StateFile>) -> PlaneKind {
        let files: Vec<&str> = self.files.iter().map(String::as_str).collect();
        let bundle = match state {
            Recognised::Ours(state) => state.bundle(),
            Recognised::Foreign(_) | Recognised::Invalid(_) => None,
        };
        let roadmap =
            bundle.and_then(|bundle| self.text(&format!("{}/roadmap.md", bundle.dir)).ok().flatten());
        PlaneKind::of(state, &files, roadmap.as_deref())
    }

    pub(crate) fn bundle(&self, generation: Generation, active: &ActiveBundle) -> Result<Bundle, String> {
        let at = |name: &str| self.text(&format!("{}/{name}", active.dir));
        let missing = || format!("{}/roadmap.md is required and missing", active.dir);
        Ok(Bundle {
            generation,
            roadmap: at("roadmap.md")?.ok_or_else(missing)?,
            view: if generation == Generation::Records { at("roadmap-view.json")? } else { None },
            history: self.text(&history_file(&active.roadmap_id))?,
            active: active.clone(),
        })
    }

    pub(crate) fn ignores_worktrees(&self) -> bool {
        let rules = |path: &str| self.text(path).ok().flatten();
        ignores_worktrees(rules(".gitignore").as_deref(), rules(IGNORE_FILE).as_deref())
    }

    /// Names directly below a folder of the plane.
    pub(crate) fn names_under(&self, folder: &str) -> Vec<&str> {
        let start = format!("{PLANE_DIR}/{folder}/");
        let mut names: Vec<&str> =
            self.files.iter().filter_map(|path| path.strip_prefix(&start)?.split('/').next()).collect();
        names.dedup();
        names
    }
}

/// Links are not followed: what they lead to is not part of the plane.
fn list(directory: &Path, name: &str, files: &mut Vec<String>) {
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        let Ok(kind) = entry.file_type() else { continue };
        let Some(own) = entry.file_name().to_str().map(|own| format!("{name}/{own}")) else { continue };
        if !kind.is_dir() {
            files.push(own);
        } else if own != format!("{PLANE_DIR}/worktrees") {
            list(&entry.path(), &own, files);
        }
    }
}
