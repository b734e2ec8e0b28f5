//! Runs random scenarios, as the tests draw them, and prints a digest of each one's tables: `make same-bytes` compares what builds
//! for other machines print.

#[path = "../tests/all/random/mod.rs"]
#[expect(dead_code, unused_imports, reason = "the tests use all of it")]
mod random;

use lasthop_core::measure::table::{Column, Table};
use lasthop_core::scenario::session::{Results, Session};
use lasthop_core::scenario::{check, read};

use random::{Dice, scenario};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let count = std::env::args().nth(1).ok_or("usage: digests COUNT")?.parse()?;
    for case in 0..count {
        let mut dice = Dice::new(case);
        let packets = dice.log(1_000.0, 30_000.0);
        let text = scenario(&mut dice, packets, case as usize).to_string();
        let document = read::json(&text, "case").and_then(|document| check(&document).map(|()| document))?;
        let mut scenario = document.scenario;
        (scenario.record.packets, scenario.record.variables, scenario.record.state) = (true, true, true);
        let mut run = Session::new(&scenario, scenario.seed, None)?;
        match run.complete() {
            Ok(()) => println!("{case} {:016x}", digest(&run.finish())),
            Err(error) => println!("{case} {error}"),
        }
    }
    Ok(())
}

/// A digest of all tables: FNV-1a with 64 bits.
fn digest(results: &Results) -> u64 {
    let mut digest = 0xcbf2_9ce4_8422_2325;
    let mut add = |bytes: &[u8]| {
        for byte in bytes {
            digest = (digest ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
        }
    };
    for (name, Table { columns }) in &results.tables {
        add(name.as_bytes());
        for (name, column) in columns {
            add(name.as_bytes());
            match column {
                Column::Text(texts) => texts.iter().for_each(|text| add(text.as_bytes())),
                Column::Names(places, names) => {
                    places.iter().for_each(|place| add(&place.to_le_bytes()));
                    names.iter().for_each(|name| add(name.as_bytes()));
                }
                Column::Int(numbers) => numbers.iter().for_each(|number| add(format!("{number:?}").as_bytes())),
                // All bits of a number: not how it is written.
                Column::Float(numbers) => {
                    numbers.iter().for_each(|number| add(&number.map_or(u64::MAX, f64::to_bits).to_le_bytes()));
                }
            }
        }
    }
    digest
}
