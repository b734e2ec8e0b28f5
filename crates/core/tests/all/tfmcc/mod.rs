//! TFMCC over networks: the sender against a second model of its rules, how many receivers report, and its share beside TCP.

mod fairness;
mod groups;
mod model;
mod network;
mod replay;
