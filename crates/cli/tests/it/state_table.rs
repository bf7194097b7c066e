//! Every row of the task loop's state table, played by scripted agents.
