//! Long answers made fit for a model's context: lists lose their long texts and end after twenty rows, and say so.

use serde_json::{Value, json};

pub(crate) const MOST_ROWS: usize = 20;
const LONG: [&str; 2] = ["acceptance_criteria", "description"];
const MOST_TEXT: usize = 500;

/// Shortens the list in an answer: the answer itself, or its `data`.
pub(crate) fn shortened(mut answer: Value) -> Value {
    let rows = match &mut answer {
        Value::Array(rows) => rows,
        Value::Object(fields) => match fields.get_mut("data") {
            Some(Value::Array(rows)) => rows,
            _ => return answer,
        },
        _ => return answer,
    };
    let found = rows.len();
    rows.truncate(MOST_ROWS);
    for row in rows.iter_mut().filter_map(Value::as_object_mut) {
        for long in LONG {
            row.remove(long);
        }
    }
    if found > MOST_ROWS
        && let Some(fields) = answer.as_object_mut()
    {
        let note = format!(
            "{MOST_ROWS} of {found} rows; ask for more with offset or page, or for one row by its id"
        );
        fields.insert("note".to_owned(), json!(note));
    }
    answer
}

/// What a server said that is no JSON of ours: without tags, not too much of it.
pub(crate) fn plain(text: &str) -> String {
    let mut out = String::new();
    let mut in_tag = false;
    for letter in text.chars() {
        match letter {
            '<' => in_tag = true,
            '>' if in_tag => in_tag = false,
            _ if !in_tag => out.push(letter),
            _ => {}
        }
    }
    let words: Vec<&str> = out.split_whitespace().collect();
    words.join(" ").chars().take(MOST_TEXT).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_loses_long_texts_and_ends_after_twenty_rows() {
        let row = json!({"number": "1.1", "description": "long", "acceptance_criteria": [{}]});
        let short = shortened(json!({"data": vec![row; 21], "meta": {"total_count": 21}}));
        assert_eq!(short["data"].as_array().unwrap().len(), 20);
        assert_eq!(short["data"][0], json!({"number": "1.1"}));
        assert!(short["note"].as_str().unwrap().starts_with("20 of 21 rows"));
    }

    #[test]
    fn one_thing_is_left_whole() {
        let story = json!({"story": {"description": "long"}});
        assert_eq!(shortened(story.clone()), story);
    }

    #[test]
    fn a_page_of_a_proxy_becomes_a_sentence() {
        assert_eq!(plain("<html><h1>502</h1>\n <p>Bad  gateway</p></html>"), "502 Bad gateway");
        assert_eq!(plain(&"x".repeat(900)).len(), 500);
    }
}
