//! Section 3: keys, agents, settings, and the server's list of tenants.

use crate::world::{World, caller};
use windlass_protocols::protocol::story_queue::facts::{Change, Entry};
use windlass_protocols::protocol::story_queue::plan::{self, CreateProject};
use windlass_protocols::protocol::story_queue::refusal::Kind;
use windlass_protocols::protocol::story_queue::registry::{self, Tenant};
use windlass_protocols::protocol::story_queue::tenancy::{
    self, AgentKind, MakeKey, RegisterAgent, RotateKey, SettingValue, TenantEdit, TenantStatus,
};
use windlass_protocols::protocol::story_queue::vocabulary::{
    AgentId, JsonText, KeyId, KeyRole, Micros, TenantId, Uuid,
};

fn key_for(world: &mut World, role: KeyRole, agent: Option<AgentId>) -> MakeKey {
    MakeKey { name: "key".to_owned(), role, agent, expires: None, key: world.secret() }
}

#[test]
fn only_users_make_keys_and_never_above_themselves() {
    let mut world = World::new();
    let (user, orchestrator) = (world.user.clone(), world.reporter.clone());
    for role in [KeyRole::Agent, KeyRole::User] {
        let ask = key_for(&mut world, role, None);
        assert_eq!(
            world.refused(&orchestrator, |draft| tenancy::make_key(draft, ask)).kind,
            Kind::NotAllowed
        );
    }
    let ask = key_for(&mut world, KeyRole::Superadmin, None);
    assert_eq!(world.refused(&user, |draft| tenancy::make_key(draft, ask)).kind, Kind::Invalid);
    let ask = key_for(&mut world, KeyRole::Agent, Some(AgentId::default()));
    assert_eq!(world.refused(&user, |draft| tenancy::make_key(draft, ask)).kind, Kind::NotFound);
    let second = world.secret();
    let refusal = world.refused(&user, |draft| tenancy::first_key(draft, "again".to_owned(), second));
    assert_eq!(refusal.kind, Kind::Conflict);
}

#[test]
fn an_agent_has_one_active_key_per_role() {
    let mut world = World::new();
    let (user, ann) = (world.user.clone(), world.ann.clone());
    let ask = key_for(&mut world, KeyRole::Agent, ann.agent);
    assert_eq!(world.refused(&user, |draft| tenancy::make_key(draft, ask)).code, Some("key_exists"));
    let ask = key_for(&mut world, KeyRole::Orchestrator, ann.agent);
    world.must(&user, |draft| tenancy::make_key(draft, ask));
    world.must(&user, |draft| tenancy::revoke_key(draft, ann.key));
    let ask = key_for(&mut world, KeyRole::Agent, ann.agent);
    world.must(&user, |draft| tenancy::make_key(draft, ask));
}

#[test]
fn rotation_works_for_bound_keys_with_a_grace() {
    let mut world = World::new();
    let (user, ann) = (world.user.clone(), world.ann.clone());
    let ask = RotateKey { key: ann.key, grace_period_hours: Some(2), with: world.secret() };
    let rotated = world.must(&user, |draft| tenancy::rotate_key(draft, ask));
    let tenancy = &world.ledger.tenancy;
    let old = tenancy.key(ann.key).unwrap();
    assert_eq!((rotated.key.role, rotated.key.agent), (old.role, old.agent));
    assert!(old.is_active(world.now) && rotated.key.is_active(world.now));
    assert!(!old.is_active(world.now.plus(Micros::seconds(2 * 3600))));
    assert_eq!(tenancy.key_by_hash(&rotated.key.hash).unwrap().id, rotated.key.id);
    world.must(&user, |draft| tenancy::revoke_key(draft, ann.key));
    let ask = RotateKey { key: ann.key, grace_period_hours: None, with: world.secret() };
    assert_eq!(world.refused(&user, |draft| tenancy::rotate_key(draft, ask)).kind, Kind::Conflict);
    world.hold();
}

#[test]
fn one_key_registers_one_agent_under_a_new_name() {
    let mut world = World::new();
    let (ann, user, orchestrator) = (world.ann.clone(), world.user.clone(), world.reporter.clone());
    let ask = |name: &str| RegisterAgent {
        name: name.to_owned(),
        kind: AgentKind::Implementer,
        metadata: JsonText::empty_object(),
    };
    let refusal = world.refused(&ann, |draft| tenancy::register_agent(draft, ask("ann2")));
    assert_eq!((refusal.kind, refusal.code), (Kind::Conflict, Some("agent_already_registered")));
    assert_eq!(
        world.refused(&orchestrator, |draft| tenancy::register_agent(draft, ask("x"))).kind,
        Kind::NotAllowed
    );
    let key = key_for(&mut world, KeyRole::Agent, None);
    let key = world.must(&user, |draft| tenancy::make_key(draft, key));
    let unbound = caller(KeyRole::Agent, key.id);
    assert_eq!(world.refused(&unbound, |d| tenancy::register_agent(d, ask("ann"))).kind, Kind::Conflict);
    assert_eq!(world.refused(&unbound, |d| tenancy::register_agent(d, ask(" "))).kind, Kind::Invalid);
    let agent = world.must(&unbound, |draft| tenancy::register_agent(draft, ask("cleo")));
    assert_eq!(world.ledger.tenancy.key(key.id).unwrap().agent, Some(agent.id));
}

