//! A directory of planning files, read from disk. What the files mean, and what is wrong with them, is known to
//! `artifact-formats`; nothing is sent while something would be lost.

use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use windlass_artifact_formats::story_queue::{PlanningImport, Renumbering, import_of_planning_files};
use windlass_control_api::{Code, Fault};

/// More problems than this are counted, not told.
const MOST_TOLD: usize = 20;

/// What is sent, and what is told of it afterwards: how many files were read, and which ids got another number than they
/// say, for a queue's numbers have two parts.
pub(super) fn payload(
    directory: &Path,
    project: Option<&str>,
    mapping: &[String],
) -> Result<(Value, Value), Fault> {
    let mut decided = Vec::new();
    for one in mapping {
        let (old, new) = one.split_once('=').ok_or_else(|| {
            Fault::new(Code::BadArgument, format!("`{one}` does not say OLD=NEW"))
                .hint("such as US-7.4.2=7.42")
        })?;
        decided.push((old.to_owned(), new.to_owned()));
    }
    let mut files = Vec::new();
    collect(directory, directory, &mut files)?;
    if files.is_empty() {
        let message = format!("{} holds no planning files (us_*.json)", directory.display());
        return Err(Fault::new(Code::BadArgument, message));
    }
    let read = files.iter().map(|(path, text)| (path.as_str(), text.as_str()));
    let import = import_of_planning_files(read, &Renumbering::new(decided));
    if !import.report.is_whole() {
        return Err(problems(&import, files.len(), (directory, project), mapping));
    }
    let renumbered = import.report.renumbered.iter();
    let renumbered: Value =
        renumbered.map(|(id, number)| json!({ "id": id, "number": number })).collect::<Vec<_>>().into();
    Ok((import.payload, json!({ "files_read": files.len(), "renumbered": renumbered })))
}

/// Paths are told below the directory, as the report names them.
fn collect(root: &Path, folder: &Path, files: &mut Vec<(String, String)>) -> Result<(), Fault> {
    let cannot = |path: &Path, error: std::io::Error| {
        Fault::new(Code::BadArgument, format!("cannot read {}: {error}", path.display()))
    };
    for entry in std::fs::read_dir(folder).map_err(|error| cannot(folder, error))? {
        let entry = entry.map_err(|error| cannot(folder, error))?;
        let path = entry.path();
        let kind = entry.file_type().map_err(|error| cannot(&path, error))?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let is_meant = name.starts_with("us_") && path.extension().is_some_and(|end| end == "json");
        if kind.is_dir() {
            collect(root, &path, files)?;
        } else if kind.is_symlink() && (is_meant || path.is_dir()) {
            let message =
                format!("{} is a symbolic link, and where it leads is not looked at", path.display());
            return Err(Fault::new(Code::BadArgument, message)
                .kept("nothing was sent, and no file was changed")
                .hint("put what it leads to in its place, or move it out of the directory"));
        } else if kind.is_file() && is_meant {
            let text = std::fs::read_to_string(&path).map_err(|error| cannot(&path, error))?;
            let below = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().into_owned();
            // Some editors put a mark before the text.
            files.push((below, text.trim_start_matches('\u{feff}').to_owned()));
        }
    }
    Ok(())
}

/// What was found, by number and file, and the command that takes what can be taken.
fn problems(
    import: &PlanningImport,
    files: usize,
    (directory, project): (&Path, Option<&str>),
    mapping: &[String],
) -> Fault {
    let report = &import.report;
    let twice = report
        .duplicates
        .iter()
        .map(|one| format!("{} stands in {} and in {}", one.number, one.taken, one.left_out));
    let unnumbered =
        report.unmapped.iter().map(|one| format!("`{}` in {} is no number of two parts", one.id, one.path));
    let dangling = report
        .dangling
        .iter()
        .map(|one| format!("{} waits for {}, which is not there", one.story, one.depends_on));
    let unreadable = report.unreadable.iter().map(|one| format!("{}: {}", one.path, one.why));
    let found = [
        told(report.duplicates.len(), "number stands twice", "numbers stand twice", twice),
        told(report.unmapped.len(), "id has no number", "ids have no number", unnumbered),
        told(report.dangling.len(), "dependency leads nowhere", "dependencies lead nowhere", dangling),
        told(report.unreadable.len(), "file cannot be used", "files cannot be used", unreadable),
    ];
    let found: Vec<String> = found.into_iter().flatten().collect();
    let message = format!("{files} planning files were read, and {}", found.join("; "));
    let mut fault = Fault::new(Code::StoryRefused, message).kept("nothing was sent, and no file was changed");
    let chosen = numbers_for(import);
    if !chosen.is_empty() {
        let given = mapping.iter().chain(&chosen).map(|one| format!(" --map {one}"));
        let project = project.map(|project| format!(" --project {project}")).unwrap_or_default();
        let given: String = given.collect();
        let command = format!("windlass story import {}{project}{given}", directory.display());
        fault = fault.hint(format!("these numbers are free: `{command}`"));
    }
    if !report.dangling.is_empty() {
        fault =
            fault.hint("mend `dependencies` in those files, or put the files of what is missing beside them");
    }
    if !report.unreadable.is_empty() {
        fault = fault.hint("mend those files, or move them out of the directory");
    }
    fault
}

/// `2 numbers stand twice: …`; beyond twenty the others are counted.
fn told(count: usize, one: &str, several: &str, rows: impl Iterator<Item = String>) -> Option<String> {
    let mut rows: Vec<String> = rows.take(MOST_TOLD).collect();
    if count > MOST_TOLD {
        rows.push(format!("and {} more", count - MOST_TOLD));
    }
    let word = if count == 1 { one } else { several };
    (count > 0).then(|| format!("{count} {word}: {}", rows.join(", ")))
}

