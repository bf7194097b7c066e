//! Ctrl-C once, twice, three times, and a terminal that goes away.
