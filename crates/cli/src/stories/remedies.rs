//! What refusals tell people to do, held against the program: each names a next step of its own, and every command and route
//! that it names exists.

use crate::arguments::Arguments;
use clap::Parser as _;
use std::collections::BTreeSet;
use windlass_story_service::{DataDir, RefusalCode};

/// What stands in backquotes and is a command of this program.
fn commands(remedy: &str) -> Vec<&str> {
    remedy.split('`').skip(1).step_by(2).filter(|quoted| quoted.starts_with("windlass")).collect()
}

/// `POST /admin/tenants/ID/clear-halt`, as method and path.
fn routes(remedy: &str) -> Vec<(&str, &str)> {
    let words: Vec<&str> = remedy.split_whitespace().collect();
    words
        .windows(2)
        .filter(|pair| ["GET", "POST", "PATCH", "PUT", "DELETE"].contains(&pair[0]))
        .map(|pair| (pair[0], pair[1].trim_end_matches([';', ',', '.'])))
        .collect()
}

#[test]
fn every_refusal_names_a_next_step_of_its_own() {
    let mut known = BTreeSet::new();
    for code in RefusalCode::ALL {
        let (name, remedy) = (code.name(), code.remedy());
        assert!(known.insert(remedy), "{name} says what another code says: {remedy}");
        assert!(!commands(remedy).is_empty() || !routes(remedy).is_empty(), "{name} names no step: {remedy}");
    }
}

#[test]
fn every_command_that_a_refusal_names_exists() {
    for code in RefusalCode::ALL {
        for command in commands(code.remedy()) {
            let parsed = Arguments::try_parse_from(command.split_whitespace());
            assert!(parsed.is_ok(), "{}: `{command}`: {}", code.name(), parsed.err().unwrap());
        }
    }
}

#[test]
fn every_route_that_a_refusal_names_exists() {
    let directory = tempfile::tempdir().unwrap();
    let service = DataDir::hold(directory.path(), "a test").unwrap().open().unwrap();
    for code in RefusalCode::ALL {
        for (method, path) in routes(code.remedy()) {
            let asked: Vec<&str> = path.split('/').collect();
            let fits = |known: &str| {
                let parts: Vec<&str> = known.split('/').collect();
                let same = |(own, asked): (&&str, &&str)| own.starts_with(':') || own == asked;
                parts.len() == asked.len() && parts.iter().zip(&asked).all(same)
            };
            let mut all = service.routes().iter();
            let there = all.any(|route| route.method.name() == method && fits(route.path));
            assert!(there, "{}: {method} {path}", code.name());
        }
    }
}
