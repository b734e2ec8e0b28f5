//! Learners: a scenario in which the window and the rate of one TCP flow are set from outside, step by step.
//!
//! An [`Environment`] is a [`Session`](crate::scenario::session::Session) with an [`agent`] in the place of the flow's congestion control. The agent
//! decides nothing: it holds the last decision, and gathers a [monitor interval](interval). At the end of each step that becomes a [`Report`],
//! from which come the [features](observation::FEATURES) that the learner observes and its [`Reward`]. A [`Vector`] is several environments.
//!
//! Which segments are lost, and which are sent again, stays with the transport. No learning takes place here.

pub mod action;
pub mod agent;
pub mod environment;
pub mod every;
pub mod interval;
pub mod observation;
pub mod reward;
pub mod vector;

pub use action::ActionSpace;
pub use environment::{End, Environment, Settings, StepError};
pub use every::Every;
pub use observation::Report;
pub use reward::Reward;
pub use vector::Vector;
