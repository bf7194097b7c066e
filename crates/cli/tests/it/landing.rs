//! Where an accepted change goes.
