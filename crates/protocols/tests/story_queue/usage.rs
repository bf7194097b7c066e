//! Section 10: tokens and money.

use crate::scene::{DAY, Scene, agent, assert_least, epic, key, kind, project, story};
use windlass_protocols::protocol::story_queue::decide::Draft;
use windlass_protocols::protocol::story_queue::facts;
use windlass_protocols::protocol::story_queue::refusal::Kind;
use windlass_protocols::protocol::story_queue::usage::{
    self, Alert, AnomalyKind, BudgetScope, Change, ChangeBudget, CorrectUsage, Day, Effective, EffectiveFrom,
    Effort, Gone, Granularity, Judged, LazyFactor, Period, Phase, Place, Scope, SetBudget, UsageNumbers,
    dollars, lazy_score, token_count,
};
use windlass_protocols::protocol::story_queue::vocabulary::{
    AgentId, BudgetId, JsonText, KeyRole, SkillVersionId, UsageId, Uuid,
};

fn place(number: u8) -> Place {
    Place { story: story(number), epic: epic(), project: project() }
}

fn numbers(cost: i64) -> UsageNumbers {
    UsageNumbers::new("opus", 1000, 500, cost)
}

fn report(scene: &mut Scene, number: u8, cost: i64) -> UsageId {
    scene
        .run(&key(KeyRole::Agent), |draft| usage::report_usage(draft, place(number), numbers(cost)))
        .expect("the scene allows it")
        .id
}

fn budget(scene: &mut Scene, scope: BudgetScope, millicents: u64) -> BudgetId {
    scene
        .run(&key(KeyRole::Orchestrator), |draft| usage::set_budget(draft, ask(scope, millicents)))
        .expect("the scene allows it")
}

fn ask(scope: BudgetScope, budget_millicents: u64) -> SetBudget {
    SetBudget {
        scope,
        project: project(),
        budget_millicents,
        budget_input_tokens: None,
        budget_output_tokens: None,
        alert_threshold_pct: 80,
        metadata: JsonText::default(),
    }
}

fn alerts(scene: &Scene) -> Vec<Alert> {
    let fired = scene.changes().filter_map(|change| match change {
        facts::Change::Usage(Change::AlertFired { alert, .. }) => Some(*alert),
        _ => None,
    });
    fired.collect()
}

fn correction(report: UsageId, cost_millicents: i64) -> CorrectUsage {
    CorrectUsage { report, input_tokens: 0, output_tokens: 0, cost_millicents, metadata: JsonText::default() }
}

#[test]
fn a_report_needs_a_key_with_an_agent() {
    let mut scene = Scene::new();
    let refused = scene.run(&key(KeyRole::User), |draft| usage::report_usage(draft, place(1), numbers(5)));
    assert_eq!(kind(refused), Some(Kind::Malformed));
    report(&mut scene, 1, 5);
    for scope in
        [Scope::Agent(agent(1)), Scope::Epic(epic()), Scope::Project(project()), Scope::Story(story(1))]
    {
        let total = scene.ledger.usage.total(scope);
        assert_eq!(
            (total.cost_millicents, total.total_tokens(), total.report_count),
            (5, 1500, 1),
            "{scope:?}"
        );
    }
}

#[test]
fn numbers_that_cannot_be_are_refused_by_field() {
    let mut scene = Scene::new();
    let wrong = [
        ("input_tokens", UsageNumbers { input_tokens: -1, ..numbers(1) }),
        ("output_tokens", UsageNumbers { output_tokens: -1, ..numbers(1) }),
        ("cost_millicents", numbers(-1)),
        ("cost_millicents", numbers(i64::MAX)),
        ("model_name", UsageNumbers { model_name: " ".into(), ..numbers(1) }),
        ("metadata", UsageNumbers { metadata: JsonText("x".repeat(65_537)), ..numbers(1) }),
        (
            "skill_version_id",
            UsageNumbers { skill_version: Some(SkillVersionId(Uuid::default())), ..numbers(1) },
        ),
    ];
    for (field, numbers) in wrong {
        let refusal = scene.run(&key(KeyRole::Agent), |draft| usage::report_usage(draft, place(1), numbers));
        assert_eq!(refusal.unwrap_err().details[0].0, field);
    }
}

