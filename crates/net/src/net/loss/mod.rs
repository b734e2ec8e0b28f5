//! Loss models: which packets a link loses, in front of its queue. A lost packet takes no
//! transmission time.

pub mod bernoulli;
pub mod gilbert;
pub mod list;
pub mod none;
pub mod redrawn;
pub mod schedule;
mod temporary;

use crate::engine::{Fault, Instant, Stream};

/// Decides which packets are lost.
pub trait LossModel: Send {
    /// Whether this packet is lost. Called once for each packet, in the order of arrival.
    fn loses(&mut self, now: Instant) -> bool;
    /// Gives back the model in whose place it stands for a time.
    fn former(&mut self) -> Option<Loss> {
        None
    }
}

/// The parameters of a loss model.
pub trait LossConfig: Send + Sync {
    /// The model for one direction of a link; `stream` is its own.
    fn build(&self, stream: Stream) -> Loss;

    /// Whether its parameters make sense together.
    ///
    /// # Errors
    /// The first that does not.
    fn check(&self) -> Result<(), Fault> {
        Ok(())
    }
}

/// A loss model, ready for use; `None` loses nothing.
#[derive(Default)]
pub struct Loss(pub Option<Box<dyn LossModel>>);

/// The loss probability p^(1/n) of each of n independent attempts, from the residual loss p after all of them.
fn per_attempt(residual: f64, attempts: u32) -> f64 {
    if attempts <= 1 { residual } else { libm::pow(residual, 1.0 / f64::from(attempts)) }
}

/// Refuses no attempts at all.
fn attempts_fault(attempts: Option<u32>) -> Result<(), Fault> {
    match attempts {
        Some(0) => Err(Fault::new("attempts", "what is never attempted is never lost", "expected 1 or more")),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Streams;
    use crate::engine::choice::parsed;

    /// Which of the packets that arrive one each second are lost.
    fn lost(config: &dyn LossConfig, packets: u64) -> Vec<u64> {
        let mut model = config.build(Streams::new(1).stream("link", "loss"));
        let second = |n: u64| Instant::from_nanos(n * 1_000_000_000);
        (0..packets).filter(|&n| model.0.as_mut().is_some_and(|m| m.loses(second(n)))).collect()
    }

    #[test]
    fn listed_packets_are_lost_once() {
        assert_eq!(lost(&list::Config { drop: vec![4, 0, 2, 4] }, 10), [0, 2, 4]);
        assert!(lost(&none::Config {}, 10).is_empty());
    }

    #[test]
    fn a_schedule_changes_at_its_instants() {
        for text in ["steps = [['6 s', 0], ['2 s', 1]]", "steps = [{ at = '6 s', p = 0 }, { p = 1, at = '2 s' }]"] {
            let config: schedule::Config = parsed(text).unwrap();
            assert_eq!(lost(&config, 10), [2, 3, 4, 5], "{text}");
        }
        let twice: schedule::Config = parsed("steps = [['2 s', 0], ['2 s', 1]]").unwrap();
        assert_eq!(lost(&twice, 4), [2, 3]);
    }

    #[test]
    fn a_schedule_can_be_repeated() {
        // On for two seconds of five, from the second on; until then of each later round as at the end of the one before.
        let config: schedule::Config = parsed("steps = [['1 s', 1], ['3 s', 0]]\nevery = '5 s'").unwrap();
        assert_eq!(lost(&config, 14), [1, 2, 6, 7, 11, 12]);
        let config: schedule::Config = parsed("steps = [['2 s', 0], ['3 s', 1]]\nevery = '4 s'").unwrap();
        assert_eq!(lost(&config, 12), [3, 4, 5, 7, 8, 9, 11]);
        for wrong in ["steps = [['5 s', 1]]\nevery = '5 s'", "steps = []\nevery = '0 s'"] {
            let config: schedule::Config = parsed(wrong).unwrap();
            assert_eq!(config.check().unwrap_err().field, "every");
        }
    }

    /// A residual of 20 % after two attempts is 0.4472 for each (0.2 = 0.4472²).
    #[test]
    fn a_schedule_can_say_what_attempts_leave_lost() {
        assert!((per_attempt(0.2, 2) - 0.4472).abs() < 5e-5);
        let config: schedule::Config = parsed("steps = [['0 s', 0.2]]\nattempts = 2").unwrap();
        let n = 100_000;
        let share = lost(&config, n).len() as f64 / n as f64;
        let p = 0.2f64.sqrt();
        assert!((share - p).abs() < 5.0 * (p * (1.0 - p) / n as f64).sqrt(), "{share}");
        let never: schedule::Config = parsed("steps = []\nattempts = 0").unwrap();
        assert_eq!(never.check().unwrap_err().field, "attempts");
    }

    #[test]
    fn what_holds_for_a_time_gives_way_to_the_former() {
        let listed = |drop: &[u64]| list::Config { drop: drop.to_vec() }.build(Streams::new(1).stream("link", "loss"));
        let second = |n: u64| Instant::from_nanos(n * 1_000_000_000);
        let mut loss = listed(&[1, 3, 4, 5]);
        let mut lost = Vec::new();
        for n in 0..10 {
            match n {
                2 => loss.replace(listed(&[0, 1, 2, 3, 4]), Some(second(6))),
                // The one that holds until then ends at once, and the first one goes on later.
                3 => loss.replace(listed(&[1]), Some(second(5))),
                _ => {}
            }
            if loss.0.as_mut().is_some_and(|model| model.loses(second(n))) {
                lost.push(n);
            }
        }
        // The list counts 0 and 1 before, and goes on with 2 in second 5.
        assert_eq!(lost, [1, 2, 4, 6, 7, 8]);
        loss.replace(Loss(None), None);
        assert!(loss.0.is_none());
    }

    #[test]
    fn independent_losses_have_their_rate_and_no_memory() {
        let (n, p) = (200_000u64, 0.05);
        let config = bernoulli::Config { p: crate::engine::Probability::new(p).unwrap() };
        let lost = lost(&config, n);
        let after_loss = lost.windows(2).filter(|pair| pair[1] == pair[0] + 1).count();
        // Five standard errors each.
        let near = |count: usize, of: f64| (count as f64 - of * p).abs() < 5.0 * (of * p * (1.0 - p)).sqrt();
        assert!(near(lost.len(), n as f64), "{} of {n} lost", lost.len());
        assert!(near(after_loss, lost.len() as f64), "{after_loss} losses follow one of {}", lost.len());
    }
}
