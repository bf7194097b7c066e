//! Two programs, one repository: who holds it, and what the other one says.
