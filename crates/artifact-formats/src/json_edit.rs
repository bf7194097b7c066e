//! Edits of JSON text that change the bytes of one place and no others: indentation, key order, number spelling, line
//! ends, byte order mark and unknown keys stay, because people and other tools keep these files under review.
//! It knows JSON only. Every function answers nothing where the place does not exist.

use serde::Serialize;
use serde_json::ser::{PrettyFormatter, Serializer};
use serde_json::{Value, json};

use crate::document::{self, Document, Limits, Node, Shape};
use crate::text_lines::{line_of, newline_of, span};

/// The files of the loops hold plans and records; anything longer is not one of them.
const LIMITS: Limits = Limits { max_bytes: 16 * 1024 * 1024, max_depth: 64, max_faults: 40 };

/// Replaces the value at a path of keys and list positions, or adds the last key at the end of its object.
pub(crate) fn set(source: &str, path: &[&str], value: &Value) -> Option<String> {
    let document = read(source)?;
    let (last, parents) = path.split_last()?;
    if let Some(found) = at(&document, path) {
        if serde_json::from_str::<Value>(found.raw).ok().as_ref() == Some(value) {
            // The same value may be spelled with escapes of its own; it is not ours to respell.
            return Some(source.to_owned());
        }
        let place = span(source, found.raw);
        let on_one_line = at(&document, parents).is_some_and(|parent| !parent.raw.contains('\n'));
        let layout = if on_one_line { Layout::compact() } else { Layout::of(source) };
        let text = layout.spelled(value, indent_at(source, place.start));
        return Some(spliced(source, place, &text));
    }
    let parent = at(&document, parents)?;
    let entries = parent.entries()?;
    let text = |layout: &Layout, indent: &str| format!("{}: {}", json!(last), layout.spelled(value, indent));
    let Some((_, last_node)) = entries.last() else {
        let place = span(source, parent.raw);
        let layout = Layout::of(source);
        let indent = layout.deeper(indent_at(source, place.start));
        return Some(spliced(
            source,
            place.clone(),
            &layout.alone(source, place.start, ['{', '}'], &text(&layout, &indent)),
        ));
    };
    let end = span(source, last_node.raw).end;
    let (before_key, before_value) = separators(source, parent, entries);
    let layout = if before_key.contains('\n') { Layout::of(source) } else { Layout::compact() };
    let indent = indent_at(source, span(source, last_node.raw).start);
    let text = format!("{before_key}{}{before_value}{}", json!(last), layout.spelled(value, indent));
    Some(spliced(source, end..end, &text))
}

/// Adds an item at the end of a list, laid out like the last one there.
pub(crate) fn push(source: &str, path: &[&str], value: &Value) -> Option<String> {
    let document = read(source)?;
    let target = at(&document, path)?;
    let items = target.items()?;
    let place = span(source, target.raw);
    let Some(last) = items.last() else {
        let layout = Layout::of(source);
        let indent = layout.deeper(indent_at(source, place.start));
        let text = layout.spelled(value, &indent);
        return Some(spliced(source, place.clone(), &layout.alone(source, place.start, ['[', ']'], &text)));
    };
    let last_place = span(source, last.raw);
    let separator = match items {
        [.., before, _] => source[span(source, before.raw).end..last_place.start].to_owned(),
        _ => format!(",{}", &source[place.start + 1..last_place.start]),
    };
    let layout = if last.raw.contains('\n') { Layout::of(source) } else { Layout::compact() };
    let text = format!("{separator}{}", layout.spelled(value, indent_at(source, last_place.start)));
    Some(spliced(source, last_place.end..last_place.end, &text))
}

/// Takes one item out of a list together with the comma that belonged to it.
pub(crate) fn remove_item(source: &str, path: &[&str], index: usize) -> Option<String> {
    let document = read(source)?;
    let list = at(&document, path)?;
    let items = list.items()?;
    let item = span(source, items.get(index)?.raw);
    let place = match (index.checked_sub(1), items.get(index + 1)) {
        (_, Some(next)) => item.start..span(source, next.raw).start,
        (Some(before), None) => span(source, items.get(before)?.raw).end..item.end,
        (None, None) => return Some(spliced(source, span(source, list.raw), "[]")),
    };
    Some(spliced(source, place, ""))
}

