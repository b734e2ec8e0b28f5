//! Captures of a few packets, made by hand.

use super::*;

#[test]
fn what_is_no_capture_or_is_cut_short_is_an_error() {
    assert!(matches!(segments(&b"not a capture at all, but a text"[..]), Err(ReadError::Format(_))));
    assert!(matches!(segments(&b""[..]), Err(ReadError::Format(_))));
}

/// A capture in pcap of one segment over bare IP, of which as much is stored as there is in `stored`.
fn pcap(snaplen: u32, stored: &[u8], original_len: u32) -> Vec<u8> {
    let mut file = Vec::from(0xa1b2_c3d4_u32.to_le_bytes());
    file.extend([2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    for number in [snaplen, 101, 0, 0, stored.len() as u32, original_len] {
        file.extend(number.to_le_bytes());
    }
    file.extend(stored);
    file
}

/// A block of pcapng.
fn block(kind: u32, body: &[u8]) -> Vec<u8> {
    let mut body = body.to_vec();
    body.resize(body.len().next_multiple_of(4), 0);
    let length = (body.len() as u32 + 12).to_le_bytes();
    [&kind.to_le_bytes()[..], &length, &body, &length].concat()
}

/// A capture in pcapng of bare IP, with these blocks behind its head.
fn pcapng(blocks: &[Vec<u8>]) -> Vec<u8> {
    let section = block(0x0a0d_0d0a, &[0x4d, 0x3c, 0x2b, 0x1a, 1, 0, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255]);
    [section, block(1, &[101, 0, 0, 0, 0, 0, 0, 0]), blocks.concat()].concat()
}

/// An Enhanced Packet Block, or an obsolete one (2), of a packet that passed interface 0 at a time in µs.
fn packet(kind: u32, time: u32, stored: &[u8]) -> Vec<u8> {
    let numbers = [0, 0, time, stored.len() as u32, stored.len() as u32].map(u32::to_le_bytes);
    block(kind, &[&numbers.concat(), stored].concat())
}

fn payload(file: &[u8]) -> Result<Vec<Option<i64>>, String> {
    let table = segments(file).map_err(|error| error.to_string())?;
    match table.columns.into_iter().find(|(name, _)| *name == "payload_bytes") {
        Some((_, Column::Int(numbers))) => Ok(numbers.iter().collect()),
        _ => panic!("there is such a column"),
    }
}

/// The headers of a segment whose IP header states `length`, and `stored` bytes of its payload.
fn segment(length: u16, stored: usize) -> Vec<u8> {
    let mut ip = [0x45, 0, 0, 0, 0, 0, 0, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
    ip[2..4].copy_from_slice(&length.to_be_bytes());
    let tcp = [0, 80, 0, 81, 0, 0, 0, 1, 0, 0, 0, 1, 0x50, 0x10, 0, 9, 0, 0, 0, 0];
    [&ip[..], &tcp[..], &vec![0; stored]].concat()
}

#[test]
fn where_the_ip_header_states_no_length_the_frame_has_it() {
    for (name, length, stored, original, expected) in [
        ("a length stated", 1040, 1000, 1040, 1000),
        ("a length stated, and a frame with padding", 41, 6, 46, 1),
        ("none, stored whole", 0, 1000, 1040, 1000),
        ("none, and little of it stored", 0, 28, 70_040, 70_000),
    ] {
        let file = pcap(262_144, &segment(length, stored), original);
        assert_eq!(payload(&file), Ok(vec![Some(expected)]), "{name}");
    }
}

#[test]
fn frames_longer_than_a_capture_states_are_read_as_libpcap_does() {
    let stored = segment(1040, 1000);
    for snaplen in [0, 68, 262_144] {
        assert_eq!(payload(&pcap(snaplen, &stored, 1040)), Ok(vec![Some(1000)]), "{snaplen}");
    }
    let longer = vec![0; MAXIMUM_SNAPLEN as usize + 1];
    assert!(payload(&pcap(0, &longer, longer.len() as u32)).is_err());
}

#[test]
fn a_header_whose_options_are_cut_is_read_and_one_that_is_cut_itself_is_said() {
    let mut whole = segment(40 + 12 + 500, 12 + 500);
    whole[32] = 0x80;
    for stored in [40, 45, 52, 552] {
        assert_eq!(payload(&pcap(262_144, &whole[..stored], 552)), Ok(vec![Some(500)]), "{stored}");
    }
    let said = payload(&pcap(262_144, &whole[..39], 552)).unwrap_err();
    assert!(said.contains("of 1 segments") && said.contains("tcpdump -s 96"), "{said}");
    // A header that is longer than its packet is none.
    whole[32] = 0xf0;
    assert_eq!(payload(&pcap(262_144, &whole[..52], 52)), Ok(vec![]));
}

#[test]
fn blocks_of_other_kinds_are_read_or_said() {
    let whole = segment(540, 500);
    let file = pcapng(&[packet(6, 7, &whole), block(77, &[1, 2]), packet(2, 9, &whole)]);
    assert_eq!(payload(&file), Ok(vec![Some(500); 2]));
    let simple = block(3, &[&540_u32.to_le_bytes()[..], &whole].concat());
    let said = payload(&pcapng(&[packet(6, 7, &whole), simple])).unwrap_err();
    assert!(said.contains("behind 1 packets stands a Simple Packet Block"), "{said}");
    let large = pcapng(&[packet(6, 7, &whole), block(77, &vec![0; 8_000_000]), packet(6, 9, &whole)]);
    assert!(matches!(segments(&large[..]), Err(ReadError::Large(1))));
    assert!(matches!(segments(&large[..large.len() - 9_000]), Err(ReadError::Cut(1))));
    assert!(matches!(segments(&file[..file.len() - 1]), Err(ReadError::Cut(1))));
}

#[test]
fn times_count_from_the_first_packet_unless_they_are_of_a_run() {
    let packets = [packet(6, 2_000_000, &segment(540, 500)), packet(6, 5_000_000, &segment(540, 500))].concat();
    let run = block(
        1,
        &[&[101, 0, 0, 0, 0, 0, 0, 0, 3, 0, OF_A_RUN.len() as u8, 0][..], OF_A_RUN.as_bytes(), &[0; 3]].concat(),
    );
    let own = [pcapng(&[])[..28].to_vec(), run, packets.clone()].concat();
    for (file, expected) in [(pcapng(&[packets]), [0.0, 3.0]), (own, [2.0, 5.0])] {
        let table = segments(&file[..]).unwrap();
        assert_eq!([0, 1].map(|row| table.number("time_s", row)), expected.map(Some));
    }
}

#[test]
fn a_cooked_frame_of_the_second_version_says_its_interface() {
    let frame =
        |interface: u8| [&[8, 0, 0, 0, 0, 0, 0, interface, 0, 1, 4, 6][..], &[0; 8], &segment(540, 500)].concat();
    for (interface, expected) in [(0, "#0"), (3, "#3")] {
        let mut file = pcap(262_144, &frame(interface), 560);
        file[20..24].copy_from_slice(&276_u32.to_le_bytes());
        let table = segments(&file[..]).unwrap();
        assert_eq!((table.text("interface", 0), table.text("direction", 0)), (Some(expected), Some("out")));
    }
}
