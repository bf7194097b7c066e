//! Sealed evidence is what was sealed, whatever happened to its file.
