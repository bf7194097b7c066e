//! The rows of `rows`, through each face: the same is allowed and refused, the same is told, and every refusal says what to do.

use super::cases::Expected::{Refused, Status};
use super::rows::{PLAN, Row, all};
use super::scene::Scene;
use super::{Said, commands_in, remedy_in, told_by_the_command_line, tool_called};
use serde_json::json;
use std::collections::BTreeSet;

pub(super) type Face = fn(&mut Scene, &Row) -> Option<Said>;

pub(super) const FACES: [Face; 3] = [over_http, on_the_command_line, as_a_tool];

#[expect(clippy::unnecessary_wraps, reason = "the other faces do not have every deed")]
fn over_http(scene: &mut Scene, row: &Row) -> Option<Said> {
    let (method, path, body) = &row.http;
    let (status, answer) = scene.server.ask(scene.key(row.who), method, path, "", body).unwrap();
    let code = answer["error"]["code"].as_str().unwrap_or_default().to_owned();
    let hints = remedy_in(&answer["error"]);
    let status = u64::from(status);
    let told = answer.to_string();
    Some(Said { done: status < 300, status: Some(status), ended: None, code, hints, told })
}

fn on_the_command_line(scene: &mut Scene, row: &Row) -> Option<Said> {
    if row.words.is_empty() {
        return None;
    }
    let key = scene.key(row.who).to_owned();
    scene.world.set("LOOPCTL_API_KEY", key);
    let file = scene.world.path().join("rows.json");
    std::fs::write(&file, row.http.2.to_string()).unwrap();
    let place = file.to_str().unwrap();
    let words = row.words.iter().map(|word| if word == PLAN { place } else { word.as_str() });
    let words: Vec<&str> = ["story", "--json"].into_iter().chain(words).collect();
    Some(told_by_the_command_line(&scene.world.windlass(&words)))
}

fn as_a_tool(scene: &mut Scene, row: &Row) -> Option<Said> {
    let (tool, arguments) = row.tool.clone()?;
    let key = scene.key(row.who).to_owned();
    scene.world.set("LOOPCTL_API_KEY", key);
    Some(tool_called(scene, tool, &arguments))
}

#[track_caller]
fn holds_through(face: Face) {
    let mut scene = Scene::set();
    let user = scene.key(super::cases::Who::User).to_owned();
    let made = scene.server.ask(&user, "POST", "/projects", "", &json!({"name": "Rows", "slug": "rows"}));
    assert_eq!(made.as_ref().map(|(status, _)| *status), Some(201), "{made:?}");
    let (mut wrong, mut commands) = (Vec::new(), BTreeSet::new());
    for row in all() {
        // Where this face has no such deed, it is done another way: later rows build on it.
        let said = match face(&mut scene, &row) {
            Some(said) => said,
            None => over_http(&mut scene, &row).unwrap(),
        };
        if !said.is(row.expected) || !plain(&said.told).contains(row.tells) {
            let (name, expected, tells) = (row.name, row.expected, row.tells);
            wrong.push(format!("{name}: expected {expected:?} and {tells:?}, said {}", said.told));
        }
        let by_code = matches!(row.expected, Refused(..) | Status(403 | 404));
        if by_code && said.hints.is_empty() {
            wrong.push(format!("{}: no word of what to do, said {}", row.name, said.told));
        }
        commands.extend(said.hints.iter().flat_map(|hint| commands_in(hint)));
    }
    for command in commands {
        let words: Vec<&str> = command.split(' ').skip(1).chain(["--help"]).collect();
        if scene.world.windlass(&words).code != Some(0) {
            wrong.push(format!("there is no `{command}`"));
        }
    }
    scene.server.stop();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Pretty JSON and JSON in a text are the same words.
pub(super) fn plain(told: &str) -> String {
    told.replace("\\\"", "\"").replace("\": ", "\":")
}

/// The deeds that a face has no word for, by their rows. Whoever adds a row that a face cannot play says so here.
const LACKS: &[(&str, &str)] = &[
    // Whoever contracts here has the story read for them, and one feed begins at its beginning.
    (COMMAND_LINE, "4: a contract repeats the story"),
    (COMMAND_LINE, "13: a feed from nowhere"),
    // A role that nobody gets is no word of its flag; a status is never given with an article.
    (COMMAND_LINE, "5: nobody dispatches a person"),
    (COMMAND_LINE, "5: an agent publishes nothing"),
    (COMMAND_LINE, "6: the graph"),
    // Arguments are checked before anybody is asked.
    (TOOLS, "13: a feed from nowhere"),
    (TOOLS, "5: nobody dispatches a person"),
    (TOOLS, "5: an agent publishes nothing"),
    // Of people, and of whoever looks back: no tools of agents.
    (TOOLS, "8: and all before it"),
    (TOOLS, "9: the log is for users"),
    (TOOLS, "9: and not for agents"),
    (TOOLS, "5: tokens are asked for"),
    (TOOLS, "5: tokens are not asked for"),
    (TOOLS, "5: an orchestrator makes no key of a person"),
    (TOOLS, "12: an orchestrator deletes nothing"),
    (TOOLS, "12: a user deletes a story"),
    (TOOLS, "12: an orchestrator deletes no epic"),
    (TOOLS, "12: a user deletes an epic with its stories"),
];

const COMMAND_LINE: &str = "the command line";
const TOOLS: &str = "the tools";

#[test]
fn what_a_face_has_no_word_for_is_known() {
    let rows = all();
    let lacking = rows.iter().flat_map(|row| {
        let on_the_command_line = row.words.is_empty().then_some((COMMAND_LINE, row.name));
        on_the_command_line.into_iter().chain(row.tool.is_none().then_some((TOOLS, row.name)))
    });
    let (lacking, known): (BTreeSet<_>, BTreeSet<_>) = (lacking.collect(), LACKS.iter().copied().collect());
    assert_eq!(lacking, known, "a face lacks a deed, or has it by now");
    let names: BTreeSet<&str> = rows.iter().map(|row| row.name).collect();
    assert_eq!(names.len(), rows.len(), "a row is known by its name");
}

#[test]
fn the_rows_hold_over_http() {
    holds_through(over_http);
}

#[test]
fn the_rows_hold_on_the_command_line() {
    holds_through(on_the_command_line);
}

#[test]
fn the_rows_hold_for_tools() {
    holds_through(as_a_tool);
}
