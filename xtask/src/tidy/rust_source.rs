//! Splits a Rust file into code and comments, blanks out literals, and knows which lines are for tests only.
//! A scanner, not a parser: it must be right about where strings, comments and test items end, and about nothing else.

pub(super) struct RustSource {
    pub(super) lines: Vec<Line>,
}

#[derive(Default)]
pub(super) struct Line {
    /// The line without comments and with the inside of literals left out.
    pub(super) code: String,
    pub(super) comment: String,
    pub(super) in_test: bool,
}

impl RustSource {
    pub(super) fn scan(text: &str) -> Self {
        let mut lines = Scanner::new(text).lines();
        mark_test_items(&mut lines);
        Self { lines }
    }

    /// Numbered from one, without what is compiled for tests only.
    pub(super) fn product_lines(&self) -> impl Iterator<Item = (usize, &Line)> {
        self.numbered().filter(|(_, line)| !line.in_test)
    }

    pub(super) fn numbered(&self) -> impl Iterator<Item = (usize, &Line)> {
        self.lines.iter().enumerate().map(|(index, line)| (index + 1, line))
    }

    /// Names of modules declared in other files for tests only.
    pub(super) fn test_modules(&self) -> Vec<String> {
        let declared = |line: &Line| {
            let (_, name) = line.code.split_once("mod ")?;
            name.trim().strip_suffix(';').map(|name| name.trim().to_owned())
        };
        self.lines.iter().filter(|line| line.in_test).filter_map(declared).collect()
    }
}

/// Whether `word` stands in `code` with no letter, digit or underscore touching it where the word has one.
pub(super) fn has_word(code: &str, word: &str) -> bool {
    let touches = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    let begins = touches(word.chars().next());
    let ends = touches(word.chars().next_back());
    code.match_indices(word).any(|(at, _)| {
        let before = code[..at].chars().next_back();
        let after = code[at + word.len()..].chars().next();
        !(begins && touches(before) || ends && touches(after))
    })
}

struct Scanner {
    chars: Vec<char>,
    at: usize,
    lines: Vec<Line>,
    current: Line,
}

impl Scanner {
    fn new(text: &str) -> Self {
        Self { chars: text.chars().collect(), at: 0, lines: Vec::new(), current: Line::default() }
    }

    fn lines(mut self) -> Vec<Line> {
        while let Some(c) = self.peek(0) {
            match (c, self.peek(1)) {
                ('/', Some('/')) => self.line_comment(),
                ('/', Some('*')) => self.block_comment(),
                ('"', _) => self.string(),
                ('r', Some('"' | '#')) if !self.follows_identifier() => self.raw_string(),
                ('\'', _) => self.quote(),
                _ => self.take_code(),
            }
        }
        self.lines.push(self.current);
        self.lines
    }

    fn peek(&self, ahead: usize) -> Option<char> {
        self.chars.get(self.at + ahead).copied()
    }

    /// Steps over one character; a line break inside anything still ends the line.
    fn skip(&mut self) {
        if self.peek(0) == Some('\n') {
            self.lines.push(std::mem::take(&mut self.current));
        }
        self.at += 1;
    }

    fn take_code(&mut self) {
        if let Some(c) = self.peek(0).filter(|&c| c != '\n') {
            self.current.code.push(c);
        }
        self.skip();
    }

    fn take_comment(&mut self) {
        if let Some(c) = self.peek(0).filter(|&c| c != '\n') {
            self.current.comment.push(c);
        }
        self.skip();
    }

    /// `br"…"` is a raw string as well, but the `r` of `var"` is not.
    fn follows_identifier(&self) -> bool {
        let mut before = self.chars[..self.at].iter().rev();
        match before.next() {
            Some('b' | 'c') => before.next().is_some_and(|&c| c.is_alphanumeric() || c == '_'),
            other => other.is_some_and(|&c| c.is_alphanumeric() || c == '_'),
        }
    }

    fn line_comment(&mut self) {
        while self.peek(0).is_some_and(|c| c != '\n') {
            self.take_comment();
        }
    }

    fn block_comment(&mut self) {
        let mut depth = 0;
        while self.peek(0).is_some() {
            match (self.peek(0), self.peek(1)) {
                (Some('/'), Some('*')) => depth += 1,
                (Some('*'), Some('/')) => depth -= 1,
                _ => {
                    self.take_comment();
                    continue;
                }
            }
            self.take_comment();
            self.take_comment();
            if depth == 0 {
                return;
            }
        }
    }

    fn string(&mut self) {
        self.take_code();
        while let Some(c) = self.peek(0) {
            match c {
                '\\' => {
                    self.skip();
                    self.skip();
                }
                '"' => return self.take_code(),
                _ => self.skip(),
            }
        }
    }

    fn raw_string(&mut self) {
        let hashes = self.chars[self.at + 1..].iter().take_while(|&&c| c == '#').count();
        if self.peek(1 + hashes) != Some('"') {
            // `r#name` is an identifier.
            return self.take_code();
        }
        let closing: Vec<char> = std::iter::once('"').chain(std::iter::repeat_n('#', hashes)).collect();
        self.current.code.push_str("\"\"");
        for _ in 0..hashes + 2 {
            self.skip();
        }
        while self.peek(0).is_some() && !self.chars[self.at..].starts_with(&closing) {
            self.skip();
        }
        for _ in 0..closing.len() {
            self.skip();
        }
    }

