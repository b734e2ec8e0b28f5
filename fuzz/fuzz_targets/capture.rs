//! Captures (pcapng): every row that is read is in every column.

#![no_main]

use lasthop_core::measure::segments::segments;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if let Ok(table) = segments(bytes) {
        assert!(table.columns.iter().all(|(_, column)| column.len() == table.columns[0].1.len()));
    }
});
