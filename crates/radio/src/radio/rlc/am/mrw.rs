//! SDU discard with explicit signalling: the far end is ordered to move its window until it acknowledges that (TS 25.322 §11.6).
//!
//! One such procedure runs at a time, and names the end of the last SDU given up. SDUs given up meanwhile are signalled by the next one.
//! SDUs given up before any part of them was sent are signalled too, as with *Send MRW*: the far end keeps count of them.

use lasthop_net::engine::{Duration, Instant};

use super::config::Config;

/// To move the receiving window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Order {
    /// Where it goes on (SN_MRW).
    pub sn: u64,
    /// How many indicators of that PDU tell ends of SDUs given up (N_LENGTH).
    pub end: u8,
    /// The SDU that goes on.
    pub kept: u64,
}

/// The sender's side of the procedure.
#[derive(Debug)]
pub struct Mrw {
    current: Option<Order>,
    /// The order after it.
    next: Option<Order>,
    /// Whether the current one has been sent, and whether it is due to be sent (again).
    told: bool,
    due: bool,
    /// VT(MRW): how often the timer has expired (§9.4 i).
    vt_mrw: u32,
    /// Timer_MRW.
    timer: Option<Instant>,
    period: Duration,
    max_mrw: u32,
    /// Counts.
    pub sent: u64,
    pub resent: u64,
}

impl Mrw {
    pub fn new(config: &Config) -> Self {
        Self {
            current: None,
            next: None,
            told: false,
            due: false,
            vt_mrw: 0,
            timer: None,
            period: config.mrw_timer,
            max_mrw: config.max_mrw,
            sent: 0,
            resent: 0,
        }
    }

    /// SDUs were given up.
    pub fn order(&mut self, order: Order) {
        if self.told {
            self.next = Some(order);
        } else {
            self.current = Some(order);
            self.due = true;
        }
    }

    /// Where the window goes on according to the order sent.
    pub fn told(&self) -> Option<u64> {
        self.current.filter(|_| self.told).map(|order| order.sn)
    }

    /// The order to be sent now.
    #[inline]
    pub fn due(&self) -> Option<Order> {
        if self.due { self.current } else { None }
    }

    /// It is sent now.
    pub fn submit(&mut self, at: Instant) {
        if self.told {
            self.resent += 1;
        } else {
            self.sent += 1;
        }
        (self.told, self.due) = (true, false);
        self.timer = Some(at + self.period);
    }

    #[inline]
    pub fn next_timeout(&self) -> Option<Instant> {
        self.timer
    }

    /// `false`: the order was sent too often (§11.6.5).
    pub fn on_timeout(&mut self, now: Instant) -> bool {
        if self.timer.is_none_or(|timer| timer > now) {
            return true;
        }
        self.timer = None;
        self.vt_mrw += 1;
        self.due = true;
        self.vt_mrw < self.max_mrw
    }

    /// The far end says that its window goes on at `sn`. Whether that is as ordered (§11.6.4).
    pub fn is_acknowledged(&self, sn: u64, end: u8) -> bool {
        self.current.is_some_and(|order| {
            let wanted = if sn == order.sn { order.end } else { 0 };
            self.told && sn >= order.sn && end == wanted
        })
    }

    /// The far end has, or has discarded, everything before VT(A). That ends procedures up to there.
    pub fn on_acknowledged(&mut self, vt_a: u64) {
        if self.told().is_some_and(|sn| sn <= vt_a) {
            self.end();
        }
    }

    /// The procedure is over; the next may begin.
    pub fn end(&mut self) {
        self.current = self.next.take();
        (self.told, self.due) = (false, self.current.is_some());
        (self.vt_mrw, self.timer) = (0, None);
    }

    pub fn reset(&mut self) {
        self.next = None;
        self.end();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_acknowledgement_fits_what_was_told() {
        // SN_ACK and N against an order to go on at PDU 100 behind its second indicator (§11.6.4, §11.6.6.3).
        let mut mrw = Mrw::new(&Config::default());
        mrw.order(Order { sn: 100, end: 2, kept: 7 });
        assert!(!mrw.is_acknowledged(100, 2), "it was not told yet");
        mrw.submit(Instant::ZERO);
        for (sn, end, fits) in
            [(99, 0, false), (99, 2, false), (100, 2, true), (100, 0, false), (101, 0, true), (101, 2, false)]
        {
            assert_eq!(mrw.is_acknowledged(sn, end), fits, "SN_ACK {sn}, N {end}");
        }
    }

    #[test]
    fn one_order_is_told_at_a_time() {
        let mut mrw = Mrw::new(&Config::default());
        let order = |sn| Order { sn, end: 0, kept: sn };
        mrw.order(order(1));
        mrw.order(order(2));
        assert_eq!(mrw.due(), Some(order(2)), "not told yet, it grows");
        mrw.submit(Instant::ZERO);
        mrw.order(order(3));
        mrw.order(order(4));
        assert_eq!((mrw.due(), mrw.told()), (None, Some(2)));
        // Timer_MRW expires: the same once more, MaxMRW - 1 times (§11.6.5).
        let mut timer = Instant::ZERO;
        for _ in 0..7 {
            timer += Duration::from_millis(500);
            assert!(mrw.on_timeout(timer));
            assert_eq!(mrw.due(), Some(order(2)));
            mrw.submit(timer);
        }
        assert!(!mrw.on_timeout(timer + Duration::from_millis(500)), "told 8 times");
        mrw.on_acknowledged(1);
        assert_eq!(mrw.told(), Some(2));
        mrw.on_acknowledged(2);
        assert_eq!(mrw.due(), Some(order(4)));
    }
}
