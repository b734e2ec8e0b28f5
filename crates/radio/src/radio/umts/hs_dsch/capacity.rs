//! Flow control between RNC and Node B: how many PDUs of each terminal may cross the Iub (HS-DSCH capacity request and
//! allocation, 3GPP TS 25.435 §5.9, §5.10).
//!
//! At all multiples of an interval, but for 0, the RNC requests capacity for its backlog. The Node B allocates only as much as keeps its
//! queue for the terminal, with PDUs under way, within a limit. The unused part of an allocation lapses.

use std::collections::VecDeque;

use lasthop_net::engine::{Duration, Instant};

/// The parameters of flow control.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// The time between two requests.
    pub interval: Duration,
    /// From a request until its allocation is at the RNC.
    pub delay: Duration,
    /// How many PDUs may wait for a terminal at the Node B, with those under way to it.
    pub limit: u32,
}

/// Requests and allocations.
pub struct Capacity {
    plan: Plan,
    /// The terminals that have something to send at the RNC, in order.
    waiting: Vec<u32>,
    /// When capacity was asked for last.
    asked: Option<Instant>,
    /// Under way to the RNC, in order.
    allocations: VecDeque<Allocation>,
    /// For each terminal: PDUs allocated that have not left the RNC.
    allocated: Vec<u32>,
}

/// The number of PDUs of a terminal that may leave the RNC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allocation {
    /// When the RNC knows.
    pub at: Instant,
    /// Of which terminal.
    pub terminal: u32,
    /// How many.
    pub pdus: u32,
}

impl Capacity {
    /// With nothing asked for.
    pub fn new(plan: Plan, terminals: usize) -> Self {
        Self { plan, waiting: Vec::new(), asked: None, allocations: VecDeque::new(), allocated: vec![0; terminals] }
    }

    /// The time between two requests.
    pub fn interval(&self) -> Duration {
        self.plan.interval
    }

    /// A terminal has something to send at the RNC.
    pub fn want(&mut self, terminal: u32) {
        if let Err(place) = self.waiting.binary_search(&terminal) {
            self.waiting.insert(place, terminal);
        }
    }

    /// When capacity is asked for next.
    pub fn next_request(&self, now: Instant) -> Option<Instant> {
        let interval = self.plan.interval;
        let next = Instant::ZERO + interval * now.as_nanos().div_ceil(interval.as_nanos()).max(1);
        (!self.waiting.is_empty()).then_some(if self.asked == Some(next) { next + interval } else { next })
    }

    /// Capacity is asked for. `ready` is how many PDUs a terminal has to send, `None` if none or not over this channel;
    /// `held` how many the Node B has for it, with those on their way there. Whether any is given out.
    pub fn request(&mut self, now: Instant, ready: impl Fn(u32) -> Option<u64>, held: impl Fn(u32) -> u32) -> bool {
        self.asked = Some(now);
        let at = now + self.plan.delay;
        let before = self.allocations.len();
        let (allocations, allocated, limit) = (&mut self.allocations, &mut self.allocated, self.plan.limit);
        self.waiting.retain(|&terminal| {
            let Some(ready) = ready(terminal) else { return false };
            let allocated = &mut allocated[terminal as usize];
            let room = limit.saturating_sub(held(terminal) + *allocated);
            // `ready` counts PDUs that were allocated and have not left: they are not allocated again.
            let pdus = ready.saturating_sub(u64::from(*allocated)).min(u64::from(room)) as u32;
            if pdus > 0 {
                *allocated += pdus;
                allocations.push_back(Allocation { at, terminal, pdus });
            }
            true
        });
        self.allocations.len() > before
    }

    /// When the next allocation is at the RNC.
    pub fn next_allocation(&self) -> Option<Instant> {
        self.allocations.front().map(|allocation| allocation.at)
    }

    /// The next allocation that is at the RNC by now. It is used at once, or lapses.
    pub fn take(&mut self, now: Instant) -> Option<Allocation> {
        let allocation = self.allocations.pop_front_if(|allocation| allocation.at <= now)?;
        self.allocated[allocation.terminal as usize] -= allocation.pdus;
        Some(allocation)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    fn capacity(delay: u64) -> Capacity {
        let plan = Plan { interval: Duration::from_millis(30), delay: Duration::from_millis(delay), limit: 250 };
        Capacity::new(plan, 3)
    }

    #[test]
    fn requests_come_at_multiples_of_the_interval_while_something_waits() {
        let mut capacity = capacity(15);
        assert_eq!(capacity.next_request(ms(1040)), None);
        capacity.want(1);
        assert_eq!(capacity.next_request(ms(0)), Some(ms(30)));
        assert_eq!(capacity.next_request(ms(1040)), Some(ms(1050)));
        assert!(capacity.request(ms(1050), |_| Some(52), |_| 0));
        assert_eq!(capacity.next_request(ms(1050)), Some(ms(1080)));
        assert_eq!(capacity.take(ms(1064)), None);
        assert_eq!(capacity.take(ms(1065)), Some(Allocation { at: ms(1065), terminal: 1, pdus: 52 }));
        assert!(!capacity.request(ms(1080), |_| None, |_| 52));
        assert_eq!(capacity.next_request(ms(1081)), None);
    }

    #[test]
    fn the_node_b_never_holds_more_than_the_limit() {
        let mut capacity = capacity(15);
        [0, 2].iter().for_each(|terminal| capacity.want(*terminal));
        assert!(capacity.request(ms(30), |_| Some(400), |terminal| [249, 0, 10][terminal as usize]));
        let allocated: Vec<_> = std::iter::from_fn(|| capacity.take(ms(45))).map(|a| (a.terminal, a.pdus)).collect();
        assert_eq!(allocated, [(0, 1), (2, 240)]);
        assert!(!capacity.request(ms(60), |_| Some(400), |_| 250));
    }

    #[test]
    fn what_is_allocated_and_has_not_left_counts_twice() {
        // An allocation takes longer than an interval: of 100 PDUs that wait all are allocated at once, and no more later.
        let mut capacity = capacity(70);
        capacity.want(0);
        assert!(capacity.request(ms(30), |_| Some(100), |_| 0));
        assert!(!capacity.request(ms(60), |_| Some(100), |_| 0));
        assert!(capacity.request(ms(90), |_| Some(160), |_| 0));
        assert_eq!(capacity.take(ms(160)).map(|a| a.pdus), Some(100));
        assert_eq!(capacity.take(ms(160)).map(|a| a.pdus), Some(60));
    }
}