#[test]
fn a_budget_beyond_all_money_is_told_where_the_bounds_are() {
    let mut scene = Scene::new();
    for millicents in [0, u64::MAX] {
        let asked = ask(BudgetScope::Story(story(1)), millicents);
        let refusal = scene.run(&key(KeyRole::Orchestrator), |draft| usage::set_budget(draft, asked));
        assert_eq!(refusal.unwrap_err().details[0].1, "must be between 1 and 9223372036854775807");
    }
}

#[test]
fn inline_reports_are_checked_against_budgets_too() {
    let mut scene = Scene::new();
    budget(&mut scene, BudgetScope::Story(story(1)), 100);
    let inline = |draft: &mut Draft<'_>| usage::report_inline(draft, place(1), agent(2), numbers(100));
    scene.run(&key(KeyRole::Orchestrator), inline).unwrap();
    assert_eq!(alerts(&scene), [Alert::Warning, Alert::Exceeded]);
}

#[test]
fn each_alert_fires_once_until_spending_falls_or_limits_move() {
    let mut scene = Scene::new();
    let id = budget(&mut scene, BudgetScope::Epic(epic()), 100);
    report(&mut scene, 1, 79);
    assert_eq!(alerts(&scene), []);
    report(&mut scene, 2, 1);
    report(&mut scene, 1, 5);
    assert_eq!(alerts(&scene), [Alert::Warning]);
    let last = report(&mut scene, 1, 15);
    report(&mut scene, 1, 500);
    assert_eq!(alerts(&scene), [Alert::Warning, Alert::Exceeded]);
    let wrong = scene.ledger.usage.reports_of(story(1)).last().unwrap().report.id;
    scene.run(&key(KeyRole::User), |draft| usage::delete_usage(draft, wrong)).unwrap();
    scene.run(&key(KeyRole::User), |draft| usage::delete_usage(draft, last)).unwrap();
    assert!(!scene.ledger.usage.budgets[&id].exceeded_fired);
    report(&mut scene, 1, 15);
    assert_eq!(alerts(&scene), [Alert::Warning, Alert::Exceeded, Alert::Exceeded]);
    let wider = ChangeBudget { budget_millicents: Some(120), ..ChangeBudget::default() };
    scene.run(&key(KeyRole::Orchestrator), |draft| usage::change_budget(draft, id, wider)).unwrap();
    assert_eq!(alerts(&scene).len(), 4, "100 of 120 is past 80 % again, and told again");
    let same = ChangeBudget { metadata: Some(JsonText("{\"a\":1}".into())), ..ChangeBudget::default() };
    scene.run(&key(KeyRole::Orchestrator), |draft| usage::change_budget(draft, id, same)).unwrap();
    assert_eq!(alerts(&scene).len(), 4, "words beside the limits fire nothing");
}

#[test]
fn token_limits_of_a_budget_warn_as_money_does() {
    let mut scene = Scene::new();
    let tokens =
        SetBudget { budget_input_tokens: Some(1000), ..ask(BudgetScope::Story(story(1)), 1_000_000) };
    scene.run(&key(KeyRole::Orchestrator), |draft| usage::set_budget(draft, tokens)).unwrap();
    report(&mut scene, 1, 1);
    assert_eq!(alerts(&scene), [Alert::Warning, Alert::Exceeded]);
}

#[test]
fn a_scope_has_one_budget_within_limits_and_roles() {
    let mut scene = Scene::new();
    let scope = BudgetScope::Project(project());
    for role in [KeyRole::Agent, KeyRole::Orchestrator] {
        let answer = scene.run(&key(role), |draft| usage::set_budget(draft, ask(scope, 10)));
        assert_eq!(answer.is_ok(), role == KeyRole::Orchestrator);
    }
    let again = scene.run(&key(KeyRole::User), |draft| usage::set_budget(draft, ask(scope, 10)));
    assert_eq!(kind(again), Some(Kind::Conflict));
    let other = BudgetScope::Epic(epic());
    for wrong in [ask(other, 0), SetBudget { alert_threshold_pct: 101, ..ask(other, 1) }] {
        let answer = scene.run(&key(KeyRole::User), |draft| usage::set_budget(draft, wrong));
        assert_eq!(kind(answer), Some(Kind::Invalid));
    }
    let id = scene.ledger.usage.budget_for(scope).unwrap().id;
    let refused = scene.run(&key(KeyRole::Orchestrator), |draft| usage::remove_budget(draft, id));
    assert_eq!(kind(refused), Some(Kind::NotAllowed));
    scene.run(&key(KeyRole::User), |draft| usage::remove_budget(draft, id)).unwrap();
    assert!(scene.ledger.usage.budget_for(scope).is_none());
}

