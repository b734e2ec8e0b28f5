//! The windowed extreme of Kathleen Nichols (lib/win_minmax.c): the best, second and third best sample of a window, so that an old best
//! one can be replaced without keeping all samples.

/// A sample.
#[derive(Clone, Copy, Debug, Default)]
struct Sample {
    time: u64,
    value: u64,
}

/// The best three samples of a window. The best value is the largest.
#[derive(Clone, Copy, Debug, Default)]
pub struct Max([Sample; 3]);

impl Max {
    /// The largest value of the window.
    #[inline]
    pub fn get(&self) -> u64 {
        self.0[0].value
    }

    /// Takes in a sample; values older than `window` are forgotten.
    pub fn update(&mut self, window: u64, time: u64, value: u64) {
        let sample = Sample { time, value };
        let best = &mut self.0;
        if value >= best[0].value || time - best[2].time > window {
            *best = [sample; 3];
            return;
        }
        if value >= best[1].value {
            (best[1], best[2]) = (sample, sample);
        } else if value >= best[2].value {
            best[2] = sample;
        }
        let age = time - best[0].time;
        if age > window {
            (best[0], best[1], best[2]) = (best[1], best[2], sample);
            if time - best[0].time > window {
                (best[0], best[1], best[2]) = (best[1], best[2], sample);
            }
        } else if best[1].time == best[0].time && age > window / 4 {
            // A quarter of the window has passed without a better one: the second best is of its second quarter.
            (best[1], best[2]) = (sample, sample);
        } else if best[2].time == best[1].time && age > window / 2 {
            best[2] = sample;
        }
    }
}

/// The least value of a window.
#[derive(Clone, Copy, Debug)]
pub struct Min(Max);

impl Default for Min {
    fn default() -> Self {
        Self(Max([Sample { time: 0, value: 0 }; 3]))
    }
}

impl Min {
    /// The least value, if there is one.
    #[inline]
    pub fn get(&self) -> Option<u64> {
        (self.0.get() > 0).then(|| u64::MAX - self.0.get())
    }

    /// Takes in a sample; values older than `window` are forgotten.
    pub fn update(&mut self, window: u64, time: u64, value: u64) {
        self.0.update(window, time, u64::MAX - value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_of_the_window_is_kept_and_then_forgotten() {
        let mut max = Max::default();
        for (time, value, most) in
            [(0, 10, 10), (1, 8, 10), (4, 9, 10), (10, 7, 10), (11, 6, 9), (15, 5, 7), (30, 1, 1)]
        {
            max.update(10, time, value);
            assert_eq!(max.get(), most, "at {time}");
        }
    }

    #[test]
    fn the_least_is_none_before_the_first_sample() {
        let mut min = Min::default();
        assert_eq!(min.get(), None);
        min.update(10, 0, 7);
        min.update(10, 1, 9);
        assert_eq!(min.get(), Some(7));
    }
}
