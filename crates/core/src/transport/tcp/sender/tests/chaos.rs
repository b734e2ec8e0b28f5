//! Any pattern of losses.
