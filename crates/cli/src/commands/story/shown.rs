//! What a verb found out, and how it is printed: as the queue's own JSON, as a table or block for a person, or as CSV.

use crate::output::{Fields, Output, Paint, Table, printable};
use clap::ValueEnum;
use serde_json::Value;

/// How answers are printed
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum StoryFormat {
    Json,
    Human,
    Csv,
}

pub(super) struct Shown {
    value: Value,
    shape: Shape,
}

/// Heading and field; a dot goes one level down.
pub(super) type Columns = &'static [(&'static str, &'static str)];

enum Shape {
    Rows(Columns),
    /// The thing in the answer, field by field.
    Thing,
    /// One text of the answer as it is, such as a prompt.
    Text(&'static str),
    /// A sentence for a person; programs get the value.
    Said(String),
}

pub(super) const STORIES: Columns =
    &[("STORY", "number"), ("WORK", "agent_status"), ("PROOF", "verified_status"), ("TITLE", "title")];

impl Shown {
    pub(super) fn rows(value: Value, columns: Columns) -> Self {
        Self { value, shape: Shape::Rows(columns) }
    }

    pub(super) fn thing(value: Value) -> Self {
        Self { value, shape: Shape::Thing }
    }

    pub(super) fn text(value: Value, field: &'static str) -> Self {
        Self { value, shape: Shape::Text(field) }
    }

    pub(super) fn said(value: Value, sentence: impl Into<String>) -> Self {
        Self { value, shape: Shape::Said(sentence.into()) }
    }

    pub(super) fn print(&self, format: StoryFormat, output: &mut Output) {
        match format {
            StoryFormat::Json => output.document(&self.value),
            StoryFormat::Human => self.print_for_a_person(output),
            StoryFormat::Csv => self.print_csv(output),
        }
    }

    fn print_for_a_person(&self, output: &mut Output) {
        match &self.shape {
            Shape::Rows(columns) => self.print_table(columns, output),
            Shape::Thing => {
                let mut fields = Fields::new(output.look());
                let thing = crate::stories::found(&self.value);
                collect(thing, &mut fields);
                // What stands beside the thing, such as a key that is shown once.
                let beside = self.value.as_object().filter(|_| !std::ptr::eq(thing, &raw const self.value));
                for (name, value) in beside.into_iter().flatten() {
                    if !value.is_object() && !value.is_array() {
                        fields.add(&name.replace('_', " "), cell(value));
                    }
                }
                for line in fields.lines() {
                    output.line(line);
                }
                self.print_next_steps(output);
            }
            Shape::Text(field) => match at(crate::stories::found(&self.value), field) {
                Value::String(text) => output.line(text.trim_end()),
                other => output.line(cell(other)),
            },
            Shape::Said(sentence) => {
                output.line(sentence);
                self.print_next_steps(output);
            }
        }
    }

    fn print_table(&self, columns: Columns, output: &mut Output) {
        let rows = rows_of(&self.value);
        if rows.is_empty() {
            output.talk("nothing");
            return;
        }
        let headings: Vec<&str> = columns.iter().map(|(heading, _)| *heading).collect();
        let mut table = Table::new(output.look(), &headings);
        for row in &rows {
            table.row(columns.iter().map(|(_, field)| cell(at(row, field))).collect());
        }
        for line in table.lines() {
            output.line(line);
        }
        self.print_what_is_left_out(&rows, output);
    }

    /// Nobody takes a part of a list for the whole.
    fn print_what_is_left_out(&self, rows: &[&Value], output: &mut Output) {
        if self.value["has_more"] == true
            && let Some(next) = self.value["next_since"].as_str()
        {
            output.talk(format!("{} shown, and there is more: `--since {next}` goes on", rows.len()));
        }
        if let Some(total) = self.value.pointer("/meta/total_count").and_then(Value::as_u64)
            && total > rows.len() as u64
        {
            output.talk(format!("{} of {total}; `--page` shows the others", rows.len()));
        }
    }

    /// What the queue says can be done with a story from here.
    fn print_next_steps(&self, output: &mut Output) {
        let steps = self.value["next_actions"].as_array().into_iter().flatten();
        let steps: Vec<String> =
            steps.filter_map(|step| step["action"].as_str().map(|name| name.replace('_', "-"))).collect();
        if !steps.is_empty() {
            let word = output.look().paint(Paint::Faint, "next:");
            output.line(format!("{word} {}", steps.join(" or ")));
        }
    }

    fn print_csv(&self, output: &mut Output) {
        let rows = rows_of(&self.value);
        let fields: Vec<&str> = if let Shape::Rows(columns) = self.shape {
            columns.iter().map(|(_, field)| *field).collect()
        } else {
            let plain = |(_, value): &(&String, &Value)| !value.is_array() && !value.is_object();
            let thing = crate::stories::found(&self.value).as_object();
            thing.into_iter().flatten().filter(plain).map(|(name, _)| name.as_str()).collect()
        };
        output.line(fields.iter().map(|field| quoted(field)).collect::<Vec<_>>().join(","));
        for row in &rows {
            output
                .line(fields.iter().map(|field| quoted(&cell(at(row, field)))).collect::<Vec<_>>().join(","));
        }
        self.print_what_is_left_out(&rows, output);
    }
}

/// The list in an answer, or the one thing as a list of one.
fn rows_of(value: &Value) -> Vec<&Value> {
    let lists = ["data", "stories", "versions", "results"];
    let list = value.as_array().or_else(|| lists.iter().find_map(|name| value.get(name)?.as_array()));
    match list {
        Some(list) => list.iter().collect(),
        None => vec![crate::stories::found(value)],
    }
}

fn at<'a>(row: &'a Value, field: &str) -> &'a Value {
    field.split('.').fold(row, |value, part| &value[part])
}

