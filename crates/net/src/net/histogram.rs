//! A distribution of whole numbers, in buckets of at most 3.2 %.

/// A distribution of non-negative integers (nanoseconds, bytes): counts in buckets that are
/// exact below 32 and at most 3.2 % wide above, and the exact sum.
#[derive(Clone, Debug, Default)]
pub struct Histogram {
    counts: Counts,
    /// The bucket of the first count.
    first: usize,
    /// Values equal to zero, by far the commonest in a queue.
    zeros: u64,
    total: u64,
    sum: u128,
    /// Among the values other than zero there was no lower one than the first and no higher one than the last; none yet: (0, 0).
    range: (u64, u64),
}

/// How often each bucket came. There are many histograms, and few of them count far.
#[derive(Clone, Debug)]
enum Counts {
    Narrow(Vec<u16>),
    /// One has not fitted.
    Wide(Vec<u32>),
}

impl Default for Counts {
    fn default() -> Self {
        Self::Narrow(Vec::new())
    }
}

impl Counts {
    #[inline]
    fn len(&self) -> usize {
        match self {
            Self::Narrow(counts) => counts.len(),
            Self::Wide(counts) => counts.len(),
        }
    }

    fn iter(&self) -> impl Iterator<Item = u32> {
        (0..self.len()).map(|place| match self {
            Self::Narrow(counts) => counts[place].into(),
            Self::Wide(counts) => counts[place],
        })
    }

    /// Counts one more at a place; `false` if there is no such place, or no room in it.
    #[inline]
    fn add(&mut self, place: usize) -> bool {
        match self {
            Self::Narrow(counts) => match counts.get_mut(place) {
                Some(count) if *count < u16::MAX => *count += 1,
                _ => return false,
            },
            Self::Wide(counts) => match counts.get_mut(place) {
                Some(count) => *count = count.saturating_add(1),
                None => return false,
            },
        }
        true
    }

    fn widen(&mut self) {
        *self = Self::Wide(self.iter().collect());
    }

