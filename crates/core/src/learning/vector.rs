//! Several environments that take their steps in one call, in shares, each on a thread of its own if asked.

use std::mem;
use std::process;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};

use crate::engine::Fault;
use crate::scenario::types::Scenario;

use super::environment::{End, Environment, Settings, StepError};
use super::observation::VALUES;

/// Environments of the same settings, with what their last steps gave, side by side.
pub struct Vector {
    shares: Vec<Share>,
    /// The threads of all shares but the first, which is the caller's.
    workers: Vec<Worker>,
    /// The process in which they are.
    process: u32,
    /// How many environments a share has; the last one may have fewer.
    each: usize,
    width: usize,
    size: usize,
    observations: Vec<f32>,
    rewards: Vec<f64>,
    ends: Vec<u8>,
    values: Vec<f64>,
}

impl Vector {
    /// `count` environments of a scenario, whose steps `threads` threads share.
    ///
    /// # Errors
    /// If the flow cannot be led.
    pub fn new(scenario: &Scenario, settings: &Arc<Settings>, count: usize, threads: usize) -> Result<Self, Fault> {
        let each = count.div_ceil(threads.max(1)).max(1);
        let size = settings.history * settings.features.len();
        let share = |first: usize| {
            let count = each.min(count - first);
            let environments: Result<_, _> =
                (0..count).map(|_| Environment::new(scenario, Arc::clone(settings))).collect();
            Ok(Share {
                first,
                environments: environments?,
                actions: vec![0.0; count * settings.action.width()],
                skipped: vec![false; count],
                observations: vec![0.0; count * size],
                rewards: vec![0.0; count],
                ends: vec![End::None as u8; count],
                values: vec![0.0; count * VALUES.len()],
                outcome: Ok(()),
            })
        };
        let shares: Vec<Share> = (0..count).step_by(each).map(share).collect::<Result<_, Fault>>()?;
        Ok(Self {
            workers: shares.iter().skip(1).map(|_| Worker::new()).collect(),
            process: process::id(),
            shares,
            each,
            width: settings.action.width(),
            size,
            observations: vec![0.0; count * size],
            rewards: vec![0.0; count],
            ends: vec![End::None as u8; count],
            values: vec![0.0; count * VALUES.len()],
        })
    }

    /// Begins an episode of the environment of this number.
    ///
    /// # Errors
    /// See [`Environment::reset`].
    ///
    /// # Panics
    /// If there is no environment of this number.
    pub fn reset(&mut self, number: usize, seed: u64) -> Result<(), StepError> {
        let (share, place, size) = (number / self.each, number % self.each, self.size);
        let share = &mut self.shares[share];
        let environment = &mut share.environments[place];
        environment.reset(seed, &mut share.observations[place * size..][..size])?;
        environment.report().write(&mut share.values[place * VALUES.len()..][..VALUES.len()]);
        (share.rewards[place], share.ends[place]) = (0.0, End::None as u8);
        // As `gather` does for all: a vector begins its episodes one after another.
        self.observations[number * size..][..size].copy_from_slice(&share.observations[place * size..][..size]);
        self.values[number * VALUES.len()..][..VALUES.len()]
            .copy_from_slice(&share.values[place * VALUES.len()..][..VALUES.len()]);
        (self.rewards[number], self.ends[number]) = (0.0, End::None as u8);
        Ok(())
    }

    /// The environment of this number takes another scenario, from the next episode on.
    ///
    /// # Errors
    /// If the flow cannot be led.
    ///
    /// # Panics
    /// If there is no environment of this number.
    pub fn set_scenario(&mut self, number: usize, scenario: &Scenario) -> Result<(), Fault> {
        self.shares[number / self.each].environments[number % self.each].set_scenario(scenario)
    }

    /// Takes the actions of a step, and checks them, but those of the environments that `skip` names.
    ///
    /// # Errors
    /// The first environment whose action lies outside, or that has no episode under way.
    pub fn check(&mut self, actions: &[f64], skip: &[usize]) -> Result<(), (usize, StepError)> {
        let mut shares = self.shares.iter_mut().zip(actions.chunks(self.each * self.width));
        shares.try_for_each(|(share, actions)| share.take(actions, skip))
    }

    /// A step of each environment, but of those that `skip` names; `actions` lie side by side. All actions are checked before the first
    /// step is taken.
    ///
    /// # Errors
    /// The first environment that fails, and why.
    pub fn step(&mut self, actions: &[f64], skip: &[usize]) -> Result<(), (usize, StepError)> {
        self.check(actions, skip)?;
        let Some((first, others)) = self.shares.split_first_mut() else { return Ok(()) };
        for (share, worker) in others.iter_mut().zip(&self.workers) {
            worker.give(mem::take(share));
        }
        first.step();
        for (share, worker) in others.iter_mut().zip(&mut self.workers) {
            *share = worker.get();
        }
        self.gather();
        self.outcome()
    }

    /// The first error of the last step. The next step begins without any.
    fn outcome(&mut self) -> Result<(), (usize, StepError)> {
        let outcomes = self.shares.iter_mut().map(|share| mem::replace(&mut share.outcome, Ok(())));
        outcomes.fold(Ok(()), Result::and)
    }

    /// Lays the results of all shares side by side.
    fn gather(&mut self) {
        for share in &self.shares {
            let (first, count) = (share.first, share.environments.len());
            self.observations[first * self.size..][..count * self.size].copy_from_slice(&share.observations);
            self.rewards[first..][..count].copy_from_slice(&share.rewards);
            self.ends[first..][..count].copy_from_slice(&share.ends);
            self.values[first * VALUES.len()..][..count * VALUES.len()].copy_from_slice(&share.values);
        }
    }

