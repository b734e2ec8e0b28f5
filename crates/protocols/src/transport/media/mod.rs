//! Interactive media: packets like RTP's, feedback for each packet (RFC 8888), and congestion control that gives an encoder its rate.

pub mod control;
