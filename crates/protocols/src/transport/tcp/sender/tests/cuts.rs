//! What counts as a reduction of the window.

use super::*;
use crate::transport::congestion::{Congestion, bbr, copa, cubic, dctcp, ledbat, prague, reno};

fn config(congestion: Congestion) -> Config {
    Config { congestion: Some(congestion), handshake: Some(Handshake::None), ..Config::default() }
}

/// Copa and BBR do not lower the window for a loss; a timeout lowers that of all.
#[test]
fn a_loss_that_lowers_no_window_is_not_counted() {
    for (congestion, cuts) in [
        (Congestion::Reno(reno::Config::default()), 1),
        (Congestion::Cubic(cubic::Config::default()), 1),
        (Congestion::Dctcp(dctcp::Config::default()), 1),
        (Congestion::Prague(prague::Config::default()), 1),
        (Congestion::Ledbat(ledbat::Config::default()), 1),
        (Congestion::Copa(copa::Config::default()), 0),
        (Congestion::Bbr(bbr::Config::default()), 0),
    ] {
        let name = congestion.name().to_owned();
        let mut path = Path::new(&config(congestion));
        path.lose = lose(|segment, before| segment == 4 && before == 0);
        path.notify(Notice::Open);
        path.notify(Notice::Write(50_000));
        path.run(5.0);
        let totals = &path.sender.totals;
        assert_eq!((totals.fast_retransmits, totals.timeouts, totals.cuts), (1, 0, cuts), "{name}");
        path.lose = Box::new(|_| true);
        path.notify(Notice::Write(1_000));
        path.run(6.5);
        let totals = &path.sender.totals;
        assert_eq!((totals.fast_retransmits, totals.timeouts, totals.cuts), (1, 1, cuts + 1), "{name}");
    }
}

/// Prague answers marks on acknowledgements, once in a round trip.
#[test]
fn reductions_for_counted_marks_are_counted() {
    let mut path = Path::new(&config(Congestion::Prague(prague::Config::default())));
    path.notify(Notice::Open);
    path.notify(Notice::Write(1_000_000));
    let mut windows = Vec::new();
    for round in 0..4u32 {
        path.run(0.12 * f64::from(round));
        path.data.iter_mut().take(3).for_each(|(_, p)| p.ecn = Ecn::Ce);
        path.run(0.12 * f64::from(round + 1));
        windows.push(path.sender.c.window);
        assert_eq!(path.sender.totals.cuts, u64::from(round + 1), "{windows:?}");
    }
    assert_eq!(path.sender.totals.fast_retransmits, 0);
}
