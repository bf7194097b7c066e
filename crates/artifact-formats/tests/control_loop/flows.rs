//! `flow.yaml`: the files of the original, our additions, and everything that must be refused.

use proptest::prelude::*;
use windlass_artifact_formats::control_loop::{
    Flow, FlowActuator, FlowBudget, FlowNode, FlowSensor, OnError, RepoPath,
};

use crate::faults_of;

const TWO_LEVELS: &str = "\
version: 1
defaults:
  termination:
    on_error: fail-fast
flow:
  id: feature
  type: loop
  controller: .claude/agents/loop-controller-feature.md
  sensors:
    - .claude/agents/loop-sensor-verify.md
  termination:
    max_iterations: 5
  actuator:
    strategy: composite
    child:
      id: code
      type: loop
      controller: .claude/agents/loop-controller-code.md
      sensors:
        - path: .claude/agents/loop-sensor-unit-tests.md
          target: \"no failures: none\"
          required: false
      actuator:
        strategy: direct
        agent: ./.claude/agents/loop-actuator.md
      timeout: 2h
      budget: { actuations: 7, minutes: 30, tokens: 100000, cost: 2.50 }
";

fn path(text: &str) -> RepoPath {
    RepoPath::parse(text).expect("a path inside the repository")
}

#[test]
fn a_tree_of_loops_is_read_with_its_defaults() {
    let (flow, warnings) = Flow::parse(TWO_LEVELS).unwrap();
    assert_eq!(warnings, Vec::<String>::new());
    let nodes = flow.nodes();
    assert_eq!(nodes.iter().map(|(path, _)| path.as_str()).collect::<Vec<_>>(), ["feature", "feature/code"]);
    assert_eq!((nodes[0].1.max_iterations, nodes[1].1.max_iterations), (5, 10));
    assert_eq!(nodes[0].1.sensors[0].name(), "verify");
    assert!(nodes[0].1.sensors[0].required);
    let inner = nodes[1].1;
    assert_eq!(inner.sensors[0].target.as_deref(), Some("no failures: none"));
    assert!(!inner.sensors[0].required);
    assert_eq!(inner.timeout_minutes, Some(120));
    let budget = FlowBudget {
        actuations: Some(7),
        minutes: Some(30),
        tokens: Some(100_000),
        cost_micros: Some(2_500_000),
    };
    assert_eq!(inner.budget, Some(budget));
    assert_eq!(inner.on_error, OnError::FailFast);
    let paths: Vec<_> = flow.paths().into_iter().map(RepoPath::as_str).collect();
    let agents = [
        "loop-sensor-verify.md",
        "loop-controller-feature.md",
        "loop-sensor-unit-tests.md",
        "loop-controller-code.md",
        "loop-actuator.md",
    ];
    assert_eq!(paths, agents.map(|name| format!(".claude/agents/{name}")));
}

#[test]
fn defaults_apply_where_a_node_is_silent() {
    let text = TWO_LEVELS.replace("on_error: fail-fast", "on_error: report-to-parent\n    max_iterations: 3");
    let (flow, _) = Flow::parse(&text).unwrap();
    let inner = flow.root.child().unwrap();
    assert_eq!((flow.root.max_iterations, inner.max_iterations), (5, 3));
    assert_eq!(inner.on_error, OnError::ReportToParent);
}

#[test]
fn unknown_keys_are_warnings_and_nothing_else() {
    let text = TWO_LEVELS.replace("  id: feature", "  id: feature\n  run_when: always") + "extra: 1\n";
    let (flow, warnings) = Flow::parse(&text).unwrap();
    assert_eq!(flow, Flow::parse(TWO_LEVELS).unwrap().0);
    assert_eq!(warnings.len(), 2, "{warnings:?}");
    assert!(
        warnings.iter().any(|warning| warning.contains("\"run_when\" in node `feature`")),
        "{warnings:?}"
    );
}

#[test]
fn every_fault_is_named_at_once() {
    let text = "\
version: 2
flow:
  id: ../up
  type: sequence
  controller: /etc/passwd
  sensors: [a/../../b, x/loop-sensor-t.md, y/loop-sensor-t.md]
  termination: { max_iterations: 0, on_error: retry }
  timeout: soon
  budget: { tokens: -1, cost: much }
  actuator:
    strategy: composite
    child:
      id: inner
      controller: c.md
      actuator: { strategy: direct }
";
    let faults = faults_of(Flow::parse(text));
    for words in [
        "`version` must be 1",
        "the id \"../up\" must start",
        "`type` must be `loop`",
        "\"/etc/passwd\" of `controller` is absolute",
        "leaves the repository",
        "two sensors are called `t`",
        "`max_iterations` must be a whole number of at least 1",
        "`on_error` must be `fail-fast` or `report-to-parent`",
        "`timeout` must be whole minutes",
        "`budget.tokens` must be a whole number",
        "`budget.cost` must be an amount",
        "`type: loop` is missing",
        "`actuator.agent` must name a file",
    ] {
        assert!(faults.contains(words), "{words} is missing from:\n{faults}");
    }
}

#[test]
fn ids_must_be_unique_along_a_path_and_fit_beside_the_reports() {
    let same = TWO_LEVELS.replace("id: code", "id: feature");
    assert!(faults_of(Flow::parse(&same)).contains("already that of a loop around it"));
    let report = TWO_LEVELS.replace("id: code", "id: result-output.md");
    assert!(faults_of(Flow::parse(&report)).contains("ends in `.md`"));
}

