//! Whatever is lost, in both directions: every SDU comes to an end, in order and whole, and the entities come
//! to rest.

use proptest::prelude::*;

use super::*;
use crate::radio::arq::{LinkArq, Outcome};

/// The SDUs sent, and the PDUs of each end that are lost.
#[derive(Clone, Debug)]
struct Plan {
    /// When, from which end, and how many bytes.
    sdus: Vec<(u64, bool, u32)>,
    losses: [Vec<bool>; 2],
    pdus: u32,
}

fn plans() -> impl Strategy<Value = Plan> {
    let sdus = proptest::collection::vec((0u64..3000, prop::bool::weighted(0.3), 1u32..700), 1..60);
    let losses = || (0.0..0.9f64).prop_flat_map(|p| proptest::collection::vec(prop::bool::weighted(p), 0..300));
    (sdus, losses(), losses(), 1u32..4).prop_map(|(mut sdus, down, up, pdus)| {
        sdus.sort();
        Plan { sdus, losses: [down, up], pdus }
    })
}

fn configs() -> impl Strategy<Value = Config> {
    let sizes = (prop_oneof![Just(40u64), 16..150u64], prop_oneof![Just(1024u32), 1..2048u32, 1..20u32]);
    let discards = (0usize..3, 1u32..6, 0usize..3, 100u64..3000, 1u32..4, 2u32..5);
    let polls = (any::<bool>(), 20u64..400, 0u32..5, 0u32..4, 0u32..=100);
    let reports = (any::<bool>(), 0u64..200, proptest::option::of(50u64..500), proptest::option::of(0u64..200));
    (sizes, discards, polls, reports, any::<[bool; 4]>()).prop_map(|(sizes, discards, polls, reports, on)| {
        let ms = Duration::from_millis;
        let (periodic, poll_timer, poll_every, poll_every_sdus, poll_window) = polls;
        let (status_on_gap, prohibit, status_periodic, round_trip) = reports;
        let counts = [MaxDatCounts::Transmissions, MaxDatCounts::Retransmissions, MaxDatCounts::Gpp][discards.2];
        Config {
            pdu: Bytes::new(sizes.0),
            window: sizes.1,
            header: if on[0] { Header::Free } else { Header::Included },
            special_he: on[1],
            in_sequence: on[2],
            discard: [Discard::MaxDat, Discard::Timer, Discard::Reset][discards.0],
            max_dat: discards.1 + u32::from(counts == MaxDatCounts::Gpp),
            maxdat_counts: counts,
            discard_timer: ms(discards.3),
            max_mrw: discards.4,
            max_rst: discards.5,
            poll: if periodic { Poll::Periodic } else { Poll::Timer },
            poll_timer: ms(poll_timer),
            poll_last: !periodic || on[3],
            poll_last_retransmission: !periodic || !on[3],
            poll_every,
            poll_every_sdus,
            poll_window,
            status_on_gap,
            status_prohibit: ms(prohibit),
            status_periodic: status_periodic.map(ms),
            round_trip: round_trip.map(ms),
            ..Config::default()
        }
    })
}

/// Whether the windows are kept, and both sides' knowledge of VT(A) and VR(R) agrees.
fn watch(config: &Config, bearer: &Bearer<Am>, from: usize) {
    let (sender, receiver) = (&bearer.ends[from].sender, &bearer.ends[1 - from].receiver);
    // An end of SDUs given up has a number of its own, and there may be two.
    assert!(sender.vt_s() - sender.vt_a() <= u64::from(config.window) + 2);
    assert!(receiver.vr_h() - receiver.vr_r() <= u64::from(config.window));
}

fn run(config: &Config, plan: &Plan) -> Bearer<Am> {
    let losses = plan.losses.clone();
    let loses = move |from: usize, number: u64, _: &Pdu| losses[from].get(number as usize).copied().unwrap_or(false);
    let mut bearer = bearer(config).carrying(plan.pdus).losing(loses);
    for (at, up, bytes) in &plan.sdus {
        for step in in_ms(bearer.now)..*at {
            bearer.run_until(ms(step));
            (0..2).for_each(|from| watch(config, &bearer, from));
        }
        bearer.run_until(ms(*at));
        bearer.enqueue(usize::from(*up), *bytes);
    }
    // The remaining losses happen, and the PDUs that they require are repeated.
    bearer.run_until(ms(400_000));
    bearer
}

