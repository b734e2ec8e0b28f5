//! Payload as it arrives, beside payload in order.

use crate::common::scenario::{run, series};

/// One lost packet, sent again after a round trip: all packets behind it are in order at once. On the link, 1,460 of 1,500 bytes are
/// payload.
#[test]
fn arrivals_keep_to_the_rate_of_the_link() {
    let ceiling = 1e3 * 1460.0 / 1500.0;
    // A sample may begin in the midst of a packet.
    let a_packet = 1460.0 * 8.0 / 0.1 / 1e3;
    for profile in ["rfc", "ns2"] {
        let text = format!(
            "profile = '{profile}'
            duration = '20 s'
            record.series = '100 ms'
            link = [{{ name = 'l', between = ['a', 'b'], rate = '1 Mbit/s', delay = '100 ms', queue.droptail.limit = '1000 packets', loss.list.drop = [100] }}]
            flow = [{{ name = 'f', from = 'a', to = 'b', transport.tcp.variant = 'sack' }}]"
        );
        let results = run(&text, 1);
        let highest = |rows: &[(f64, f64)]| rows.iter().map(|row| row.1).fold(0.0, f64::max);
        let kbit = |rows: &[(f64, f64)]| rows.iter().map(|row| row.1 * 0.1).sum::<f64>();
        let (in_order, came) = (series(&results, "f", "goodput_kbps"), series(&results, "f", "arrival_kbps"));
        assert!(highest(&in_order) > ceiling + a_packet, "{profile}: {}", highest(&in_order));
        assert!(highest(&came) < ceiling + a_packet, "{profile}: {}", highest(&came));
        assert!((kbit(&came) - kbit(&in_order)).abs() < 1e-6, "{profile}: nothing waits at the end");
        // Before the loss and well after it they are one.
        assert_eq!(in_order[..5], came[..5], "{profile}");
        assert_eq!(in_order[100..], came[100..], "{profile}");
    }
}
