//! Whether something of a certain likelihood happens: without randomness, as RFC 9332 prefers it, or at random, as in Linux.

use crate::engine::Stream;

/// The likelihood of marks and drops in one queue.
pub enum Likelihood {
    /// RFC 9332 Figure 4, `recur`: probabilities add up, and it happens each time that their sum exceeds one. So two marks are as far from each
    /// other as their probability says.
    Recurring(f64),
    /// At random.
    Random(Stream),
}

impl Default for Likelihood {
    fn default() -> Self {
        Self::Recurring(0.0)
    }
}

impl Likelihood {
    /// At random.
    pub fn random(stream: Stream) -> Self {
        Self::Random(stream)
    }

    /// What has the probability `p`, or happens always if that is above one.
    pub fn linear(&mut self, p: f64) -> bool {
        match self {
            Self::Recurring(count) => {
                *count += p.min(1.0);
                let happens = *count > 1.0;
                *count -= f64::from(u8::from(happens));
                happens
            }
            Self::Random(stream) => p > 0.0 && stream.unit() < p,
        }
    }

    /// What has the probability p². Linux draws twice.
    pub fn squared(&mut self, p: f64) -> bool {
        match self {
            Self::Recurring(_) => self.linear(p * p),
            Self::Random(_) => self.linear(p) && self.linear(p),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Streams;

    #[test]
    fn recurring_marks_are_evenly_spaced() {
        // RFC 9332 Figure 4: the sum of four quarters is one, not more; the fifth exceeds it, and then each fourth does.
        let mut likelihood = Likelihood::default();
        let marks: Vec<usize> = (1..=20).filter(|_| likelihood.linear(0.25)).collect();
        assert_eq!(marks, [5, 9, 13, 17]);
        // p² = 1/16.
        let mut likelihood = Likelihood::default();
        let marks: Vec<usize> = (1..=50).filter(|_| likelihood.squared(0.25)).collect();
        assert_eq!(marks, [17, 33, 49]);
    }

    #[test]
    fn what_always_happens_is_not_saved_up() {
        let mut likelihood = Likelihood::default();
        assert_eq!((0..100).filter(|_| likelihood.linear(2.0)).count(), 99);
        // As much as one at most is left.
        assert!((0..100).filter(|_| likelihood.linear(0.0)).count() <= 1);
    }

    #[test]
    fn random_marks_have_their_probability() {
        // Four standard deviations of 2,000,000 trials: 4·√(0.3·0.7/2·10⁶) = 0.0013, and 4·√(0.09·0.91/2·10⁶) = 0.00081.
        let (mut linear, mut squared) = (0, 0);
        for run in 0..100 {
            let mut likelihood = Likelihood::random(Streams::new(run).stream("queue", "dualpi2"));
            linear += (0..20_000).filter(|_| likelihood.linear(0.3)).count();
            squared += (0..20_000).filter(|_| likelihood.squared(0.3)).count();
        }
        let [linear, squared] = [linear, squared].map(|count| count as f64 / 2e6);
        assert!((linear - 0.3).abs() < 0.0013, "{linear}");
        assert!((squared - 0.09).abs() < 0.000_81, "{squared}");
    }
}
