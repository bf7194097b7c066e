//! A server with everybody the table names, and stories brought as far as a case asks.

use super::cases::Standing::{
    self, Assigned, BehindQuarantined, BroughtAndReviewed, BroughtAsDone, Contracted, CriterionFailed,
    Deleted, Implementing, ImplementingByHand, MadeAgain, Pending, Quarantined, RejectedAndKept, Reported,
    ReportedAgain, ReportedByHand, Reviewed, ReviewedByHand, ReviewedThenReworded, Reworded, TakenBack,
    TriedByAStranger, Verified, VerifiedThenReworded,
};
use super::cases::Who::{
    self, Ann, Bob, Hand, JudgingHand, Nobody, OtherHand, Reporter, Reviewer, Sent, Shadow, Stranger, User,
    Verifier,
};
use crate::stories::server::{Server, founded};
use serde_json::{Value, json};
use windlass_test_support::World;

pub(super) struct Scene {
    pub(super) world: World,
    pub(super) server: Server,
    keys: Vec<(Who, String)>,
    stories: usize,
    epics: u64,
}

impl Scene {
    pub(super) fn set() -> Self {
        let (mut world, user) = founded();
        let server = Server::start(&world).unwrap();
        world.set("LOOPCTL_SERVER", server.url());
        let keys = vec![(User, user), (Stranger, "lc_nobody".to_owned())];
        let mut scene = Self { world, server, keys, stories: 0, epics: 0 };
        scene.rest(
            User,
            "PATCH",
            "/tenants/me",
            &json!({"settings": {"rate_limit_requests_per_minute": 1_000_000}}),
        );
        for (who, name, role) in [
            (Ann, "ann", "agent"),
            (Bob, "bob", "agent"),
            (Reporter, "reporter", "agent"),
            (Reviewer, "reviewer", "orchestrator"),
            (Verifier, "verifier", "orchestrator"),
        ] {
            let key = scene.agent(name, role);
            scene.keys.push((who, key));
        }
        let nobody = scene.new_key("nobody", "orchestrator", &Value::Null);
        scene.keys.push((Nobody, nobody));
        let shadow = scene.new_key("ann as a user", "user", &json!("ann"));
        scene.keys.push((Shadow, shadow));
        scene.agent("chief", "agent");
        for (who, name, role) in [
            (Hand, "hand", "agent"),
            (OtherHand, "other-hand", "agent"),
            (JudgingHand, "judging-hand", "orchestrator"),
        ] {
            scene.agent(name, "agent");
            let key = scene.sub_agent(name, role);
            scene.keys.push((who, key));
        }
        scene.rest(User, "POST", "/projects", &json!({"name": "Faces", "slug": "faces"}));
        scene.rest(User, "POST", "/projects/faces/epics", &json!({"number": 1, "title": "All"}));
        scene
    }

    fn new_key(&self, name: &str, role: &str, agent: &Value) -> String {
        let body = json!({"name": name, "role": role, "agent_id": agent});
        self.rest(User, "POST", "/api_keys", &body)["raw_key"].as_str().unwrap().to_owned()
    }

    pub(super) fn agent(&self, name: &str, role: &str) -> String {
        let first = self.new_key(name, "agent", &Value::Null);
        let body = json!({"name": name, "agent_type": "implementer"});
        let (status, made) = self.server.ask(&first, "POST", "/agents/register", "", &body).unwrap();
        assert_eq!(status, 201, "{made}");
        if role == "agent" {
            first
        } else {
            self.new_key(&format!("{name} as {role}"), role, &made["agent"]["id"])
        }
    }

    /// Below a root that the user opened for the chief, and for nobody else.
    fn sub_agent(&self, name: &str, role: &str) -> String {
        let root = json!({"role": "orchestrator", "agent_id": "chief", "expires_in_seconds": 14_400});
        let root = self.rest(User, "POST", "/dispatches", &root);
        let chief = root["raw_key"].as_str().unwrap();
        let below = json!({"role": role, "agent_id": name, "expires_in_seconds": 14_400});
        let (status, made) = self.server.ask(chief, "POST", "/dispatches", "", &below).unwrap();
        assert_eq!(status, 201, "{made}");
        made["raw_key"].as_str().unwrap().to_owned()
    }

