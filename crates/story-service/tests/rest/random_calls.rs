//! A call of any route of the table, with a body that gets past it more often than not. Ids are of either tenant; what is
//! written carries the word of whoever writes it.

use crate::properties::Side;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use windlass_control_api::stories::Method;
use windlass_story_service::{Field, Kind, Need, Route};

/// A few decisions out of one number.
pub(crate) struct Chance(u64);

impl Chance {
    pub(crate) const fn of(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, most: usize) -> usize {
        usize::try_from(self.next() % most.max(1) as u64).unwrap_or(0)
    }

    pub(crate) fn one_of<T: Clone>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())].clone()
    }
}

/// Everything in a text that is spelled like an id.
pub(crate) fn ids_in(text: &str) -> BTreeSet<String> {
    let is_id = |word: &&str| {
        let lengths: Vec<usize> = word.split('-').map(str::len).collect();
        lengths == [8, 4, 4, 4, 12]
    };
    let words = text.split(|sign: char| !sign.is_ascii_hexdigit() && sign != '-');
    words.filter(is_id).map(str::to_owned).collect()
}

const NOBODY: &str = "00000000-0000-7000-8000-000000000000";
const NUMBERS: [&str; 5] = ["3.1", "3.2", "3.3", "4.1", "US-3.1"];

/// Path, query and body.
pub(crate) fn random_call(
    route: &Route,
    own: &Side,
    other: &Side,
    chance: &mut Chance,
) -> (String, String, Value) {
    let (mut before, mut parts) = ("", Vec::new());
    let full = route.full_path();
    for part in full.split('/') {
        if part.starts_with(':') {
            parts.push(id_of(before, own, other, chance));
        } else {
            parts.push(part.to_owned());
        }
        before = part;
    }
    let mut fields = |fields: &[Field]| -> Map<String, Value> {
        let wanted: Vec<&Field> =
            fields.iter().filter(|field| field.need == Need::Required || chance.below(3) == 0).collect();
        wanted.into_iter().map(|field| (field.name.to_owned(), value_of(field, own, other, chance))).collect()
    };
    let query = fields(route.query);
    let body = if route.method == Method::Get { Map::new() } else { fields(route.body) };
    let plain =
        |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned).replace(' ', "%20");
    let query: Vec<String> = query.iter().map(|(name, value)| format!("{name}={}", plain(value))).collect();
    (parts.join("/"), query.join("&"), Value::Object(body))
}

fn id_of(kind: &str, own: &Side, other: &Side, chance: &mut Chance) -> String {
    let kind = match kind {
        "state" | "project" => "projects",
        "epic_dependencies" => "story_dependencies",
        kind => kind,
    };
    match (kind, chance.below(8)) {
        ("acceptance_criteria", _) => return "AC-1".to_owned(),
        ("versions", _) => return "1".to_owned(),
        ("stories", 0 | 1) => return chance.one_of(&NUMBERS).to_owned(),
        ("projects", 0) => return "main".to_owned(),
        (_, 2) => return NOBODY.to_owned(),
        _ => {}
    }
    let side = if chance.below(2) == 0 { own } else { other };
    let known = side.ids.get(kind).filter(|ids| !ids.is_empty());
    known.map_or_else(|| NOBODY.to_owned(), |ids| chance.one_of(ids))
}

fn value_of(field: &Field, own: &Side, other: &Side, chance: &mut Chance) -> Value {
    let number = chance.below(100);
    let words = format!("{} {number}", own.word);
    match field.kind {
        Kind::Text => json!(text_of(field.name, &words, own, other, chance)),
        Kind::Integer if field.name == "epic_number" => json!(3 + number % 2),
        Kind::Integer | Kind::Number => json!(1 + number),
        Kind::Boolean => json!(number.is_multiple_of(2)),
        Kind::Object => object_of(field.name, &words, chance),
        Kind::List => list_of(field.name, &words, own, other, chance),
        Kind::Any if field.name == "number" => json!(format!("{}.{number}", 3 + number % 2)),
        Kind::Any => json!(words),
    }
}

