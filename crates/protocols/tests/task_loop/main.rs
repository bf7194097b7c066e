//! Every decision of the task loop, by theme, through one harness. The modules named `rows_…` follow the state table of
//! the original with its faults mended: no row ends without its summary.

#[path = "../harness/mod.rs"]
mod harness;

mod adopted;
mod budget;
mod control_facts;
mod control_generators;
mod evidence;
mod explained;
mod gate;
mod gate_facts;
mod generators;
mod goal_facts;
mod goal_gate_facts;
mod goal_generators;
mod golden;
mod landing;
mod lost_steps;
mod outages;
mod people;
mod properties;
mod refused;
mod reopening;
mod repetition;
mod roadmap_facts;
mod roadmap_gate_facts;
mod roadmap_planes;
mod rows_of_the_auditor;
mod rows_of_the_doer;
mod rows_of_the_judge;
mod stop_requests;
mod stored_facts;