    /// An orchestrator under a root of its own that the user opens now; gives its dispatch.
    pub(super) fn send(&mut self, agent: &str) -> String {
        let root = json!({"role": "orchestrator", "agent_id": agent});
        let root = self.rest(User, "POST", "/dispatches", &root);
        self.keys.retain(|(who, _)| *who != Sent);
        self.keys.push((Sent, root["raw_key"].as_str().unwrap().to_owned()));
        root["dispatch"]["id"].as_str().unwrap().to_owned()
    }

    pub(super) fn key(&self, who: Who) -> &str {
        self.keys.iter().find(|(known, _)| *known == who).map(|(_, key)| key.as_str()).unwrap()
    }

    /// Done, or the test is broken.
    #[track_caller]
    pub(super) fn rest(&self, who: Who, method: &str, path: &str, body: &Value) -> Value {
        let (status, answer) = self.server.ask(self.key(who), method, path, "", body).unwrap();
        assert!((200..300).contains(&status), "{method} {path}: {status} {answer}");
        answer
    }

    /// A story of its own for each case, by its number.
    pub(super) fn story(&mut self, standing: Standing) -> String {
        self.stories += 1;
        let number = format!("1.{}", self.stories);
        if matches!(standing, BroughtAsDone | BroughtAndReviewed) {
            let mut plan = self.plan_of("import-done", &number);
            plan["epics"][0]["stories"][0]["initial_agent_status"] = json!("reported_done");
            self.rest(User, "POST", "/projects/faces/import", &plan);
            if standing == BroughtAndReviewed {
                let path = format!("/stories/{number}/review-complete");
                self.rest(Reviewer, "POST", &path, &body_of("review-complete"));
            }
            return number;
        }
        self.make_story(&number);
        self.bring(&number, standing);
        self.afterwards(standing, &number);
        number
    }

    /// An epic of its own with so many stories.
    pub(super) fn epic(&mut self, stories: usize, standing: Standing) -> (u64, Vec<String>) {
        self.epics += 1;
        let epic = 50 + self.epics;
        self.rest(User, "POST", "/projects/faces/epics", &json!({"number": epic, "title": "One of several"}));
        let numbers: Vec<String> = (1..=stories).map(|place| format!("{epic}.{place}")).collect();
        for number in &numbers {
            self.make_story_in(epic, number);
            self.bring(number, standing);
        }
        (epic, numbers)
    }

    fn bring(&self, number: &str, standing: Standing) {
        let maker = match standing {
            ImplementingByHand | ReportedByHand | ReviewedByHand => Hand,
            _ => Ann,
        };
        let way: &[(Who, &str)] = &[
            (maker, "contract"),
            (maker, "claim"),
            (maker, "start"),
            (Reporter, "report"),
            (Reviewer, "review-complete"),
            (Verifier, "verify"),
        ];
        let steps = match standing {
            Pending | BroughtAsDone | BroughtAndReviewed => 0,
            Contracted | Reworded | BehindQuarantined => 1,
            Assigned => 2,
            Implementing | TakenBack | Deleted | MadeAgain | Quarantined | TriedByAStranger
            | ImplementingByHand => 3,
            Reported | ReportedByHand => 4,
            Reviewed | ReportedAgain | ReviewedByHand | CriterionFailed | ReviewedThenReworded
            | RejectedAndKept => 5,
            Verified | VerifiedThenReworded => 6,
        };
        for (who, action) in &way[..steps] {
            self.rest(*who, "POST", &format!("/stories/{number}/{action}"), &body_of(action));
        }
    }

    fn make_story(&self, number: &str) {
        self.make_story_in(1, number);
    }

    fn make_story_in(&self, epic: u64, number: &str) {
        let criteria = json!([{"id": "AC-1", "description": "it works"}]);
        let body = json!({"number": number, "title": "A story", "epic_number": epic, "acceptance_criteria": criteria});
        self.rest(User, "POST", "/projects/faces/stories", &body);
    }

