//! Tree heads are signed once and kept for ever, keys change without voiding what they signed, and clients that were shown
//! another history are heard.

use crate::lifecycle::{reported, started};
use crate::support::{Team, World};
use serde_json::{Value, json};
use windlass_control_api::stories::{Answer, Call, Method, StoryApi};
use windlass_custody_proofs::export::{Flaw, Known, verify_export};

const REMEMBERED: &str = "x-loopctl-last-known-sth";
const CURRENT: &str = "x-loopctl-current-sth";

async fn tenant(world: &World, team: &Team) -> String {
    world.get(&team.user, "/tenants/me").await["tenant"]["id"].as_str().unwrap().to_owned()
}

async fn head(world: &World, tenant: &str, query: &str) -> Value {
    world.get("", &format!("/audit/sth/{tenant}{query}")).await
}

async fn remembering(world: &World, key: &str, path: &str, headers: &[(&str, &str)]) -> Answer {
    let call = Call::new(Method::Get, format!("/api/v1{path}")).with_key(key);
    let call = headers.iter().fold(call, |call, (name, value)| call.with_header(name, value));
    world.service.call(call).await.unwrap()
}

#[tokio::test]
async fn a_head_is_signed_when_the_chain_has_grown_and_stays_the_same_for_ever() {
    let world = World::new();
    let team = world.team("acme").await;
    let id = tenant(&world, &team).await;
    let founding = head(&world, &id, "").await;
    world.service.sign_heads().await.unwrap();
    let first = head(&world, &id, "").await;
    assert_ne!(first, founding);
    world.pass(60);
    world.service.sign_heads().await.unwrap();
    assert_eq!(head(&world, &id, "").await, first, "nothing grew, so nothing is signed");

    world.two_stories(&team).await;
    assert_eq!(head(&world, &id, "").await, first, "what was signed is told, not what could be");
    world.service.sign_heads().await.unwrap();
    let second = head(&world, &id, "").await;
    let position = |head: &Value| head["tree_head"]["position"].as_u64().unwrap();
    assert!(position(&second) > position(&first), "{second}");

    let world = world.restarted();
    world.pass(3600);
    assert_eq!(head(&world, &id, "").await, second);
    assert_eq!(head(&world, &id, &format!("?at={}", position(&first))).await, first);
    assert_eq!(head(&world, &id, "?at=1").await, founding, "the first that covers it");
    let beyond = format!("/audit/sth/{id}?at={}", position(&second) + 1);
    assert_eq!(world.ask("", Method::Get, &beyond, Value::Null).await.status, 404);
    let verified = world.get(&team.user, "/audit/verify").await;
    assert_eq!(verified["verification"]["holds"], true, "{verified}");
    assert_eq!(verified["verification"]["tree_heads"], 3, "all that were kept are checked: {verified}");
}

#[tokio::test]
async fn a_new_key_signs_and_what_the_old_one_signed_stays_good() {
    let world = World::new();
    let team = world.team("acme").await;
    let id = tenant(&world, &team).await;
    world.two_stories(&team).await;
    world.service.sign_heads().await.unwrap();
    let old = head(&world, &id, "").await;
    // A token of the old key is in somebody's hands.
    let contract = json!({ "story_title": "Read feed", "ac_count": 1 });
    world.post(&team.implementer, "/stories/3.1/contract", contract).await;
    let cap =
        world.post(&team.implementer, "/stories/3.1/claim", Value::Null).await["start_cap"]["token"].clone();

    let rotated = world.post(&team.user, &format!("/tenants/{id}/rotate-audit-key"), json!({})).await;
    assert_eq!(rotated["former_public_key"], old["public_key"]);
    assert_ne!(rotated["public_key"], old["public_key"]);
    world.post(&team.implementer, "/stories/3.1/start", json!({ "cap": cap })).await;
    assert_eq!(world.get(&team.user, "/stories/3.1").await["story"]["quarantined"], false);

    let world = world.restarted();
    world.service.sign_heads().await.unwrap();
    let new = head(&world, &id, "").await;
    assert_eq!(new["public_key"], rotated["public_key"]);
    let at = old["tree_head"]["position"].as_u64().unwrap();
    assert_eq!(head(&world, &id, &format!("?at={at}")).await["tree_head"], old["tree_head"]);
    assert_eq!(new["keys"].as_array().unwrap().len(), 2);
    let verified = world.get(&team.user, "/audit/verify").await;
    assert_eq!(verified["verification"]["holds"], true, "{verified}");
    let log = world.get(&team.user, "/audit?action=audit_key_rotated").await;
    assert_eq!(log["meta"]["total_count"], 1, "{log}");

    let beta = world.team("beta").await;
    let foreign = world.refused(&beta.user, &format!("/tenants/{id}/rotate-audit-key"), json!({})).await;
    assert_eq!(foreign.0, 404);
    let lesser = world.refused(&team.verifier, &format!("/tenants/{id}/rotate-audit-key"), json!({})).await;
    assert_eq!(lesser.0, 403);
    let again = world.refused(&team.user, &format!("/tenants/{id}/bootstrap-audit-key"), json!({})).await;
    assert_eq!((again.0, &again.1["code"]), (409, &json!("audit_key_exists")));
}

