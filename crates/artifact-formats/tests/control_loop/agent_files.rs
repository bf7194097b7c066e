//! Agent files of all dialects, and the ones `init` writes.

use windlass_artifact_formats::control_loop::{
    AgentFile, AgentTemplate, Dialect, Flow, ListedSensor, MetricRule, Placeholders, SensorTemplate,
    is_known_rendering, scaffold_flow, sensor_entries, sensor_name,
};

use crate::faults_of;

const SENSOR: SensorTemplate<'_> = SensorTemplate {
    name: "unit-tests",
    command: "cargo test --all\n  && echo \"done: yes\"",
    target: Some("all pass: yes"),
};

fn read(text: &str) -> AgentFile {
    AgentFile::parse("loop-x.md", text).expect("a usable agent file").0
}

fn every_template() -> [String; 7] {
    let listed = [ListedSensor { name: "lint", target: "no\nwarnings", priority: "high" }];
    [
        AgentTemplate::Sensor(Dialect::Flat, SENSOR),
        AgentTemplate::Sensor(Dialect::Nested, SENSOR),
        AgentTemplate::Actuator(Dialect::Flat),
        AgentTemplate::Actuator(Dialect::Nested),
        AgentTemplate::FlatController { sensors: &listed },
        AgentTemplate::InnerController { node_id: "code" },
        AgentTemplate::OuterController { node_id: "feature" },
    ]
    .map(|template| template.render())
}

#[test]
fn a_sensor_file_gives_back_what_it_was_made_of() {
    for dialect in [Dialect::Flat, Dialect::Nested] {
        let (sensor, notes) =
            AgentFile::parse("s.md", &AgentTemplate::Sensor(dialect, SENSOR).render()).unwrap();
        assert_eq!(notes, Vec::<String>::new());
        assert_eq!(sensor.name, "loop-sensor-unit-tests");
        assert_eq!(sensor.measurement_command().as_deref(), Some(SENSOR.command));
        assert_eq!(sensor.target.as_deref(), SENSOR.target);
        assert_eq!(sensor.tools, ["Read", "Glob", "Bash", "Write"]);
        assert_eq!(sensor.disallowed_tools, ["Edit", "NotebookEdit"]);
        assert_eq!(sensor.model.as_deref(), Some("haiku"));
        assert!(sensor.required);
        let path =
            if dialect == Dialect::Flat { ".ai-loop/sensor-unit-tests-output.md" } else { "`{output-path}`" };
        assert!(sensor.body.contains(path));
    }
}

#[test]
fn every_template_is_sound_and_known_until_somebody_edits_it() {
    for text in every_template() {
        assert!(!text.contains("{{") && !text.contains("}}"), "{text}");
        let (agent, notes) = AgentFile::parse("a.md", &text).unwrap();
        assert_eq!(notes, Vec::<String>::new());
        assert!(!agent.body.contains("windlass:unedited"), "the mark is not for agents");
        assert!(is_known_rendering(&text));
        assert!(is_known_rendering(&text.replace('\n', "\r\n")), "line ends are no edit");
        assert!(!is_known_rendering(&text.replacen("## Rules", "## My rules", 1)));
        assert!(!is_known_rendering(&format!("{text}\nOne more rule.\n")));
        assert!(!is_known_rendering(&agent.body));
    }
    assert!(!is_known_rendering(""));
}

#[test]
fn a_flow_of_ours_is_known_until_somebody_edits_it() {
    let written = "version: 1\nflow: { id: main, type: loop, controller: c.md, sensors: [s.md], \
                   actuator: { strategy: direct, agent: a.md } }\n";
    let (flow, _) = Flow::parse(written).unwrap();
    let text = scaffold_flow(&flow);
    assert_eq!(Flow::parse(&text).unwrap(), (flow, Vec::new()), "the mark is a comment");
    assert!(is_known_rendering(&text));
    assert!(!is_known_rendering(&text.replace("max_iterations: 10", "max_iterations: 4")));
    assert!(!is_known_rendering(written));
}

