//! What `resume` can change about a control loop's own limits: from names and numbers to depths and differences.

use windlass_control_api::commands::{ResumeRun, Room};
use windlass_control_api::{Code, Fault};
use windlass_protocols::Run;
use windlass_protocols::protocol::Protocol;
use windlass_protocols::protocol::feedback_control::facts::NewLimits;
use windlass_protocols::protocol::feedback_control::spec::Node;
use windlass_protocols::protocol::feedback_control::state::State;

/// So many iterations more for the outermost node, and what is new for the loop itself.
pub(crate) fn new_limits(command: &ResumeRun, run: &Run) -> Result<(u32, NewLimits), Fault> {
    let Some(started) = &run.started else { return Ok((0, NewLimits::default())) };
    let Protocol::FeedbackControl(state) = &started.protocol else {
        let given = [
            ("--max-iterations", !command.iterations.is_empty()),
            ("--patience", command.steady_limit.is_some()),
        ];
        return match given.iter().find(|(_, given)| *given) {
            Some((flag, _)) => Err(wrong_loop(flag)),
            None => Ok((0, NewLimits::default())),
        };
    };
    let mut more_rounds: u32 = 0;
    let mut limits = NewLimits { steady_limit: command.steady_limit, more_iterations: Vec::new() };
    for (id, room) in &command.iterations {
        let (depth, node) = node_named(state, id.as_deref())?;
        let most = if depth == 0 { started.budget.caps.rounds } else { node.max_iterations };
        let more = more(node, most, *room)?;
        match depth {
            0 if command.more_rounds > 0 => {
                return Err(Fault::new(
                    Code::BadArgument,
                    "`--rounds` and `--max-iterations` both speak of the outermost node",
                )
                .kept("nothing was changed")
                .hint("give one of them"));
            }
            0 => more_rounds = more_rounds.saturating_add(more),
            depth => limits.more_iterations.push((depth, more)),
        }
    }
    Ok((more_rounds, limits))
}

fn wrong_loop(flag: &str) -> Fault {
    Fault::new(Code::BadArgument, format!("`{flag}` belongs to control loops, and this run is a task loop"))
        .kept("nothing was changed")
        .hint("a task loop is given more room with `--rounds +N`")
}

fn node_named<'a>(state: &'a State, id: Option<&str>) -> Result<(u32, &'a Node), Fault> {
    let mut nodes = (0..).zip(state.spec.root.chain());
    nodes.find(|(_, node)| id.is_none_or(|id| node.id == id)).ok_or_else(|| {
        let names: Vec<&str> = state.spec.root.chain().map(|node| node.id.as_str()).collect();
        Fault::new(Code::BadArgument, format!("there is no node `{}`", id.unwrap_or_default()))
            .kept("nothing was changed")
            .hint(format!("the nodes are: {}", names.join(", ")))
    })
}

/// Room only ever grows: an iteration that was made cannot be taken back.
fn more(node: &Node, most: u32, room: Room) -> Result<u32, Fault> {
    match room {
        Room::More(more) => Ok(more),
        Room::InAll(all) => all.checked_sub(most).ok_or_else(|| {
            Fault::new(Code::BadArgument, format!("{} may have {most} actuations already", node.id))
                .kept("nothing was changed")
                .hint(format!("`resume` only gives more: {most} or above, or `+N`"))
        }),
    }
}