#[tokio::test]
async fn every_answer_tells_the_head_and_a_client_that_agrees_is_served() {
    let world = World::new();
    let team = world.team("acme").await;
    let first = remembering(&world, &team.user, "/projects", &[("x-loopctl-sth-bootstrap", "true")]).await;
    let founding = first.header(CURRENT).unwrap().to_owned();
    world.service.sign_heads().await.unwrap();

    // Nor is what older servers handed out before their first head a disagreement with it.
    for remembered in [&*founding, "0:AAAAAAAAAAAAAAAAAAAAAA"] {
        let then = remembering(&world, &team.user, "/projects", &[(REMEMBERED, remembered)]).await;
        assert_eq!(then.status, 200, "{remembered}");
    }
    let then = remembering(&world, &team.user, "/projects", &[(REMEMBERED, &founding)]).await;
    let seen = then.header(CURRENT).unwrap().to_owned();
    assert_ne!(seen, founding);
    world.two_stories(&team).await;
    world.service.sign_heads().await.unwrap();
    let later = remembering(&world, &team.user, "/projects", &[(REMEMBERED, &seen)]).await;
    assert_eq!(later.status, 200);
    assert_ne!(later.header(CURRENT).unwrap(), seen);
    let refused = remembering(&world, &team.user, "/nowhere/3", &[(REMEMBERED, &seen)]).await;
    assert_eq!(refused.status, 404);
}

#[tokio::test]
async fn a_client_that_was_shown_another_history_is_refused_and_nobody_else() {
    let world = World::new();
    let team = world.team("acme").await;
    world.two_stories(&team).await;
    started(&world, &team).await;
    world.service.sign_heads().await.unwrap();
    let position =
        remembering(&world, &team.user, "/projects", &[]).await.header(CURRENT).unwrap().to_owned();
    let position: u64 = position.split(':').next().unwrap().parse().unwrap();
    for forged in [position, position - 1] {
        let forged = format!("{forged}:AAAAAAAAAAAAAAAAAAAAAA");
        let answer = remembering(&world, &team.implementer, "/projects", &[(REMEMBERED, &forged)]).await;
        let error = answer.value()["error"].clone();
        assert_eq!((answer.status, &error["code"]), (409, &json!("witness_divergence")), "{error}");
        assert_eq!(error["status"], 409);
    }
    let future = format!("{}:AAAAAAAAAAAAAAAAAAAAAA", position + 1);
    let ahead = remembering(&world, &team.implementer, "/projects", &[(REMEMBERED, &future)]).await;
    assert_eq!(ahead.status, 200, "what we have not signed yet is nothing we could deny");
    // A header anybody can invent stops nothing.
    world.post(&team.reporter, "/stories/3.1/report", json!({})).await;

    let broken = remembering(&world, &team.user, "/projects", &[(REMEMBERED, "seven")]).await;
    let error = broken.value()["error"].clone();
    assert_eq!(
        (broken.status, &error["code"], &error["status"]),
        (428, &json!("witness_header_malformed"), &json!(428))
    );
}

#[tokio::test]
async fn a_tenant_may_require_the_header() {
    let world = World::new();
    let team = world.team("acme").await;
    let settings = json!({ "settings": { "require_witness_header": true } });
    assert_eq!(world.ask(&team.user, Method::Patch, "/tenants/me", settings).await.status, 200);
    let without = remembering(&world, &team.user, "/projects", &[]).await;
    let error = without.value()["error"].clone();
    assert_eq!(
        (without.status, &error["code"], &error["status"]),
        (428, &json!("witness_header_missing"), &json!(428))
    );
    let first = remembering(&world, &team.user, "/projects", &[("x-loopctl-sth-bootstrap", "true")]).await;
    assert_eq!(first.status, 200);
    let seen = first.header(CURRENT).unwrap().to_owned();
    assert_eq!(remembering(&world, &team.user, "/projects", &[(REMEMBERED, &seen)]).await.status, 200);
}

