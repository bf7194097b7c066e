//! What a user sees when Windlass itself is wrong: the code, the place and what to do, never a raw trace unless asked.

use std::backtrace::{Backtrace, BacktraceStatus};
use std::io::Write;
use std::panic::PanicHookInfo;
use windlass_control_api::{Code, exit_codes};

pub(crate) fn install() {
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map_or_else(|| String::from("an unknown place"), ToString::to_string);
        let text = report(&message(panic), &place, &Backtrace::capture());
        // With stderr gone there is nobody left to tell.
        let _ = std::io::stderr().write_all(text.as_bytes());
        end();
    }));
}

/// Unwinding would leave the other threads at work on a state that is known to be wrong. Recovery starts from the
/// journal, exactly as after a kill.
#[expect(clippy::disallowed_methods, reason = "main cannot return after a panic when panics abort")]
fn end() -> ! {
    std::process::exit(i32::from(exit_codes::FAULT))
}

fn message(panic: &PanicHookInfo<'_>) -> String {
    let payload = panic.payload();
    let text = payload
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("no message").to_owned()
}

fn report(message: &str, place: &str, trace: &Backtrace) -> String {
    let code = Code::Bug;
    let text = format!(
        "error[{code}]: a mistake in Windlass: {message} (at {place})\n  \
         kept: everything recorded so far; the journal is never half-written\n  \
         hint: `windlass resume --all` often goes on\n  \
         hint: please report this message, with what `windlass log … --json` says of the run\n"
    );
    match trace.status() {
        BacktraceStatus::Captured => text + &trace.to_string(),
        _ => text + "  hint: RUST_BACKTRACE=1 adds the trace for the report\n",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistake_of_ours_is_reported_with_its_code_place_and_next_step_and_no_trace() {
        let text = report("index out of bounds", "src/x.rs:1:2", &Backtrace::disabled());
        assert!(text.starts_with(
            "error[WL-BUG-001]: a mistake in Windlass: index out of bounds (at src/x.rs:1:2)\n"
        ));
        assert!(text.contains("hint: `windlass resume --all`"));
        assert!(text.ends_with("for the report\n"));
    }
}
