//! What holds whatever anybody asks: random keys of two tenants at every route of the table, bulk and import included, with
//! ids of both. Nobody reads a row of the other tenant, nothing ends in a 5xx, and the history of both keeps every rule.

use crate::random_calls::{Chance, ids_in, random_call};
use crate::support::{Team, World};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use windlass_control_api::stories::{Answer, Call, Method, StoryApi};
use windlass_story_service::{Route, Who};

/// One tenant as whoever asks there sees it.
pub(crate) struct Side {
    /// In everything that is written here, and nowhere else.
    pub(crate) word: &'static str,
    tenant: String,
    team: Team,
    /// Of every role, of sub-agents, and what was handed out on the way; some of them are revoked by now.
    keys: Vec<String>,
    /// By the word that stands before them in a path.
    pub(crate) ids: BTreeMap<String, Vec<String>>,
    /// Capability tokens in the order in which they were handed out.
    pub(crate) tokens: Vec<String>,
    /// Every id that was shown to somebody here.
    shown: BTreeSet<String>,
}

const NUMBERS: [&str; 3] = ["3.1", "3.2", "3.3"];
const WITH_TOKENS: &str = "omega";

impl Side {
    async fn of(world: &World, name: &'static str) -> Self {
        let team = world.team(name).await;
        let stories: Vec<Value> = NUMBERS
            .iter()
            .map(|number| {
                let criteria = json!([{ "id": "AC-1", "description": format!("it works {name}") }]);
                json!({ "number": number, "title": format!("Story {name}"), "acceptance_criteria": criteria })
            })
            .collect();
        let plan = json!({
            "epics": [{ "number": 3, "title": format!("Epic {name}"), "stories": stories }],
            "story_dependencies": [{ "story": "3.2", "depends_on": "3.1" }],
        });
        world.import(&team, plan).await;
        // Where tokens are asked for nobody gets anywhere without one; the other tenant does not ask, until somebody changes that.
        let settings = json!({ "settings": {
            "rate_limit_requests_per_minute": 1_000_000, "require_capabilities": name == WITH_TOKENS,
        } });
        assert_eq!(world.ask(&team.user, Method::Patch, "/tenants/me", settings).await.status, 200);
        let tenant = world.get(&team.user, "/tenants/me").await["tenant"]["id"].as_str().unwrap().to_owned();
        let keys = [&team.user, &team.implementer, &team.reporter, &team.reviewer, &team.verifier];
        let keys: Vec<String> = keys.into_iter().cloned().chain(["lc_nobody".to_owned()]).collect();
        let (ids, tokens, shown) = (BTreeMap::new(), Vec::new(), BTreeSet::new());
        let mut side = Self { word: name, tenant, team, keys, ids, tokens, shown };
        let user = side.team.user.clone();
        let bound = json!({ "name": name, "role": "user", "agent_id": "implementer" });
        let sent = json!({ "role": "orchestrator", "agent_id": "verifier" });
        for (path, body) in [("/api_keys", bound), ("/dispatches", sent)] {
            let made = world.post(&user, path, body).await;
            side.keys.push(made["raw_key"].as_str().unwrap().to_owned());
        }
        for list in ["/projects", "/projects/main/epics", "/stories?project=main", "/agents", "/api_keys"] {
            let answer = world.ask(&user, Method::Get, list, Value::Null).await;
            side.learn(list, &answer, &BTreeSet::new());
        }
        side
    }

