//! Several environments that take their steps in one call, on several threads if asked.

use std::thread;

use crate::engine::Fault;
use crate::scenario::types::Scenario;

use super::environment::{End, Environment, Settings, StepError};
use super::observation::VALUES;

use std::sync::Arc;

/// Environments of the same settings, with what their last steps gave, side by side.
pub struct Vector {
    environments: Vec<Environment>,
    threads: usize,
    width: usize,
    size: usize,
    observations: Vec<f32>,
    rewards: Vec<f64>,
    ends: Vec<u8>,
    values: Vec<f64>,
}

/// One environment, with the places for what its step gives.
struct Place<'v> {
    number: usize,
    environment: &'v mut Environment,
    action: &'v [f64],
    observation: &'v mut [f32],
    reward: &'v mut f64,
    end: &'v mut u8,
    values: &'v mut [f64],
}

impl Vector {
    /// `count` environments of a scenario, whose steps `threads` threads share.
    ///
    /// # Errors
    /// If the flow cannot be led.
    pub fn new(scenario: &Scenario, settings: &Arc<Settings>, count: usize, threads: usize) -> Result<Self, Fault> {
        let environments: Result<Vec<_>, _> =
            (0..count).map(|_| Environment::new(scenario, Arc::clone(settings))).collect();
        let size = settings.history * settings.features.len();
        Ok(Self {
            environments: environments?,
            threads: threads.clamp(1, count.max(1)),
            width: settings.action.width(),
            size,
            observations: vec![0.0; count * size],
            rewards: vec![0.0; count],
            ends: vec![End::None as u8; count],
            values: vec![0.0; count * VALUES.len()],
        })
    }

    /// Begins an episode of environment `number`, with another scenario if there is one.
    ///
    /// # Errors
    /// See [`Environment::reset`].
    ///
    /// # Panics
    /// If there is no environment of this number.
    pub fn reset(&mut self, number: usize, seed: u64) -> Result<(), StepError> {
        let environment = &mut self.environments[number];
        environment.reset(seed, &mut self.observations[number * self.size..][..self.size])?;
        environment.report().write(&mut self.values[number * VALUES.len()..][..VALUES.len()]);
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
        self.environments[number].set_scenario(scenario)
    }

    /// A step of each environment, but of those that `skip` names; `actions` lie side by side. All actions are checked before the first
    /// step is taken.
    ///
    /// # Errors
    /// The first environment that fails, and why.
    pub fn step(&mut self, actions: &[f64], skip: &[usize]) -> Result<(), (usize, StepError)> {
        let actions = actions.chunks_exact(self.width);
        let observations = self.observations.chunks_exact_mut(self.size);
        let values = self.values.chunks_exact_mut(VALUES.len());
        let outcomes = self.rewards.iter_mut().zip(&mut self.ends);
        let mut places: Vec<Place<'_>> = Vec::with_capacity(self.environments.len());
        let all = self.environments.iter_mut().zip(actions).zip(observations).zip(values).zip(outcomes).enumerate();
        for (number, ((((environment, action), observation), values), (reward, end))) in all {
            if !skip.contains(&number) {
                environment.check(action).map_err(|error| (number, error))?;
                places.push(Place { number, environment, action, observation, reward, end, values });
            }
        }
        if self.threads == 1 {
            return step_each(&mut places);
        }
        let share = places.len().div_ceil(self.threads).max(1);
        thread::scope(|scope| {
            let mut shares = places.chunks_mut(share);
            // This thread takes the first share.
            let first = shares.next();
            let others: Vec<_> = shares.map(|share| scope.spawn(|| step_each(share))).collect();
            let mut outcomes = vec![first.map_or(Ok(()), step_each)];
            outcomes.extend(others.into_iter().map(|other| match other.join() {
                Ok(outcome) => outcome,
                Err(panic) => std::panic::resume_unwind(panic),
            }));
            outcomes.into_iter().collect()
        })
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

fn step_each(places: &mut [Place<'_>]) -> Result<(), (usize, StepError)> {
    for place in places {
        let outcome = place.environment.step(place.action, place.observation);
        let (reward, end) = outcome.map_err(|error| (place.number, error))?;
        (*place.reward, *place.end) = (reward, end as u8);
        place.environment.report().write(place.values);
    }
    Ok(())
}