#[test]
fn the_nearest_budget_counts() {
    let mut scene = Scene::new();
    let effective = |scene: &Scene| usage::effective_budget(&scene.ledger, place(1), Some(7));
    let from = |millicents, from| Some(Effective { millicents, from });
    assert_eq!(effective(&scene), from(7, EffectiveFrom::TenantDefault));
    assert_eq!(usage::effective_budget(&scene.ledger, place(1), None), None);
    budget(&mut scene, BudgetScope::Project(project()), 300);
    assert_eq!(effective(&scene), from(300, EffectiveFrom::Project));
    budget(&mut scene, BudgetScope::Epic(epic()), 200);
    assert_eq!(effective(&scene), from(200, EffectiveFrom::Epic));
    budget(&mut scene, BudgetScope::Story(story(1)), 100);
    assert_eq!(effective(&scene), from(100, EffectiveFrom::Story));
}

#[test]
fn a_correction_may_take_back_but_not_below_zero() {
    let mut scene = Scene::new();
    let id = report(&mut scene, 1, 50);
    assert_least(KeyRole::User, |caller| {
        scene.run(caller, |draft| usage::correct_usage(draft, correction(id, -10)))
    });
    assert_eq!(scene.ledger.usage.total(Scope::Story(story(1))).cost_millicents, 30);
    assert_eq!(scene.ledger.usage.total(Scope::Story(story(1))).report_count, 1, "corrections are no calls");
    let user = key(KeyRole::User);
    let below = scene.run(&user, |draft| usage::correct_usage(draft, correction(id, -31)));
    assert_eq!(below.unwrap_err().details[0].0, "cost_millicents");
    let made = scene.run(&user, |draft| usage::correct_usage(draft, correction(id, -30))).unwrap().id;
    let twice = scene.run(&user, |draft| usage::correct_usage(draft, correction(made, 1)));
    assert_eq!(kind(twice), Some(Kind::Invalid));
}

#[test]
fn a_deleted_report_no_longer_counts_and_takes_its_corrections_along() {
    let mut scene = Scene::new();
    let id = report(&mut scene, 1, 50);
    let user = key(KeyRole::User);
    let extra = scene.run(&user, |draft| usage::correct_usage(draft, correction(id, 5))).unwrap().id;
    let refused = scene.run(&key(KeyRole::Orchestrator), |draft| usage::delete_usage(draft, id));
    assert_eq!(kind(refused), Some(Kind::NotAllowed));
    scene.run(&user, |draft| usage::delete_usage(draft, id)).unwrap();
    assert_eq!(scene.ledger.usage.total(Scope::Story(story(1))).cost_millicents, 0);
    assert_eq!(scene.ledger.usage.reports_of(story(1)).count(), 0);
    assert!(scene.ledger.usage.daily.is_empty());
    for gone in [id, extra] {
        assert!(matches!(scene.ledger.usage.reports[&gone].gone, Some(Gone::Deleted(_))), "the row stays");
    }
    let again = scene.run(&user, |draft| usage::delete_usage(draft, id));
    assert_eq!(kind(again), Some(Kind::NotFound));
}

#[test]
fn a_correction_is_not_deleted_where_the_total_would_fall_below_zero() {
    let mut scene = Scene::new();
    let first = report(&mut scene, 1, 10);
    let user = key(KeyRole::User);
    let up = scene.run(&user, |draft| usage::correct_usage(draft, correction(first, 20))).unwrap().id;
    scene.run(&user, |draft| usage::correct_usage(draft, correction(first, -25))).unwrap();
    let refused = scene.run(&user, |draft| usage::delete_usage(draft, up));
    assert_eq!(kind(refused), Some(Kind::Invalid));
}

