//! A record that was touched does not verify.
