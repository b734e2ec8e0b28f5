"""Controllers to measure: the calls that most would make."""

import lasthop


class NewReno(lasthop.Controller):
    """The window of RFC 5681, called for each acknowledgement."""

    every = "ack"

    def start(self, setting):
        self.ssthresh = None
        self.acked = 0

    def on_ack(self, m):
        if m.recovering or not m.window_limited or not m.acked:
            return
        if self.ssthresh is None or self.window < self.ssthresh:
            self.window += min(m.acked, m.segment)
            return
        self.acked += min(m.acked, self.window)
        if self.acked >= self.window:
            self.acked -= self.window
            self.window += m.segment

    def on_loss(self, m):
        self.ssthresh = self.window = max(m.flight // 2, 2 * m.segment)
        self.acked = 0

    def on_timeout(self, m):
        if not m.again:
            self.ssthresh = max(m.flight // 2, 2 * m.segment)
        self.window = m.segment
        self.acked = 0

    def on_limit(self, m):
        self.window = max(min(self.window, m.flight), m.segment)
        self.acked = 0

    def on_undo(self, m):
        raise NotImplementedError


class PerQuarter(lasthop.Controller):
    """A window for 20 ms of queue, called each quarter of a round trip."""

    def on_ack(self, m):
        if m.rtt is None:
            return
        step = m.acked * m.segment / self.window
        self.window += step if m.rtt - m.min_rtt < 0.020 else -step

    def on_loss(self, m):
        self.window *= 0.7


class Paced(lasthop.Controller):
    """The same with pacing."""

    def on_ack(self, m):
        if m.rtt is None:
            return
        step = m.acked * m.segment / self.window
        self.window += step if m.rtt - m.min_rtt < 0.020 else -step
        self.pacing_rate = 1.2 * 8 * self.window / m.srtt

    def on_loss(self, m):
        self.window *= 0.7
