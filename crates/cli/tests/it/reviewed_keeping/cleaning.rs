//! Cleaning keeps what is kept nowhere else: foreign files, what unsettled steps left, ignored files.
