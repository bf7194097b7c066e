//! The feedback lines a rejected round hands to the next doer.
//! It knows their shape; which round gets them is decided elsewhere.

use super::audit::AuditReport;
use super::verdict::VerdictReport;
use crate::document::{Limits, Node, parse_untrusted};
use crate::fault::ArtifactFaults;
use crate::fields::has_content;

/// Lines from a verdict: each reason, then each required change.
pub fn from_verdict(verdict: &VerdictReport) -> String {
    let mut lines = Lines::default();
    for reason in &verdict.reasons {
        lines.labelled(Some(&reason.check), "unknown", &reason.details);
    }
    verdict.required_changes.iter().for_each(|change| lines.plain(change));
    lines.0
}

/// Lines from an audit: each finding, then each required action.
pub fn from_audit(audit: &AuditReport) -> String {
    let mut lines = Lines::default();
    for finding in &audit.findings {
        lines.labelled(Some(&finding.category), "finding", &finding.details);
    }
    audit.required_actions.iter().for_each(|action| lines.plain(action));
    lines.0
}

/// Lines from a stored `verdict.json` that need not be complete: a missing check is called `unknown`.
pub fn from_stored_verdict(bytes: &[u8]) -> Result<String, ArtifactFaults> {
    let keys = StoredKeys { list: "reasons", label: "check", fallback: "unknown", plain: "required_changes" };
    from_stored("verdict.json", bytes, &keys)
}

/// Lines from a stored `audit.json` that need not be complete: a missing category is called `finding`.
pub fn from_stored_audit(bytes: &[u8]) -> Result<String, ArtifactFaults> {
    let keys =
        StoredKeys { list: "findings", label: "category", fallback: "finding", plain: "required_actions" };
    from_stored("audit.json", bytes, &keys)
}

struct StoredKeys {
    list: &'static str,
    label: &'static str,
    fallback: &'static str,
    plain: &'static str,
}

fn from_stored(file: &'static str, bytes: &[u8], keys: &StoredKeys) -> Result<String, ArtifactFaults> {
    let limits = Limits::default();
    let document = match parse_untrusted(bytes, limits) {
        Ok(document) => document,
        Err(faults) => {
            ArtifactFaults::collect(file, faults, limits.max_faults)?;
            return Ok(String::new());
        }
    };
    let mut lines = Lines::default();
    for item in list_of(document.entries(), keys.list) {
        let entries = item.entries().unwrap_or_default();
        let details = value_of(entries, "details").and_then(Node::text).unwrap_or_default();
        lines.labelled(value_of(entries, keys.label).and_then(Node::text), keys.fallback, details);
    }
    list_of(document.entries(), keys.plain).iter().filter_map(Node::text).for_each(|text| lines.plain(text));
    Ok(lines.0)
}

fn value_of<'n, 'a>(entries: &'n [(String, Node<'a>)], key: &str) -> Option<&'n Node<'a>> {
    entries.iter().find(|(name, _)| name == key).map(|(_, node)| node)
}

fn list_of<'n, 'a>(entries: &'n [(String, Node<'a>)], key: &str) -> &'n [Node<'a>] {
    value_of(entries, key).and_then(Node::items).unwrap_or_default()
}

#[derive(Default)]
struct Lines(String);

impl Lines {
    fn labelled(&mut self, label: Option<&str>, fallback: &str, details: &str) {
        if has_content(details) {
            let label = label.filter(|text| has_content(text)).unwrap_or(fallback);
            self.push(&format!("- [{}] {}", label.trim(), details.trim()));
        }
    }

    fn plain(&mut self, text: &str) {
        if has_content(text) {
            self.push(&format!("- {}", text.trim()));
        }
    }

    fn push(&mut self, line: &str) {
        if !self.0.is_empty() {
            self.0.push('\n');
        }
        self.0.push_str(line);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stored_verdict_gives_reasons_then_changes() {
        let stored = br#"{"reasons":[{"check":"eval","details":"tests red"},{"details":"no check named"},
            {"check":"style","details":"  "},{"check":"","details":"blank check"}],
            "required_changes":["make it green",""," and tidy "]}"#;
        assert_eq!(
            from_stored_verdict(stored).unwrap(),
            "- [eval] tests red\n- [unknown] no check named\n- [unknown] blank check\n- make it green\n- and tidy"
        );
    }

    #[test]
    fn a_stored_audit_gives_findings_then_actions() {
        let stored = br#"{"findings":[{"category":"policy","details":"no licence"},{"details":"odd"}],
            "required_actions":["add a licence"]}"#;
        assert_eq!(
            from_stored_audit(stored).unwrap(),
            "- [policy] no licence\n- [finding] odd\n- add a licence"
        );
    }

    #[test]
    fn nothing_to_say_gives_empty_text_and_broken_json_a_fault() {
        assert_eq!(from_stored_verdict(b"{}").unwrap(), "");
        assert_eq!(from_stored_verdict(b"[").unwrap_err().artifact(), "verdict.json");
    }
}
