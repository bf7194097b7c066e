//! Which addresses a webhook may name. A server that posts wherever it is told is a way into the network behind it, so private
//! hosts are refused as written, as resolved when the webhook is made, and again as resolved when something is sent.

use crate::protocol::story_queue::decide::Decided;
use crate::protocol::story_queue::refusal::Refusal;
use crate::protocol::story_queue::words::check_text;
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// What the shell found when it looked the name up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resolved {
    Public,
    /// At least one of the addresses is not public.
    Private,
    /// No answer now. Not trusted: the shell looks again before it sends.
    Unknown,
    /// Not asked: whoever runs the server lets webhooks point into the network behind it.
    Trusted,
}

pub(super) fn check_url(url: &str, resolved: Resolved) -> Decided<()> {
    check_text("url", url, 2000)?;
    let Some(host) = host_of(url) else {
        return Err(Refusal::field("url", "must be http or https, with a host and without a user name"));
    };
    if resolved != Resolved::Trusted && (resolved == Resolved::Private || !may_be_public(host)) {
        return Err(Refusal::field("url", "must not point to a private or loopback host"));
    }
    Ok(())
}

fn host_of(url: &str) -> Option<&str> {
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"))?;
    let odd = |character: char| character.is_whitespace() || character.is_control() || character == '\\';
    let authority = rest.split(['/', '?', '#']).next()?;
    if rest.contains(odd) || authority.contains('@') {
        return None;
    }
    let host = match authority.strip_prefix('[') {
        Some(bracketed) => bracketed.split_once(']')?.0,
        None => authority.split(':').next()?,
    };
    (!host.is_empty()).then_some(host)
}

fn may_be_public(host: &str) -> bool {
    if let Ok(address) = host.parse::<IpAddr>() {
        return is_public_address(address);
    }
    let name = host.trim_end_matches('.').to_ascii_lowercase();
    let last = name.rsplit('.').next().unwrap_or_default();
    // `2130706433`, `0x7f.1` and `127.1` are 127.0.0.1 to many resolvers.
    let number = last.starts_with("0x") || last.bytes().all(|byte| byte.is_ascii_digit());
    !number && !matches!(last, "localhost" | "local" | "internal" | "localdomain")
}

/// An address anybody on the internet could call.
pub fn is_public_address(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [first, second, third, _] = address.octets();
    let shared = first == 100 && (64..128).contains(&second);
    let protocol = (first, second, third) == (192, 0, 0);
    let benchmark = first == 198 && (second == 18 || second == 19);
    !(address.is_loopback()
        || address.is_private()
        || address.is_link_local()
        || address.is_documentation()
        || first == 0
        || first >= 224
        || shared
        || protocol
        || benchmark)
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    if let Some(inner) = embedded_v4(address) {
        return is_public_v4(inner);
    }
    let head = address.segments()[0];
    // Only 2000::/3 is given out; documentation lies inside it.
    head & 0xe000 == 0x2000 && address.segments()[..2] != [0x2001, 0x0db8]
}

/// IPv4 written as IPv6: mapped, translated (64:ff9b::/96) and 6to4 (2002::/16).
fn embedded_v4(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let bytes = address.octets();
    let tail = Ipv4Addr::new(bytes[12], bytes[13], bytes[14], bytes[15]);
    match address.segments() {
        [0, 0, 0, 0, 0, 0xffff, _, _] | [0x64, 0xff9b, 0, 0, 0, 0, _, _] => Some(tail),
        [0x2002, ..] => Some(Ipv4Addr::new(bytes[2], bytes[3], bytes[4], bytes[5])),
        _ => None,
    }
}
