//! Sensors behind names of a repository's own: targets of a Makefile, recipes of a justfile, scripts. What they do is theirs.

use super::detect::{Found, sensor, text};
use super::setup::SetupFiles;

/// In the order in which they are worth measuring.
const NAMES: [&str; 4] = ["build", "test", "lint", "check"];

/// A Makefile's target is taken before a recipe, a recipe before a script: each may call the next.
pub(super) fn sensors(files: &dyn SetupFiles) -> Vec<Found> {
    let mut found: Vec<Found> = Vec::new();
    for sensor in make(files).into_iter().chain(just(files)).chain(scripts(files)) {
        if !found.iter().any(|other| other.name == sensor.name) {
            found.push(sensor);
        }
    }
    found
}

fn first_of(files: &dyn SetupFiles, names: &[&'static str]) -> Option<(&'static str, String)> {
    names.iter().find_map(|name| Some((*name, text(files, name)?)))
}

fn make(files: &dyn SetupFiles) -> Vec<Found> {
    let Some((file, text)) = first_of(files, &["GNUmakefile", "makefile", "Makefile"]) else {
        return Vec::new();
    };
    // `test: build` and `lint test: tools` are rules; `test := 1` is a variable.
    let targets: Vec<&str> = text
        .lines()
        .filter(|line| !line.starts_with(['\t', ' ', '#', '.']))
        .filter_map(|line| line.split_once(':').filter(|(_, rest)| !rest.starts_with('=')))
        .flat_map(|(targets, _)| targets.split_whitespace())
        .collect();
    let known = NAMES.into_iter().filter(|name| targets.contains(name));
    known.map(|name| sensor(name, format!("make {name}"), format!("the target `{name}` in {file}"))).collect()
}

fn just(files: &dyn SetupFiles) -> Vec<Found> {
    let Some((file, text)) = first_of(files, &["justfile", "Justfile", ".justfile"]) else {
        return Vec::new();
    };
    // `@test *flags: build` is a recipe without an echo; `test := 1` is a variable.
    let recipes: Vec<&str> = text
        .lines()
        .filter(|line| !line.starts_with(['\t', ' ', '#', '[']))
        .filter_map(|line| line.split_once(':').filter(|(_, rest)| !rest.starts_with('=')))
        .filter_map(|(recipe, _)| recipe.split_whitespace().next())
        .map(|name| name.trim_start_matches('@'))
        .collect();
    let known = NAMES.into_iter().filter(|name| recipes.contains(name));
    known.map(|name| sensor(name, format!("just {name}"), format!("the recipe `{name}` in {file}"))).collect()
}

/// Called through the shell that they name, for whether they may be executed is not known here.
fn scripts(files: &dyn SetupFiles) -> Vec<Found> {
    let script = |name: &str| {
        let file = format!("{name}.sh");
        let text = text(files, &file)?;
        let first = text.lines().next().unwrap_or_default();
        let shell = if first.starts_with("#!") && first.contains("bash") { "bash" } else { "sh" };
        Some(sensor(name, format!("{shell} {file}"), format!("the script {file}")))
    };
    NAMES.into_iter().filter_map(script).collect()
}
