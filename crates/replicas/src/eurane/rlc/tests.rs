//! maxDAT and MRW, PDU by PDU.

use super::*;
use lasthop_radio::radio::arq::Outcome::{Delivered, Lost};

const TTI: Duration = Duration::from_millis(10);

/// Two entities, one of which sends. What it sends arrives within an interval.
struct Bearer {
    sender: Entity,
    receiver: Entity,
    interval: u64,
    outcomes: Vec<Outcome>,
}

impl Bearer {
    fn new(max_dat: u32) -> Self {
        let config = Config { max_dat: Some(max_dat), ..Config::default() };
        Self { sender: Entity::new(&config), receiver: Entity::new(&config), interval: 0, outcomes: Vec::new() }
    }

    fn now(&self) -> Instant {
        Instant::ZERO + TTI * self.interval
    }

    /// An interval of both directions. `lost` says which PDUs are, forth and back. The one sent forth.
    fn interval(&mut self, lost: impl Fn(Way, &Pdu) -> bool) -> Option<Pdu> {
        self.interval += 1;
        let now = self.now();
        for entity in [&mut self.sender, &mut self.receiver] {
            if entity.next_timeout().is_some_and(|at| at <= now) {
                entity.on_timeout(now);
            }
        }
        let slot = Slot { now, at: now, tti: TTI, bits: 320, left: 320 };
        let [forth, back] =
            [&mut self.sender, &mut self.receiver].map(|end| end.wants_to_send().then(|| end.pull(&slot)).flatten());
        if let Some(pdu) = forth.as_ref().filter(|pdu| !lost(Way::Forth, pdu)) {
            self.receiver.on_pdu(now, pdu, &mut self.outcomes);
        }
        if let Some(pdu) = back.as_ref().filter(|pdu| !lost(Way::Back, pdu)) {
            self.sender.on_pdu(now, pdu, &mut Vec::new());
        }
        forth
    }

