//! The weighted average of loss intervals (`est_loss_WALI`), with `smooth_` and `discount_` on.

/// Loss intervals that are kept besides the open one (`numsamples`, `smooth_` counted in).
const KEPT: usize = 9;

/// The open interval and the closed ones, newest first.
#[derive(Clone, Debug)]
pub struct Wali {
    /// Lengths in packets (`sample`).
    lengths: [i64; KEPT + 1],
    /// By how much closed intervals are discounted for good (`mult`).
    factors: [f64; KEPT + 1],
    weights: [f64; KEPT + 1],
    /// How many intervals there are, the open one included (`sample_count`).
    count: usize,
    /// By how much closed intervals are discounted at the present length of the open one (`mult_factor_`).
    factor: f64,
    /// The least discount (`minDiscountRatio_`).
    threshold: f64,
    /// Whether long open intervals discount the others (`discount_`).
    discounts: bool,
    /// The first packet not yet counted (`last_sample`).
    next: i64,
    /// Packets not yet counted that begin a loss event, in order.
    events: Vec<i64>,
}

impl Wali {
    /// Without any loss.
    pub fn new(discounts: bool, threshold: f64) -> Self {
        let mut weights = [1.0; KEPT + 1];
        for (i, weight) in weights.iter_mut().enumerate().skip(4) {
            *weight = 1.0 - (i - 4) as f64 / 5.0;
        }
        Self {
            lengths: [0; KEPT + 1],
            factors: [1.0; KEPT + 1],
            weights,
            count: 1,
            factor: 1.0,
            threshold,
            discounts,
            next: 0,
            events: Vec::new(),
        }
    }

    /// The packet begins a loss event. One that was counted as received before is not looked at
    /// again: with a loss trigger above one packet, ns-2 loses events in this way.
    pub fn begin_event(&mut self, seq: i64) {
        if seq >= self.next {
            let place = self.events.partition_point(|e| *e < seq);
            self.events.insert(place, seq);
        }
    }

    /// The first loss of all: it closes an interval of this length in place of those before it
    /// (`adjust_history`).
    pub fn first_loss(&mut self, length: i64) {
        self.events.clear();
        self.lengths[1] = length;
        self.lengths[0] = 0;
        self.count += 1;
    }

    /// Counts the packets up to `highest` and gives the loss event rate.
    pub fn loss_rate(&mut self, highest: i64) -> f64 {
        for i in 0..self.events.len() {
            let after = self.events[i] + 1;
            self.lengths[0] += after - self.next;
            self.next = after;
            self.close();
        }
        self.events.clear();
        self.lengths[0] += highest + 1 - self.next;
        self.next = highest + 1;
        if self.count == 1 {
            return 0.0;
        }
        let end = self.count.min(KEPT + 1);
        if self.discounts && self.lengths[0] > 0 {
            let ratio = 2.0 * self.closed_mean(end, 1.0) / self.lengths[0] as f64;
            if ratio < 1.0 {
                self.factor = ratio.max(self.threshold);
            }
        }
        let mean = self.open_mean(end.min(KEPT)).max(self.closed_mean(end, self.factor));
        if mean > 0.0 { 1.0 / mean } else { 999.0 }
    }

    /// The mean without the open interval.
    fn closed_mean(&self, end: usize, factor: f64) -> f64 {
        let weight = |i: usize| factor * self.factors[i] * self.weights[i];
        let sum: f64 = (1..end).fold(0.0, |sum, i| sum + weight(i));
        (1..end).fold(0.0, |mean, i| mean + weight(i) * self.lengths[i] as f64 / sum)
    }

    /// The mean with the open interval; the weights move by one place.
    fn open_mean(&self, end: usize) -> f64 {
        let weight = |i: usize| {
            let plain = self.factors[i] * self.weights[i + 1];
            if i == 0 { plain } else { self.factor * self.factors[i] * self.weights[i + 1] }
        };
        let sum: f64 = (0..end).fold(0.0, |sum, i| sum + weight(i));
        (0..end).fold(0.0, |mean, i| mean + weight(i) * self.lengths[i] as f64 / sum)
    }

    /// The open interval ends.
    fn close(&mut self) {
        self.count += 1;
        self.lengths.copy_within(0..KEPT, 1);
        self.lengths[0] = 0;
        for factor in &mut self.factors[1..] {
            *factor *= self.factor;
        }
        self.factors.copy_within(0..KEPT, 1);
        self.factors[0] = 1.0;
        self.factor = 1.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Eight intervals of 100 packets and an open one.
    fn after(open: i64, discounts: bool) -> f64 {
        let mut wali = Wali::new(discounts, 0.5);
        let mut seq = 0;
        for _ in 0..10 {
            seq += 100;
            wali.begin_event(seq - 1);
        }
        wali.loss_rate(seq + open - 1)
    }

    /// Closed forms of the weighted average (RFC 5348 §5.4, §5.5).
    #[test]
    fn rates_of_known_intervals() {
        for (open, discounts, expected) in
            [(10, true, 0.01), (300, false, 0.0075), (300, true, 0.006_842_1), (1000, true, 0.0028)]
        {
            let p = after(open, discounts);
            assert!((p / expected - 1.0).abs() < 1e-5, "open {open}: {p}, not {expected}");
        }
    }
}