    /// What the learners observe: for each environment its history, oldest step first.
    pub fn observations(&self) -> &[f32] {
        &self.observations
    }

    /// The rewards of the last steps.
    pub fn rewards(&self) -> &[f64] {
        &self.rewards
    }

    /// How the episodes stand, as numbers of [`End`].
    pub fn ends(&self) -> &[u8] {
        &self.ends
    }

    /// The reports of the last steps, in the order of [`VALUES`].
    pub fn values(&self) -> &[f64] {
        &self.values
    }
}

impl Drop for Vector {
    fn drop(&mut self) {
        // A fork has not the threads: it cannot wait for them, and a lock of their channels may be held for ever.
        if self.process != process::id() {
            mem::forget(mem::take(&mut self.workers));
        }
    }
}

/// Environments that one thread leads, with their actions and with what their steps give.
struct Share {
    /// The number of the first of them.
    first: usize,
    environments: Vec<Environment>,
    actions: Vec<f64>,
    skipped: Vec<bool>,
    observations: Vec<f32>,
    rewards: Vec<f64>,
    ends: Vec<u8>,
    values: Vec<f64>,
    outcome: Result<(), (usize, StepError)>,
}

/// Nothing, in the place of a share that is with its worker.
impl Default for Share {
    fn default() -> Self {
        Self {
            first: 0,
            environments: Vec::new(),
            actions: Vec::new(),
            skipped: Vec::new(),
            observations: Vec::new(),
            rewards: Vec::new(),
            ends: Vec::new(),
            values: Vec::new(),
            outcome: Ok(()),
        }
    }
}

impl Share {
    /// Takes the actions of a step, and checks them.
    fn take(&mut self, actions: &[f64], skip: &[usize]) -> Result<(), (usize, StepError)> {
        self.actions.copy_from_slice(actions);
        let width = actions.len() / self.environments.len();
        for (place, environment) in self.environments.iter().enumerate() {
            let number = self.first + place;
            self.skipped[place] = skip.contains(&number);
            if !self.skipped[place] {
                environment.check(&actions[place * width..][..width]).map_err(|error| (number, error))?;
            }
        }
        Ok(())
    }

    /// The step.
    fn step(&mut self) {
        let count = self.environments.len();
        let (width, size) = (self.actions.len() / count, self.observations.len() / count);
        for (place, environment) in self.environments.iter_mut().enumerate() {
            if self.skipped[place] {
                continue;
            }
            let action = &self.actions[place * width..][..width];
            match environment.step(action, &mut self.observations[place * size..][..size]) {
                Ok((reward, end)) => (self.rewards[place], self.ends[place]) = (reward, end as u8),
                Err(error) => {
                    self.outcome = Err((self.first + place, error));
                    return;
                }
            }
            environment.report().write(&mut self.values[place * VALUES.len()..][..VALUES.len()]);
        }
    }
}

/// A thread that takes the steps of a share, again and again: one for each step would cost more than the step.
struct Worker {
    /// `None` as it ends.
    shares: Option<Sender<Share>>,
    done: Receiver<Share>,
    thread: Option<JoinHandle<()>>,
}

impl Worker {
    fn new() -> Self {
        let (shares, taken) = channel::<Share>();
        let (finished, done) = channel();
        let thread = thread::spawn(move || {
            for mut share in taken {
                share.step();
                if finished.send(share).is_err() {
                    return;
                }
            }
        });
        Self { shares: Some(shares), done, thread: Some(thread) }
    }

    fn give(&self, share: Share) {
        // If the thread is gone, `get` says why.
        let _ = self.shares.as_ref().map(|shares| shares.send(share));
    }

    fn get(&mut self) -> Share {
        match self.done.recv() {
            Ok(share) => share,
            Err(_) => match self.thread.take().map(JoinHandle::join) {
                Some(Err(panic)) => std::panic::resume_unwind(panic),
                _ => panic!("the thread of a share ends with its vector"),
            },
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.shares = None;
        // A panic of the thread was shown where it happened.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Duration;
    use crate::learning::observation::FEATURES;
    use crate::learning::{ActionSpace, Every, Reward};
    use crate::scenario::read;

    #[test]
    fn errors_of_a_step_are_gone_with_the_first_of_them() {
        let text = "
            link = [{ name = 'l', between = ['a', 'b'], rate = '1 Mbit/s', delay = '5 ms' }]
            flow = [{ name = 'f', from = 'a', to = 'b' }]";
        let scenario = read::toml(text, "test").unwrap().scenario;
        let settings = Settings {
            flow: "f".to_owned(),
            step: Every::RoundTrips(0.5),
            action: ActionSpace::WindowSteps,
            features: vec![FEATURES[0].1],
            history: 1,
            reward: Reward::Aurora,
            episode: Duration::from_secs(10),
        };
        let mut vector = Vector::new(&scenario, &Arc::new(settings), 3, 3).unwrap();
        for number in 0..3 {
            vector.reset(number, 1).unwrap();
        }
        for (number, share) in vector.shares.iter_mut().enumerate().skip(1) {
            share.outcome = Err((number, StepError::NoEpisode));
        }
        assert!(matches!(vector.step(&[2.0; 3], &[]), Err((1, StepError::NoEpisode))));
        vector.step(&[2.0; 3], &[]).unwrap();
    }
}
