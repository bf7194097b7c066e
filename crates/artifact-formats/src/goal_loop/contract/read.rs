//! From the text of `LOOP.md` to a contract. Comments are blanked out first: the template's own comment names every
//! level, and an example in a comment must not become scope.

use std::ops::Range;

use regex_lite::Regex;

use super::scope::exclusions;
use super::{
    Autonomy, CONTRACT_FILE, Contract, InboxLine, OnBlocked, PARK_AND_GO_ON, PinnedCommands, Scope, is_among,
};
use crate::faults::Faults;
use crate::markdown::{Bullet, Heading, bullets, headings, without_comments};
use crate::recognised::Recognised;
use crate::text_lines::{line_of, without_mark};

pub(super) fn recognise(text: &str) -> Recognised<Contract> {
    let visible = match without_comments(&without_mark(text)) {
        Ok(visible) => visible,
        Err(line) => {
            return match looks_ours(text) {
                Ok(()) => Recognised::invalid(
                    CONTRACT_FILE,
                    format!("line {line}: a comment is opened here and never closed"),
                ),
                Err(why) => Recognised::Foreign(why),
            };
        }
    };
    if let Err(why) = looks_ours(&visible) {
        return Recognised::Foreign(why);
    }
    let mut reader = Reader { text: &visible, faults: Vec::new(), notes: Vec::new() };
    let scope = reader.scope();
    let autonomy = reader.autonomy();
    let escalation = reader.sentences("Escalation");
    let goes_on = escalation.iter().any(|sentence| is_among(sentence, &[PARK_AND_GO_ON]));
    let inbox_section = reader.section("Triage Inbox");
    let contract = Contract {
        source: text.to_owned(),
        goal: reader.section("Goal").map(|span| visible[span].trim().to_owned()).unwrap_or_default(),
        scope,
        autonomy,
        verification: reader.sentences("Verification"),
        pinned: reader.pinned(),
        escalation,
        on_blocked: if goes_on { OnBlocked::GoOn } else { OnBlocked::Stop },
        inbox: reader
            .bullets("Triage Inbox")
            .iter()
            .filter_map(|bullet| InboxLine::parse(&bullet.text))
            .collect(),
        notes: std::mem::take(&mut reader.notes),
        inbox_section,
        visible: visible.clone(),
    };
    match Faults::unless_empty(CONTRACT_FILE, reader.faults, || Some(contract)) {
        Ok(contract) => Recognised::Ours(contract),
        Err(faults) => Recognised::Invalid(faults),
    }
}

fn looks_ours(visible: &str) -> Result<(), String> {
    let all = headings(visible);
    if !all.iter().any(|heading| heading.level == 1 && heading.is("Loop Contract")) {
        return Err("it is not titled `# Loop Contract`".to_owned());
    }
    for title in ["Scope", "Autonomy Level"] {
        if !all.iter().any(|heading| heading.level == 2 && heading.opens_with(title)) {
            return Err(format!("it has no section `## {title}`"));
        }
    }
    Ok(())
}

struct Reader<'t> {
    text: &'t str,
    faults: Vec<String>,
    notes: Vec<String>,
}

impl Reader<'_> {
    /// Where the content of a second-level section stands.
    fn section(&self, title: &str) -> Option<Range<usize>> {
        let all = headings(self.text);
        let opens = |heading: &Heading<'_>| heading.level == 2 && heading.opens_with(title);
        let position = all.iter().position(opens)?;
        let end = all[position + 1..].iter().find(|heading| heading.level <= 2);
        Some(all[position].content_start..end.map_or(self.text.len(), |heading| heading.line_start))
    }

    fn bullets(&self, title: &str) -> Vec<Bullet> {
        self.section(title).map(|span| bullets(&self.text[span.clone()], span.start)).unwrap_or_default()
    }

    fn sentences(&self, title: &str) -> Vec<String> {
        let words = self.bullets(title).into_iter().map(|bullet| bullet.text);
        words
            .map(|text| text.split_whitespace().collect::<Vec<_>>().join(" "))
            .filter(|text| !text.is_empty())
            .collect()
    }

    fn pinned(&mut self) -> PinnedCommands {
        let mut pinned = PinnedCommands::default();
        for bullet in self.bullets("Verification") {
            if let Err(why) = pinned.take(&bullet) {
                self.faults.push(format!("line {}: {why}", line_of(self.text, bullet.span.start)));
            }
        }
        pinned
    }

    fn scope(&mut self) -> Scope {
        let mut scope = Scope::default();
        let mut included = false;
        for bullet in self.bullets("Scope") {
            let line = line_of(self.text, bullet.span.start);
            let text = bullet.text.replace("**", "");
            let Some((label, set)) = text.split_once(':') else {
                self.faults
                    .push(format!("line {line}: under Scope, write `- Include: […]` or `- Exclude: […]`"));
                continue;
            };
            match label.trim().to_ascii_lowercase().as_str() {
                "include" => {
                    included = true;
                    match Scope::parse_set(set) {
                        Ok(parts) => scope.include.extend(parts),
                        Err(why) => self.faults.push(format!("line {line}: Include: {why}")),
                    }
                }
                "exclude" => {
                    let (read, prose) = exclusions(set);
                    scope.exclude.extend(read);
                    scope.exclude_prose.extend(prose);
                }
                other => self.faults.push(format!("line {line}: the scope has no part `{other}`")),
            }
        }
        if !included {
            let line =
                self.section("Scope").map_or(1, |span| line_of(self.text, span.start.saturating_sub(1)));
            self.faults.push(format!("line {line}: the scope has no list item `Include:`"));
        }
        scope
    }

    /// The level by its own line or by the entry `"autonomy": "L3"`; two that differ are refused, for nobody can know
    /// which one was meant.
    fn autonomy(&mut self) -> Autonomy {
        let mut stated: Vec<(usize, Autonomy)> = Vec::new();
        if let Some(span) = self.section("Autonomy Level") {
            let mut at = span.start;
            for line in self.text[span].split_inclusive('\n') {
                if let Some(level) = level_of(line) {
                    stated.push((line_of(self.text, at), level));
                }
                at += line.len();
            }
        }
        let entry =
            Regex::new(r#""autonomy"\s*:\s*"(L[123])""#).expect("a fixed expression that the tests compile");
        for found in entry.captures_iter(self.text) {
            let level = found.get(1).and_then(|level| Autonomy::from_word(level.as_str()));
            let at = found.get(0).map_or(0, |whole| whole.start());
            stated.extend(level.map(|level| (line_of(self.text, at), level)));
        }
        let Some((first_line, level)) = stated.first().copied() else {
            self.notes.push("no autonomy level is stated, so L1 holds".to_owned());
            return Autonomy::L1;
        };
        if let Some((line, other)) = stated.iter().find(|(_, other)| *other != level) {
            self.faults.push(format!(
                "line {line}: the autonomy level is {other} here and {level} on line {first_line}"
            ));
        }
        level
    }
}

/// The level a line begins with, whatever list mark or emphasis stands before it.
fn level_of(line: &str) -> Option<Autonomy> {
    let bare = line.trim_start_matches([' ', '\t', '-', '*', '+', '>', '`', '_']);
    let level = Autonomy::from_word(bare.get(..2)?)?;
    let next = bare[2..].chars().next();
    next.is_none_or(|letter| !letter.is_alphanumeric() && letter != '_').then_some(level)
}
