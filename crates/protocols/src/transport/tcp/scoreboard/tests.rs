use super::*;

const SMSS: u32 = 1000;

/// A board with `n` segments of 1000 bytes in flight from sequence number 0, sent at `i` ns.
fn board(n: u64) -> Scoreboard {
    let mut board = Scoreboard::new(SMSS, false);
    for i in 0..n {
        board.push(Segment::new(i * 1000, SMSS, false, Instant::from_nanos(i)));
    }
    board
}

fn sack(board: &mut Scoreboard, ack: u64, blocks: &[(u64, u64)]) -> Acked {
    let mut list = SackBlocks::default();
    blocks.iter().for_each(|&(from, to)| list.push(from * 1000, to * 1000));
    let mut out = Acked::default();
    board.on_ack(ack * 1000, &mut out);
    board.on_sack(ack * 1000, &list, &mut out);
    out
}

#[test]
fn a_segment_is_lost_when_more_than_two_segments_above_it_are_sacked() {
    let mut board = board(10);
    for (to, lost) in [(2, 0), (3, 0), (4, 1000)] {
        sack(&mut board, 0, &[(1, to)]);
        board.mark_lost_rfc6675();
        assert_eq!(board.lost, lost, "SACKed 1..{to}");
    }
    assert_eq!(board.pipe(), 6000);
    assert_eq!(board.next_hole(), Some((0, true)));
    board.resend(0, Instant::ZERO);
    assert_eq!(board.pipe(), 7000);
    assert_eq!(board.next_hole(), None);
    // The hole is filled: what was SACKed goes with it, the rest is in flight.
    let acked = sack(&mut board, 4, &[]);
    assert_eq!((acked.acked, board.pipe(), board.flight()), (1000, 6000, 6000));
    assert_eq!(acked.timed, None, "Karn: the first segment was sent twice");
    assert!(!board.is_marked());
}

#[test]
fn three_separate_short_sequences_mark_a_segment_lost() {
    let mut board = Scoreboard::new(SMSS, false);
    for i in 0..8 {
        board.push(Segment::new(i * 100, 100, false, Instant::ZERO));
    }
    let mut out = Acked::default();
    for start in [100, 300, 500] {
        board.mark_lost_rfc6675();
        assert_eq!(board.lost, 0);
        let mut blocks = SackBlocks::default();
        blocks.push(start, start + 100);
        board.on_sack(0, &blocks, &mut out);
    }
    board.mark_lost_rfc6675();
    assert_eq!(board.lost, 100, "only the first segment has three above it");
}

#[test]
fn duplicates_and_foreign_blocks_tell_nothing() {
    let mut board = board(10);
    let acked = sack(&mut board, 4, &[(1, 2), (6, 7)]);
    assert_eq!((acked.acked, acked.sacked), (4000, 1000));
    let acked = sack(&mut board, 4, &[(2, 3), (6, 7), (20, 30)]);
    assert_eq!((acked.acked, acked.sacked), (0, 0));
    assert_eq!(board.pipe(), 5000);
}

/// The sums against a plain recount, over a random history.
#[test]
fn sums_are_those_of_a_recount() {
    let mut board = board(0);
    let (mut state, mut sent, mut una) = (1u64, 0u64, 0u64);
    let mut draw = |n: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % n
    };
    for step in 0..20_000 {
        match draw(8) {
            0..=2 => {
                board.push(Segment::new(sent * 1000, SMSS, false, Instant::ZERO));
                sent += 1;
            }
            3 if sent > una => {
                una += draw(sent - una + 1).min(3);
                sack(&mut board, una, &[]);
            }
            4 | 5 if sent > una + 1 => {
                let from = una + 1 + draw(sent - una - 1);
                sack(&mut board, una, &[(from, (from + 1 + draw(4)).min(sent))]);
                board.mark_lost_rfc6675();
            }
            6 => {
                if let Some((id, _)) = board.next_hole() {
                    board.resend(id, Instant::ZERO);
                }
            }
            _ if step % 50 == 0 => board.mark_all_lost(),
            _ if step % 51 == 0 => board.unmark_lost(),
            _ => {}
        }
        let sum = |mark: u8| {
            (board.first..board.next).filter(|&id| board.at(id).has(mark)).map(|id| u64::from(board.at(id).len)).sum()
        };
        assert_eq!((board.sacked, board.lost, board.resent), (sum(SACKED), sum(LOST), sum(RESENT)));
        assert_eq!(board.flight, (sent - una) * 1000);
        let below: u64 = (board.first..board.lost_to)
            .filter(|&id| board.at(id).has(SACKED))
            .map(|id| u64::from(board.at(id).len))
            .sum();
        assert_eq!(board.sacked_below, below, "step {step}");
    }
}