    /// Adds buckets in front and behind. Ranges settle soon: they take no more than they need.
    fn extend(&mut self, before: usize, after: usize) {
        fn extend<T: Default + Clone>(counts: &mut Vec<T>, before: usize, after: usize) {
            counts.reserve_exact(before + after);
            counts.splice(0..0, std::iter::repeat_n(T::default(), before));
            counts.resize(counts.len() + after, T::default());
        }
        match self {
            Self::Narrow(counts) => extend(counts, before, after),
            Self::Wide(counts) => extend(counts, before, after),
        }
    }
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
        self.sum += u128::from(value);
        if value > self.range.1 {
            self.range.1 = value;
        }
        // Without one yet this wraps round.
        if value <= self.range.0.wrapping_sub(1) {
            self.range.0 = value;
        }
        let bucket = bucket(value);
        // Below the first this wraps round.
        if !self.counts.add(bucket.wrapping_sub(self.first)) {
            self.make_room(bucket);
        }
    }

    /// Counts the first value of a bucket that has no count yet, or one for which its count is too narrow.
    #[cold]
    #[inline(never)]
    fn make_room(&mut self, bucket: usize) {
        if self.counts.len() == 0 {
            self.first = bucket;
        }
        let before = self.first.saturating_sub(bucket);
        self.first -= before;
        let after = (bucket + 1 - self.first).saturating_sub(before + self.counts.len());
        match before + after {
            0 => self.counts.widen(),
            _ => self.counts.extend(before, after),
        }
        self.counts.add(bucket - self.first);
    }

    /// The same distribution with zeros added until there are `total` values: for callers that count only the others.
    #[must_use]
    pub fn with_zeros(&self, total: u64) -> Self {
        let zeros = self.zeros + total.saturating_sub(self.total);
        Self { zeros, total: total.max(self.total), ..self.clone() }
    }

    /// The values counted since `before`, an earlier state of this one. All of them, if it has fewer: then it has begun anew.
    #[must_use]
    pub fn since(&self, before: &Self) -> Self {
        if self.total < before.total {
            return self.clone();
        }
        // Places that `before` has not got, in front of it and behind, had no count then.
        let earlier = before.counts.iter().map(Some).chain(std::iter::repeat(None));
        let earlier = std::iter::repeat_n(None, before.first.saturating_sub(self.first)).chain(earlier);
        let earlier = earlier.skip(self.first.saturating_sub(before.first));
        let counts = self.counts.iter().zip(earlier).map(|(now, then)| now.saturating_sub(then.unwrap_or(0)));
        Self {
            counts: Counts::Wide(counts.collect()),
            first: self.first,
            zeros: self.zeros.saturating_sub(before.zeros),
            total: self.total - before.total,
            sum: self.sum.saturating_sub(before.sum),
            range: self.range,
        }
    }

    /// How many values were counted.
    pub fn len(&self) -> u64 {
        self.total
    }

    /// Whether nothing was counted.
    pub fn is_empty(&self) -> bool {
        self.total == 0
    }

    /// The least value that at least the share `q` of all values do not exceed, as if the values of its bucket lay evenly in it;
    /// `None` if nothing was counted.
    pub fn quantile(&self, q: f64) -> Option<f64> {
        if self.total == 0 {
            return None;
        }
        let rank = libm::ceil(q.clamp(0.0, 1.0) * self.total as f64).max(1.0) as u64;
        let Some(rank) = rank.checked_sub(self.zeros).filter(|&rank| rank > 0) else { return Some(0.0) };
        let (place, share) = match &self.counts {
            // Counts of an octave fit into 32 bits together, and their sum is cheaper so.
            Counts::Narrow(counts) => {
                place_of(rank, counts, |some| some.iter().map(|&n| u32::from(n)).sum::<u32>().into())
            }
            Counts::Wide(counts) => place_of(rank, counts, |some| some.iter().map(|&n| u64::from(n)).sum()),
        };
        let (low, width) = bounds(self.first + place);
        let (least, most) = (self.range.0 as f64, self.range.1 as f64);
        let (low, high) = (low.max(least), (low + width - 1.0).min(most));
        Some(low + (high - low) * share)
    }

    /// The mean; `None` if nothing was counted.
    pub fn mean(&self) -> Option<f64> {
        (self.total > 0).then(|| self.sum as f64 / self.total as f64)
    }
}

/// The place of the bucket in which the value of this rank lies, from 1, and where among its values; the last of all if there are fewer.
/// `sum` adds the counts of an octave.
fn place_of<T: Copy + Into<u64>>(rank: u64, counts: &[T], sum: impl Fn(&[T]) -> u64) -> (usize, f64) {
    let (mut seen, mut place) = (0, 0);
    // Octave by octave, and bucket by bucket in that in which it lies.
    for octave in counts.chunks(1 << SUB_BITS) {
        let within = sum(octave);
        if seen + within >= rank {
            break;
        }
        seen += within;
        place += octave.len();
    }
    for (place, &count) in counts.iter().enumerate().skip(place) {
        let count = count.into();
        if seen + count >= rank {
            return (place, ((rank - seen) as f64 - 0.5) / count as f64);
        }
        seen += count;
    }
    (counts.len().saturating_sub(1), 1.0)
}

/// The bucket of a value: exact below 2⁵, then 2⁵ to the octave.
#[inline]
fn bucket(value: u64) -> usize {
    let octave = (63 - value.leading_zeros()).saturating_sub(SUB_BITS);
    ((octave as usize) << SUB_BITS) + (value >> octave) as usize
}