    /// Two seconds. The MRWs sent, with the time.
    fn run(&mut self, lost: impl Fn(Way, &Pdu, Instant) -> bool) -> Vec<(Instant, u32)> {
        let mut mrws = Vec::new();
        for _ in 0..200 {
            let now = self.now() + TTI;
            let forth = self.interval(|way, pdu| lost(way, pdu, now));
            mrws.extend(forth.as_ref().and_then(mrw).map(|sn| (now, sn)));
        }
        mrws
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Forth,
    Back,
}

/// Whether it carries data of one of these sequence numbers.
fn is_one_of(pdu: &Pdu, numbers: &[u32]) -> bool {
    pdu.data > 0 && numbers.contains(&pdu.sn)
}

fn mrw(pdu: &Pdu) -> Option<u32> {
    match pdu.control.as_deref()? {
        Control::Status(status) => status.give_up.first().copied(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_sdu_that_shares_a_pdu_with_one_given_up_goes_on_only_if_that_pdu_arrived() {
    // SDUs of 60, 100 and 30 B. PDU 1 has 20 B of the first and 18 of the second, PDU 4 the last 2 of
    // that and padding, PDU 5 the third.
    let cases: [(&[u32], &[Outcome], u32); 5] = [
        (&[0], &[Lost(0), Delivered(1), Delivered(2)], 1),
        (&[1], &[Lost(0), Lost(1), Delivered(2)], 4),
        (&[0, 1], &[Lost(0), Lost(1), Delivered(2)], 4),
        (&[2], &[Delivered(0), Lost(1), Delivered(2)], 4),
        // PDUs below are given up with it.
        (&[0, 4], &[Lost(0), Lost(1), Delivered(2)], 4),
    ];
    for (lost, outcomes, sn) in cases {
        let mut bearer = Bearer::new(1);
        for bytes in [60, 100, 30] {
            assert!(bearer.sender.enqueue(Instant::ZERO, bytes, false));
        }
        // No report comes through before all is sent.
        let sent = Instant::ZERO + TTI * 6;
        let mrws = bearer.run(|way, pdu, now| match way {
            Way::Forth => is_one_of(pdu, lost),
            Way::Back => now <= sent,
        });
        assert_eq!(bearer.outcomes, outcomes, "lost {lost:?}");
        assert_eq!(mrws.iter().map(|mrw| mrw.1).collect::<Vec<_>>(), [sn], "lost {lost:?}");
        assert_eq!(bearer.sender.backlog(), Unsent::default());
    }
}

#[test]
fn what_is_in_no_pdu_yet_is_given_up_too() {
    let mut bearer = Bearer::new(1);
    assert!(bearer.sender.enqueue(Instant::ZERO, 1_000, false) && bearer.sender.enqueue(Instant::ZERO, 50, false));
    let mrws = bearer.run(|way, pdu, _| way == Way::Forth && is_one_of(pdu, &[1]));
    assert_eq!(bearer.outcomes, [Lost(0), Delivered(1)]);
    // PDU 2 shows that PDU 1 is missing. The report leaves and arrives in the next interval, with PDU 3.
    assert_eq!(mrws.iter().map(|mrw| mrw.1).collect::<Vec<_>>(), [3]);
    assert_eq!(bearer.sender.sender.vt_s, 6, "the second SDU takes PDUs 4 and 5");
}

#[test]
fn an_mrw_is_repeated_until_a_report_misses_nothing_up_to_it() {
    // Lost are PDU 1, the MRWs of the first second, and the report that answers the third.
    let mut bearer = Bearer::new(1);
    assert!(bearer.sender.enqueue(Instant::ZERO, 120, false));
    let [second, later] = [1, 2].map(|s| Instant::ZERO + Duration::from_secs(s));
    let mut told = bearer.run(|way, pdu, now| match way {
        Way::Forth => is_one_of(pdu, &[1]) || (mrw(pdu).is_some() && now < second),
        Way::Back => now > second,
    });
    assert_eq!(bearer.outcomes, [Lost(0)]);
    told.extend(bearer.run(|_, _, _| false));
    assert!(told.iter().all(|(_, sn)| *sn == 2));
    let gaps: Vec<Duration> = told.windows(2).map(|pair| pair[1].0.since(pair[0].0)).collect();
    // Each 500 ms; the first in the time without losses is answered, by a report that begins with the
    // very PDU: no other follows.
    assert!(gaps.iter().all(|gap| *gap == Duration::from_millis(500)), "{gaps:?}");
    assert_eq!(told.iter().filter(|(at, _)| *at > later).count(), 1);
    assert_eq!(bearer.outcomes, [Lost(0)]);
    assert_eq!(bearer.sender.next_timeout(), None);
}

#[test]
fn a_later_mrw_takes_the_place_of_one_that_is_outstanding() {
    // PDU 0 is lost. PDU 1, the last of the first SDU, shows it; the MRW rides on PDU 3, which is lost
    // too. The MRW and its indicator leave 34 of the 40 B that PDU 2 left of the second SDU, so PDU 4 has
    // 6 of it, and the beginning of the third.
    let mut bearer = Bearer::new(1);
    for _ in 0..3 {
        assert!(bearer.sender.enqueue(Instant::ZERO, 80, false));
    }
    let told = bearer.run(|way, pdu, _| way == Way::Forth && (is_one_of(pdu, &[0]) || mrw(pdu) == Some(1)));
    assert_eq!(told.iter().map(|mrw| mrw.1).collect::<Vec<_>>(), [1, 4]);
    assert_eq!(bearer.outcomes, [Lost(0), Lost(1), Delivered(2)]);
}

#[test]
fn rounding_decides_whether_ten_milliseconds_are_too_long() {
    // What a C program prints for `(t + 0.01) - t <= 0.01`.
    let cases = [
        (1.009, false),
        (3.009, true),
        (20.009, false),
        (40.009, true),
        (100.009, false),
        (1000.009, true),
        (3000.009, false),
        (7000.009, false),
    ];
    for (due, waits) in cases {
        let due = Instant::from_secs_f64(due);
        assert_eq!(may_wait(due, Duration::from_millis(10)), waits, "{due:?}");
        assert!(may_wait(due, Duration::ZERO) && !may_wait(due, Duration::from_millis(20)));
    }
}
