//! One thing wrong with a file of the control plane: which rule of the contract, where, and how bad.
//! It knows no file in particular.

use std::fmt;

use crate::fields::choice;

choice! {
    /// What may still be done with a plane that has the problem.
    Severity {
        /// Nothing may be done before a person or a migration has mended it.
        Fatal = "fatal",
        /// The controller may mend it by the rules of recovery.
        Recoverable = "recoverable",
        /// Worth telling; nothing depends on it.
        Warning = "warning",
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Section of the loop's contract, such as `3.3.2`.
    pub rule: &'static str,
    pub file: String,
    /// JSON pointer; empty for a Markdown file and for a file as a whole.
    pub pointer: String,
    /// Counted from one.
    pub line: Option<usize>,
    pub severity: Severity,
    pub message: String,
}

/// Problems that forbid the use of a plane's files; never empty.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct Problems(Vec<Problem>);

impl Problem {
    pub(crate) fn fatal(rule: &'static str, file: &str, message: impl Into<String>) -> Self {
        Self {
            rule,
            file: file.to_owned(),
            pointer: String::new(),
            line: None,
            severity: Severity::Fatal,
            message: message.into(),
        }
    }

    pub(crate) fn at_line(mut self, line: usize) -> Self {
        self.line = Some(line);
        self
    }

    pub(crate) fn at_pointer(mut self, pointer: impl Into<String>) -> Self {
        self.pointer = pointer.into();
        self
    }

    pub(crate) fn weighing(mut self, severity: Severity) -> Self {
        self.severity = severity;
        self
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        if !self.pointer.is_empty() {
            write!(f, ": {}", self.pointer)?;
        }
        write!(f, ": {} (rule {})", self.message, self.rule)
    }
}

impl Problems {
    /// Everything but warnings, which are no reason to refuse a file.
    pub(crate) fn check(found: Vec<Problem>) -> Result<(), Self> {
        let kept: Vec<Problem> =
            found.into_iter().filter(|problem| problem.severity != Severity::Warning).collect();
        if kept.is_empty() { Ok(()) } else { Err(Self(kept)) }
    }

    pub(crate) fn one(problem: Problem) -> Self {
        Self(vec![problem])
    }

    pub fn all(&self) -> &[Problem] {
        &self.0
    }

    /// Whether all of it is about a position that has moved on, so that recovery may go on from there.
    pub fn is_recoverable(&self) -> bool {
        self.0.iter().all(|problem| problem.severity == Severity::Recoverable)
    }

    pub fn names(&self, rule: &str) -> bool {
        self.0.iter().any(|problem| problem.rule == rule)
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: Vec<String> = self.0.iter().map(ToString::to_string).collect();
        f.write_str(&lines.join("\n"))
    }
}
