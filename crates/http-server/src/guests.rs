//! Who is connected, by address. Where one address has all the connections it may have, its next one takes the place of the
//! one that has waited longest without being answered, so that half a request never keeps a whole one out.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

/// Instead of a number: its request is complete, and somebody works on the answer.
const ANSWERED: u64 = u64::MAX;

pub(crate) struct Guests {
    most_of_one: usize,
    by_address: Mutex<HashMap<IpAddr, Vec<Arc<Guest>>>>,
    /// Rises with everything a guest does.
    turns: AtomicU64,
}

struct Guest {
    /// Since which turn it has waited.
    waits_since: AtomicU64,
    leave: Notify,
}

/// A place for one connection, given back when it is dropped.
pub(crate) struct Seat {
    guests: Arc<Guests>,
    address: IpAddr,
    guest: Arc<Guest>,
}

impl Guests {
    pub(crate) fn new(most_of_one: usize) -> Arc<Self> {
        Arc::new(Self { most_of_one, by_address: Mutex::default(), turns: AtomicU64::new(0) })
    }

    /// None where all connections of this address are being answered.
    pub(crate) fn seat(self: &Arc<Self>, address: IpAddr) -> Option<Seat> {
        let address = network_of(address);
        let guest = Arc::new(Guest { waits_since: AtomicU64::new(self.turn()), leave: Notify::new() });
        let mut all = self.all();
        let own = all.entry(address).or_default();
        if own.len() >= self.most_of_one {
            let since = |guest: &Arc<Guest>| guest.waits_since.load(Ordering::Relaxed);
            let (place, longest) = own.iter().enumerate().min_by_key(|(_, guest)| since(guest))?;
            if since(longest) == ANSWERED {
                return None;
            }
            longest.leave.notify_one();
            own.swap_remove(place);
        }
        own.push(Arc::clone(&guest));
        drop(all);
        Some(Seat { guests: Arc::clone(self), address, guest })
    }

    fn turn(&self) -> u64 {
        self.turns.fetch_add(1, Ordering::Relaxed)
    }

    fn all(&self) -> MutexGuard<'_, HashMap<IpAddr, Vec<Arc<Guest>>>> {
        self.by_address.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Seat {
    /// Its request is complete: from now until `waits` nobody takes its place.
    pub(crate) fn is_answered(&self) {
        self.guest.waits_since.store(ANSWERED, Ordering::Relaxed);
    }

    pub(crate) fn waits(&self) {
        self.guest.waits_since.store(self.guests.turn(), Ordering::Relaxed);
    }

    /// Comes when another has taken its place.
    pub(crate) async fn taken(&self) {
        self.guest.leave.notified().await;
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut all = self.guests.all();
        let Some(own) = all.get_mut(&self.address) else { return };
        own.retain(|guest| !Arc::ptr_eq(guest, &self.guest));
        if own.is_empty() {
            all.remove(&self.address);
        }
    }
}

/// Whoever has one address of the newer kind has the 2^64 beside it.
fn network_of(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(address) => IpAddr::V4(address),
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            IpAddr::V6(Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;

    const HERE: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

    fn there() -> IpAddr {
        "2001:db8::1".parse().unwrap()
    }

    #[test]
    fn nobody_loses_a_place_to_another_address_or_while_being_answered() {
        let guests = Guests::new(1);
        let first = guests.seat(HERE).unwrap();
        first.is_answered();
        assert!(guests.seat(HERE).is_none());
        assert!(guests.seat(there()).is_some());
        first.waits();
        assert!(guests.seat(HERE).is_some());
    }

    #[test]
    fn a_place_is_given_back() {
        let guests = Guests::new(1);
        let first = guests.seat(HERE).unwrap();
        first.is_answered();
        drop(first);
        assert!(guests.all().is_empty());
        assert!(guests.seat(HERE).is_some());
    }

    #[test]
    fn neighbours_of_the_newer_kind_are_one() {
        assert_eq!(network_of("2001:db8::1".parse().unwrap()), network_of("2001:db8::2".parse().unwrap()));
        assert_ne!(network_of(there()), network_of("2001:db8:0:1::1".parse().unwrap()));
        assert_eq!(network_of("::ffff:127.0.0.1".parse().unwrap()), HERE);
    }
}
