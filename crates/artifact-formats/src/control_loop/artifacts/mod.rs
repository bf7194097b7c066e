//! The reports that roles and engine leave for each other, one file each: read and written in the original's form.
//! They are copies of what happened; nothing here decides what happens next.

mod actuator_output;
mod controller_output;
mod node_state;
mod result_output;
mod run_state;
mod sensor_output;

pub use actuator_output::{ActuatorOutput, ChangedFile, FileChange};
pub use controller_output::{ControllerOutput, PlanFor};
pub use node_state::{NodePlace, NodeState, NodeStatus};
pub use result_output::{ResultOutput, TerminationReason};
pub use run_state::RunState;
pub use sensor_output::{SensorOutput, SensorStatus};
