//! Reno (tcp_cong.c), and what CUBIC shares with it.

use super::super::tcp::Tcp;

/// Half of the window, at least two segments (`tcp_reno_ssthresh`).
pub fn ssthresh(tcp: &Tcp) -> u64 {
    (tcp.snd_cwnd >> 1).max(2)
}

/// `tcp_reno_cong_avoid`.
pub fn on_progress(tcp: &mut Tcp, segments: u64) {
    if !tcp.is_limited() {
        return;
    }
    let rest = slow_start(tcp, segments);
    if rest > 0 {
        avoid(tcp, tcp.snd_cwnd, rest);
    }
}

/// A segment for each one delivered, up to the threshold (`tcp_slow_start`); answers how many are left over.
pub fn slow_start(tcp: &mut Tcp, segments: u64) -> u64 {
    if !tcp.in_slow_start() {
        return segments;
    }
    let cwnd = (tcp.snd_cwnd + segments).min(tcp.snd_ssthresh);
    let rest = segments - (cwnd - tcp.snd_cwnd);
    tcp.snd_cwnd = cwnd;
    rest
}

/// A segment for each `every` delivered (`tcp_cong_avoid_ai`).
pub fn avoid(tcp: &mut Tcp, every: u64, segments: u64) {
    let every = every.max(1);
    if tcp.snd_cwnd_cnt >= every {
        tcp.snd_cwnd_cnt = 0;
        tcp.snd_cwnd += 1;
    }
    tcp.snd_cwnd_cnt += segments;
    if tcp.snd_cwnd_cnt >= every {
        let more = tcp.snd_cwnd_cnt / every;
        tcp.snd_cwnd_cnt -= more * every;
        tcp.snd_cwnd += more;
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::settings::Settings;
    use super::*;
    use lasthop_protocols::transport::tcp::config::Config;

    /// RFC 5681 §3.1, and the kernel's whole segments: what slow start leaves over counts for congestion avoidance.
    #[test]
    fn slow_start_ends_at_the_threshold_and_the_rest_is_counted() {
        let mut tcp = Tcp::new(&Settings::new(&Config::default()));
        (tcp.is_cwnd_limited, tcp.snd_ssthresh) = (true, 12);
        on_progress(&mut tcp, 3);
        assert_eq!((tcp.snd_cwnd, tcp.snd_cwnd_cnt), (12, 1));
        on_progress(&mut tcp, 10);
        assert_eq!((tcp.snd_cwnd, tcp.snd_cwnd_cnt), (12, 11));
        on_progress(&mut tcp, 1);
        assert_eq!((tcp.snd_cwnd, tcp.snd_cwnd_cnt), (13, 0));
        assert_eq!(ssthresh(&tcp), 6);
        tcp.snd_cwnd = 3;
        assert_eq!(ssthresh(&tcp), 2);
    }
}