/// Takes one key out of its object; the text stays as it is where the key is absent.
pub(crate) fn remove_key(source: &str, path: &[&str]) -> Option<String> {
    let document = read(source)?;
    let (key, parents) = path.split_last()?;
    let parent = at(&document, parents)?;
    let entries = parent.entries()?;
    let Some(index) = entries.iter().position(|(name, _)| name == key) else {
        return Some(source.to_owned());
    };
    let end_of = |index: usize| span(source, entries[index].1.raw).end;
    let key_start = |from: usize| source[from..].find('"').map(|quote| from + quote);
    let place = match (index, entries.len()) {
        (_, 1) => return Some(spliced(source, span(source, parent.raw), "{}")),
        (0, _) => key_start(span(source, parent.raw).start)?..key_start(end_of(0))?,
        _ => end_of(index - 1)..end_of(index),
    };
    Some(spliced(source, place, ""))
}

/// The line of the deepest value on the way to a JSON pointer; a missing key has none of its own.
pub(crate) fn line_of_pointer(source: &str, document: &Document<'_>, pointer: &str) -> usize {
    let mut node = document.root();
    for step in pointer.split('/').skip(1) {
        let step = step.replace("~1", "/").replace("~0", "~");
        let Some(next) = child(node, &step) else { break };
        node = next;
    }
    line_of(source, span(source, node.raw).start)
}

fn read(source: &str) -> Option<Document<'_>> {
    document::read(source.strip_prefix('\u{feff}').unwrap_or(source).as_bytes(), LIMITS).0
}

fn at<'n, 'a>(document: &'n Document<'a>, path: &[&str]) -> Option<&'n Node<'a>> {
    path.iter().try_fold(document.root(), |node, step| child(node, step))
}

fn child<'n, 'a>(node: &'n Node<'a>, step: &str) -> Option<&'n Node<'a>> {
    match &node.shape {
        Shape::Object(entries) => entries.iter().find(|(key, _)| key == step).map(|(_, node)| node),
        Shape::List(items) => items.get(step.parse::<usize>().ok()?),
        _ => None,
    }
}

fn spliced(source: &str, place: std::ops::Range<usize>, text: &str) -> String {
    let mut edited = source.to_owned();
    edited.replace_range(place, text);
    edited
}

/// What stands between a value and the next key, and between a key and its value, in this object.
fn separators(source: &str, parent: &Node<'_>, entries: &[(String, Node<'_>)]) -> (String, String) {
    let opened = span(source, parent.raw).start + 1;
    let key_after = |end: usize| source[end..].find('"').map_or(end, |quote| end + quote);
    let before_key = match entries {
        [.., (_, before), _] => {
            let end = span(source, before.raw).end;
            source[end..key_after(end)].to_owned()
        }
        _ => match &source[opened..key_after(opened)] {
            "" => ", ".to_owned(),
            blank => format!(",{blank}"),
        },
    };
    let before_value = entries.last().map(|(_, node)| {
        let start = span(source, node.raw).start;
        let key_end = source[..start].rfind('"').map_or(start, |quote| quote + 1);
        source[key_end..start].to_owned()
    });
    (before_key, before_value.unwrap_or_else(|| ": ".to_owned()))
}

/// The blanks at the start of the line a byte stands on.
fn indent_at(source: &str, offset: usize) -> &str {
    let line = source[..offset].rsplit('\n').next().unwrap_or_default().trim_start_matches('\u{feff}');
    &line[..line.len() - line.trim_start().len()]
}

/// How values of this file are laid out.
struct Layout {
    newline: &'static str,
    /// Nothing where the file stands on one line.
    unit: Option<String>,
}

impl Layout {
    fn of(source: &str) -> Self {
        let opening = source.find('{').map_or("", |brace| &source[brace + 1..]);
        let opening = &opening[..opening.len() - opening.trim_start().len()];
        let unit = opening.contains('\n').then(|| opening.rsplit('\n').next().unwrap_or_default().to_owned());
        Self { newline: newline_of(source), unit }
    }

