//! Section 7: an export becomes an import again.

use serde_json::json;
use windlass_artifact_formats::story_queue::import_of_export;

#[test]
fn structure_goes_round_and_status_stays_behind() {
    let epics = |full: bool| {
        let mut story = json!({
            "number": "3.1", "title": "Read", "acceptance_criteria": [{"id": "AC-1", "criterion": "reads"}],
            "estimated_hours": 2.5, "metadata": {"a": {"b": [null, 1]}},
        });
        let mut epic = json!({"number": 3, "title": "Ingest", "position": 2, "metadata": {}});
        if full {
            for (key, value) in
                [("agent_status", json!("reported_done")), ("id", json!("x")), ("description", json!(null))]
            {
                story[key] = value;
            }
            epic["inserted_at"] = json!("2026-01-01T00:00:00Z");
        }
        epic["stories"] = json!([story]);
        json!([epic])
    };
    let edges = json!([{"story": "3.1", "depends_on": "2.4"}]);
    let export = json!({
        "export_metadata": {"version": 1}, "project": {"name": "P"}, "epics": epics(true),
        "story_dependencies": edges, "epic_dependencies": [{"epic": 3, "depends_on": 2}],
    });
    let exported = import_of_export(&export.to_string()).unwrap();
    let payload = json!({
        "epics": epics(false), "story_dependencies": edges, "epic_dependencies": [{"epic": 3, "depends_on": 2}],
    });
    assert_eq!(exported.payload, payload);
    assert_eq!((exported.epics, exported.stories, exported.statuses_left_behind), (1, 1, 1));
    let again = import_of_export(&payload.to_string()).unwrap();
    assert_eq!((again.payload, again.statuses_left_behind), (payload.clone(), 0));
    assert_eq!(import_of_export(&json!({ "data": export }).to_string()).unwrap().payload, payload);
}

#[test]
fn what_is_no_export_is_refused_with_the_place() {
    let wrong = [
        ("{", "not JSON"),
        ("{}", "it has no list of epics"),
        (r#"{"epics":[1]}"#, "epics[0] is not an object"),
        (r#"{"epics":[{"stories":["x"]}]}"#, "epics[0].stories[0] is not an object"),
    ];
    for (text, why) in wrong {
        let error = import_of_export(text).unwrap_err();
        assert!(error.contains(why), "{error}");
    }
}