/// For each file that got no number of its own: one behind the last that somebody wrote in the same part of the plan.
fn numbers_for(import: &PlanningImport) -> Vec<String> {
    let written = import.payload["epics"].as_array().into_iter().flatten();
    let written = written.flat_map(|epic| epic["stories"].as_array().into_iter().flatten());
    let mut last: BTreeMap<String, u32> = BTreeMap::new();
    for number in written.filter_map(|story| story["number"].as_str()) {
        let (major, minor) = number.split_once('.').unwrap_or((number, "0"));
        let minor = minor.parse().unwrap_or(0);
        let known = last.entry(major.to_owned()).or_insert(0);
        *known = minor.max(*known);
    }
    let mut free = |number: &str| {
        let major: String = number.chars().skip_while(|sign| !sign.is_ascii_digit()).collect();
        let major: String = major.chars().take_while(char::is_ascii_digit).collect();
        let minor = last.entry(major.clone()).or_insert(0);
        *minor += 1;
        (!major.is_empty() && *minor <= 9999).then(|| format!("{major}.{minor}"))
    };
    let report = &import.report;
    let twice = report.duplicates.iter().map(|one| (&one.left_out, &one.number));
    let unnumbered = report.unmapped.iter().map(|one| (&one.path, &one.id));
    let chosen = twice.chain(unnumbered).take(MOST_TOLD);
    chosen.filter_map(|(path, number)| Some(format!("{path}={}", free(number)?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn story(id: &str) -> String {
        format!(
            r#"{{"id": "{id}", "title": "A", "epic": {{"id": 1, "name": "E"}}, "acceptance_criteria": []}}"#
        )
    }

    fn write(root: &Path, name: &str, text: &str) {
        std::fs::create_dir_all(root.join(name).parent().unwrap()).unwrap();
        std::fs::write(root.join(name), text).unwrap();
    }

    #[test]
    fn a_number_that_stands_twice_is_told_with_both_files_and_with_one_that_is_free() {
        let root = tempfile::tempdir().unwrap();
        write(root.path(), "epic_1/us_1.1.json", &story("US-1.1"));
        write(root.path(), "epic_1/us_1.1_again.json", &story("US-1.1"));
        write(root.path(), "epic_1/us_1.2.json", &story("US-1.2"));
        write(root.path(), "epic_1/notes.json", "no story");

        let fault = payload(root.path(), Some("app"), &[]).unwrap_err();
        let found = "3 planning files were read, and 1 number stands twice: 1.1 stands in epic_1/us_1.1.json and in \
                     epic_1/us_1.1_again.json";
        assert_eq!(fault.message, found);
        let hint = fault.hints.join(" ");
        assert!(hint.contains(" --project app --map epic_1/us_1.1_again.json=1.3`"), "{hint}");

        let mapping = ["epic_1/us_1.1_again.json=1.3".to_owned()];
        let (payload, taken) = payload(root.path(), None, &mapping).unwrap();
        assert_eq!(payload["epics"][0]["stories"].as_array().unwrap().len(), 3);
        assert_eq!(taken["renumbered"], json!([{ "id": "US-1.1", "number": "1.3" }]));
    }

    #[test]
    fn a_number_of_three_parts_is_told_with_the_one_it_got() {
        let root = tempfile::tempdir().unwrap();
        write(root.path(), "us_1.2.3.json", &story("US-1.2.3"));
        let (payload, taken) = payload(root.path(), None, &[]).unwrap();
        let number = &payload["epics"][0]["stories"][0]["number"];
        assert_eq!(taken, json!({ "files_read": 1, "renumbered": [{ "id": "US-1.2.3", "number": number }] }));
    }

    #[test]
    fn every_kind_of_problem_is_counted_named_and_has_a_way_out() {
        let root = tempfile::tempdir().unwrap();
        write(root.path(), "us_1.json", &story("US-1.2.3.4"));
        write(root.path(), "us_2.json", "{");
        let waits = story("US-1.1").replace("\"title\"", "\"dependencies\": [\"US-9.9\"], \"title\"");
        write(root.path(), "us_3.json", &waits);

        let fault = payload(root.path(), None, &[]).unwrap_err();
        for words in [
            "3 planning files were read",
            "1 id has no number: `US-1.2.3.4` in us_1.json",
            "1 dependency leads nowhere: 1.1 waits for US-9.9",
            "1 file cannot be used: us_2.json: it is not JSON",
        ] {
            assert!(fault.message.contains(words), "{words} in {fault}");
        }
        assert_eq!(fault.kept, "nothing was sent, and no file was changed");
        let hints = fault.hints.join("\n");
        for words in ["--map us_1.json=1.2`", "`dependencies`", "mend those files"] {
            assert!(hints.contains(words), "{words} in {hints}");
        }
    }

    #[test]
    fn a_mark_before_the_text_is_no_part_of_it_and_a_link_is_never_passed_over() {
        let root = tempfile::tempdir().unwrap();
        write(root.path(), "us_1.1.json", &format!("\u{feff}{}", story("US-1.1")));
        let (whole, _) = payload(root.path(), None, &[]).unwrap();
        assert_eq!(whole["epics"][0]["stories"][0]["number"], "1.1");

        std::os::unix::fs::symlink(root.path().join("us_1.1.json"), root.path().join("us_1.2.json")).unwrap();
        let fault = payload(root.path(), None, &[]).unwrap_err();
        assert!(fault.message.contains("us_1.2.json is a symbolic link"), "{fault}");
    }

    #[test]
    fn a_directory_without_planning_files_is_refused() {
        let root = tempfile::tempdir().unwrap();
        assert_eq!(payload(root.path(), None, &[]).unwrap_err().code, Code::BadArgument);
    }
}
