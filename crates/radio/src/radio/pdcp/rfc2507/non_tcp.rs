//! Packet streams that are not TCP (RFC 2507 §3.3): compressed headers change no context, so a loss costs no other
//! packet, unless it is that of a full header which changed the context. Then all are lost until the next full one: they are
//! repeated at first after 1, 2, 4, … compressed ones.

use lasthop_net::engine::{Duration, Instant};

use super::Config;
use super::coded::Form;
use super::contexts::Contexts;
use super::headers::{OtherFields, Stream};

/// A compressor's context, with the variables of §3.3.3.
#[derive(Clone, Copy, Debug)]
struct Context {
    fields: OtherFields,
    generation: u8,
    /// C_NUM: compressed headers since the last full one.
    c_num: u32,
    /// F_PERIOD: how many there may be.
    f_period: u32,
    /// F_LAST: when the last full header was sent.
    f_last: Instant,
}

/// Codes the headers that an end sends.
#[derive(Debug)]
pub(super) struct Compressor {
    contexts: Contexts<Context>,
    f_max_period: u32,
    f_max_time: Duration,
}

/// Generations are counted modulo this (§6).
const GENERATIONS: u8 = 64;

impl Compressor {
    pub fn new(config: &Config) -> Self {
        Self {
            contexts: Contexts::new(config.non_tcp_space),
            f_max_period: config.f_max_period,
            f_max_time: config.f_max_time,
        }
    }

    /// The rules for sending full headers (§3.3.3).
    pub fn code(&self, now: Instant, stream: Stream, fields: OtherFields) -> (u16, Form) {
        let (cid, context) = self.contexts.find(stream);
        let form = match context {
            Some(context) if context.fields != fields => Form::Full { generation: next(context.generation) },
            Some(context) if context.c_num >= context.f_period || now > context.f_last + self.f_max_time => {
                Form::Full { generation: context.generation }
            }
            Some(context) => Form::NonTcp { generation: context.generation },
            // The generation goes on where another stream had the identifier.
            None => Form::Full { generation: self.contexts.get(cid).map_or(0, |former| next(former.generation)) },
        };
        (cid, form)
    }

    pub fn sent(&mut self, now: Instant, cid: u16, stream: Stream, fields: OtherFields, form: Form) {
        let known = self.contexts.find(stream).1.filter(|context| context.fields == fields);
        let context = match (known, form) {
            (Some(context), Form::Full { .. }) => {
                let by_number = context.c_num >= context.f_period;
                let f_period = if by_number { (2 * context.f_period).min(self.f_max_period) } else { context.f_period };
                Context { c_num: 0, f_period, f_last: now, ..*context }
            }
            (Some(context), _) => Context { c_num: context.c_num + 1, ..*context },
            (None, Form::Full { generation }) => Context { fields, generation, c_num: 0, f_period: 1, f_last: now },
            (None, _) => unreachable!("only a full header begins a context"),
        };
        self.contexts.set(cid, stream, context);
    }
}

fn next(generation: u8) -> u8 {
    (generation + 1) % GENERATIONS
}

/// Gets back the headers that the far end sent.
#[derive(Debug, Default)]
pub(super) struct Decompressor {
    contexts: Vec<Option<(Stream, u8)>>,
}

impl Decompressor {
    /// Whether a header can be got back: its generation is that of the context, and the stream is the right one
    /// (else UDP's checksum fails).
    pub fn receive(&mut self, cid: u16, stream: Stream, form: Form) -> bool {
        let cid = usize::from(cid);
        match form {
            Form::Full { generation } => {
                if self.contexts.len() <= cid {
                    self.contexts.resize(cid + 1, None);
                }
                self.contexts[cid] = Some((stream, generation));
                true
            }
            Form::NonTcp { generation } => self.contexts.get(cid).copied().flatten() == Some((stream, generation)),
            Form::Regular | Form::Delta(_) | Form::NoDelta => true,
        }
    }
}
