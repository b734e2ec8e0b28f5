//! A distribution of whole numbers, in buckets of at most 3.2 %.

/// A distribution of non-negative integers (nanoseconds, bytes): counts in buckets that are
/// exact below 32 and at most 3.2 % wide above.
#[derive(Clone, Debug, Default)]
pub struct Histogram {
    counts: Vec<u32>,
    /// The bucket of `counts[0]`.
    first: usize,
    /// Values equal to zero, by far the commonest in a queue.
    zeros: u64,
    total: u64,
}

/// Buckets per octave: 2⁵.
const SUB_BITS: u32 = 5;

impl Histogram {
    /// Counts `value`.
    #[inline]
    pub fn add(&mut self, value: u64) {
        self.total += 1;
        if value == 0 {
            self.zeros += 1;
            return;
        }
        let bucket = bucket(value);
        if bucket >= self.first && bucket - self.first < self.counts.len() {
            let count = &mut self.counts[bucket - self.first];
            *count = count.saturating_add(1);
        } else {
            self.widen(bucket);
        }
    }

    #[cold]
    fn widen(&mut self, bucket: usize) {
        // Ranges settle soon, and there are many histograms: they take no more than they need.
        if self.counts.is_empty() {
            self.first = bucket;
        } else if bucket < self.first {
            let gap = self.first - bucket;
            self.counts.reserve_exact(gap);
            self.counts.splice(0..0, std::iter::repeat_n(0, gap));
            self.first = bucket;
        }
        let place = bucket - self.first;
        if place >= self.counts.len() {
            self.counts.reserve_exact(place + 1 - self.counts.len());
            self.counts.resize(place + 1, 0);
        }
        self.counts[place] += 1;
    }

    /// The same distribution with zeros added until there are `total` values: for callers that count only the others.
    #[must_use]
    pub fn with_zeros(&self, total: u64) -> Self {
        let zeros = self.zeros + total.saturating_sub(self.total);
        Self { zeros, total: total.max(self.total), ..self.clone() }
    }

    /// How many values were counted.
    pub fn len(&self) -> u64 {
        self.total
    }

    /// Whether nothing was counted.
    pub fn is_empty(&self) -> bool {
        self.total == 0
    }

    /// The least value that at least the share `q` of all values do not exceed (the middle of
    /// its bucket); `None` if nothing was counted.
    pub fn quantile(&self, q: f64) -> Option<f64> {
        if self.total == 0 {
            return None;
        }
        let rank = libm::ceil(q.clamp(0.0, 1.0) * self.total as f64).max(1.0) as u64;
        let mut seen = self.zeros;
        if seen >= rank {
            return Some(0.0);
        }
        // Octave by octave, and bucket by bucket in that in which it lies.
        let mut place = 0;
        for octave in self.counts.chunks(1 << SUB_BITS) {
            let within: u64 = octave.iter().map(|&count| u64::from(count)).sum();
            if seen + within >= rank {
                break;
            }
            seen += within;
            place += octave.len();
        }
        for (i, &count) in self.counts.iter().enumerate().skip(place) {
            seen += u64::from(count);
            if seen >= rank {
                return Some(middle(self.first + i));
            }
        }
        Some(middle(self.first + self.counts.len().saturating_sub(1)))
    }

    /// The mean, each value taken for the middle of its bucket; `None` if nothing was counted.
    pub fn mean(&self) -> Option<f64> {
        let values = (self.first..).zip(&self.counts).map(|(place, &count)| middle(place) * f64::from(count));
        // From 0: the sum of no number is -0.
        let sum = values.fold(0.0, |sum, value| sum + value);
        (self.total > 0).then(|| sum / self.total as f64)
    }
}

/// The bucket of a value: exact below 2⁵, then 2⁵ to the octave.
#[inline]
fn bucket(value: u64) -> usize {
    let octave = (63 - value.leading_zeros()).saturating_sub(SUB_BITS);
    ((octave as usize) << SUB_BITS) + (value >> octave) as usize
}

/// The middle of a bucket.
fn middle(bucket: usize) -> f64 {
    let octave = (bucket >> SUB_BITS).saturating_sub(1);
    let low = (bucket - (octave << SUB_BITS)) as f64;
    let width = (1u64 << octave) as f64;
    if octave == 0 { low } else { low * width + (width - 1.0) / 2.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_within_half_a_bucket() {
        let mut histogram = Histogram::default();
        for value in (1..=100_000u64).rev() {
            histogram.add(value);
        }
        for q in [0.01, 0.5, 0.95, 1.0] {
            let exact = 100_000.0 * q;
            let got = histogram.quantile(q).unwrap();
            assert!((got - exact).abs() <= 0.016 * exact + 1.0, "{q}: {got} against {exact}");
        }
    }

    #[test]
    fn the_mean_is_within_half_a_bucket() {
        let mut histogram = Histogram::default();
        for value in 1..=100_000u64 {
            histogram.add(value);
        }
        let got = histogram.with_zeros(200_000).mean().unwrap();
        assert!((got / 25_000.25 - 1.0).abs() < 0.016, "{got}");
        assert_eq!(Histogram::default().mean(), None);
        assert_eq!(Histogram::default().with_zeros(3).mean().map(f64::to_bits), Some(0), "0, not -0");
    }

    #[test]
    fn small_values_are_exact() {
        let mut histogram = Histogram::default();
        for value in [0, 0, 5, 31, 32] {
            histogram.add(value);
        }
        assert_eq!(histogram.quantile(0.4), Some(0.0));
        assert_eq!(histogram.quantile(0.6), Some(5.0));
        assert_eq!(histogram.quantile(1.0), Some(32.0));
        assert_eq!(histogram.mean(), Some(68.0 / 5.0));
        assert_eq!(Histogram::default().quantile(0.5), None);
    }
}
