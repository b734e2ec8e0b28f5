//! RLC AM of profile `ns2`: against EURANE's traces, and what must hold whatever is lost.

mod cell;
mod event_for_event;
mod given_up;
mod whatever_is_lost;