    /// A character literal is left out; the quote of a lifetime or label is code.
    fn quote(&mut self) {
        let literal = match (self.peek(1), self.peek(2)) {
            (Some('\\'), _) => true,
            (Some(c), Some('\'')) => c != '\'',
            _ => false,
        };
        self.take_code();
        if !literal {
            return;
        }
        if self.peek(0) == Some('\\') {
            self.skip();
        }
        self.skip();
        while self.peek(0).is_some_and(|c| c != '\'') {
            self.skip();
        }
        self.take_code();
    }
}

/// An item after `#[cfg(test)]` reaches to its closing brace, or to the semicolon if that comes first.
fn mark_test_items(lines: &mut [Line]) {
    let mut state = TestItem::Outside;
    for line in lines {
        let mut in_test = state != TestItem::Outside;
        let mut code = line.code.as_str();
        if state == TestItem::Outside
            && let Some(at) = test_attribute(code)
        {
            in_test = true;
            state = TestItem::Awaited;
            code = &code[at..];
        }
        if state != TestItem::Outside {
            state = state.after(code);
        }
        line.in_test = in_test;
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum TestItem {
    Outside,
    /// The attribute was seen, the item's body not yet.
    Awaited,
    Inside {
        depth: usize,
    },
}

impl TestItem {
    fn after(mut self, code: &str) -> Self {
        for c in code.chars() {
            self = match (self, c) {
                (Self::Outside, _) => return Self::Outside,
                (Self::Awaited, ';') | (Self::Inside { depth: 1 }, '}') => Self::Outside,
                (Self::Awaited, '{') => Self::Inside { depth: 1 },
                (Self::Inside { depth }, '{') => Self::Inside { depth: depth + 1 },
                (Self::Inside { depth }, '}') => Self::Inside { depth: depth - 1 },
                (state, _) => state,
            };
        }
        self
    }
}

/// Where the text after a `#[cfg(test)]`, `#[cfg(all(test, …))]` or `#[cfg(any(test, …))]` begins.
fn test_attribute(code: &str) -> Option<usize> {
    ["#[cfg(test)]", "#[cfg(all(test", "#[cfg(any(test", "#[test]"]
        .iter()
        .find_map(|attribute| code.find(attribute).map(|at| at + attribute.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(text: &str) -> Vec<String> {
        RustSource::scan(text).lines.into_iter().map(|line| line.code).collect()
    }

    #[test]
    fn comments_and_the_inside_of_literals_are_no_code() {
        assert_eq!(code("let a = \"std::fs\"; // std::env"), ["let a = \"\"; "]);
        assert_eq!(code("a /* std /* deep */ still */ b"), ["a  b"]);
        assert_eq!(code("x(r#\"one \" std\ntwo\"#); y"), ["x(\"\"", "); y"]);
        assert_eq!(code("x(br\"std\\\"); y"), ["x(b\"\"); y"]);
        assert_eq!(code("\"a\\\"std\\\\\" b"), ["\"\" b"]);
        assert_eq!(code("f('\"', '\\'', '\\u{7f}', b'x') \"s\""), ["f('', '', '', b'') \"\""]);
        assert_eq!(
            code("fn f<'a>(x: &'a str) -> r#type { 'l: loop {} }"),
            ["fn f<'a>(x: &'a str) -> r#type { 'l: loop {} }"]
        );
    }

    #[test]
    fn comment_text_is_kept_apart() {
        let source = RustSource::scan("a(); // one\n/* two\nthree */ b();");
        let comments: Vec<&str> = source.lines.iter().map(|line| line.comment.as_str()).collect();
        assert_eq!(comments, ["// one", "/* two", "three */"]);
    }

    #[test]
    fn only_the_test_item_is_for_tests() {
        let text = "a\n#[cfg(test)]\nuse x;\nb\n#[cfg(test)]\nmod tests {\n fn t() { \"}\"; }\n}\nc\n#[cfg(test)] mod m { }\nd";
        let source = RustSource::scan(text);
        let product: Vec<&str> = source.product_lines().map(|(_, line)| line.code.as_str()).collect();
        assert_eq!(product, ["a", "b", "c", "d"]);
    }

    #[test]
    fn modules_declared_for_tests_are_named() {
        let source = RustSource::scan("mod a;\n#[cfg(test)]\nmod b;\n#[cfg(test)] pub(crate) mod c;\nmod d;");
        assert_eq!(source.test_modules(), ["b", "c"]);
    }

    #[test]
    fn words_have_borders() {
        assert!(has_word("let x = std::fs::read()", "std::fs"));
        assert!(!has_word("mystd::fs::read()", "std::fs"));
        assert!(!has_word("std::fs_extra", "std::fs"));
        assert!(has_word("alloc::x; std::x", "std::"));
    }
}
