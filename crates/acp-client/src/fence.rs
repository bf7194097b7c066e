//! What an agent is allowed when it asks. Agents that do not ask are held by the sandbox around this process; here it is
//! decided for those that do. Symbolic links are followed before a path is judged.

use std::path::{Component, Path, PathBuf};

use serde_json::{Value, json};
use windlass_agent_drivers::{Access, AcpCall};

#[derive(Debug)]
pub(crate) struct Fence {
    access: Access,
    workspace: PathBuf,
    /// Resolved; what is below one of these may be written.
    writable: Vec<PathBuf>,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Ruling {
    Allowed,
    Refused { reason: String },
}

/// Files that every command writes to without leaving anything.
const HARMLESS: [&str; 4] = ["/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty"];

impl Fence {
    pub(crate) fn new(access: Access, workspace: &Path, outbox: Option<&Path>) -> Self {
        let writable = std::iter::once(workspace).chain(outbox).filter_map(resolved).collect();
        Self { access, workspace: workspace.to_owned(), writable }
    }

    pub(crate) fn rule(&self, call: &AcpCall) -> Ruling {
        let kind = call.kind();
        if matches!(kind, "read" | "search" | "think") {
            return Ruling::Allowed;
        }
        let title = call.title();
        if self.access == Access::ReadOnly {
            return Ruling::Refused { reason: format!("this step may only read, not {kind}: {title}") };
        }
        match call.paths().find(|path| !self.may_write(path)) {
            Some(path) => Ruling::Refused { reason: format!("{path} is outside the workspace: {title}") },
            None => Ruling::Allowed,
        }
    }

    fn may_write(&self, path: &str) -> bool {
        let path = path.strip_prefix("file://").unwrap_or(path);
        if HARMLESS.contains(&path) {
            return true;
        }
        // A shell would read this as somebody's home.
        if path.starts_with('~') {
            return false;
        }
        resolved(&self.workspace.join(path))
            .is_some_and(|path| self.writable.iter().any(|place| path.starts_with(place)))
    }
}

/// The place a path leads to, whether or not there is something yet. `None` where it leads through a link to nowhere:
/// whoever writes there makes a file that this could not foresee.
fn resolved(path: &Path) -> Option<PathBuf> {
    let mut place = PathBuf::from("/");
    for component in path.components() {
        match component {
            Component::Normal(name) => {
                place.push(name);
                if place.symlink_metadata().is_ok() {
                    place = place.canonicalize().ok()?;
                }
            }
            Component::ParentDir => {
                place.pop();
            }
            Component::RootDir | Component::CurDir | Component::Prefix(_) => {}
        }
    }
    Some(place)
}

/// The answer to a request for permission. Only ever for this once, so that the next call is asked for again.
pub(crate) fn answer(ruling: &Ruling, options: &Value) -> Value {
    let wanted: &[&str] = match ruling {
        Ruling::Allowed => &["allow_once", "reject_once", "reject_always"],
        Ruling::Refused { .. } => &["reject_once", "reject_always"],
    };
    let options = options.as_array().map(Vec::as_slice).unwrap_or_default();
    let chosen = wanted.iter().find_map(|kind| options.iter().find(|option| option["kind"] == *kind));
    match chosen.and_then(|option| option.get("optionId")) {
        Some(option) => json!({ "outcome": { "outcome": "selected", "optionId": option } }),
        None => cancelled(),
    }
}

/// The answer once the turn is being cancelled.
pub(crate) fn cancelled() -> Value {
    json!({ "outcome": { "outcome": "cancelled" } })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use windlass_agent_drivers::AcpUpdates;

    use super::*;

    struct Place {
        folder: tempfile::TempDir,
    }

    impl Place {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            for name in ["work", "work/deep", "out", "elsewhere"] {
                std::fs::create_dir(folder.path().join(name)).unwrap();
            }
            Self { folder }
        }

        fn path(&self, name: &str) -> String {
            self.folder.path().join(name).to_str().unwrap().to_owned()
        }

        fn rule(&self, access: Access, kind: &str, path: Option<&str>) -> Ruling {
            let (work, out) = (self.folder.path().join("work"), self.folder.path().join("out"));
            let mut updates = AcpUpdates::default();
            let locations: Vec<Value> = path.iter().map(|path| json!({ "path": path })).collect();
            updates
                .read_asked(&json!({"toolCallId": "t", "kind": kind, "title": "it", "locations": locations}));
            Fence::new(access, &work, Some(&out)).rule(updates.call("t").unwrap())
        }

        fn writes(&self, path: &str) -> bool {
            self.rule(Access::ReadWrite, "edit", Some(path)) == Ruling::Allowed
        }
    }