    /// What an answer tells: ids for later calls, keys that were handed out, and what this side has now seen.
    fn learn(&mut self, path: &str, answer: &Answer, asked_with: &BTreeSet<String>) {
        let value = answer.value();
        let text = value.to_string();
        self.shown.extend(ids_in(&text).into_iter().filter(|id| !asked_with.contains(id)));
        let kind = path.split('?').next().and_then(|path| path.rsplit('/').next()).unwrap_or_default();
        let listed = value["data"].as_array().into_iter().flatten().map(|one| (kind.to_owned(), one));
        let single = value.as_object().into_iter().flatten().map(|(name, one)| (plural(name), one));
        let found: Vec<(String, String)> = listed
            .chain(single)
            .filter_map(|(kind, one)| Some((kind, one.get("id")?.as_str()?.to_owned())))
            .collect();
        for (kind, id) in found {
            let known = self.ids.entry(kind).or_default();
            if !known.contains(&id) {
                known.push(id);
            }
        }
        self.keys.extend(value["raw_key"].as_str().map(str::to_owned));
        self.tokens.extend(tokens_in(&text));
    }

    /// What brings a story of this side on, by somebody who may.
    async fn onwards(&mut self, world: &World, number: &str) -> Option<Answer> {
        let path = format!("/stories/{number}?project=main");
        let story =
            world.ask(&self.team.user, Method::Get, &path, Value::Null).await.value()["story"].clone();
        let criteria = story["acceptance_criteria"].as_array().map_or(0, Vec::len);
        let contract = json!({ "story_title": story["title"], "ac_count": criteria });
        let team = &self.team;
        let (key, step, body) = match story["agent_status"].as_str()? {
            _ if story["quarantined"] == true => (&team.user, "release", json!({ "note": "looked" })),
            "pending" => (&team.implementer, "contract", contract),
            "contracted" => (&team.implementer, "claim", json!({})),
            "assigned" => (&team.implementer, "start", json!({})),
            "implementing" => (&team.reporter, "report", json!({})),
            _ if story["iteration_count"] == 0 => {
                let (key, review) = (team.reviewer.clone(), json!({ "review_type": "code" }));
                let _ = self.step(world, &key, number, ("review-complete", review)).await;
                (&self.team.verifier, "verify", json!({}))
            }
            _ => (&team.verifier, "reject", json!({ "reason": "not yet" })),
        };
        let key = key.clone();
        Some(self.step(world, &key, number, (step, body)).await)
    }

    /// With a token of one's own, where one is asked for.
    async fn step(&mut self, world: &World, key: &str, number: &str, step: (&str, Value)) -> Answer {
        let (step, mut body) = step;
        let path = |step: &str| format!("/stories/{number}/{step}?project=main");
        let mut answer = world.ask(key, Method::Post, &path(step), body.clone()).await;
        if answer.value()["error"]["code"] == "missing_capability" {
            let ask = json!({ "cap_type": answer.value()["error"]["context"]["required"] });
            let got = world.ask(key, Method::Post, &path("recover-cap"), ask).await.value();
            body["cap"] = got["capability"]["token"].clone();
            answer = world.ask(key, Method::Post, &path(step), body).await;
        }
        self.tokens.extend(tokens_in(&answer.value().to_string()));
        answer
    }
}

fn tokens_in(text: &str) -> impl Iterator<Item = String> {
    let whole = |rest: &str| rest.split(['"', '\\']).next().map(|rest| format!("wcap1.{rest}"));
    text.split("wcap1.").skip(1).filter_map(whole).collect::<Vec<_>>().into_iter()
}

fn plural(name: &str) -> String {
    match name {
        "story" => "stories".to_owned(),
        "dispatch" => "dispatches".to_owned(),
        "dependency" => "story_dependencies".to_owned(),
        "token_usage_report" => "token-usage".to_owned(),
        "token_budget" => "token-budgets".to_owned(),
        "ui_test_run" => "ui-tests".to_owned(),
        "link" | "article_link" => "article_links".to_owned(),
        name => format!("{name}s"),
    }
}