#[test]
fn children_are_exactly_one_and_only_where_they_belong() {
    let list = "version: 1\nflow:\n  id: a\n  type: loop\n  controller: c.md\n  actuator:\n    strategy: composite\n    child: [x, y]\n";
    assert!(faults_of(Flow::parse(list)).contains("exactly one `child`"));
    let none = list.replace("    child: [x, y]\n", "");
    assert!(faults_of(Flow::parse(&none)).contains("needs a `child`"));
    let direct = list.replace("composite", "direct\n    agent: a.md");
    assert!(faults_of(Flow::parse(&direct)).contains("has no `child`"));
}

#[test]
fn a_file_that_is_no_flow_is_refused_with_a_sentence() {
    assert!(faults_of(Flow::parse("")).contains("the file must be a mapping, not nothing"));
    assert!(faults_of(Flow::parse("- a")).contains("not a list"));
    assert!(faults_of(Flow::parse("version: 1\nversion: 1")).contains("not YAML"));
    assert!(faults_of(Flow::parse("version: 1")).contains("`flow` with the outermost loop is missing"));
}

#[test]
fn thirty_loops_in_each_other_are_read_and_a_thousand_refused() {
    let nested = |depth: usize| {
        let mut node = leaf(0);
        for number in 1..depth {
            let actuator = FlowActuator::Composite { child: Box::new(node) };
            node = FlowNode { actuator, ..leaf(number) };
        }
        Flow { version: 1, root: node }
    };
    let flow = nested(30);
    assert_eq!(Flow::parse(&flow.render()).unwrap(), (flow, Vec::new()));
    let levels =
        (0..1000).map(|depth| format!("{}actuator:", " ".repeat(depth))).collect::<Vec<_>>().join("\n");
    for deeper in [nested(31).render(), nested(60).render(), format!("version: 1\nflow:\n{levels}")] {
        let faults = faults_of(Flow::parse(&deeper));
        assert!(
            faults.contains("a flow is at most 30 loops deep, and this one is nested deeper"),
            "{faults}"
        );
        assert!(!faults.contains("budget") && faults.lines().count() <= 2, "in our words alone: {faults}");
    }
}

fn leaf(number: usize) -> FlowNode {
    FlowNode {
        id: format!("n{number}"),
        controller: path("c.md"),
        actuator: FlowActuator::Direct { agent: path("a.md") },
        sensors: Vec::new(),
        max_iterations: 1,
        on_error: OnError::FailFast,
        timeout_minutes: None,
        budget: None,
    }
}

fn any_path() -> impl Strategy<Value = RepoPath> {
    "[a-zA-Z0-9 ._:#'\"&*!%@-]{1,12}(/[a-z.-]{1,8}){0,2}"
        .prop_filter_map("not a path", |text| RepoPath::parse(&text).ok())
}

fn any_sensors() -> impl Strategy<Value = Vec<FlowSensor>> {
    let sensor = (any_path(), proptest::option::of("\\PC{1,20}|[\n:#\"'-]{1,8}"), any::<bool>())
        .prop_map(|(path, target, required)| FlowSensor { path, target, required });
    proptest::collection::vec(sensor, 0..4).prop_filter("names must differ", |sensors| {
        let mut names: Vec<_> = sensors.iter().map(FlowSensor::name).collect();
        names.sort();
        names.dedup();
        names.len() == sensors.len()
    })
}

fn any_node(actuator: BoxedStrategy<FlowActuator>, id: &'static str) -> BoxedStrategy<FlowNode> {
    let budget = (
        proptest::option::of(1_u32..),
        proptest::option::of(1..1_u64 << 60),
        proptest::option::of(1..1_u64 << 60),
    )
        .prop_map(|(actuations, tokens, cost_micros)| FlowBudget {
            actuations,
            minutes: tokens,
            tokens,
            cost_micros,
        });
    let rest = (1_u32.., proptest::option::of(1..1_u64 << 40), proptest::option::of(budget), any::<bool>());
    (id, any_path(), actuator, any_sensors(), rest)
        .prop_map(|(id, controller, actuator, sensors, (max_iterations, timeout_minutes, budget, report))| {
            FlowNode {
                id,
                controller,
                actuator,
                sensors,
                max_iterations,
                on_error: if report { OnError::ReportToParent } else { OnError::FailFast },
                timeout_minutes,
                budget,
            }
        })
        .boxed()
}

fn any_flow() -> impl Strategy<Value = Flow> {
    let direct = any_path().prop_map(|agent| FlowActuator::Direct { agent }).boxed();
    let inner = any_node(direct.clone(), "[0-9][a-z._-]{0,5}");
    let composite = inner.prop_map(|child| FlowActuator::Composite { child: Box::new(child) });
    let actuator = prop_oneof![direct, composite].boxed();
    any_node(actuator, "[A-Za-z][A-Z0-9._-]{0,5}").prop_map(|root| Flow { version: 1, root })
}

proptest! {
    #[test]
    fn what_is_written_is_read_again(flow in any_flow()) {
        let ids_are_sound = flow.nodes().iter().all(|(_, node)| !node.id.to_lowercase().ends_with(".md"));
        prop_assume!(ids_are_sound);
        prop_assert_eq!(Flow::parse(&flow.render()).map_err(|faults| faults.to_string()), Ok((flow, Vec::new())));
    }

    #[test]
    fn no_damage_to_a_flow_makes_the_reader_panic(cut in 0..TWO_LEVELS.len(), byte in "[\\[{:&*!|>%\n -]") {
        let mut text = TWO_LEVELS.to_owned();
        text.replace_range(cut..=cut, &byte);
        let _ = Flow::parse(&text);
    }
}