#[test]
fn retention_hides_then_purges_rows_and_keeps_the_sums() {
    let mut scene = Scene::new();
    let id = report(&mut scene, 1, 50);
    let system = key(KeyRole::Superadmin);
    let round = |scene: &mut Scene| scene.run(&system, |draft| Ok(usage::keep_usage_for(draft, 60))).unwrap();
    scene.pass(59 * DAY);
    assert_eq!(round(&mut scene), 0);
    scene.pass(2 * DAY);
    assert_eq!(round(&mut scene), 1);
    assert!(matches!(scene.ledger.usage.reports[&id].gone, Some(Gone::Aged(_))));
    scene.pass(31 * DAY);
    assert_eq!(round(&mut scene), 1);
    assert!(scene.ledger.usage.reports.is_empty());
    assert_eq!(scene.ledger.usage.total(Scope::Project(project())).cost_millicents, 50);
    assert_eq!(round(&mut scene), 0);
}

fn scan(scene: &mut Scene) -> usize {
    let system = key(KeyRole::Superadmin);
    scene
        .run(&system, |draft| Ok(usage::scan_anomalies(draft, |_| Some(project()))))
        .expect("the scene allows it")
}

#[test]
fn far_from_the_epics_average_is_an_anomaly_once() {
    let mut scene = Scene::new();
    for number in 1..=8 {
        report(&mut scene, number, 100);
    }
    assert_eq!(scan(&mut scene), 0);
    report(&mut scene, 9, 1000);
    report(&mut scene, 10, 5);
    assert_eq!(scan(&mut scene), 2);
    assert_eq!(scan(&mut scene), 0, "one unresolved of a kind per story");
    let high = scene.ledger.usage.unresolved(story(9), AnomalyKind::HighCost).unwrap();
    assert!(scene.ledger.usage.unresolved(story(10), AnomalyKind::SuspiciouslyLow).is_some());
    let (_, anomaly) = &scene.ledger.usage.anomalies[&high];
    assert_eq!((anomaly.reference_millicents, anomaly.deviation_per_mille), (180, 5555));
    assert_least(KeyRole::User, |caller| scene.run(caller, |draft| usage::resolve_anomaly(draft, high)));
    assert_eq!(scan(&mut scene), 0, "settled, and costs what it did");
    report(&mut scene, 9, 1);
    assert_eq!(scan(&mut scene), 1, "it costs something else: it is said again");
    scene.pass(DAY);
    let now = scene.now;
    let archived = scene.run(&key(KeyRole::Superadmin), |draft| Ok(usage::archive_anomalies(draft, now)));
    assert_eq!(archived.unwrap(), 1, "only what was resolved");
}

#[test]
fn a_story_past_its_own_budget_is_an_anomaly() {
    let mut scene = Scene::new();
    budget(&mut scene, BudgetScope::Story(story(1)), 100);
    report(&mut scene, 1, 250);
    let id = scene.ledger.usage.unresolved(story(1), AnomalyKind::BudgetExceeded).unwrap();
    assert_eq!(scene.ledger.usage.anomalies[&id].1.deviation_per_mille, 2500);
}

fn as_agent(scene: &mut Scene, by: AgentId, number: u8, numbers: UsageNumbers) {
    let caller =
        windlass_protocols::protocol::story_queue::caller::Caller { agent: Some(by), ..key(KeyRole::Agent) };
    scene
        .run(&caller, |draft| usage::report_usage(draft, place(number), numbers))
        .expect("the scene allows it");
}

