//! The election of the acker: the receiver whose TCP would be slowest (draft-ietf-rmt-bb-pgmcc-03 §2.3, §2.4).

use lasthop_net::net::NodeId;

use super::config::Model;

/// What a report says of a receiver.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Standing {
    /// The round-trip time R, in packets or in seconds.
    pub round_trip: f64,
    /// The loss rate p.
    pub loss: f64,
}

impl Standing {
    /// M², with M = 1/throughput up to a factor. Squares compare like M, and take no root.
    pub fn squared(self, model: Model) -> f64 {
        let Self { round_trip: r, loss: p } = self;
        let timeouts = match model {
            Model::Simple => 1.0,
            Model::Full => 1.0 + 9.0 * p * (1.0 + 32.0 * p * p),
        };
        r * r * p * timeouts * timeouts
    }
}

/// The acker, and what elects it.
#[derive(Clone, Debug)]
pub struct Election {
    c: f64,
    model: Model,
    acker: Option<(NodeId, Standing)>,
    changes: u64,
}

/// What a report decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It is the acker's own.
    Acker,
    /// The acker stays.
    Other,
    /// There was no acker; now its sender is.
    Elected,
    /// Its sender becomes the acker in the place of another.
    Switched,
}

impl Election {
    /// There is no acker. Another becomes it if c·M > M of the acker.
    pub fn new(c: f64, model: Model) -> Self {
        Self { c, model, acker: None, changes: 0 }
    }

    /// The acker.
    #[inline]
    pub fn acker(&self) -> Option<NodeId> {
        self.acker.map(|(node, _)| node)
    }

    /// How often there was a new acker.
    pub fn changes(&self) -> u64 {
        self.changes
    }

    /// A report of a receiver.
    #[inline]
    pub fn on_report(&mut self, receiver: NodeId, standing: Standing) -> Outcome {
        let outcome = match self.acker {
            None => Outcome::Elected,
            Some((acker, _)) if acker == receiver => Outcome::Acker,
            Some((_, acker)) if self.is_worse(standing, acker) => Outcome::Switched,
            Some(_) => return Outcome::Other,
        };
        self.changes += u64::from(outcome != Outcome::Acker);
        self.acker = Some((receiver, standing));
        outcome
    }

    fn is_worse(&self, other: Standing, acker: Standing) -> bool {
        // Without loss the acker's throughput has no limit, so any receiver with loss is slower.
        if acker.loss == 0.0 {
            return other.loss > 0.0;
        }
        self.c * self.c * other.squared(self.model) > acker.squared(self.model)
    }

    /// The acker is not one any more.
    pub fn dismiss(&mut self) {
        self.acker = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn standing(round_trip: f64, loss: f64) -> Standing {
        Standing { round_trip, loss }
    }

    /// Whether a receiver takes the place of an acker.
    fn wins(c: f64, acker: Standing, other: Standing) -> bool {
        let mut election = Election::new(c, Model::Simple);
        assert_eq!(election.on_report(NodeId(1), acker), Outcome::Elected);
        let outcome = election.on_report(NodeId(2), other);
        assert_eq!(election.acker() == Some(NodeId(2)), outcome == Outcome::Switched);
        outcome == Outcome::Switched
    }

    /// With equal round-trip times p must be above p_acker/c²: 1.778 for 0.75, 2.778 for 0.6.
    #[test]
    fn losses_must_differ_by_the_square_of_c() {
        for (c, ratio) in [(0.75, 1.778), (0.6, 2.778)] {
            assert!(!wins(c, standing(50.0, 0.01), standing(50.0, 0.01 * (ratio - 0.001))), "{c}");
            assert!(wins(c, standing(50.0, 0.01), standing(50.0, 0.01 * (ratio + 0.001))), "{c}");
        }
    }

    #[test]
    fn round_trip_times_must_differ_by_c() {
        assert!(wins(0.75, standing(40.0, 0.01), standing(60.0, 0.01)), "0.75·6 is above 4");
        assert!(!wins(0.75, standing(40.0, 0.01), standing(50.0, 0.01)), "0.75·5 is not");
    }

    #[test]
    fn against_an_acker_without_loss_any_loss_wins() {
        assert!(wins(0.75, standing(100.0, 0.0), standing(0.0, 1e-4)));
        assert!(!wins(0.75, standing(1.0, 0.0), standing(100.0, 0.0)));
    }

    #[test]
    fn the_full_model_knows_timeouts() {
        let m = |p| libm::sqrt(standing(0.1, p).squared(Model::Full));
        assert!((m(0.01) / m(0.02) - 0.652).abs() < 5e-4, "{}", m(0.01) / m(0.02));
    }

    #[test]
    fn an_acker_is_compared_as_it_last_reported() {
        let mut election = Election::new(0.75, Model::Simple);
        election.on_report(NodeId(1), standing(10.0, 0.01));
        assert_eq!(election.on_report(NodeId(1), standing(10.0, 0.04)), Outcome::Acker);
        assert_eq!(election.on_report(NodeId(2), standing(10.0, 0.02)), Outcome::Other);
        election.dismiss();
        assert_eq!(election.on_report(NodeId(2), standing(1.0, 0.0)), Outcome::Elected);
        assert_eq!(election.changes(), 2);
    }
}