#[test]
fn a_flat_controller_lists_its_sensors_so_that_targets_can_be_read_back() {
    let listed = [
        ListedSensor { name: "lint", target: "no\n\n## warnings", priority: "high" },
        ListedSensor { name: "unit-tests", target: "exits 0", priority: "low" },
    ];
    let body = read(&AgentTemplate::FlatController { sensors: &listed }.render()).body;
    let entries = sensor_entries(&body);
    let targets: Vec<_> =
        entries.iter().map(|entry| (entry.name.as_str(), entry.target.as_deref())).collect();
    assert_eq!(targets, [("lint", Some("no ## warnings")), ("unit-tests", Some("exits 0"))]);
    assert_eq!(entries[1].output_file.as_deref(), Some(".ai-loop/sensor-unit-tests-output.md"));
    assert_eq!(entries[0].priority.as_deref(), Some("high"));
}

#[test]
fn a_nested_controller_leaves_its_placeholders_open() {
    let [.., inner, outer] = every_template();
    for (text, names) in
        [(&inner, &["artifacts-path", "node-path", "sensors-section"][..]), (&outer, &["child-node-id"])]
    {
        for name in names {
            assert!(text.contains(&format!("{{{name}}}")), "{name}");
        }
    }
    let places = Placeholders {
        artifacts_path: Some("A"),
        child_node_id: Some("C"),
        node_path: Some("N"),
        sensors_section: Some("S"),
        ..Placeholders::default()
    };
    assert!(places.fill(&read(&outer).body).contains("`A/C/result-output.md`"));
    assert!(!places.fill(&read(&outer).body).contains('{'));
}

#[test]
fn files_without_front_matter_are_read() {
    let (agent, notes) =
        AgentFile::parse("a.md", "# Sensor: x\n\n## Measurement\n\n```sh\nmake test\n```\n").unwrap();
    assert_eq!(agent.measurement_command().as_deref(), Some("make test"));
    assert_eq!((agent.name.as_str(), agent.required), ("", true));
    assert!(notes[0].contains("no front matter"));
}

#[test]
fn front_matter_that_is_no_yaml_is_read_line_by_line() {
    let text =
        "---\nname: loop-sensor-x\ndescription: Runs: npm test -- \"all\"\ntools: Read, Bash\n---\nBody\n";
    let (agent, notes) = AgentFile::parse("a.md", text).unwrap();
    assert_eq!(agent.description, "Runs: npm test -- \"all\"");
    assert_eq!(agent.tools, ["Read", "Bash"]);
    assert!(notes[0].contains("not YAML"), "{notes:?}");
}

#[test]
fn a_sensor_without_block_is_prose_only() {
    let body = "# Sensor: style\n\n## Measurement\n\nRead the code and look for long functions.\n\n## Output\n\n    not this\n";
    assert_eq!(read(body).measurement_command(), None);
    assert_eq!(read("Just words.").measurement_command(), None);
}

#[test]
fn sensors_are_named_after_their_files() {
    assert_eq!(sensor_name("loop-sensor-unit-tests", Some("loop-sensor-other")), "unit-tests");
    assert_eq!(sensor_name("measure", Some("loop-sensor-other")), "other");
    assert_eq!(sensor_name("measure", None), "measure");
    assert_eq!(sensor_name("loop-sensor-", Some("")), "loop-sensor-");
}

#[test]
fn our_keys_are_read_and_wrong_ones_named_together() {
    let text = "---\ntarget: at most 5\nrequired: false\ntimeout: 30m\nmetric:\n  pattern: 'size (\\d+)'\n  name: size\n  unit: kB\n  better: lower\n---\nBody\n";
    let agent = read(text);
    assert_eq!(
        (agent.required, agent.timeout_minutes, agent.target.as_deref()),
        (false, Some(30), Some("at most 5"))
    );
    let figures = agent.metric.unwrap().read("size 12\nsize 34\n");
    assert_eq!(figures[0].to_string(), "size: 34 kB");
    assert_eq!(read("---\nmetric: auto\n---\nBody\n").metric, Some(MetricRule::Auto));
    let faults =
        faults_of(AgentFile::parse("a.md", "---\nmetric: no group\nrequired: maybe\ntimeout: soon\n---\n"));
    for words in ["exactly one group", "`required`", "`timeout`", "says nothing"] {
        assert!(faults.contains(words), "{words}: {faults}");
    }
}
