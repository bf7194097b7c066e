//! Whole runs with the real agent programs: the real binary, the real codex, claude, gemini, opencode and copilot, and
//! a scripted model in place of a provider. A binary of its own, because these tests are slow and need the programs.
#![expect(clippy::unwrap_used, reason = "a helper of a test fails by panicking")]

/// One test for each program, in a module with the name of what holds for them.
macro_rules! each_program {
    ($test:ident) => {
        mod $test {
            use windlass_test_support::AgentProgram;
            #[test]
            fn codex() {
                super::$test(AgentProgram::Codex);
            }
            #[test]
            fn claude() {
                super::$test(AgentProgram::Claude);
            }
            #[test]
            fn gemini() {
                super::$test(AgentProgram::Gemini);
            }
            #[test]
            fn opencode() {
                super::$test(AgentProgram::OpenCode);
            }
            #[test]
            fn copilot() {
                super::$test(AgentProgram::Copilot);
            }
        }
    };
}

mod actuators;
mod checkers;
mod crashes;
mod items;
mod rounds;
mod script;
mod stage;
mod tools;
mod troubles;
mod waiting;
mod whole_runs;
