//! The `left::right` arguments of the companion commands.
//! It knows the notation only, not the commands that take it.

use super::audit::Finding;
use super::handoff::{SmokeCheck, SmokeStatus};
use super::verdict::Reason;
use crate::extra_keys::ExtraKeys;
use crate::fields::has_content;

/// Why such an argument cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CompanionArgumentError {
    #[error("expected \"{form}\", found no \"::\" in \"{argument}\"")]
    NoSeparator { form: &'static str, argument: String },
    #[error("expected \"{form}\", found nothing for {part} in \"{argument}\"")]
    EmptyPart { form: &'static str, part: &'static str, argument: String },
    #[error("unknown status \"{status}\" in \"{argument}\": use pass, fail, skip or unknown")]
    UnknownStatus { status: String, argument: String },
}

/// Reads `--smoke-check "status::command"`.
pub fn parse_smoke_check_argument(argument: &str) -> Result<SmokeCheck, CompanionArgumentError> {
    let (word, command) = split(argument, "status::command", "status", "command")?;
    let status = SmokeStatus::from_word(word).ok_or_else(|| CompanionArgumentError::UnknownStatus {
        status: word.to_owned(),
        argument: argument.to_owned(),
    })?;
    Ok(SmokeCheck { command: command.to_owned(), status, extra: ExtraKeys::default() })
}

/// Reads `--reason "check::details"`.
pub fn parse_reason_argument(argument: &str) -> Result<Reason, CompanionArgumentError> {
    let (check, details) = split(argument, "check::details", "check", "details")?;
    Ok(Reason::new(check, details))
}

/// Reads `--finding "category::details"`.
pub fn parse_finding_argument(argument: &str) -> Result<Finding, CompanionArgumentError> {
    let (category, details) = split(argument, "category::details", "category", "details")?;
    Ok(Finding::new(category, details))
}

/// Splits at the first separator: details and commands may contain further ones, as Rust paths do.
fn split<'a>(
    argument: &'a str,
    form: &'static str,
    left_name: &'static str,
    right_name: &'static str,
) -> Result<(&'a str, &'a str), CompanionArgumentError> {
    let Some((left, right)) = argument.split_once("::") else {
        return Err(CompanionArgumentError::NoSeparator { form, argument: argument.to_owned() });
    };
    for (text, part) in [(left, left_name), (right, right_name)] {
        if !has_content(text) {
            return Err(CompanionArgumentError::EmptyPart { form, part, argument: argument.to_owned() });
        }
    }
    Ok((left.trim(), right.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_separator_splits_and_blanks_around_the_parts_go() {
        let check = parse_smoke_check_argument(" pass :: cargo test a::b").unwrap();
        assert_eq!((check.status, check.command.as_str()), (SmokeStatus::Pass, "cargo test a::b"));
        assert_eq!(parse_reason_argument("eval::red").unwrap(), Reason::new("eval", "red"));
        assert_eq!(parse_finding_argument("policy::no tests").unwrap(), Finding::new("policy", "no tests"));
    }

    #[test]
    fn an_argument_without_separator_is_named_in_the_error() {
        let error = parse_reason_argument("just words").unwrap_err();
        assert_eq!(error.to_string(), "expected \"check::details\", found no \"::\" in \"just words\"");
    }

    #[test]
    fn an_empty_part_is_named_in_the_error() {
        let error = parse_finding_argument("policy::  ").unwrap_err();
        assert!(matches!(error, CompanionArgumentError::EmptyPart { part: "details", .. }));
        let error = parse_smoke_check_argument("::make").unwrap_err();
        assert!(matches!(error, CompanionArgumentError::EmptyPart { part: "status", .. }));
    }

    #[test]
    fn a_status_outside_the_four_is_refused() {
        let error = parse_smoke_check_argument("PASS::make").unwrap_err();
        assert!(matches!(error, CompanionArgumentError::UnknownStatus { status, .. } if status == "PASS"));
    }
}
