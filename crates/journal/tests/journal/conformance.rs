//! The suite every journal must pass, each check on a new file.

use crate::support::{Place, wait};
use std::cell::RefCell;
use std::future::Future;
use windlass_engine::conformance::{Waits, check_all};

struct OnTokio;

impl Waits for OnTokio {
    fn on<F: Future<Output = ()>>(&self, future: F) {
        wait(future);
    }
}

#[test]
fn the_sqlite_journal_conforms() {
    let places = RefCell::new(Vec::new());
    let fresh = || {
        let place = Place::new();
        let journal = place.open();
        places.borrow_mut().push(place);
        journal
    };
    check_all(fresh, OnTokio);
}