    const fn compact() -> Self {
        Self { newline: "\n", unit: None }
    }

    fn deeper(&self, indent: &str) -> String {
        format!("{indent}{}", self.unit.as_deref().unwrap_or_default())
    }

    fn spelled(&self, value: &Value, indent: &str) -> String {
        let Some(unit) = &self.unit else { return value.to_string() };
        let mut bytes = Vec::new();
        let formatter = PrettyFormatter::with_indent(unit.as_bytes());
        let mut serializer = Serializer::with_formatter(&mut bytes, formatter);
        let text = match value.serialize(&mut serializer) {
            Ok(()) => String::from_utf8(bytes).unwrap_or_else(|_| value.to_string()),
            Err(_) => value.to_string(),
        };
        // Line breaks inside texts are escaped, so each one here belongs to the layout.
        text.replace('\n', &format!("{}{indent}", self.newline))
    }

    /// The only member of a list or an object, inside its brackets.
    fn alone(&self, source: &str, start: usize, [open, close]: [char; 2], text: &str) -> String {
        if self.unit.is_none() {
            return format!("{open}{text}{close}");
        }
        let (newline, indent) = (self.newline, indent_at(source, start));
        format!("{open}{newline}{}{text}{newline}{indent}{close}", self.deeper(indent))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WIDE: &str = "{\r\n\t\"a\": 1e2,\r\n\t\"list\": [],\r\n\t\"o\": {},\r\n\t\"n\": null,\r\n\t\"x\\u0079\": \"v\"\r\n}";

    #[test]
    fn values_take_the_layout_of_the_file() {
        let text = push(WIDE, &["list"], &json!({"k": ["v"]})).unwrap();
        assert_eq!(
            text,
            WIDE.replace("[]", "[\r\n\t\t{\r\n\t\t\t\"k\": [\r\n\t\t\t\t\"v\"\r\n\t\t\t]\r\n\t\t}\r\n\t]")
        );
        let twice = push(&text, &["list"], &json!({"k": []})).unwrap();
        assert!(twice.contains("\r\n\t\t},\r\n\t\t{\r\n\t\t\t\"k\": []\r\n\t\t}\r\n\t],"), "{twice}");
        assert_eq!(remove_item(&twice, &["list"], 1).unwrap(), text);
        assert_eq!(remove_item(&text, &["list"], 0).unwrap(), WIDE);
        assert_eq!(push("{\"l\":[1, 2]}", &["l"], &json!(3)).unwrap(), "{\"l\":[1, 2, 3]}");
        assert_eq!(push("{\"l\": []}", &["l"], &json!({"a": 1})).unwrap(), "{\"l\": [{\"a\":1}]}");
    }

    #[test]
    fn keys_are_set_added_and_removed() {
        assert_eq!(set(WIDE, &["a"], &json!(100.0)).unwrap(), WIDE, "the same number in another spelling");
        assert_eq!(set(WIDE, &["xy"], &json!("w")).unwrap(), WIDE.replace("\"v\"", "\"w\""));
        let text = set(WIDE, &["o", "controller"], &json!("why")).unwrap();
        assert_eq!(text, WIDE.replace("{}", "{\r\n\t\t\"controller\": \"why\"\r\n\t}"));
        let more = set(&text, &["o", "z"], &json!(null)).unwrap();
        assert!(more.contains("\"why\",\r\n\t\t\"z\": null\r\n\t}"), "{more}");
        assert_eq!(remove_key(&more, &["o", "z"]).unwrap(), text);
        assert_eq!(remove_key(&text, &["o", "controller"]).unwrap(), WIDE);
        let first = remove_key(&more, &["o", "controller"]).unwrap();
        assert!(first.contains("{\r\n\t\t\"z\": null\r\n\t}"), "{first}");
        assert_eq!(set(WIDE, &["q", "r"], &json!(1)), None);
        assert_eq!(remove_item(WIDE, &["list"], 0), None);
    }
}