fn cell(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => printable(&text.split_whitespace().collect::<Vec<_>>().join(" ")),
        Value::Array(items) if items.iter().all(Value::is_string) => {
            items.iter().map(cell).collect::<Vec<_>>().join(", ")
        }
        Value::Array(items) => items.iter().map(named).collect::<Vec<_>>().join(", "),
        Value::Object(fields) => {
            let told = fields.iter().filter(|(_, value)| !value.is_null());
            told.map(|(name, value)| in_words(name, value)).collect::<Vec<_>>().join(", ")
        }
        other => other.to_string(),
    }
}

/// A field of a thing that stands in a cell itself.
fn in_words(name: &str, value: &Value) -> String {
    let (name, words) = (name.replace('_', " "), cell(value));
    if value.is_object() || value.is_array() {
        format!("{name} ({words})")
    } else {
        format!("{name} {words}")
    }
}

/// A thing in a list, by what people call it.
fn named(value: &Value) -> String {
    let name = ["number", "ac_id", "id", "name"].iter().find_map(|field| value.get(field));
    cell(name.unwrap_or(value))
}

fn collect(value: &Value, fields: &mut Fields) {
    for (name, value) in value.as_object().into_iter().flatten() {
        let name = name.replace('_', " ");
        match value {
            Value::Array(items) if name == "acceptance criteria" => {
                let line = |item: &Value| {
                    let id = item.get("ac_id").or_else(|| item.get("id")).map(cell).unwrap_or_default();
                    let text = item.get("criterion").or_else(|| item.get("description")).map(cell);
                    format!("{id} {}", text.unwrap_or_default()).trim().to_owned()
                };
                fields.add_all(&name, items.iter().map(line));
            }
            Value::Object(inner) if inner.is_empty() => {}
            value => fields.add(&name, cell(value)),
        }
    }
}

/// As spreadsheets read it; what would begin a formula there is made a text.
fn quoted(text: &str) -> String {
    let text = if text.starts_with(['=', '+', '@']) { format!("'{text}") } else { text.to_owned() };
    if text.contains([',', '"', '\n']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::testing::output;
    use crate::output::{Format, Look};
    use serde_json::json;

    fn printed(shown: &Shown, format: StoryFormat) -> String {
        let (mut output, data, _) = output(Format::Text, Look::PLAIN);
        shown.print(format, &mut output);
        data.text()
    }

    #[test]
    fn a_list_is_a_table_for_people_and_quoted_lines_for_spreadsheets() {
        let row = json!({"number": "1.1", "agent_status": "pending", "verified_status": "unverified", "title": "a, \"b\""});
        let shown = Shown::rows(json!({"data": [row]}), STORIES);
        assert_eq!(
            printed(&shown, StoryFormat::Human),
            "STORY  WORK     PROOF       TITLE\n1.1    pending  unverified  a, \"b\"\n"
        );
        assert_eq!(
            printed(&shown, StoryFormat::Csv),
            "number,agent_status,verified_status,title\n1.1,pending,unverified,\"a, \"\"b\"\"\"\n"
        );
    }

    #[test]
    fn a_thing_shows_its_fields_and_the_next_steps() {
        let value = json!({"story": {"number": "1.1", "title": "t", "rejection_reason": null},
            "next_actions": [{"action": "request_review"}]});
        assert_eq!(
            printed(&Shown::thing(value), StoryFormat::Human),
            "number  1.1\ntitle   t\nnext: request-review\n"
        );
    }

    #[test]
    fn what_a_thing_consists_of_is_told_in_words() {
        let value = json!({"progress": {
            "stories_by_agent_status": {"pending": 3, "reported_done": 1},
            "api_key": {"name": "first user", "agent_id": null, "settings": {"rate_limit": 100}},
            "epics": [{"title": "no name"}],
        }});
        assert_eq!(
            printed(&Shown::thing(value), StoryFormat::Human),
            "stories by agent status  pending 3, reported done 1\n\
             api key                  name first user, settings (rate limit 100)\n\
             epics                    title no name\n"
        );
    }

    #[test]
    fn a_key_that_is_shown_once_is_shown() {
        let value = json!({"api_key": {"role": "user"}, "raw_key": "lc_x"});
        assert_eq!(printed(&Shown::thing(value), StoryFormat::Human), "role     user\nraw key  lc_x\n");
    }

    #[test]
    fn a_cell_cannot_become_a_formula() {
        assert_eq!(quoted("=1+1"), "'=1+1");
    }
}
