//! Every verb of `windlass story` is said at least once, with words that make sense, and does it. A verb that is added and not
//! said here fails this test: what there is stands in the help that is held fast.

use super::server::{Server, founded};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use windlass_test_support::{Output, World};

const HELP: &str = include_str!("../../help.snap.txt");

/// `keys create`, `audit`, `audit verify`: all that can be said.
fn verbs() -> BTreeSet<String> {
    let mut verbs = BTreeSet::new();
    for page in HELP.split("======== ").filter(|page| page.starts_with("windlass story ")) {
        let verb = page.lines().next().unwrap_or_default().trim_start_matches("windlass story ");
        let below = page.split("\nCommands:\n").nth(1).and_then(|rest| rest.split("\n\n").next());
        let names = below.into_iter().flat_map(str::lines).filter_map(|line| {
            let line = line.strip_prefix("  ").filter(|line| !line.starts_with(' '))?;
            line.split(' ').next()
        });
        verbs.extend(names.map(|name| format!("{verb} {name}")));
        // One that can be said alone takes arguments of its own.
        if below.is_none() || !page.contains(&format!("Usage: windlass story {verb} [OPTIONS] <COMMAND>")) {
            verbs.insert(verb.to_owned());
        }
    }
    verbs
}

struct Speaker {
    world: World,
    known: BTreeSet<String>,
    said: BTreeSet<String>,
    user: String,
    ann: String,
    rob: String,
    reviewer: String,
    verifier: String,
    operator: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Who {
    User,
    Ann,
    Rob,
    Reviewer,
    Verifier,
    Operator,
}

use Who::{Ann, Operator, Reviewer, Rob, User, Verifier};

impl Speaker {
    fn run(&mut self, key: &str, words: &[&str]) -> Output {
        let two = words.iter().take(2).copied().collect::<Vec<_>>().join(" ");
        let verb = [two.as_str(), words[0]].into_iter().find(|verb| self.known.contains(*verb));
        self.said.insert(verb.unwrap_or_else(|| panic!("{words:?} is no verb")).to_owned());
        self.world.set("LOOPCTL_API_KEY", key);
        self.world.windlass(&[&["story", "--json"], words].concat())
    }

    fn key(&self, who: Who) -> String {
        match who {
            User => &self.user,
            Ann => &self.ann,
            Rob => &self.rob,
            Reviewer => &self.reviewer,
            Verifier => &self.verifier,
            Operator => &self.operator,
        }
        .clone()
    }

    #[track_caller]
    fn says(&mut self, who: Who, words: &[&str]) -> Value {
        let key = self.key(who);
        let output = self.run(&key, words).exits_with(0);
        serde_json::from_str(&output.stdout)
            .unwrap_or_else(|error| panic!("{words:?}: {error}: {}", output.stdout))
    }

    /// The same in one line, where no word has a blank.
    #[track_caller]
    fn line(&mut self, who: Who, line: &str) -> Value {
        self.says(who, &line.split(' ').collect::<Vec<_>>())
    }

    #[track_caller]
    fn tells(&mut self, who: Who, line: &str, what: &str) {
        let told = self.line(who, line);
        assert!(told.to_string().contains(what), "{line}: {told}");
    }

    fn implementing(&mut self, story: &str) {
        for verb in ["contract", "claim", "start"] {
            let _ = self.line(Ann, &format!("{verb} {story}"));
        }
    }

    fn finished(&mut self, story: &str) {
        let _ = self.line(Rob, &format!("report {story}"));
        let _ = self.line(Reviewer, &format!("review-complete {story} --type code"));
    }

    #[track_caller]
    fn stands(&mut self, story: &str, work: &str, proof: &str) {
        let told = self.line(Ann, &format!("show {story}"));
        let standing = (&told["story"]["agent_status"], &told["story"]["verified_status"]);
        assert_eq!(standing, (&json!(work), &json!(proof)), "{told}");
    }