#[test]
fn analytics_answer_by_agent_epic_model_phase_and_day() {
    let mut scene = Scene::new();
    let planning = UsageNumbers { phase: Phase::Planning, ..numbers(300) };
    as_agent(&mut scene, agent(1), 1, planning);
    as_agent(&mut scene, agent(1), 2, numbers(100));
    scene.pass(DAY);
    as_agent(&mut scene, agent(2), 2, UsageNumbers::new("haiku", 10, 10, 100));
    let whole = Period { project: Some(project()), ..Period::default() };
    let agents = usage::agents(&scene.ledger, &whole);
    assert_eq!(
        agents.iter().map(|row| (row.agent, row.rank, row.average_per_story)).collect::<Vec<_>>(),
        [(agent(2), 1, 100), (agent(1), 2, 200)]
    );
    assert_eq!(agents[1].primary_model.as_deref(), Some("opus"));
    let epics = usage::epics(&scene.ledger, &whole);
    assert_eq!((epics.len(), epics[0].sums.cost_millicents, epics[0].stories), (1, 500, 2));
    let of_project = usage::project(&scene.ledger, project(), None, Some(Day(20_000)));
    assert_eq!((of_project.sums.cost_millicents, of_project.by_phase.len()), (400, 2));
    let judged = |id| if id == story(2) { Judged::Verified } else { Judged::Rejected };
    let models = usage::models(&scene.ledger, &whole, judged);
    assert_eq!(
        models.iter().map(|row| (row.model.as_str(), row.verified, row.rejected)).collect::<Vec<_>>(),
        [("opus", 1, 1), ("haiku", 1, 0)]
    );
    assert_eq!(usage::model_profile(&scene.ledger, agent(2), &whole, judged).len(), 1);
    let mix = usage::model_mix(&scene.ledger, &whole);
    assert_eq!(mix.iter().map(|row| row.cost_per_mille).collect::<Vec<_>>(), [200, 600, 200]);
    assert_eq!(usage::trends(&scene.ledger, &whole, Granularity::Daily).len(), 2);
    let elsewhere = Period { since: Some(Day(20_002)), ..whole };
    assert!(usage::agents(&scene.ledger, &elsewhere).is_empty());
}

#[test]
fn weeks_begin_on_monday() {
    // 1970-01-05 was a Monday.
    let mondays: Vec<u64> = (4..=12).map(|day| Day(day).monday().0).collect();
    assert_eq!(mondays, [4, 4, 4, 4, 4, 4, 4, 11, 11]);
}

#[test]
fn the_lazy_score_is_the_mean_of_what_was_triggered() {
    let diligent = Effort { tokens: 4000, tool_calls: 5, reasoning_tokens: 100, tests_run: 3 };
    assert_eq!(lazy_score(diligent, 200).per_mille, 0);
    assert_eq!(lazy_score(Effort::default(), 100).per_mille, 0, "up to an hour nothing is expected");
    let silent = lazy_score(Effort::default(), 200);
    assert_eq!((silent.per_mille, silent.flagged()), (850, true));
    let few_tests = lazy_score(Effort { tests_run: 2, ..diligent }, 200);
    assert_eq!((few_tests.per_mille, few_tests.flagged()), (600, false));
    assert_eq!(few_tests.factors, [LazyFactor::FewTests]);
    let few_tokens = lazy_score(Effort { tokens: 3999, ..diligent }, 200);
    assert_eq!(few_tokens.per_mille, 800);
    let edge = lazy_score(Effort { reasoning_tokens: 99, ..diligent }, 200);
    assert_eq!((edge.per_mille, edge.flagged()), (700, false), "above 0.7, not at it");
}

#[test]
fn the_effort_of_a_story_is_the_sum_of_its_reports() {
    let mut scene = Scene::new();
    for _ in 0..2 {
        let told = UsageNumbers { tool_call_count: Some(4), tests_run_count: Some(1), ..numbers(1) };
        as_agent(&mut scene, agent(1), 1, told);
    }
    let effort = scene.ledger.usage.effort(story(1));
    assert_eq!(
        (effort.tokens, effort.tool_calls, effort.tests_run, effort.reasoning_tokens),
        (3000, 8, 2, 0)
    );
}

#[test]
fn money_and_tokens_are_shown_as_people_read_them() {
    let shown =
        [(0, "$0.00"), (499, "$0.00"), (500, "$0.01"), (100_000, "$1.00"), (-1500, "-$0.02"), (-1, "$0.00")];
    for (millicents, text) in shown {
        assert_eq!(dollars(millicents), text);
    }
    let counts = [
        (950, "950"),
        (1500, "1.5K"),
        (2_500_000, "2.5M"),
        (999_949, "999.9K"),
        (999_950, "1.0M"),
        (-1500, "-1.5K"),
    ];
    for (tokens, text) in counts {
        assert_eq!(token_count(tokens), text);
    }
}