fn text_of(name: &str, words: &str, own: &Side, other: &Side, chance: &mut Chance) -> String {
    let kind = match name {
        "story_id" | "depends_on_story_id" | "scope_id" => "stories",
        "epic_id" | "depends_on_epic_id" => "epics",
        "project_id" | "project" => "projects",
        "agent_id" | "actor_id" => "agents",
        "parent_dispatch_id" => "dispatches",
        "source_article_id" | "target_article_id" => "articles",
        "skill_version_id" | "verification_result_id" | "entity_id" | "source_id" => "versions-by-id",
        _ => "",
    };
    if !kind.is_empty() {
        return id_of(kind, own, other, chance);
    }
    if matches!(name, "cap" | "capability") {
        return token_of(own, other, chance);
    }
    let among: &[&str] = match name {
        "role" => &["agent", "orchestrator", "user", "superadmin"],
        "status" => &["verified", "failed", "published", "active", "pending", "archived"],
        "result" => &["pass", "fail", "partial"],
        "cap_type" => &["start_cap", "report_cap", "verify_cap", "review_complete_cap"],
        "scope_type" => &["story", "epic", "project"],
        "category" => &["decision", "finding"],
        "agent_type" => &["implementer", "orchestrator"],
        "relationship_type" => &["relates_to", "supersedes"],
        "severity" => &["high", "low"],
        "review_type" => &["code"],
        "scope" => &["tenant", "system"],
        "url" => &["https://hooks.example/x"],
        "evidence_url" => &["https://example.org/pr/1"],
        "agent_status" => &["pending", "reported_done"],
        "verified_status" => &["verified", "unverified"],
        "since" | "from" | "to" | "until" => &["0", "2026-01-01T00:00:00Z"],
        "mode" => &["keyword", "semantic"],
        _ => &[],
    };
    match (name, among) {
        ("slug", _) => words.replace(' ', "-"),
        (_, []) => words.to_owned(),
        (_, among) => chance.one_of(among).to_owned(),
    }
}

/// One that was handed out, here or there, by now mostly used or of another step; or one that nobody issued.
fn token_of(own: &Side, other: &Side, chance: &mut Chance) -> String {
    let side = if chance.below(4) == 0 { other } else { own };
    // The newest are the likeliest to open anything.
    let newest: Vec<String> = side.tokens.iter().rev().take(3).cloned().collect();
    if newest.is_empty() || chance.below(4) == 0 {
        return "wcap1.made-up".to_owned();
    }
    chance.one_of(&newest)
}

fn object_of(name: &str, words: &str, chance: &mut Chance) -> Value {
    match name {
        "artifact" => json!({ "artifact_type": "file", "path": words }),
        "token_usage" => {
            json!({ "input_tokens": 5, "output_tokens": 6, "model_name": words, "cost_millicents": 7 })
        }
        "settings" => {
            let flag = chance.below(2) == 0;
            let settings = [
                "distinct_reporter_reviewer_verifier",
                "auto_reset_on_rejection",
                "orchestrator_root_dispatches",
                "require_capabilities",
            ];
            json!({ chance.one_of(&settings): flag })
        }
        _ => json!({ "words": words }),
    }
}

fn list_of(name: &str, words: &str, own: &Side, other: &Side, chance: &mut Chance) -> Value {
    let count = 1 + chance.below(4);
    let story = |chance: &mut Chance| id_of("stories", own, other, chance);
    match name {
        "story_ids" => (0..count).map(|_| json!(story(chance))).collect(),
        "stories" => (0..count)
            .map(|_| {
                let result = chance.one_of(&["pass", "fail"]);
                json!({ "story_id": story(chance), "reason": words, "summary": words, "review_type": "code", "result": result })
            })
            .collect(),
        "epics" => json!([{ "number": 3 + chance.below(4), "title": words, "stories": plan_of(count, words, chance) }]),
        "story_dependencies" => json!([{ "story": chance.one_of(&NUMBERS), "depends_on": chance.one_of(&NUMBERS) }]),
        "epic_dependencies" => json!([{ "epic": 3 + chance.below(3), "depends_on": 3 + chance.below(3) }]),
        "acceptance_criteria" => json!([{ "id": "AC-1", "description": words }]),
        "article_ids" => json!([id_of("articles", own, other, chance)]),
        "events" => json!(["story.verified", "story.rejected"]),
        "skills" => json!([{ "name": words, "prompt_text": words }]),
        "tags" => json!(["a-tag"]),
        _ => json!([{ "words": words }]),
    }
}

/// Stories of an import: new ones, and such as are there, in whatever standing somebody claims for them.
fn plan_of(count: usize, words: &str, chance: &mut Chance) -> Value {
    (0..count)
        .map(|_| {
            let number = format!("{}.{}", 3 + chance.below(3), 1 + chance.below(5));
            let mut story = json!({ "number": number, "title": words });
            if chance.below(2) == 0 {
                story["initial_agent_status"] = json!("reported_done");
            }
            if chance.below(3) == 0 {
                story["initial_verified_status"] = json!("verified");
            }
            story
        })
        .collect()
}
