//! An environment: a session, the agent in it, and the steps between decisions.

use std::sync::Arc;

use thiserror::Error;

use crate::engine::fault::shown;
use crate::engine::{Duration, Fault, Instant};
use crate::net::simulation::Progress;
use crate::net::{FlowId, RunError};
use crate::scenario::builder::BuildError;
use crate::scenario::diagnostic::listed;
use crate::scenario::registry::{Source, Transport};
use crate::scenario::session::Session;
use crate::scenario::types::{Record, Scenario};
use crate::transport::congestion::Congestion;
use crate::transport::media::control::MediaCongestion;

use super::action::{ActionSpace, Control};
use super::agent::Shared;
use super::every::Every;
use super::observation::{Feature, Report};
use super::reward::Reward;

/// What a learner decides, when, what it observes, and for which reward.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The flow that it leads.
    pub flow: String,
    /// The length of a step.
    pub step: Every,
    /// Its actions.
    pub action: ActionSpace,
    /// What it observes of each step.
    pub features: Vec<Feature>,
    /// How many steps it observes, the last one at the end.
    pub history: usize,
    /// Its reward.
    pub reward: Reward,
    /// How long after the flow's start an episode is broken off, if the scenario does not end before.
    pub episode: Duration,
}

/// How an episode stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum End {
    /// It goes on.
    None = 0,
    /// Its transfer is complete.
    Terminated = 1,
    /// Its time is over.
    Truncated = 2,
}

/// Why a step or a reset failed.
#[derive(Clone, Debug, Error)]
pub enum StepError {
    /// The action lies outside the space, with the instant.
    #[error("{0}")]
    Action(String, Instant),
    /// The simulation ended early.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The scenario cannot be built.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// There is no episode to go on with.
    #[error("reset() comes first: no episode is under way")]
    NoEpisode,
}

/// A scenario that a learner leads.
pub struct Environment {
    settings: Arc<Settings>,
    scenario: Scenario,
    shared: Shared,
    control: Control,
    report: Report,
    episode: Option<Episode>,
}

/// An episode under way.
struct Episode {
    session: Session,
    /// The flow, if its one transfer ends the episode.
    transfer: Option<FlowId>,
    end: Instant,
}

impl Environment {
    /// An environment of a scenario that passed the checks.
    ///
    /// # Errors
    /// If the flow cannot be led.
    pub fn new(scenario: &Scenario, settings: Arc<Settings>) -> Result<Self, Fault> {
        let shared = Shared::default();
        let scenario = seated(scenario, &settings.flow, &shared)?;
        let report = Report::new(&shared.get(), Instant::ZERO);
        Ok(Self { settings, scenario, shared, control: Control::default(), report, episode: None })
    }

    /// Takes another scenario, from the next episode on.
    ///
    /// # Errors
    /// If the flow cannot be led.
    pub fn set_scenario(&mut self, scenario: &Scenario) -> Result<(), Fault> {
        self.scenario = seated(scenario, &self.settings.flow, &self.shared)?;
        Ok(())
    }

    /// Begins an episode: up to the flow's first acknowledgement of data, or 3 s after its start, when a SYN has been sent again and was
    /// lost again (RFC 6298 §2.1 and §5.5). `observation` becomes that of this first step, with nothing before it.
    ///
    /// # Errors
    /// A scenario that cannot be built, or a run that ended early.
    pub fn reset(&mut self, seed: u64, observation: &mut [f32]) -> Result<(), StepError> {
        self.episode = None;
        *self.shared.get() = Default::default();
        let mut session = Session::new(&self.scenario, seed, None)?;
        let flow = self.scenario.flow.iter().find(|flow| flow.label() == self.settings.flow);
        let start = Instant::ZERO + flow.map_or(Duration::ZERO, |flow| flow.start);
        let one_file = flow.is_some_and(|flow| matches!(flow.source, Source::File(_)));
        let transfer = session.flow(&self.settings.flow).filter(|_| one_file);
        let end = session.end().min(start + self.settings.episode);
        advance(&mut session, start.min(end))?;
        self.shared.get().begin(session.now());
        let limit = (start + Duration::from_secs(3)).min(end);
        advance_by_acks(&mut session, &self.shared, 1, limit)?;
        self.control = self.settings.action.start(&self.shared.get());
        self.episode = Some(Episode { session, transfer, end });
        observation.fill(0.0);
        self.observe(observation);
        Ok(())
    }

    /// Whether an action lies within the space.
    ///
    /// # Errors
    /// [`StepError::Action`], and [`StepError::NoEpisode`].
    pub fn check(&self, action: &[f64]) -> Result<(), StepError> {
        let episode = self.episode.as_ref().ok_or(StepError::NoEpisode)?;
        self.settings.action.check(action).map_err(|message| StepError::Action(message, episode.session.now()))
    }

