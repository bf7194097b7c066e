//! The one layout all our JSON files share: two-space indent, keys in declared order, newline at the end.
//! It knows no artifact in particular.

use serde::Serialize;

pub(crate) fn pretty<T: Serialize>(value: &T) -> String {
    let mut text = serde_json::to_string_pretty(value)
        .expect("artifacts hold text, numbers and lists under text keys, which JSON can always express");
    text.push('\n');
    text
}
