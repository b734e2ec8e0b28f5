//! Reads captures.

use std::fs::File;
use std::path::Path;

use pcap_file::pcapng::blocks::enhanced_packet::EnhancedPacketOption;
use pcap_file::pcapng::blocks::interface_description::InterfaceDescriptionOption;
use pcap_file::pcapng::blocks::opt_common::CommonOption;
use pcap_file::pcapng::{Block, PcapNgReader};

/// A packet of a capture: interface, time in ns, whether it came in, and comment.
pub type Captured = (usize, u128, bool, String);

/// The interfaces and the packets of a capture.
pub fn read_capture(path: &Path) -> (Vec<String>, Vec<Captured>) {
    let mut reader = PcapNgReader::new(File::open(path).unwrap()).unwrap();
    let mut interfaces = Vec::new();
    let mut packets = Vec::new();
    while let Some(block) = reader.next_block() {
        match block.unwrap().0 {
            Block::InterfaceDescription(interface) => {
                let name = interface.options.iter().find_map(|option| match option {
                    InterfaceDescriptionOption::IfName(name) => Some(name.to_string()),
                    _ => None,
                });
                interfaces.push(name.unwrap());
            }
            Block::EnhancedPacket(packet) => {
                let comment = packet.options.iter().find_map(|option| match option {
                    EnhancedPacketOption::Common(CommonOption::Comment(text)) => Some(text.to_string()),
                    _ => None,
                });
                let inbound = packet.options.contains(&EnhancedPacketOption::Flags(1));
                let at = packet.timestamp.as_nanos();
                packets.push((packet.interface_id as usize, at, inbound, comment.unwrap_or_default()));
            }
            _ => {}
        }
    }
    (interfaces, packets)
}
