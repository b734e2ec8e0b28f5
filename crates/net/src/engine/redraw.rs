//! Values that are drawn anew at equal intervals.

use super::fault::Fault;
use super::random::Stream;
use super::time::{Duration, Instant};

/// A value that is drawn anew at equal intervals between two instants. The n-th draw depends on its number alone, not on when or
/// whether the others were asked for.
#[derive(Debug)]
pub struct Redraw<T> {
    from: Instant,
    until: Instant,
    period: u64,
    /// The number of the present draw, and what it gave.
    present: Option<(u64, T)>,
}

impl<T: Copy> Redraw<T> {
    /// Each draw holds for a `period`, the first one `from` then on, the last one `until` then.
    pub fn new(period: Duration, from: Duration, until: Option<Duration>) -> Self {
        Self {
            from: Instant::ZERO + from,
            until: until.map_or(Instant::MAX, |until| Instant::ZERO + until),
            period: period.as_nanos().max(1),
            present: None,
        }
    }

    /// What holds now; `None` before the first draw and after the last. The n-th draw is of the stream numbered n beneath `stream`.
    pub fn at(&mut self, now: Instant, stream: &Stream, draw: impl FnOnce(&mut Stream) -> T) -> Option<T> {
        if now < self.from || now >= self.until {
            return None;
        }
        let number = now.since(self.from).as_nanos() / self.period;
        match self.present {
            Some((present, value)) if present == number => Some(value),
            _ => {
                let value = draw(&mut stream.numbered(number));
                self.present = Some((number, value));
                Some(value)
            }
        }
    }
}

/// Whether such intervals make sense.
///
/// # Errors
/// The first parameter that does not: `period` or `until`.
pub fn check(period: Duration, from: Duration, until: Option<Duration>) -> Result<(), Fault> {
    if period == Duration::ZERO {
        return Err(Fault::new("period", "draws that hold for no time", "expected an interval, such as \"5 s\""));
    }
    if until.is_some_and(|until| until <= from) {
        let expected = format!("expected a time after {from}");
        return Err(Fault::new("until", "draws that end before they begin", expected));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Streams;

    #[test]
    fn a_draw_holds_for_its_period_and_depends_on_its_number_alone() {
        let [second, ten] = [1, 10].map(Duration::from_secs);
        let stream = Streams::new(1).stream("link", "loss");
        let make = || Redraw::new(second, second * 2, Some(ten));
        let (mut all, mut some) = (make(), make());
        let at = |of: &mut Redraw<f64>, ms: u64| of.at(Instant::from_nanos(ms * 1_000_000), &stream, Stream::unit);
        assert_eq!([1999, 10_000, 20_000].map(|ms| at(&mut all, ms)), [None; 3]);
        let values: Vec<f64> = (0..16).map(|half| at(&mut all, 2000 + 500 * half).unwrap()).collect();
        assert!(values.chunks(2).all(|pair| pair[0] == pair[1]), "{values:?}");
        assert!(values.windows(3).all(|next| next[0] != next[2]), "{values:?}");
        assert_eq!(at(&mut some, 9999), Some(values[15]));
    }
}