    /// A file of this name, by its path.
    fn file(&self, name: &str, content: &str) -> String {
        let path = self.world.path().join(name);
        std::fs::write(&path, content).unwrap();
        path.to_str().unwrap().to_owned()
    }
}

fn plan(speaker: &mut Speaker) {
    let _ = speaker.line(User, "project create Verbs --slug verbs");
    speaker.tells(Ann, "project list", "verbs");
    speaker.tells(Ann, "project info verbs", "verbs");
    for number in [1, 2] {
        let _ = speaker.line(Verifier, &format!("epic create {number} Made --project verbs"));
    }
    let _ = speaker.says(Verifier, &["create", "1.1", "First", "--criterion", "it works"]);
    let story = |number: usize| json!({ "number": format!("3.{number}"), "title": "One of many" });
    let stories: Vec<Value> = (1..=12).map(story).collect();
    let plan = json!({ "epics": [{ "number": 3, "title": "Many", "stories": stories }] });
    let file = speaker.file("plan.json", &plan.to_string());
    let _ = speaker.line(User, &format!("import {file} --project verbs"));
    speaker.tells(Ann, "export --project verbs", "3.12");
    speaker.tells(Ann, "epic list", "Many");
    let _ = speaker.line(Verifier, "depends 3.12 --on 3.11");
    speaker.tells(Ann, "blocked", "3.12");
    let _ = speaker.line(User, "undepend 3.12 --on 3.11");
    let _ = speaker.line(Verifier, "edit 3.12 --title Edited");
    speaker.tells(Ann, "list", "Edited");
    speaker.tells(Ann, "next", "1.1");
    speaker.tells(Ann, "status", "pending");
    speaker.tells(Ann, "criteria 1.1", "it works");
    let _ = speaker.line(User, "delete 3.12");
    let _ = speaker.line(User, "epic delete 2");
}

/// From contract to verdict, with a token that was made narrower on the way.
fn one_story(speaker: &mut Speaker) {
    let _ = speaker.line(Ann, "contract 1.1");
    let claimed = speaker.line(Ann, "claim 1.1");
    let token = claimed["start_cap"]["token"].as_str().unwrap().to_owned();
    let tenant = speaker.line(Ann, "whoami")["tenant"]["id"].as_str().unwrap().to_owned();
    let path = format!("/tenants/{tenant}/audit_public_key");
    let pem = speaker.says(Operator, &["admin", "impersonate", "team-blue", "get", &path]);
    let pem = speaker.file("key.pem", pem.as_str().unwrap());
    speaker.tells(Ann, &format!("token check {token} --public-key {pem}"), "start_cap");
    let narrower = speaker.line(Ann, &format!("token narrow {token} --expires-in 600"));
    let narrower = narrower["token"].as_str().unwrap().to_owned();
    let _ = speaker.line(Ann, &format!("start 1.1 --capability {narrower}"));
    let used = "token-usage --story 1.1 --input 5 --output 6 --model m --cost 7";
    let _ = speaker.line(Ann, used);
    let artifact = r#"{"artifact_type":"test","path":"tests/a.rs"}"#;
    let _ = speaker.says(Ann, &["artifacts", "1.1", "--add", artifact]);
    let _ = speaker.line(Ann, "request-review 1.1");
    let _ = speaker.line(Rob, "report 1.1");
    speaker.tells(Ann, "pending", "1.1");
    let _ = speaker.line(Reviewer, "review-complete 1.1 --type code");
    let _ = speaker.line(Verifier, "criterion 1.1 AC-1 --status verified --evidence tests/a.rs");
    let _ = speaker.line(Verifier, "verify 1.1 --summary met");
    speaker.stands("1.1", "reported_done", "verified");
    speaker.tells(Ann, "artifacts 1.1", "tests/a.rs");
    speaker.tells(Verifier, "verifications 1.1", "met");
    speaker.tells(Ann, "history 1.1", "contracted");
    speaker.tells(Ann, "changes --since 0 --limit 1000", "contracted");
    speaker.tells(Ann, "token-report --story 1.1", "\"m\"");
    speaker.tells(Ann, "cost-summary", "cost_millicents");
    let _ = speaker.line(Verifier, "budget set story 1.1 --millicents 9");
    speaker.tells(Ann, "budget list", "\"1.1\"");
    let _ = speaker.line(Verifier, "anomalies");
}

/// Every other way that a story goes.
fn other_ways(speaker: &mut Speaker) {
    speaker.implementing("3.1");
    speaker.finished("3.1");
    let _ = speaker.line(Verifier, "reject 3.1 --reason untested");
    speaker.stands("3.1", "pending", "rejected");
    let _ = speaker.line(Ann, "contract 3.2");
    let _ = speaker.line(Ann, "claim 3.2");
    speaker.tells(Ann, "recover-cap 3.2 --type start_cap", "wcap1.");
    let _ = speaker.line(Ann, "unclaim 3.2");
    speaker.implementing("3.2");
    let _ = speaker.line(Verifier, "force-unclaim 3.2");
    speaker.stands("3.2", "pending", "unverified");
    let _ = speaker.line(Verifier, "backfill 3.3 --reason before --pr-number 7");
    speaker.stands("3.3", "reported_done", "verified");
    for story in ["3.4", "3.5"] {
        let _ = speaker.line(Ann, &format!("contract {story}"));
    }
    let _ = speaker.line(Ann, "bulk claim 3.4 3.5");
    for story in ["3.4", "3.5"] {
        let _ = speaker.line(Ann, &format!("start {story}"));
        speaker.finished(story);
    }
    let _ = speaker.line(Verifier, "bulk verify 3.4 --summary met");
    let _ = speaker.line(Verifier, "bulk reject 3.5 --reason untested");
    for (story, verb) in [("3.6", "bulk mark-complete 3.6"), ("3.7", "verify-all 3")] {
        speaker.implementing(story);
        speaker.finished(story);
        let _ = speaker.line(Verifier, &format!("{verb} --summary met --review-type code"));
        speaker.stands(story, "reported_done", "verified");
    }
    speaker.stands("3.4", "reported_done", "verified");
    speaker.stands("3.5", "pending", "rejected");
    for story in ["3.8", "3.9"] {
        speaker.implementing(story);
        let key = speaker.ann.clone();
        let _ = speaker.run(&key, &["report", story]).exits_with(14);
    }
    let violations = speaker.line(User, "violations --status pending");
    let story = speaker.line(Ann, "show 3.8")["story"]["id"].clone();
    let of = |one: &&Value| one["entity_id"] == story;
    let violation = violations["data"].as_array().unwrap().iter().find(of).unwrap()["id"].clone();
    let _ = speaker.line(User, &format!("settle {}", violation.as_str().unwrap()));
    let _ = speaker.line(Verifier, "release 3.9 --reason looked");
    for story in ["3.8", "3.9"] {
        let _ = speaker.line(Rob, &format!("report {story}"));
    }
}

fn account(speaker: &mut Speaker) {
    speaker.tells(Ann, "auth whoami", "team-blue");
    speaker.tells(Ann, "tenant info", "team-blue");
    let _ = speaker.line(User, "tenant update --setting max_projects=60");
    speaker.tells(User, "tenant register", "new-tenant");
    let made = speaker.line(User, "keys create --name extra --role agent");
    let raw = made["raw_key"].as_str().unwrap().to_owned();
    let _ = speaker.run(&raw, &["agent", "register", "--name", "late"]).exits_with(0);
    speaker.tells(Verifier, "agent list", "late");
    let id = made["api_key"]["id"].as_str().unwrap();
    let rotated = speaker.line(User, &format!("keys rotate {id}"));
    let _ = speaker.line(User, &format!("keys revoke {}", rotated["api_key"]["id"].as_str().unwrap()));
    speaker.tells(User, "keys list --include-revoked", "extra");
    speaker.tells(User, "dispatch --agent ann", "lc_");
    let _ = speaker.says(Verifier, &["state", "save", "--data", r#"{"phase":2}"#]);
    speaker.tells(Verifier, "state load", "\"phase\":2");
    speaker.tells(Verifier, "state history", "\"version\":1");
    speaker.tells(User, "audit", "contracted");
    let file = speaker.world.path().join("chain").to_str().unwrap().to_owned();
    let _ = speaker.line(User, &format!("audit export {file}"));
    speaker.tells(User, &format!("audit verify {file}"), "\"holds\":true");
    for line in ["tenants", "tenant team-blue", "stats", "suspend team-blue", "activate team-blue"] {
        let _ = speaker.line(Operator, &format!("admin {line}"));
    }
}

fn written_down(speaker: &mut Speaker) {
    let (one, two) = (speaker.file("one.md", "look at it\n"), speaker.file("two.md", "look twice\n"));
    let _ = speaker.line(User, &format!("skill create --name look --file {one}"));
    let _ = speaker.line(User, &format!("skill update look --file {two}"));
    speaker.tells(Ann, "skill get look", "look twice");
    speaker.tells(Ann, "skill history look", "\"version\":2");
    let _ = speaker.line(Ann, "skill stats look");
    let _ = speaker.line(User, "skill archive look");
    let _ = speaker.line(User, "skill activate look");
    std::fs::create_dir(speaker.world.path().join("skills")).unwrap();
    let _ = speaker.file("skills/a.md", "---\nname: other\n---\nlook elsewhere\n");
    let directory = speaker.world.path().join("skills").to_str().unwrap().to_owned();
    let _ = speaker.line(User, &format!("skill import {directory}"));
    speaker.tells(Ann, "skill list", "other");

    let made = speaker.line(User, "webhook create --url https://hooks.example/x --events story.verified");
    let id = made["webhook"]["id"].as_str().unwrap();
    speaker.tells(User, "webhook list", "hooks.example");
    for verb in ["test", "deliveries", "activate", "delete"] {
        let _ = speaker.line(User, &format!("webhook {verb} {id}"));
    }

    let _ = speaker.line(Ann, &format!("knowledge create Page --file {one} --category decision"));
    speaker.tells(Verifier, "knowledge drafts", "Page");
    let _ = speaker.line(Verifier, "knowledge publish page");
    speaker.tells(Ann, "knowledge index", "Page");
    speaker.tells(Ann, "knowledge search look", "Page");
    speaker.tells(Ann, "knowledge get page", "look at it");
    let _ = speaker.line(Verifier, "knowledge lint");
    let _ = speaker.line(User, "knowledge archive page");
    let _ = speaker.line(User, "project archive verbs");
    let _ = speaker.line(User, "project activate verbs");
}

fn on_this_machine(speaker: &mut Speaker, url: &str) {
    let _ = speaker.line(User, "config set format json");
    speaker.tells(User, "config get format", "json");
    speaker.tells(User, "config show", url);
    let user = speaker.user.clone();
    for verb in ["login", "auth login"] {
        speaker.tells(User, &format!("{verb} --server {url} --key {user}"), "team-blue");
    }
    let _ = speaker.line(User, "logout");
}

#[test]
fn every_verb_does_what_it_says() {
    let (mut world, user) = founded();
    let made = world.windlass(&["serve", "new-key", "ops", "--superadmin", "--json"]).exits_with(0);
    let operator = made.json()["key"].as_str().unwrap().to_owned();
    let server = Server::start(&world).unwrap();
    world.set("LOOPCTL_SERVER", server.url());
    let generous = json!({ "settings": { "rate_limit_requests_per_minute": 1_000_000 } });
    server.done(&user, "PATCH", "/tenants/me", &generous);
    let mut speaker = Speaker {
        ann: server.agent(&user, "ann", "agent"),
        rob: server.agent(&user, "rob", "agent"),
        reviewer: server.agent(&user, "reviewer", "orchestrator"),
        verifier: server.agent(&user, "verifier", "orchestrator"),
        world,
        known: verbs(),
        said: BTreeSet::new(),
        user,
        operator,
    };
    assert!(speaker.known.len() > 90, "{:?}", speaker.known);
    plan(&mut speaker);
    one_story(&mut speaker);
    other_ways(&mut speaker);
    account(&mut speaker);
    written_down(&mut speaker);
    on_this_machine(&mut speaker, &server.url());
    assert_eq!(speaker.said, speaker.known, "a verb was not said");
    server.stop();
}