#[test]
fn settings_are_merged_typed_and_unknown_ones_refused() {
    let mut world = World::new();
    let user = world.user.clone();
    let edit = |settings: &[(&str, SettingValue)]| TenantEdit {
        settings: settings.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect(),
        ..TenantEdit::default()
    };
    let misspelt = edit(&[("auto_reset_on_rejections", SettingValue::Flag(false))]);
    let refusal = world.refused(&user, |draft| tenancy::update(draft, misspelt));
    assert_eq!(refusal.code, Some("unknown_setting"));
    assert!(refusal.message.ends_with("auto_reset_on_rejection"), "{}", refusal.message);
    let ask = edit(&[("max_projects", SettingValue::Number(1))]);
    world.must(&user, |draft| tenancy::update(draft, ask));
    let listed = world.ledger.tenancy.settings.listed();
    assert_eq!(listed.get("max_api_keys"), Some(&SettingValue::Number(100)));
    let bad = edit(&[("auto_reset_on_rejection", SettingValue::Number(1))]);
    let refusal = world.refused(&user, |draft| tenancy::update(draft, bad));
    assert_eq!(refusal.details[0].0, "auto_reset_on_rejection");
    let short = TenantEdit { token_data_retention_days: Some(29), ..TenantEdit::default() };
    assert_eq!(world.refused(&user, |draft| tenancy::update(draft, short)).kind, Kind::Invalid);
    let orchestrator = world.reporter.clone();
    let ask = edit(&[("distinct_reporter_reviewer_verifier", SettingValue::Flag(false))]);
    assert_eq!(world.refused(&orchestrator, |draft| tenancy::update(draft, ask)).kind, Kind::NotAllowed);
    let create = CreateProject { name: "B".to_owned(), slug: "bb".to_owned(), ..CreateProject::default() };
    let refusal = world.refused(&user, |draft| plan::create_project(draft, create));
    assert_eq!(refusal.code, Some("limit_reached"));
    let project = world.project;
    world.must(&user, |draft| plan::archive_project(draft, project));
    let create = CreateProject { name: "B".to_owned(), slug: "bb".to_owned(), ..CreateProject::default() };
    world.must(&user, |draft| plan::create_project(draft, create));
    world.hold();
}

#[test]
fn settings_that_would_shut_the_tenant_out_are_refused_and_stored_ones_count_as_never_said() {
    let zero = |name: &str| TenantEdit {
        settings: [(name.to_owned(), SettingValue::Number(0))].into(),
        ..TenantEdit::default()
    };
    let mut world = World::new();
    let user = world.user.clone();
    for (name, usual) in [
        ("rate_limit_requests_per_minute", 300),
        ("max_api_keys", 100),
        ("max_concurrent_agents", 2),
        ("webhook_max_consecutive_failures", 10),
        ("webhook_event_retention_days", 30),
    ] {
        let refusal = world.refused(&user, |draft| tenancy::update(draft, zero(name)));
        assert_eq!((refusal.kind, refusal.details[0].0.as_str()), (Kind::Invalid, name));
        assert!(refusal.message.contains("1 or more"), "{}", refusal.message);
        let other = [(name.to_owned(), SettingValue::Number(7))].into();
        let other = TenantEdit { settings: other, ..TenantEdit::default() };
        world.must(&user, |draft| tenancy::update(draft, other));
        let stored = tenancy::Change::Updated { was: TenantEdit::default(), now: zero(name) };
        let by = user.actor();
        let old = Entry { at: world.now, by, project: None, change: Change::Tenancy(stored) };
        world.ledger.evolve(&old);
        let listed = world.ledger.tenancy.settings.listed();
        assert_eq!(listed.get(name), Some(&SettingValue::Number(usual)), "{name}");
    }
    // Nothing of these can be wanted.
    world.must(&user, |draft| tenancy::update(draft, zero("max_webhooks")));
    assert_eq!(world.ledger.tenancy.settings.max_webhooks, 0);
}

#[test]
fn the_registry_lists_tenants_by_slug_and_superadmin_keys_by_hash() {
    let mut state = registry::State::default();
    let by = caller(KeyRole::Superadmin, KeyId::default()).actor();
    let tenant = |byte: u8, slug: &str| Tenant {
        id: TenantId(Uuid([byte; 16])),
        slug: slug.to_owned(),
        name: "T".to_owned(),
        status: TenantStatus::Active,
        created: Micros(1),
        first_head: None,
    };
    let take = |state: &mut registry::State, change: registry::Change| {
        let entry = registry::entry(Micros(1), by.clone(), change.clone());
        state.evolve(&entry, &change);
    };
    let listed = state.list_tenant(tenant(1, "one")).unwrap();
    take(&mut state, listed);
    assert_eq!(state.list_tenant(tenant(2, "one")).unwrap_err().kind, Kind::Conflict);
    for slug in ["a", "-ab", "ab-", "Ab", "a_b", ""] {
        assert_eq!(state.list_tenant(tenant(2, slug)).unwrap_err().kind, Kind::Invalid, "{slug:?}");
    }
    let suspended = state.set_tenant_status(TenantId(Uuid([1; 16])), TenantStatus::Suspended).unwrap();
    take(&mut state, suspended);
    assert_eq!(state.tenant_by_slug("one").unwrap().status, TenantStatus::Suspended);
    let key = registry::SuperadminKey {
        id: KeyId::default(),
        name: "op".to_owned(),
        hash: "h".to_owned(),
        prefix: "lc_".to_owned(),
        created: Micros(1),
        revoked: None,
    };
    take(&mut state, registry::Change::SuperadminKeyMade { key: Box::new(key) });
    assert!(state.superadmin("h").is_some());
    take(&mut state, registry::Change::SuperadminKeyRevoked { hash: "h".to_owned() });
    assert!(state.superadmin("h").is_none());
    assert_eq!(state.version, 4);
}