    /// Applies an action that was checked, goes on to the next decision, and observes. At its end an episode is over.
    ///
    /// # Errors
    /// [`StepError::NoEpisode`], and a run that ended early.
    pub fn step(&mut self, action: &[f64], observation: &mut [f32]) -> Result<(f64, End), StepError> {
        let Some(Episode { session, transfer, end }) = &mut self.episode else { return Err(StepError::NoEpisode) };
        let now = session.now();
        let srtt = {
            let mut interval = self.shared.get();
            self.settings.action.apply(&mut self.control, action, &interval);
            interval.decision = self.settings.action.decision(&self.control);
            interval.begin(now);
            // As before the first round-trip time (RFC 6298 §2.1).
            if interval.srtt > Duration::ZERO { interval.srtt } else { Duration::from_secs(1) }
        };
        let step = match self.settings.step {
            Every::Time(time) => Ok(time),
            Every::RoundTrips(share) => Ok(srtt.mul_f64(share).max(LEAST_STEP)),
            Every::Acks(count) => Err(count),
        };
        let outcome = match step {
            Ok(time) => advance(session, (now + time).min(*end)),
            Err(count) => advance_by_acks(session, &self.shared, count, (now + longest_wait(srtt)).min(*end)),
        };
        let complete =
            |flow: FlowId| session.simulation().transfers(flow).first().is_some_and(|one| one.acked.is_some());
        let end = match (transfer.is_some_and(complete), session.now() >= *end) {
            (true, _) => End::Terminated,
            (_, true) => End::Truncated,
            _ => End::None,
        };
        if outcome.is_ok() {
            self.observe(observation);
        }
        if end != End::None || outcome.is_err() {
            self.episode = None;
        }
        outcome?;
        Ok((self.settings.reward.of(&self.report), end))
    }

    /// The report of the last step.
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// Takes the report of the interval, and writes the newest observation behind the older ones.
    fn observe(&mut self, observation: &mut [f32]) {
        let Some(episode) = &self.episode else { return };
        self.report = Report::new(&self.shared.get(), episode.session.now());
        let width = self.settings.features.len();
        let before = observation.len() - width;
        observation.copy_within(width.., 0);
        for (value, feature) in observation[before..].iter_mut().zip(&self.settings.features) {
            *value = feature(&self.report) as f32;
        }
    }
}

/// The least length of a step that is a share of a round trip.
const LEAST_STEP: Duration = Duration::from_micros(1);

/// How long a step lasts that waits for acknowledgements: four round trips, and at least the least RTO (RFC 6298 §2.4).
fn longest_wait(srtt: Duration) -> Duration {
    (srtt * 4).max(Duration::from_secs(1))
}

fn advance(session: &mut Session, until: Instant) -> Result<(), RunError> {
    while session.advance_to(until, u64::MAX)? == Progress::Paused {}
    Ok(())
}

/// Goes on until a number of acknowledgements have come, event by event.
fn advance_by_acks(session: &mut Session, shared: &Shared, count: u64, until: Instant) -> Result<(), RunError> {
    while shared.get().acks < count && session.advance_to(until, 1)? == Progress::Paused {}
    Ok(())
}

/// The scenario with an agent in the place of the flow's congestion control, and without tables.
fn seated(scenario: &Scenario, name: &str, shared: &Shared) -> Result<Scenario, Fault> {
    let mut scenario = Scenario { record: Record { transfers: false, ..Record::default() }, ..scenario.clone() };
    let profile = scenario.profile;
    let names: Vec<String> = scenario.flow.iter().map(|flow| flow.label()).collect();
    let Some(place) = names.iter().position(|one| one == name) else {
        let expected = format!("known: {}", listed(names.iter().map(String::as_str)));
        return Err(Fault::new("flow", format!("there is no flow {}", shown(name)), expected));
    };
    for (flow, name) in scenario.flow.iter().zip(&names) {
        let in_python = match &flow.transport {
            Transport::Tcp(tcp) => matches!(tcp.congestion, Some(Congestion::Python(_))),
            Transport::Media(media) => matches!(media.congestion, MediaCongestion::Python(_)),
            _ => false,
        };
        if in_python {
            let message = format!("flow {} has a controller in Python", shown(name));
            return Err(Fault::new("flow", message, "beside a learner there are built-in controls only"));
        }
    }
    let flow = &mut scenario.flow[place];
    if [&flow.from, &flow.to].into_iter().any(|end| end.contains('[') && (end.contains('*') || end.contains(':'))) {
        let message = format!("{} stands for several flows", shown(name));
        return Err(Fault::new(
            "flow",
            message,
            "a learner leads one: write a flow to one terminal, such as cell.ue[0]",
        ));
    }
    match &mut flow.transport {
        Transport::Tcp(tcp) if !tcp.is_ns2(profile) && !tcp.is_linux(profile) => {
            tcp.congestion = Some(Congestion::custom("learner", Arc::new(shared.clone())));
            Ok(scenario)
        }
        Transport::Tcp(tcp) => Err(Fault::new(
            "flow",
            format!(
                "flow {} has {}, whose window cannot be led",
                shown(name),
                if tcp.is_ns2(profile) { "ns-2's TCP" } else { "the Linux kernel's TCP" }
            ),
            "expected profile \"rfc\"",
        )),
        _ => {
            Err(Fault::new("flow", format!("flow {} has no congestion window", shown(name)), "expected transport tcp"))
        }
    }
}