    /// What happened to the story after its last step.
    fn afterwards(&self, standing: Standing, number: &str) {
        let path = format!("/stories/{number}");
        match standing {
            ReportedAgain => {
                for (who, action) in [(Ann, "unclaim"), (Ann, "contract"), (Ann, "claim"), (Ann, "start")] {
                    self.rest(who, "POST", &format!("{path}/{action}"), &body_of(action));
                }
                self.rest(Reporter, "POST", &format!("{path}/report"), &body_of("report"));
            }
            TakenBack => drop(self.rest(Verifier, "POST", &format!("{path}/force-unclaim"), &Value::Null)),
            Reworded => drop(self.rest(User, "PATCH", &path, &json!({"title": "Another story"}))),
            Deleted => drop(self.rest(User, "DELETE", &path, &Value::Null)),
            MadeAgain => {
                self.rest(User, "DELETE", &path, &Value::Null);
                self.make_story(number);
            }
            Quarantined => self.is_refused(Ann, number, "report"),
            TriedByAStranger => self.is_refused(Bob, number, "report-forged"),
            CriterionFailed => {
                let body = json!({"status": "failed", "evidence_path": "tests/a.rs"});
                self.rest(Verifier, "POST", &format!("{path}/acceptance_criteria/AC-1"), &body);
            }
            ReviewedThenReworded => {
                let other = json!([{"id": "AC-1", "description": "it works backwards"}]);
                self.reword(&path, &json!({"acceptance_criteria": other, "force": true}));
            }
            VerifiedThenReworded => self.reword(&path, &json!({"title": "Another story", "force": true})),
            RejectedAndKept => {
                let kept = |flag: bool| json!({"settings": {"auto_reset_on_rejection": flag}});
                self.rest(User, "PATCH", "/tenants/me", &kept(false));
                self.rest(Verifier, "POST", &format!("{path}/reject"), &body_of("reject"));
                self.rest(User, "PATCH", "/tenants/me", &kept(true));
            }
            BehindQuarantined => self.put_behind_a_quarantined_one(number),
            _ => {}
        }
    }

    fn reword(&self, path: &str, edit: &Value) {
        self.rest(User, "PATCH", path, edit);
        self.rest(Verifier, "POST", &format!("{path}/release"), &body_of("release"));
    }

    /// A sub-agent of whoever implemented the other tried to judge it after it was verified.
    fn put_behind_a_quarantined_one(&self, number: &str) {
        let other = number.replace("1.", "1.5");
        self.make_story(&other);
        self.bring(&other, ReviewedByHand);
        self.rest(Verifier, "POST", &format!("/stories/{other}/verify"), &body_of("verify"));
        self.is_refused(JudgingHand, &other, "reject");
        let edge = json!({"story_id": number, "depends_on_story_id": other});
        self.rest(User, "POST", "/story_dependencies", &edge);
    }

    #[track_caller]
    fn is_refused(&self, who: Who, story: &str, action: &str) {
        let path = format!("/stories/{story}/{}", action.trim_end_matches("-forged"));
        let (status, answer) = self.server.ask(self.key(who), "POST", &path, "", &body_of(action)).unwrap();
        assert!(status >= 400, "{answer}");
    }

    /// The newest violation that nobody settled.
    pub(super) fn violation(&self) -> String {
        let all = self.rest(User, "GET", "/violations?status=pending&page_size=100", &Value::Null);
        all["data"].as_array().unwrap().last().unwrap()["id"].as_str().unwrap().to_owned()
    }

    /// A plan of one story under an epic that is not there yet.
    pub(super) fn plan_of(&self, action: &str, story: &str) -> Value {
        let mut one = json!({"number": story, "title": "A story"});
        if action == "import" {
            one["initial_agent_status"] = json!("reported_done");
            one["initial_verified_status"] = json!("verified");
        }
        let epic = json!({"number": 1000 + self.stories, "title": "Again", "stories": [one]});
        json!({"epics": [epic], "reason": "moved"})
    }
}

pub(super) fn body_of(action: &str) -> Value {
    match action {
        "contract" => json!({"story_title": "A story", "ac_count": 1}),
        "report" => json!({"artifact": {"artifact_type": "commit_diff", "path": "src/a.rs"}}),
        "review-complete" => json!({"review_type": "independent"}),
        "verify" => json!({"summary": "all met"}),
        "reject" => json!({"reason": "no tests"}),
        "reject-bare" => json!({"reason": " "}),
        "backfill" => json!({"reason": "done before", "pr_number": 7}),
        "backfill-bare" => json!({"reason": "done before"}),
        "report-forged" => json!({"cap": FORGED}),
        "release" | "settle" => json!({"note": "looked at it"}),
        "criterion" => json!({"status": "verified", "evidence_path": "tests/a.rs"}),
        _ => json!({}),
    }
}

/// What no server issued.
pub(super) const FORGED: &str = "wcap1.made-up";
