//! toy
use super::Pdu;
use crate::engine::Instant;
use crate::net::Probe;
use crate::profile::Profile;
use crate::radio::arq::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
/// toy
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {}
impl ArqConfig for Config {
    fn build(&self, _p: Profile) -> Box<dyn LinkArq> {
        Box::new(Toy::default())
    }
    fn pdu_bits(&self) -> u32 {
        320
    }
}
#[derive(Default)]
struct Toy {
    q: VecDeque<(u64, u32)>,
    next: u64,
    sn: u32,
    bytes: u64,
}
impl LinkArq for Toy {
    fn enqueue(&mut self, _n: Instant, b: u32) -> bool {
        self.q.push_back((self.next, b));
        self.next += 1;
        self.bytes += u64::from(b);
        true
    }
    fn pull(&mut self, _s: &Slot) -> Option<Pdu> {
        let (n, left) = self.q.front_mut()?;
        let sdu = *n;
        let d = (*left).min(40);
        *left -= d;
        self.bytes -= u64::from(d);
        let end = *left == 0;
        if end {
            self.q.pop_front();
        }
        self.sn += 1;
        Some(Pdu {
            sn: self.sn - 1,
            sdu,
            ends: end as u16,
            data: d as u16,
            first: d as u16,
            bits: 320,
            ..Pdu::default()
        })
    }
    fn wants_to_send(&self) -> bool {
        !self.q.is_empty()
    }
    fn on_pdu(&mut self, _n: Instant, p: &Pdu, o: &mut Vec<Outcome>) {
        if p.ends == 1 {
            o.push(Outcome::Delivered(p.sdu))
        }
    }
    fn on_timeout(&mut self, _n: Instant) {}
    fn next_timeout(&self) -> Option<Instant> {
        None
    }
    fn backlog(&self) -> Unsent {
        Unsent { sdus: self.bytes, unacknowledged: 0 }
    }
    fn sample(&self, _p: &mut dyn Probe) {}
}