/// Asks as somebody of the first, with ids of both, and looks at what comes back.
async fn try_anything(world: &World, sides: &mut [Side; 2], first: usize, chance: &mut Chance) {
    let routes: Vec<Route> = world.service.routes().to_vec();
    let route = chance.one_of(&routes);
    let key = chance.one_of(&sides[first].keys);
    let (path, query, body) = random_call(&route, &sides[first], &sides[1 - first], chance);
    let mut call = Call::new(route.method, path.clone()).with_key(&key);
    call.query.clone_from(&query);
    if route.method != Method::Get {
        call = call.with_json(&body);
    }
    let asked_with: BTreeSet<String> = ids_in(&format!("{path} {query} {body}"));
    let answer = world.service.call(call).await.unwrap();
    let told = String::from_utf8_lossy(&answer.body).into_owned();
    let what = format!("{} {path}?{query} {body}: {} {told}", route.method.name(), answer.status);
    assert!(answer.status < 500, "{what}");
    if route.who == Who::Public {
        return;
    }
    let other = &sides[1 - first];
    assert!(!told.contains(other.word), "words of {}: {what}", other.word);
    let foreign: Vec<String> =
        ids_in(&told).into_iter().filter(|id| other.shown.contains(id) && !asked_with.contains(id)).collect();
    assert!(foreign.is_empty(), "ids of {} {foreign:?}: {what}", other.word);
    sides[first].learn(route.path, &answer, &asked_with);
}

/// Else the property would hold where tokens are asked for because nothing is ever done there.
#[tokio::test]
async fn stories_get_through_where_tokens_are_asked_for() {
    let world = World::new();
    let mut side = Side::of(&world, WITH_TOKENS).await;
    for step in ["contracted", "assigned", "implementing", "reported_done", "verified"] {
        let answer = side.onwards(&world, "3.1").await.unwrap().value();
        let told = [&answer["story"]["agent_status"], &answer["story"]["verified_status"]];
        assert!(told.contains(&&json!(step)), "{step}: {answer}");
    }
    // Of the claim, the start and the report; those that opened a step were got again.
    assert!(side.tokens.len() >= 3, "{:?}", side.tokens);
    let path = "/stories/3.3/contract?project=main";
    let contract = json!({ "story_title": "Story omega", "ac_count": 1 });
    world.post(&side.team.implementer, path, contract).await;
    world.post(&side.team.implementer, "/stories/3.3/claim?project=main", json!({})).await;
    let start = "/stories/3.3/start?project=main";
    let spent = json!({ "cap": side.tokens[0] });
    for (body, code) in [(json!({}), "missing_capability"), (spent, "cap_rejected")] {
        let (status, error) = world.refused(&side.team.implementer, start, body).await;
        assert_eq!((status, &error["code"]), (403, &json!(code)));
    }
}

async fn holds(world: &World, side: &Side) {
    let tenant =
        world.service.tenants().await.unwrap().into_iter().find(|one| one.slug == side.word).unwrap();
    assert_eq!(tenant.id.to_string(), side.tenant);
    let key = world.service.make_named_key(tenant.id, "at the end", "user").await.unwrap();
    // The chain, the heads, and the rules of custody: nobody reported, reviewed or verified what they implemented.
    let verified = world.get(&key, "/audit/verify").await;
    assert_eq!(verified["verification"]["holds"], true, "{verified}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn nobody_reads_another_tenant_and_no_rule_is_ever_broken(
        steps in proptest::collection::vec((0..2_usize, 0..8_usize, any::<u64>()), 1..160)
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let world = World::new();
            let mut sides = [Side::of(&world, "alpha").await, Side::of(&world, WITH_TOKENS).await];
            for (first, kind, seed) in steps {
                let mut chance = Chance::of(seed);
                if kind < 3 {
                    let number = chance.one_of(&NUMBERS);
                    if let Some(answer) = sides[first].onwards(&world, number).await {
                        assert!(answer.status < 500, "{} {}", answer.status, answer.value());
                    }
                } else {
                    try_anything(&world, &mut sides, first, &mut chance).await;
                }
            }
            for side in &sides {
                holds(&world, side).await;
            }
        });
    }
}
