//! `windlass explain-error`: the page about an error code.

use crate::output::Output;
use clap::Args;
use windlass_control_api::{Code, Fault, exit_codes};

/// Explain an error code such as WL-RUN-003
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  windlass explain-error WL-RUN-003
  windlass explain-error")]
pub(crate) struct ExplainErrorArgs {
    /// The code; every code there is if not given
    #[arg(value_name = "CODE")]
    code: Option<String>,
}

pub(crate) fn run(args: &ExplainErrorArgs, output: &mut Output) -> Result<u8, Fault> {
    let pages: Vec<Code> = match &args.code {
        None => Code::ALL.to_vec(),
        Some(text) => vec![find(text)?],
    };
    if output.is_json() {
        let page = |code: &Code| serde_json::json!({ "code": code, "exit_code": code.exit_code(), "page": code.page() });
        match (&args.code, pages.as_slice()) {
            (Some(_), [code]) => output.document(&page(code)),
            _ => output.document(&pages.iter().map(page).collect::<Vec<_>>()),
        }
    } else if args.code.is_some() {
        for code in pages {
            output.raw(code.page());
        }
    } else {
        for code in pages {
            output.line(title(code));
        }
    }
    Ok(exit_codes::ACCEPTED)
}

fn find(text: &str) -> Result<Code, Fault> {
    let known = Code::ALL.iter().find(|code| code.as_str().eq_ignore_ascii_case(text));
    known.copied().ok_or_else(|| {
        Fault::new(Code::BadArgument, format!("there is no error code `{text}`"))
            .hint("`windlass explain-error` without a code lists them all")
    })
}

/// The heading of its page, which begins with the code.
fn title(code: Code) -> &'static str {
    code.page().lines().next().unwrap_or_default().trim_start_matches("# ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_a_page_that_begins_with_it_and_says_three_things() {
        for code in Code::ALL {
            assert!(title(*code).starts_with(&format!("{code}: ")), "{code}");
            for part in ["**What happened.**", "**What is kept.**", "**What to do.**"] {
                assert!(code.page().contains(part), "{code} lacks {part}");
            }
        }
    }

    #[test]
    fn a_code_is_found_in_any_case() {
        assert_eq!(find("wl-run-003").unwrap(), Code::RepositoryHeld);
        assert_eq!(find("WL-NOTHING").unwrap_err().code, Code::BadArgument);
    }
}
