//! What a host's kernel says of the multicast groups that its programs listen to: reports of IGMP.

use std::net::Ipv4Addr;

/// RFC 2236 §2.1 and RFC 3376 §4: types of messages.
const V1_REPORT: u8 = 0x12;
const V2_REPORT: u8 = 0x16;
const V2_LEAVE: u8 = 0x17;
const V3_REPORT: u8 = 0x22;

/// RFC 3376 §4.2.12: types of group records.
const MODE_IS_INCLUDE: u8 = 1;
const MODE_IS_EXCLUDE: u8 = 2;
const CHANGE_TO_INCLUDE: u8 = 3;
const CHANGE_TO_EXCLUDE: u8 = 4;
const ALLOW_NEW_SOURCES: u8 = 5;

/// The protocol number of IGMP (RFC 2236 §2).
pub const PROTOCOL: u8 = 2;

/// The groups of a message, and whether the host listens to each from now on. Sources are not told apart: a host that listens to some senders
/// of a group listens to the group. What is damaged says nothing.
pub fn reports(message: &[u8]) -> Vec<(Ipv4Addr, bool)> {
    let address = |bytes: &[u8; 4]| Ipv4Addr::from(*bytes);
    let [kind, _, _, _, body @ ..] = message else { return Vec::new() };
    match *kind {
        V1_REPORT | V2_REPORT | V2_LEAVE => {
            body.first_chunk::<4>().map(|group| (address(group), *kind != V2_LEAVE)).into_iter().collect()
        }
        V3_REPORT => {
            let [_, _, high, low, records @ ..] = body else { return Vec::new() };
            let (mut records, mut found) = (records, Vec::new());
            for _ in 0..u16::from_be_bytes([*high, *low]) {
                // Type, length of auxiliary data in words, number of sources, group; then sources and auxiliary data.
                let [kind, auxiliary, high, low, rest @ ..] = records else { break };
                let Some(group) = rest.first_chunk::<4>() else { break };
                let sources = usize::from(u16::from_be_bytes([*high, *low]));
                let listens = match *kind {
                    MODE_IS_EXCLUDE | CHANGE_TO_EXCLUDE => Some(true),
                    MODE_IS_INCLUDE | CHANGE_TO_INCLUDE => Some(sources > 0),
                    ALLOW_NEW_SOURCES => Some(true),
                    // Sources that are blocked: others may be listened to.
                    _ => None,
                };
                found.extend(listens.map(|listens| (address(group), listens)));
                let Some(next) = rest.get(4 + 4 * (sources + usize::from(*auxiliary))..) else { break };
                records = next;
            }
            found
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const GROUP: Ipv4Addr = Ipv4Addr::new(239, 77, 0, 1);

    #[test]
    fn reports_of_all_versions_are_read() {
        assert_eq!(reports(&[0x16, 0, 0, 0, 239, 77, 0, 1]), [(GROUP, true)]);
        assert_eq!(reports(&[0x12, 0, 0, 0, 239, 77, 0, 1]), [(GROUP, true)]);
        assert_eq!(reports(&[0x17, 0, 0, 0, 239, 77, 0, 1]), [(GROUP, false)]);
        // RFC 3376 §4.2: two records, CHANGE_TO_EXCLUDE without and CHANGE_TO_INCLUDE with auxiliary data and no source.
        let message = [0x22, 0, 0, 0, 0, 0, 0, 2, 4, 0, 0, 0, 239, 77, 0, 1, 3, 1, 0, 0, 239, 77, 0, 1, 9, 9, 9, 9];
        assert_eq!(reports(&message), [(GROUP, true), (GROUP, false)]);
        // One source allowed; one blocked.
        let message =
            [0x22, 0, 0, 0, 0, 0, 0, 2, 5, 0, 0, 1, 239, 77, 0, 1, 1, 2, 3, 4, 6, 0, 0, 1, 239, 77, 0, 1, 1, 2, 3, 4];
        assert_eq!(reports(&message), [(GROUP, true)]);
        // A query, and a report that ends early.
        assert!(reports(&[0x11, 0, 0, 0, 239, 77, 0, 1]).is_empty());
        assert!(reports(&[0x22, 0, 0, 0, 0, 0, 0, 9, 4, 0, 0]).is_empty());
    }

    proptest! {
        #[test]
        fn no_bytes_do_harm(mut message in proptest::collection::vec(any::<u8>(), 0..100), v3: bool) {
            if let Some(kind) = message.first_mut().filter(|_| v3) {
                *kind = V3_REPORT;
            }
            prop_assert!(reports(&message).len() <= 12);
        }
    }
}
