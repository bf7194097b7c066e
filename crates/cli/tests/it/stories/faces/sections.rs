//! The rows of `rows`, through each face: the same is allowed and refused, the same is told, and every refusal says what to do.

use super::cases::Expected::{Done, Refused, Status};
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
    Some(Said { done: status < 300, status: Some(u64::from(status)), code, hints, told: answer.to_string() })
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
        let fits = match row.expected {
            Done => said.done,
            Refused(status, code) => {
                !said.done && said.code == code && said.status.is_none_or(|own| own == u64::from(status))
            }
            Status(status) => !said.done && said.status.is_none_or(|own| own == u64::from(status)),
        };
        // Pretty JSON and JSON in a text are the same words.
        let told = said.told.replace("\\\"", "\"").replace("\": ", "\":");
        if !fits || !told.contains(row.tells) {
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
