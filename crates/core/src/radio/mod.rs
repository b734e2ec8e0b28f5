//! Radio access: what lies between a radio network's last node and its terminals.
//!
//! A radio medium is made of five parts, each of which can be replaced and may be trivial:
//!
//! | part | question | here |
//! | --- | --- | --- |
//! | attachment | which point serves this terminal, when does that change, what becomes of packets? | `umts::rrc` |
//! | channel | how good is it now? | `channel` |
//! | rate map | what does that buy? | `umts::channels` |
//! | scheduler | who gets this slot? | `scheduler` |
//! | link ARQ | segmentation, retransmission, order | [`arq`], [`rlc`] |

pub mod arq;
pub mod rlc;
