//! Kills the engine with SIGKILL at every place a crash could hurt, and resumes.
