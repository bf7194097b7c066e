//! The files of the roadmap loop under `orchestrator/`: the control plane, the artifacts of its rounds, and the prompts
//! of its roles. It knows formats and rules about content; it selects nothing, decides nothing and touches no disk.

pub mod closeout;
pub mod lineage;
pub mod plane;
pub mod prompts;
pub mod round;
pub mod scaffold;
