#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| lasthop_fuzz::exercise(lasthop_core::scenario::read::toml(text, "fuzz")));
