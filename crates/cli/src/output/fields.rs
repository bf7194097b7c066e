//! A block of names and values, such as `windlass show` prints.

use super::look::{Look, Paint};
use super::text_width::width;

pub(crate) struct Fields {
    pairs: Vec<(String, String)>,
    look: Look,
}

impl Fields {
    pub(crate) fn new(look: Look) -> Self {
        Self { pairs: Vec::new(), look }
    }

    /// An empty value is left out: there is nothing to say about it.
    pub(crate) fn add(&mut self, name: &str, value: impl Into<String>) {
        let value = value.into();
        if !value.is_empty() {
            self.pairs.push((name.to_owned(), value));
        }
    }

    /// Several values under one name.
    pub(crate) fn add_all(&mut self, name: &str, values: impl IntoIterator<Item = String>) {
        let mut name = name;
        for value in values {
            self.pairs.push((name.to_owned(), value));
            name = "";
        }
    }

    pub(crate) fn lines(&self) -> Vec<String> {
        let column = self.pairs.iter().map(|(name, _)| width(name)).max().unwrap_or(0);
        let line = |(name, value): &(String, String)| {
            let gap = " ".repeat(column - width(name) + 2);
            format!("{}{gap}{value}", self.look.paint(Paint::Faint, name))
        };
        self.pairs.iter().map(line).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_line_up_and_empty_ones_are_left_out() {
        let mut fields = Fields::new(Look::PLAIN);
        fields.add("run", "r1");
        fields.add("tree", "");
        fields.add_all("checks", ["a".into(), "b".into()]);
        assert_eq!(fields.lines(), ["run     r1", "checks  a", "        b"]);
    }
}
