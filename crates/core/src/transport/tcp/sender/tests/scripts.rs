//! Packets in and out with times.
