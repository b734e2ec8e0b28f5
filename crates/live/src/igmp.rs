//! What a host's kernel says of the multicast groups that its programs listen to: reports of IGMP.

use std::collections::BTreeSet;
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
const BLOCK_OLD_SOURCES: u8 = 6;

/// The protocol number of IGMP (RFC 2236 §2).
pub const PROTOCOL: u8 = 2;

/// The most senders of a group that are kept apart for a host; with more it listens to all.
const MOST_SOURCES: usize = 1_024;

/// What a report says of one group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// The group.
    pub group: Ipv4Addr,
    /// One of the types of RFC 3376; older reports are of those that say the same.
    kind: u8,
    /// Senders.
    sources: Vec<Ipv4Addr>,
}

/// Which senders of a group a host listens to (RFC 3376 §3.2).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Listening {
    /// To these.
    To(BTreeSet<Ipv4Addr>),
    /// To all, or all but some.
    ToAll,
}

impl Default for Listening {
    fn default() -> Self {
        Self::To(BTreeSet::new())
    }
}

impl Listening {
    /// The host reports this. Says whether it listens to the group from now on; `None` if that says nothing of it. The network does not tell
    /// senders apart: a host that listens to some listens to the group. But one that listens to some leaves by blocking them (RFC 3376 §5.1).
    pub fn hear(&mut self, record: &Record) -> Option<bool> {
        match (record.kind, &mut *self) {
            (MODE_IS_EXCLUDE | CHANGE_TO_EXCLUDE, _) => *self = Self::ToAll,
            (MODE_IS_INCLUDE | CHANGE_TO_INCLUDE, _) => *self = Self::To(record.sources.iter().copied().collect()),
            (ALLOW_NEW_SOURCES, Self::To(sources)) => sources.extend(&record.sources),
            (BLOCK_OLD_SOURCES, Self::To(sources)) if !sources.is_empty() => {
                for source in &record.sources {
                    sources.remove(source);
                }
            }
            _ => return None,
        }
        if matches!(self, Self::To(sources) if sources.len() > MOST_SOURCES) {
            *self = Self::ToAll;
        }
        Some(*self != Self::default())
    }
}

