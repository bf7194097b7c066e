//! What root may do inside a fence: work with files as root does, and nothing that leads around it. With the other
//! capabilities a mount could be undone, a disk written by its device, another process looked into, or the network overheard on which
//! this program speaks with its queue.

use std::io;

use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, remove_capability_from_bounding_set, set_capabilities,
    set_no_new_privs,
};

/// What builds and package managers use. Those that a newer kernel adds are not among them until somebody has looked.
const KEPT: [CapabilitySet; 16] = [
    CapabilitySet::CHOWN,
    CapabilitySet::DAC_OVERRIDE,
    CapabilitySet::FOWNER,
    CapabilitySet::FSETID,
    CapabilitySet::KILL,
    CapabilitySet::SETGID,
    CapabilitySet::SETUID,
    CapabilitySet::SETPCAP,
    CapabilitySet::SETFCAP,
    CapabilitySet::NET_BIND_SERVICE,
    CapabilitySet::SYS_CHROOT,
    CapabilitySet::SYS_NICE,
    CapabilitySet::SYS_RESOURCE,
    CapabilitySet::IPC_LOCK,
    CapabilitySet::LEASE,
    CapabilitySet::AUDIT_WRITE,
];

/// For the calling thread and whatever it starts, for good.
pub(crate) fn give_up() -> io::Result<()> {
    set_no_new_privs(true)?;
    let had = capabilities(None)?;
    let kept = KEPT.into_iter().fold(CapabilitySet::empty(), |all, one| all | one);
    for capability in CapabilitySet::all() - kept {
        // Without the right to do this it is not needed either: no program gives back what this process does not have.
        let _ = remove_capability_from_bounding_set(capability);
    }
    let sets = CapabilitySets {
        effective: had.effective & kept,
        permitted: had.permitted & kept,
        inheritable: had.inheritable & kept,
    };
    Ok(set_capabilities(None, sets)?)
}

/// Whether this process, and with it a child that nothing holds, may look into the others of this machine.
pub fn may_look_into_others() -> bool {
    capabilities(None).is_ok_and(|has| has.effective.contains(CapabilitySet::SYS_PTRACE))
}