/// Nothing is left, and every SDU has come to an end.
fn at_rest(config: &Config, bearer: &Bearer<Am>) {
    for end in 0..2 {
        let (entity, outcomes) = (&bearer.ends[end], &bearer.outcomes[end]);
        assert!(!entity.wants_to_send() || config.status_periodic.is_some(), "end {end} still wants to send");
        assert_eq!((entity.backlog().sdus, entity.backlog().unacknowledged), (0, 0), "end {end}");
        assert_eq!(entity.sender.vt_a(), entity.sender.vt_s(), "end {end}");
        if config.in_sequence {
            in_order(outcomes, bearer.taken(end));
            continue;
        }
        let number = |(_, outcome): &(Instant, Outcome)| match outcome {
            Outcome::Delivered(sdu) | Outcome::Lost(sdu) => *sdu,
        };
        let mut ended: Vec<_> = outcomes.iter().map(number).collect();
        ended.sort_unstable();
        assert_eq!(ended, (0..bearer.taken(end)).collect::<Vec<_>>(), "end {end}");
    }
}

/// The most PDUs under way when a new one left, by the numbers on the wire.
fn widest(bearer: &Bearer<Am>, from: usize) -> u64 {
    let (mut widest, mut next, mut acked) = (0, 0u64, 0u64);
    for departure in &bearer.departures {
        let Departure { from: who, pdu, lost, .. } = departure;
        if *who == from && pdu.is_data() && pdu.reason == Reason::New {
            next += u64::from(pdu.sn).wrapping_sub(next) % MODULUS + 1;
            // The number of an end that was never sent may be acknowledged before the next one is sent.
            widest = widest.max(next.saturating_sub(acked));
        }
        if let (true, Some(Control::Status(status))) = (*who != from && !lost, pdu.control.as_deref()) {
            // It knows this 25 ms later.
            let first = status.received.iter().position(|received| !received);
            let known = first.map(|place| status.first + place as u32).or(status.ack);
            for sn in known.into_iter().chain(status.gave_up) {
                acked += u64::from(sn).wrapping_sub(acked) % MODULUS;
            }
        }
    }
    widest
}

proptest! {
    #[test]
    fn every_sdu_comes_to_an_end(config in configs(), plan in plans()) {
        let bearer = run(&config, &plan);
        at_rest(&config, &bearer);
        // With a reset numbers start anew, which this does not follow.
        if bearer.ends.iter().all(|end| end.reset.resets == 0) {
            for from in 0..2 {
                prop_assert!(widest(&bearer, from) <= u64::from(config.window));
            }
        }
    }

    #[test]
    fn without_discard_nothing_is_lost(config in configs(), plan in plans()) {
        let config = Config { discard: Discard::MaxDat, max_dat: 1_000_000, max_mrw: 1000, ..config };
        let bearer = run(&config, &plan);
        at_rest(&config, &bearer);
        let lost = bearer.outcomes.iter().flatten().filter(|(_, outcome)| matches!(outcome, Outcome::Lost(_)));
        prop_assert_eq!(lost.count(), 0);
    }
}

#[test]
fn sequence_numbers_wrap_unnoticed() {
    for (window, discard, max_dat) in [(2047, Discard::MaxDat, 2), (2047, Discard::Timer, 1), (100, Discard::Reset, 4)]
    {
        let config =
            Config { window, discard, max_dat, discard_timer: Duration::from_millis(400), ..Config::default() };
        let mut bearer = bearer(&config).carrying(4).losing(|_, number, _| number % 89 < 4 || number % 7 == 0);
        for n in 0..4000u64 {
            bearer.run_until(ms(40 * n));
            bearer.enqueue(0, 37 + 13 * (n as u32 % 60));
            bearer.enqueue(1, 40);
        }
        bearer.losing_nothing();
        bearer.run_until(ms(200_000));
        at_rest(&config, &bearer);
        let new = bearer.departures.iter().filter(|d| d.from == 0 && d.pdu.reason == Reason::New).count();
        assert!(new > 10 * MODULUS as usize, "{new} PDUs");
        let delivered = bearer.outcomes[0].iter().filter(|(_, outcome)| matches!(outcome, Outcome::Delivered(_)));
        assert!(delivered.count() > 1000);
    }
}
