//! The section "Sensors" of a flat controller file: the only place where that dialect keeps targets and priorities.

use crate::markdown::{headings, section};

/// One sensor as a controller file lists it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SensorEntry {
    pub name: String,
    pub priority: Option<String>,
    pub output_file: Option<String>,
    pub target: Option<String>,
}

/// The sensors a controller's text lists, in its order. Empty where it has no such section.
pub fn sensor_entries(body: &str) -> Vec<SensorEntry> {
    let Some(list) =
        section(body, |heading| heading.level == 2 && heading.is("Sensors"), |heading| heading.level <= 2)
    else {
        return Vec::new();
    };
    let headings: Vec<_> = headings(list).into_iter().filter(|heading| heading.level == 3).collect();
    let ends = headings.iter().skip(1).map(|heading| heading.line_start).chain([list.len()]);
    headings
        .iter()
        .zip(ends)
        .filter_map(|(heading, end)| {
            let (name, priority) = title(heading.title)?;
            let content = &list[heading.content_start..end];
            Some(SensorEntry {
                name,
                priority,
                output_file: bullet(content, "Output file"),
                target: bullet(content, "Target"),
            })
        })
        .collect()
}

/// `2. lint (priority: medium)`
fn title(title: &str) -> Option<(String, Option<String>)> {
    let numbered = title.trim_start_matches(|letter: char| letter.is_ascii_digit());
    let title = numbered.strip_prefix(['.', ')']).map_or(title, str::trim_start);
    let (name, priority) = match title.rsplit_once('(') {
        Some((name, rest)) => {
            let inner = rest.trim_end().trim_end_matches(')');
            let priority = inner
                .trim()
                .strip_prefix("priority")
                .map(|rest| rest.trim_start_matches(':').trim().to_owned());
            if priority.is_some() { (name, priority) } else { (title, None) }
        }
        None => (title, None),
    };
    let name = name.trim().trim_matches('`').to_owned();
    (!name.is_empty()).then_some((name, priority.filter(|priority| !priority.is_empty())))
}

/// `- **Target:** all tests pass`, with the colon inside or outside the stars or without stars.
fn bullet(content: &str, label: &str) -> Option<String> {
    content.lines().find_map(|line| {
        let item = line.trim().strip_prefix(['-', '*'])?.trim_start().trim_start_matches('*');
        let start = item.get(..label.len()).filter(|start| start.eq_ignore_ascii_case(label))?;
        let value = item[start.len()..].trim_start_matches([':', '*']).trim();
        let value = value
            .strip_prefix('`')
            .and_then(|rest| rest.strip_suffix('`'))
            .filter(|inner| !inner.contains('`'))
            .unwrap_or(value);
        (!value.is_empty()).then(|| value.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_priorities_files_and_targets_are_read() {
        let body = "# Controller\n\n## Sensors\n\nWords.\n\n### 1. unit-tests (priority: high)\n- **Output file:** `.ai-loop/sensor-unit-tests-output.md`\n\
                    - **Target:** `cargo test` ends with no failure\n\n### 2. size (in kB) (priority: low)\n* Target: at most 400\n\n### lint\n\n## Rules\n### 9. not a sensor\n";
        let entries = sensor_entries(body);
        let names: Vec<_> = entries.iter().map(|entry| entry.name.as_str()).collect();
        assert_eq!(names, ["unit-tests", "size (in kB)", "lint"]);
        assert_eq!(entries[0].priority.as_deref(), Some("high"));
        assert_eq!(entries[0].output_file.as_deref(), Some(".ai-loop/sensor-unit-tests-output.md"));
        assert_eq!(entries[0].target.as_deref(), Some("`cargo test` ends with no failure"));
        assert_eq!(entries[1].target.as_deref(), Some("at most 400"));
        assert_eq!(
            entries[2],
            SensorEntry { name: "lint".to_owned(), priority: None, output_file: None, target: None }
        );
        assert_eq!(sensor_entries("no such section"), []);
    }
}