/// Only a whole head under our own signature proves that the past was rewritten; then custody stands still, and nothing else.
#[tokio::test]
async fn a_proven_divergence_stops_custody_and_nothing_else() {
    let world = World::new();
    let team = world.team("acme").await;
    world.two_stories(&team).await;
    reported(&world, &team).await;
    world.service.sign_heads().await.unwrap();
    let id = tenant(&world, &team).await;
    let kept = head(&world, &id, "").await["tree_head"].clone();
    let agreed = world.post(&team.implementer, "/audit/witness", json!({ "tree_head": kept })).await;
    assert_eq!(agreed["continues"], true);
    let mut forged = kept.clone();
    forged["root"] = json!("00".repeat(32));
    let forged = world.refused(&team.implementer, "/audit/witness", json!({ "tree_head": forged })).await;
    assert_eq!((forged.0, &forged.1["code"]), (422, &json!("tree_head_malformed")));

    // Somebody cuts off the end of the chain.
    let world = world.restarted_with_shorter_chain(&id).await;
    let (status, error) =
        world.refused(&team.implementer, "/audit/witness", json!({ "tree_head": kept })).await;
    assert_eq!((status, &error["code"]), (409, &json!("witness_divergence")), "{error}");
    let (status, error) = world.refused(&team.verifier, "/stories/3.1/verify", json!({})).await;
    assert_eq!((status, &error["code"]), (503, &json!("tenant_halted")), "{error}");
    world.get(&team.user, "/projects").await;
    world.post(&team.user, "/projects", json!({ "name": "Third" })).await;
    let admin = world.service.make_superadmin_key("ops").await.unwrap();
    world
        .post(&admin, &format!("/admin/tenants/{id}/clear-halt"), json!({ "assertion": "a restored backup" }))
        .await;
}

#[tokio::test]
async fn the_servers_own_look_finds_a_chain_that_was_cut() {
    let world = World::new();
    let team = world.team("acme").await;
    world.two_stories(&team).await;
    reported(&world, &team).await;
    world.service.sign_heads().await.unwrap();
    let id = tenant(&world, &team).await;
    let world = world.restarted_with_shorter_chain(&id).await;
    world.service.sign_heads().await.unwrap();
    let (status, error) = world.refused(&team.verifier, "/stories/3.1/verify", json!({})).await;
    assert_eq!((status, &error["code"]), (503, &json!("tenant_halted")), "{error}");
}

#[tokio::test]
async fn an_entry_that_no_rule_could_have_made_is_found_though_every_hash_fits() {
    let world = World::new();
    let team = world.team("acme").await;
    world.two_stories(&team).await;
    reported(&world, &team).await;
    world.post(&team.verifier, "/stories/3.1/verify", json!({})).await;
    let tenant = tenant(&world, &team).await;
    let id = async |number: &str| {
        let story = world.get(&team.user, &format!("/stories/{number}")).await;
        story["story"]["id"].as_str().unwrap().to_owned()
    };
    let (done, other) = (id("3.1").await, id("3.2").await);
    assert_eq!(world.get(&team.user, "/audit/verify").await["verification"]["holds"], true);

    let forge = |payload: &str| {
        let fits = [&done, "moved", "verified"].into_iter().all(|word| payload.contains(word));
        fits.then(|| payload.replace(&done, &other))
    };
    let world = world.restarted_with_forged_end(&tenant, forge).await;

    let story = world.get(&team.user, "/stories/3.2").await;
    assert_eq!(story["story"]["verified_status"], "verified", "the forgery took effect: {story}");
    let verified = world.get(&team.user, "/audit/verify").await;
    assert_eq!(verified["verification"]["holds"], false, "{verified}");
    assert!(verified["verification"]["why"].as_str().unwrap().contains("no rule of custody"), "{verified}");
}

/// The first head was signed before anybody heard of the tenant, so that it is missing tells of a hand in the journal.
#[tokio::test]
async fn heads_that_were_taken_away_are_missed() {
    let world = World::new();
    let team = world.team("acme").await;
    world.two_stories(&team).await;
    reported(&world, &team).await;
    world.service.sign_heads().await.unwrap();
    let id = tenant(&world, &team).await;
    assert_eq!(world.get(&team.user, "/audit/verify").await["verification"]["holds"], true);

    let world = world.restarted_without_heads(&id).await;

    let halted = world.service.halted().await.unwrap();
    assert!(halted.iter().any(|(slug, why)| slug == "acme" && why.contains("was taken away")), "{halted:?}");
    let export = world.ask(&team.user, Method::Get, "/audit/export", Value::Null).await;
    let checked = verify_export(&export.body, Known::default()).unwrap_err();
    assert_eq!(checked.flaw, Flaw::Unsigned, "{checked}");
    let verified = world.get(&team.user, "/audit/verify").await;
    assert_eq!(verified["verification"]["holds"], false, "{verified}");
    let (status, error) = world.refused(&team.verifier, "/stories/3.1/verify", json!({})).await;
    assert_eq!((status, &error["code"]), (503, &json!("tenant_halted")), "{error}");
}
