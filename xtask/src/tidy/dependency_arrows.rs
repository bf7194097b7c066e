//! Which crate of ours may know which. Cargo refuses cycles; it does not refuse an arrow that points outwards.

use super::Finding;
use super::source_tree::SourceTree;

/// Folder under `crates/`, and the folders it may depend on.
const ARROWS: &[(&str, &[&str])] = &[
    ("protocols", &[]),
    ("crash-points", &[]),
    ("control-api", &[]),
    ("webhook-sender", &[]),
    ("agent-drivers", &["protocols"]),
    ("artifact-formats", &["protocols"]),
    ("engine", &["protocols"]),
    ("custody-proofs", &["engine", "protocols"]),
    ("journal", &["engine", "protocols", "crash-points"]),
    ("process-supervisor", &["crash-points"]),
    ("git-workspaces", &["process-supervisor", "crash-points"]),
    ("scripted-actor", &["agent-drivers", "process-supervisor"]),
    ("acp-client", &["agent-drivers", "process-supervisor"]),
    (
        "host",
        &[
            "agent-drivers",
            "artifact-formats",
            "control-api",
            "crash-points",
            "engine",
            "git-workspaces",
            "journal",
            "process-supervisor",
            "protocols",
            "webhook-sender",
        ],
    ),
    ("simulator", &["engine", "protocols"]),
    ("mcp-server", &["control-api"]),
    ("http-server", &["control-api"]),
    ("story-service", &["control-api", "custody-proofs", "engine", "journal", "protocols", "webhook-sender"]),
    (
        "cli",
        &[
            "acp-client",
            "artifact-formats",
            "control-api",
            "custody-proofs",
            "host",
            "http-server",
            "mcp-server",
            "process-supervisor",
            "scripted-actor",
            "story-service",
        ],
    ),
    ("test-support", &["process-supervisor"]),
];

/// What any crate's tests may use besides: the hermetic world, and the pure reader of the files they look at.
const FOR_TESTS: [&str; 2] = ["test-support", "artifact-formats"];

/// The package whose name is not its folder with the prefix.
const BINARY: (&str, &str) = ("windlass", "cli");

pub(super) fn arrows_point_inwards(tree: &SourceTree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.below("crates/") {
        let parts: Vec<&str> = file.path.split('/').collect();
        let &["crates", folder, "Cargo.toml"] = parts.as_slice() else {
            continue;
        };
        let Some((_, allowed)) = ARROWS.iter().find(|(name, _)| *name == folder) else {
            let message =
                "this crate has no line in the table of arrows: xtask/src/tidy/dependency_arrows.rs";
            findings.push(Finding::of_file(&file.path, message));
            continue;
        };
        match file.text.parse::<toml::Table>() {
            Ok(manifest) => findings.extend(outward_arrows(&manifest, allowed).into_iter().map(|target| {
                let message = format!("{folder} must not depend on {target}; arrows point inwards");
                Finding::of_file(&file.path, message)
            })),
            Err(error) => {
                findings.push(Finding::of_file(&file.path, format!("not TOML: {}", error.message())));
            }
        }
    }
    findings
}

fn outward_arrows(manifest: &toml::Table, allowed: &[&str]) -> Vec<String> {
    let targets = manifest.get("target").and_then(toml::Value::as_table);
    let platform_tables =
        targets.into_iter().flat_map(|table| table.values()).filter_map(toml::Value::as_table);
    let mut outward = Vec::new();
    for table in std::iter::once(manifest).chain(platform_tables) {
        for section in ["dependencies", "build-dependencies", "dev-dependencies"] {
            let for_tests = section == "dev-dependencies";
            let permitted = |name: &str| allowed.contains(&name) || (for_tests && FOR_TESTS.contains(&name));
            outward.extend(our_crates(table, section).into_iter().filter(|name| !permitted(name)));
        }
    }
    outward
}

/// Folders of our crates that the section names, also under another name.
fn our_crates(manifest: &toml::Table, section: &str) -> Vec<String> {
    let Some(dependencies) = manifest.get(section).and_then(toml::Value::as_table) else {
        return Vec::new();
    };
    let folder = |(key, value): (&String, &toml::Value)| {
        let package = value.get("package").and_then(toml::Value::as_str).unwrap_or(key);
        if package == BINARY.0 {
            return Some(BINARY.1.to_owned());
        }
        if package == "xtask" {
            return Some(package.to_owned());
        }
        package.strip_prefix("windlass-").map(str::to_owned)
    };
    dependencies.iter().filter_map(folder).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(folder: &str, manifest: &str) -> Vec<String> {
        let path = format!("crates/{folder}/Cargo.toml");
        let tree = SourceTree::with(&[(&path, manifest)]);
        arrows_point_inwards(&tree).into_iter().map(|finding| finding.message).collect()
    }

    #[test]
    fn an_arrow_in_the_table_is_fine() {
        assert!(
            check("engine", "[dependencies]\nwindlass-protocols.workspace = true\nserde = \"1\"").is_empty()
        );
        assert!(check("engine", "[dev-dependencies]\nwindlass-test-support.workspace = true").is_empty());
    }

    #[test]
    fn an_arrow_outwards_is_refused_in_every_section() {
        for section in
            ["dependencies", "build-dependencies", "dev-dependencies", "target.'cfg(unix)'.dependencies"]
        {
            let messages = check("engine", &format!("[{section}]\nwindlass-host.workspace = true"));
            assert_eq!(messages, ["engine must not depend on host; arrows point inwards"], "{section}");
        }
    }

    #[test]
    fn the_product_never_contains_what_is_for_tests() {
        assert_eq!(check("cli", "[dependencies]\nwindlass-test-support.workspace = true").len(), 1);
    }

    #[test]
    fn a_renamed_dependency_and_the_binary_are_recognised() {
        assert_eq!(check("engine", "[dependencies]\nx = { package = \"windlass-journal\" }").len(), 1);
        assert_eq!(check("host", "[dependencies]\nwindlass.workspace = true").len(), 1);
        assert_eq!(check("host", "[dependencies]\nxtask = { path = \"../../xtask\" }").len(), 1);
    }

    #[test]
    fn a_crate_that_nobody_thought_about_is_refused() {
        assert!(check("novelty", "[package]")[0].contains("no line in the table"));
    }

    #[test]
    fn the_table_itself_has_no_cycle() {
        // Every arrow goes to a crate that can be built before: take away, again and again, what needs nothing.
        let mut rest: Vec<_> = ARROWS.to_vec();
        while !rest.is_empty() {
            let names: Vec<&str> = rest.iter().map(|(name, _)| *name).collect();
            let before = rest.len();
            rest.retain(|(_, allowed)| allowed.iter().any(|name| names.contains(name)));
            assert!(rest.len() < before, "a cycle among {names:?}");
        }
    }
}
