//! Every decision of the control loop, by theme, through one script. Modules named after sections follow the tables of the
//! original's description with its weaknesses mended.

mod acting;
mod budgets;
mod caps;
mod claims;
mod gate;
mod history;
mod measuring;
mod nesting;
mod outages;
mod properties;
mod reopening;
mod rows;
mod script;
mod stops;
mod words;
