//! A link with one queue, drop-tail, on a path whose capacity and length change.

/// From when a path has this capacity and round trip.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stretch {
    /// s.
    pub from: f64,
    /// bit/s.
    pub capacity: f64,
    /// s.
    pub rtt: f64,
}

impl Stretch {
    /// The stretches of a path that is sampled at these instants.
    pub fn all(times: &[f64], capacities: &[f64], rtts: &[f64]) -> Vec<Self> {
        let samples = times.iter().zip(capacities).zip(rtts);
        let stretch =
            |((from, capacity), rtt): ((&f64, &f64), &f64)| Self { from: *from, capacity: *capacity, rtt: *rtt };
        let mut all: Vec<Self> = samples.map(stretch).collect();
        all.dedup_by_key(|stretch| (stretch.capacity, stretch.rtt));
        // The first sample may be later than the start.
        if let Some(first) = all.first_mut() {
            first.from = 0.0;
        }
        all
    }

    /// That of `path` at `now`.
    pub fn at(path: &[Self], now: f64) -> Self {
        let later = path.partition_point(|stretch| stretch.from <= now);
        path[later.saturating_sub(1)]
    }
}

/// The queue. Times are in s.
pub struct Bottleneck {
    path: Vec<Stretch>,
    /// The longest wait.
    buffer: f64,
    /// When the last bit of the last packet leaves.
    free_at: f64,
    /// Packets dropped, or lost on the way.
    pub dropped: u64,
}

/// What becomes of a packet.
pub struct Passage {
    /// How long it waits.
    pub wait: f64,
    /// When its last bit leaves the link.
    pub leaves: f64,
}

impl Bottleneck {
    pub fn new(path: Vec<Stretch>, buffer: f64) -> Self {
        Self { path, buffer, free_at: 0.0, dropped: 0 }
    }

    /// A packet comes; `None` if it is dropped, or lost on the way.
    pub fn send(&mut self, now: f64, bytes: f64, is_lost: bool) -> Option<Passage> {
        let wait = self.wait(now);
        if is_lost || wait > self.buffer {
            self.dropped += 1;
            return None;
        }
        let begins = now + wait;
        self.free_at = begins + bytes * 8.0 / self.path(begins).capacity;
        Some(Passage { wait, leaves: self.free_at })
    }

    /// How long a packet would wait, s.
    pub fn wait(&self, now: f64) -> f64 {
        (self.free_at - now).max(0.0)
    }

    /// The path at `now`.
    pub fn path(&self, now: f64) -> Stretch {
        Stretch::at(&self.path, now)
    }
}