/// The records of a message. What is damaged says nothing.
pub fn records(message: &[u8]) -> Vec<Record> {
    let address = |bytes: &[u8; 4]| Ipv4Addr::from(*bytes);
    let [kind, _, _, _, body @ ..] = message else { return Vec::new() };
    match *kind {
        V1_REPORT | V2_REPORT | V2_LEAVE => {
            // RFC 3376 §7.3.2: what they mean in version 3.
            let kind = if *kind == V2_LEAVE { CHANGE_TO_INCLUDE } else { MODE_IS_EXCLUDE };
            let record = |group| Record { group: address(group), kind, sources: Vec::new() };
            body.first_chunk().map(record).into_iter().collect()
        }
        V3_REPORT => {
            let [_, _, high, low, records @ ..] = body else { return Vec::new() };
            let (mut records, mut found) = (records, Vec::new());
            for _ in 0..u16::from_be_bytes([*high, *low]) {
                // Type, length of auxiliary data in words, number of sources, group; then sources and auxiliary data.
                let [kind, auxiliary, high, low, rest @ ..] = records else { break };
                let Some((group, rest)) = rest.split_first_chunk() else { break };
                let sources = 4 * usize::from(u16::from_be_bytes([*high, *low]));
                let Some((sources, rest)) = rest.split_at_checked(sources) else { break };
                let sources = sources.as_chunks().0.iter().map(address).collect();
                found.push(Record { group: address(group), kind: *kind, sources });
                let Some(next) = rest.get(4 * usize::from(*auxiliary)..) else { break };
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

    /// Whether a host listens to 239.77.0.1 after each record of these messages.
    fn heard(messages: &[&[u8]]) -> Vec<Option<bool>> {
        let mut listening = Listening::default();
        let records = messages.iter().flat_map(|message| records(message));
        records.filter(|one| one.group == Ipv4Addr::new(239, 77, 0, 1)).map(|one| listening.hear(&one)).collect()
    }

    /// A record of version 3 for 239.77.0.1, with senders 10.0.0.N (RFC 3376 §4.2).
    fn v3(kind: u8, senders: &[u8]) -> Vec<u8> {
        let mut message = vec![0x22, 0, 0, 0, 0, 0, 0, 1, kind, 0, 0, senders.len() as u8, 239, 77, 0, 1];
        message.extend(senders.iter().flat_map(|n| [10, 0, 0, *n]));
        message
    }

    #[test]
    fn reports_of_all_versions_are_read() {
        let group = [239, 77, 0, 1];
        for kind in [0x12, 0x16] {
            assert_eq!(heard(&[&[&[kind, 0, 0, 0], &group[..]].concat()]), [Some(true)]);
        }
        assert_eq!(
            heard(&[&[0x16, 0, 0, 0, 239, 77, 0, 1], &[0x17, 0, 0, 0, 239, 77, 0, 1]]),
            [Some(true), Some(false)]
        );
        // RFC 3376 §4.2: two records, CHANGE_TO_EXCLUDE without and CHANGE_TO_INCLUDE with auxiliary data and no source.
        let message = [0x22, 0, 0, 0, 0, 0, 0, 2, 4, 0, 0, 0, 239, 77, 0, 1, 3, 1, 0, 0, 239, 77, 0, 1, 9, 9, 9, 9];
        assert_eq!(heard(&[&message]), [Some(true), Some(false)]);
        // A query, and a report that ends early.
        assert!(records(&[0x11, 0, 0, 0, 239, 77, 0, 1]).is_empty());
        assert!(records(&[0x22, 0, 0, 0, 0, 0, 0, 9, 4, 0, 0]).is_empty());
        assert!(records(&[0x22, 0, 0, 0, 0, 0, 0, 1, 5, 0, 0, 2, 239, 77, 0, 1, 10, 0, 0, 1]).is_empty());
    }

    /// RFC 3376 §5.1: the state changes that hosts report, and those of the table in §6.4.
    #[test]
    fn a_host_that_listened_to_some_senders_leaves_by_blocking_them() {
        let (joins, leaves) = (Some(true), Some(false));
        let (includes, excludes, to_include, to_exclude, allows, blocks) = (1, 2, 3, 4, 5, 6);
        type Case<'c> = (&'c str, &'c [(u8, &'c [u8])], &'c [Option<bool>]);
        let cases: [Case; 7] = [
            (
                "one sender",
                &[(allows, &[1]), (allows, &[1]), (blocks, &[1]), (blocks, &[1])],
                &[joins, joins, leaves, None],
            ),
            ("two", &[(allows, &[1, 2]), (blocks, &[1]), (blocks, &[2])], &[joins, joins, leaves]),
            ("all but one", &[(to_exclude, &[]), (blocks, &[1]), (allows, &[1])], &[joins, None, None]),
            ("all, then one", &[(excludes, &[2]), (to_include, &[1]), (blocks, &[1])], &[joins, joins, leaves]),
            (
                "one, then all",
                &[(includes, &[1]), (to_exclude, &[]), (blocks, &[1]), (to_include, &[])],
                &[joins, joins, None, leaves],
            ),
            ("nobody", &[(blocks, &[1])], &[None]),
            ("an unknown type", &[(allows, &[1]), (9, &[1])], &[joins, None]),
        ];
        for (name, said, expected) in cases {
            let messages: Vec<_> = said.iter().map(|(kind, senders)| v3(*kind, senders)).collect();
            let messages: Vec<_> = messages.iter().map(Vec::as_slice).collect();
            assert_eq!(heard(&messages), expected, "{name}");
        }
    }

    #[test]
    fn ever_new_senders_take_no_memory() {
        let mut listening = Listening::default();
        for n in 0..100_000u32 {
            let sources = vec![Ipv4Addr::from(n)];
            listening.hear(&Record { group: Ipv4Addr::new(239, 77, 0, 1), kind: ALLOW_NEW_SOURCES, sources });
        }
        assert_eq!(listening, Listening::ToAll);
    }

    proptest! {
        #[test]
        fn no_bytes_do_harm(mut message in proptest::collection::vec(any::<u8>(), 0..100), v3: bool) {
            if let Some(kind) = message.first_mut().filter(|_| v3) {
                *kind = V3_REPORT;
            }
            prop_assert!(records(&message).len() <= 12);
        }
    }
}
