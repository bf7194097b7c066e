//! Every decision of the goal loop, by theme, through one script. Modules named after sections follow the tables of the
//! original's description with its weaknesses mended.

mod autonomy;
mod builders;
mod causes;
mod evaluators;
mod gate;
mod items;
mod people;
mod properties;
mod resuming;
mod rows;
mod script;
mod selection;
mod stop_rules;
mod taking_over;
mod weaknesses;
mod words;