/// The least value of a bucket, and how many it has.
fn bounds(bucket: usize) -> (f64, f64) {
    let octave = (bucket >> SUB_BITS).saturating_sub(1);
    let low = (bucket - (octave << SUB_BITS)) as f64;
    let width = (1u64 << octave) as f64;
    (low * width, width)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_between_the_values_of_a_bucket() {
        let mut histogram = Histogram::default();
        for value in (1..=100_000u64).rev() {
            histogram.add(value);
        }
        for q in [0.01, 0.5, 0.95, 1.0] {
            let exact = 100_000.0 * q;
            let got = histogram.quantile(q).unwrap();
            assert!((got - exact).abs() <= 1.0, "{q}: {got} against {exact}");
        }
    }

    /// Where all values are one, so are its quantiles; and small differences between distributions are seen, though buckets are wide.
    #[test]
    fn a_value_within_a_bucket_is_told_from_another() {
        let of = |values: &[u64]| {
            let mut histogram = Histogram::default();
            values.iter().for_each(|value| histogram.add(*value));
            histogram
        };
        for value in [40_800_000, 40_400_000] {
            let same = of(&[value; 1000]);
            assert_eq!((same.quantile(0.5), same.quantile(0.95)), (Some(value as f64), Some(value as f64)));
        }
        let spread = |from: u64| (0..1000).map(|n| from + 10_000 * n).collect::<Vec<u64>>();
        let (before, after) = (of(&spread(40_000_000)), of(&spread(40_200_000)));
        for q in [0.05, 0.5, 0.95] {
            let change = after.quantile(q).unwrap() - before.quantile(q).unwrap();
            assert!((change - 200_000.0).abs() < 20_000.0, "{q}: {change}");
        }
        assert_eq!(after.mean().unwrap() - before.mean().unwrap(), 200_000.0);
        assert_eq!(of(&[0, 0, 7]).quantile(1.0), Some(7.0));
    }

    #[test]
    fn the_mean_is_exact() {
        let mut histogram = Histogram::default();
        for value in 1..=100_000u64 {
            histogram.add(value);
        }
        assert_eq!(histogram.with_zeros(200_000).mean(), Some(25_000.25));
        assert_eq!(Histogram::default().mean(), None);
        assert_eq!(Histogram::default().with_zeros(3).mean().map(f64::to_bits), Some(0), "0, not -0");
    }

    #[test]
    fn counts_become_wider_when_they_have_to() {
        let mut histogram = Histogram::default();
        for n in 0..200_000u64 {
            histogram.add(7 + n % 2);
        }
        histogram.add(5);
        histogram.add(9);
        assert_eq!((histogram.quantile(0.0), histogram.quantile(1.0)), (Some(5.0), Some(9.0)));
        assert_eq!((histogram.quantile(0.499), histogram.quantile(0.501)), (Some(7.0), Some(8.0)));
        assert_eq!(histogram.mean(), Some((7.5 * 200_000.0 + 14.0) / 200_002.0));
    }

    #[test]
    fn values_since_an_earlier_state() {
        let of = |values: &[u64]| {
            let mut histogram = Histogram::default();
            values.iter().for_each(|value| histogram.add(*value));
            histogram
        };
        // Later values lie below, above and among the earlier ones.
        for (early, late) in
            [(&[][..], &[7, 0][..]), (&[0, 40, 41], &[0, 0, 3, 40]), (&[5], &[900, 2]), (&[7; 70_000], &[7, 8])]
        {
            let (before, only) = (of(early), of(late));
            let since = of(&[early, late].concat()).since(&before);
            assert_eq!((since.len(), since.mean()), (only.len(), only.mean()));
            for q in [0.0, 0.3, 0.5, 0.7, 1.0] {
                assert_eq!(since.quantile(q), only.quantile(q), "{q} of {late:?}");
            }
        }
        assert_eq!(of(&[3, 4]).since(&of(&[3, 4])).quantile(0.5), None, "nothing has come");
        assert_eq!(of(&[9]).since(&of(&[1, 2])).quantile(0.5), Some(9.0), "it has begun anew");
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
