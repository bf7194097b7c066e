//! A directory of planning files, read from disk. What the files mean, and what is wrong with them, is known to
//! `artifact-formats`; nothing is sent while something would be lost.

use serde_json::{Value, json};
use std::path::Path;
use windlass_artifact_formats::story_queue::{PlanningReport, Renumbering, import_of_planning_files};
use windlass_control_api::{Code, Fault};

/// More problems than this are counted, not told.
const MOST_TOLD: usize = 20;

/// What is sent, and which ids got another number than they say: a queue's numbers have two parts.
pub(super) fn payload(directory: &Path, mapping: &[String]) -> Result<(Value, Value), Fault> {
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
        return Err(problems(&import.report));
    }
    let renumbered = import.report.renumbered.iter();
    let renumbered = renumbered.map(|(id, number)| json!({ "id": id, "number": number })).collect();
    Ok((import.payload, Value::Array(renumbered)))
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
        if kind.is_dir() {
            collect(root, &path, files)?;
        } else if kind.is_file()
            && name.starts_with("us_")
            && path.extension().is_some_and(|end| end == "json")
        {
            let text = std::fs::read_to_string(&path).map_err(|error| cannot(&path, error))?;
            let below = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().into_owned();
            files.push((below, text));
        }
    }
    Ok(())
}

fn problems(report: &PlanningReport) -> Fault {
    let mut told: Vec<String> = Vec::new();
    told.extend(report.unreadable.iter().map(|one| format!("{}: {}", one.path, one.why)));
    told.extend(
        report
            .duplicates
            .iter()
            .map(|one| format!("{} stands in {} and {}", one.number, one.taken, one.left_out)),
    );
    told.extend(
        report.unmapped.iter().map(|one| format!("{}: `{}` is no number of two parts", one.path, one.id)),
    );
    told.extend(
        report
            .dangling
            .iter()
            .map(|one| format!("{} waits for {}, which is not there", one.story, one.depends_on)),
    );
    let count = told.len();
    told.truncate(MOST_TOLD);
    if count > MOST_TOLD {
        told.push(format!("and {} more", count - MOST_TOLD));
    }
    let message = format!("the planning files cannot be taken as they are: {}", told.join("; "));
    Fault::new(Code::StoryRefused, message)
        .kept("nothing was sent")
        .hint("give a number for what stands twice or has none: `--map FILE=NUMBER`, `--map OLD=NEW`")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn story(id: &str) -> String {
        format!(
            r#"{{"id": "{id}", "title": "A", "epic": {{"id": 1, "name": "E"}}, "acceptance_criteria": []}}"#
        )
    }

    #[test]
    fn a_number_that_stands_twice_is_told_with_both_files_and_can_be_mapped() {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir(root.path().join("epic_1")).unwrap();
        std::fs::write(root.path().join("epic_1/us_1.1.json"), story("US-1.1")).unwrap();
        std::fs::write(root.path().join("epic_1/us_1.1_again.json"), story("US-1.1")).unwrap();
        std::fs::write(root.path().join("epic_1/notes.json"), "no story").unwrap();

        let fault = payload(root.path(), &[]).unwrap_err();
        assert!(fault.message.contains("1.1 stands in"), "{fault}");

        let mapping = ["epic_1/us_1.1_again.json=1.2".to_owned()];
        let (payload, _) = payload(root.path(), &mapping).unwrap();
        assert_eq!(payload["epics"][0]["stories"].as_array().unwrap().len(), 2);
    }

    #[test]
    fn a_number_of_three_parts_is_told_with_the_one_it_got() {
        let root = tempfile::tempdir().unwrap();
        std::fs::write(root.path().join("us_1.2.3.json"), story("US-1.2.3")).unwrap();
        let (payload, renumbered) = payload(root.path(), &[]).unwrap();
        let number = &payload["epics"][0]["stories"][0]["number"];
        assert_eq!(renumbered, json!([{ "id": "US-1.2.3", "number": number }]));
    }

    #[test]
    fn a_directory_without_planning_files_is_refused() {
        let root = tempfile::tempdir().unwrap();
        assert_eq!(payload(root.path(), &[]).unwrap_err().code, Code::BadArgument);
    }
}