    #[test]
    fn a_writer_may_write_in_the_workspace_and_in_the_outbox_only() {
        let place = Place::new();
        for inside in ["work/new.txt", "work/deep/er/new.txt", "out/verdict.json", "work/../out/x", "work"] {
            assert!(place.writes(&place.path(inside)), "{inside}");
        }
        for relative in ["a.txt", "./deep/a.txt", "deep/../a.txt", "/dev/null"] {
            assert!(place.writes(relative), "{relative}");
        }
        for outside in ["elsewhere/x", "work/../elsewhere/x", "workshop/x", ""] {
            assert!(!place.writes(&place.path(outside)), "{outside}");
        }
        for relative in ["../elsewhere/x", "new/../../x", "~/.profile", "/", "/etc/passwd"] {
            assert!(!place.writes(relative), "{relative}");
        }
        assert!(place.writes(&format!("file://{}", place.path("work/a"))));
    }

    #[test]
    fn a_link_is_judged_by_where_it_leads() {
        let place = Place::new();
        symlink(place.path("elsewhere"), place.path("work/door")).unwrap();
        symlink(place.path("elsewhere/not-yet"), place.path("work/dangling")).unwrap();
        symlink(place.path("work"), place.path("elsewhere/back")).unwrap();
        assert!(!place.writes("door/x"));
        assert!(!place.writes("dangling"));
        assert!(place.writes(&place.path("elsewhere/back/x")));
    }

    #[test]
    fn every_kind_of_call_has_its_ruling() {
        let place = Place::new();
        let allowed = |access, kind, path| place.rule(access, kind, path) == Ruling::Allowed;
        for kind in ["read", "search", "think"] {
            assert!(allowed(Access::ReadOnly, kind, Some("/etc/passwd")), "{kind}");
            assert!(allowed(Access::ReadWrite, kind, Some("/etc/passwd")), "{kind}");
        }
        for kind in ["edit", "delete", "move", "execute", "other", "fetch", "switch_mode", "brand-new"] {
            assert!(!allowed(Access::ReadOnly, kind, Some("a.txt")), "{kind}");
            assert!(allowed(Access::ReadWrite, kind, Some("a.txt")), "{kind}");
            assert!(allowed(Access::ReadWrite, kind, None), "{kind}");
            assert!(!allowed(Access::ReadWrite, kind, Some("/etc/passwd")), "{kind}");
        }
    }

    #[test]
    fn a_refusal_says_what_was_asked_and_why_not() {
        let place = Place::new();
        let refused = |reason: &str| Ruling::Refused { reason: reason.to_owned() };
        assert_eq!(
            place.rule(Access::ReadWrite, "edit", Some("/etc/passwd")),
            refused("/etc/passwd is outside the workspace: it")
        );
        assert_eq!(
            place.rule(Access::ReadOnly, "execute", None),
            refused("this step may only read, not execute: it")
        );
    }

    #[test]
    fn the_answer_is_one_of_the_offered_options_and_never_for_good() {
        let option = |id: &str, kind: &str| json!({"optionId": id, "kind": kind, "name": id});
        let all = json!([
            option("A", "allow_always"),
            option("a", "allow_once"),
            option("R", "reject_always"),
            option("r", "reject_once")
        ]);
        let refused = Ruling::Refused { reason: String::new() };
        let selected = |id: &str| json!({"outcome": {"outcome": "selected", "optionId": id}});
        assert_eq!(answer(&Ruling::Allowed, &all), selected("a"));
        assert_eq!(answer(&refused, &all), selected("r"));
        let for_good = json!([option("A", "allow_always"), option("R", "reject_always")]);
        assert_eq!(answer(&Ruling::Allowed, &for_good), selected("R"));
        assert_eq!(answer(&refused, &for_good), selected("R"));
        assert_eq!(answer(&refused, &json!([option("a", "allow_once")])), cancelled());
        assert_eq!(answer(&Ruling::Allowed, &json!(null)), cancelled());
    }
}
