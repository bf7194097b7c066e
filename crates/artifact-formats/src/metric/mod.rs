//! Figures read off a sensor's output, so that iterations can be compared and drawn.
//! A figure is a help for people and controllers; whether a sensor passed is said by its exit code alone.

mod auto;
mod plain_words;
mod tally;

use std::fmt;

use regex_lite::RegexBuilder;

use crate::decimal;

/// The last part of a log that is searched. Totals stand at the end, and the work stays bounded.
const SEARCHED_BYTES: usize = 256 * 1024;
/// Longest output that is read as JSON.
const JSON_BYTES: usize = 4 * 1024 * 1024;
/// Upper bound for what a foreign expression may cost in memory.
const PATTERN_BYTES: usize = 64 * 1024;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Metric {
    pub name: String,
    /// Thousandths of the unit.
    pub value: i64,
    /// Billionths beyond the thousandths, of the same sign.
    pub finer: i64,
    pub unit: String,
    pub better: Better,
}

/// In which direction a figure should move.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Better {
    Higher,
    Lower,
}

/// How a sensor's figure is found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MetricRule {
    /// What the usual tools print: test counts, coverage, errors, warnings.
    Auto,
    /// A regular expression with one group around the number. Its last match counts.
    Pattern { pattern: String, label: MetricLabel },
    /// A place in the JSON that the command prints.
    JsonPointer { pointer: String, label: MetricLabel },
}

/// What a user's own figure is called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MetricLabel {
    pub name: String,
    pub unit: String,
    pub better: Better,
}

impl Default for MetricLabel {
    fn default() -> Self {
        Self { name: "value".to_owned(), unit: String::new(), better: Better::Higher }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MetricRuleError {
    #[error("the regular expression cannot be read: {0}")]
    Pattern(String),
    #[error("the regular expression needs exactly one group around the number; it has {0}")]
    Groups(usize),
    #[error("a JSON pointer is empty or begins with `/`")]
    Pointer,
}

impl MetricRule {
    pub fn pattern(pattern: &str, label: MetricLabel) -> Result<Self, MetricRuleError> {
        let regex = compiled(pattern).map_err(|error| MetricRuleError::Pattern(error.to_string()))?;
        match regex.captures_len() {
            2 => Ok(Self::Pattern { pattern: pattern.to_owned(), label }),
            groups => Err(MetricRuleError::Groups(groups.saturating_sub(1))),
        }
    }

    pub fn pointer(pointer: &str, label: MetricLabel) -> Result<Self, MetricRuleError> {
        if pointer.is_empty() || pointer.starts_with('/') {
            return Ok(Self::JsonPointer { pointer: pointer.to_owned(), label });
        }
        Err(MetricRuleError::Pointer)
    }

    /// The figures in a cleaned output. None is no fault: a tool that has nothing to complain about is often silent.
    pub fn read(&self, output: &str) -> Vec<Metric> {
        match self {
            Self::Auto => auto::read(tail(output)),
            Self::Pattern { pattern, label } => {
                last_match(pattern, tail(output)).map(|value| label.metric(value)).into_iter().collect()
            }
            Self::JsonPointer { pointer, label } => {
                at_pointer(pointer, output).map(|value| label.metric(value)).into_iter().collect()
            }
        }
    }
}

impl MetricLabel {
    fn metric(&self, Read { value, finer }: Read) -> Metric {
        Metric { name: self.name.clone(), value, finer, unit: self.unit.clone(), better: self.better }
    }
}

impl Better {
    pub const fn word(self) -> &'static str {
        match self {
            Self::Higher => "higher",
            Self::Lower => "lower",
        }
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.name, decimal::spelled_in_two(self.value, self.finer))?;
        if self.unit.is_empty() { Ok(()) } else { write!(f, " {}", self.unit) }
    }
}

fn compiled(pattern: &str) -> Result<regex_lite::Regex, regex_lite::Error> {
    RegexBuilder::new(pattern).multi_line(true).size_limit(PATTERN_BYTES).build()
}

fn last_match(pattern: &str, output: &str) -> Option<Read> {
    let regex = compiled(pattern).ok()?;
    let found = regex.captures_iter(output).filter_map(|captures| Read::of(captures.get(1)?.as_str()));
    found.last()
}

fn at_pointer(pointer: &str, output: &str) -> Option<Read> {
    if output.len() > JSON_BYTES {
        return None;
    }
    let document = json_in(output)?;
    match document.pointer(pointer)? {
        serde_json::Value::Number(number) => Read::of(&number.to_string()),
        serde_json::Value::String(text) => Read::of(text.trim()),
        serde_json::Value::Array(items) => {
            Some(Read { value: i64::try_from(items.len()).ok()?.checked_mul(1000)?, finer: 0 })
        }
        _ => None,
    }
}

/// The whole output, else the last line that is an object: many tools print words before their JSON.
fn json_in(output: &str) -> Option<serde_json::Value> {
    if let Ok(value) = serde_json::from_str(output.trim()) {
        return Some(value);
    }
    let by_line = output.lines().rev().filter(|line| line.trim_start().starts_with('{'));
    let last = by_line.take(20).find_map(|line| serde_json::from_str(line.trim()).ok());
    last.or_else(|| {
        let start = output.find("\n{").map(|newline| newline + 1)?;
        let mut values = serde_json::Deserializer::from_str(&output[start..]).into_iter();
        values.next()?.ok()
    })
}

/// A figure of the user's own: benchmarks in seconds live below the thousandths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Read {
    value: i64,
    finer: i64,
}

impl Read {
    /// With nine places where it fits, else with three. A figure that is too small to be told from nothing is none: nobody may
    /// take it for a zero.
    fn of(text: &str) -> Option<Self> {
        let billionths = scaled(text, 9).map(|all| Self { value: all / 1_000_000, finer: all % 1_000_000 });
        let read = billionths.or_else(|| Some(Self { value: thousandths(text)?, finer: 0 }))?;
        let mantissa = text.split(['e', 'E']).next().unwrap_or_default();
        let is_zero = !mantissa.contains(|one: char| ('1'..='9').contains(&one));
        (is_zero || read != Self { value: 0, finer: 0 }).then_some(read)
    }
}

/// A number as tools print it: digits with an optional sign, thousands separators, fraction, exponent or percent sign.
fn thousandths(text: &str) -> Option<i64> {
    scaled(text, 3)
}

fn scaled(text: &str, places: u8) -> Option<i64> {
    let text = text.trim().trim_end_matches('%').replace([',', '_'], "");
    decimal::parse(&text, u32::from(places)).or_else(|| {
        let value: f64 = text.parse().ok()?;
        let scaled = (value * 10_f64.powi(i32::from(places))).round();
        #[expect(
            clippy::cast_possible_truncation,
            reason = "the range was checked on the line above the cast"
        )]
        (scaled.abs() < 9.0e15).then_some(scaled as i64)
    })
}

fn tail(output: &str) -> &str {
    let mut start = output.len().saturating_sub(SEARCHED_BYTES);
    while !output.is_char_boundary(start) {
        start += 1;
    }
    &output[start..]
}
