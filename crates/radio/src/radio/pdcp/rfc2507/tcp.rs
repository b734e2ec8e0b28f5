//! TCP streams (RFC 2507 §3.2, §10): each compressed header has the changes since the one before, so a loss
//! makes all that follow wrong, which TCP's checksum tells. The decompressor mends it with the "twice" algorithm, or asks
//! for a header; the compressor sends a full one when it sees that TCP retransmits.

use lasthop_net::engine::{Duration, Instant};

use super::ContextLost;
use super::coded::{Delta, Form, Numbers};
use super::contexts::Contexts;
use super::headers::{Stream, TcpFields};

/// A compressor's context.
#[derive(Clone, Copy, Debug)]
struct Context {
    /// Of the last header sent.
    fields: TcpFields,
    /// By how many bits windows are scaled on the wire (RFC 7323 §2.2).
    shift: u8,
    /// The far end has asked for a header.
    asked: bool,
    /// A request was answered without a full header since the last one.
    answered: bool,
}

/// Codes the headers that an end sends.
#[derive(Debug)]
pub(super) struct Compressor {
    contexts: Contexts<Context>,
}

impl Compressor {
    pub fn new(tcp_space: u32) -> Self {
        Self { contexts: Contexts::new(tcp_space) }
    }

    pub fn code(&self, stream: Stream, fields: &TcpFields) -> (u16, Form) {
        let (cid, context) = self.contexts.find(stream);
        let delta = context.and_then(|context| context.delta(fields));
        let form = match (context, delta) {
            (Some(Context { asked: true, answered: false, .. }), Some(_)) => Form::NoDelta,
            (Some(Context { asked: false, .. }), Some(delta)) => Form::Delta(delta),
            // What the context cannot say, and a second request without a full header since.
            _ => Form::Full { generation: 0 },
        };
        (cid, form)
    }

    pub fn sent(&mut self, cid: u8, stream: Stream, fields: &TcpFields, form: Form) {
        let known = self.contexts.find(stream).1.copied();
        let shift = known.map_or_else(|| shift(fields.window), |context| context.shift);
        let answered = match form {
            Form::Full { .. } => false,
            Form::NoDelta => true,
            _ => known.is_some_and(|context| context.answered),
        };
        self.contexts.set(cid.into(), stream, Context { fields: *fields, shift, asked: false, answered });
    }

    /// The far end asks for a header (§10.2).
    pub fn on_request(&mut self, cid: u8) {
        if let Some(context) = self.contexts.get_mut(cid.into()) {
            context.asked = true;
        }
    }
}

impl Context {
    /// What of the next header of the stream differs; `None` if that has to be a full one.
    fn delta(&self, next: &TcpFields) -> Option<Delta> {
        let last = &self.fields;
        let unchanged = last.dscp == next.dscp && last.flags == next.flags && last.options.bytes == next.options.bytes;
        if !unchanged {
            return None;
        }
        // What grows by more than 2¹⁶ - 1 or shrinks, as in a retransmission, is not coded.
        let growth = |from: u32, to: u32| u16::try_from(to.wrapping_sub(from)).ok();
        let (seq, ack) = (growth(last.seq, next.seq)?, growth(last.ack, next.ack)?);
        let window = next.window.wrapping_sub(last.window);
        let options = last.options != next.options;
        let reserved = last.reserved != next.reserved || last.ecn != next.ecn;
        let behind_acknowledgement = last.payload == 0 && next.payload > 0;
        if seq == 0 && ack == 0 && window == 0 && !options && !reserved && !behind_acknowledgement {
            // A repetition, or a probe: the far end may have missed the one before (RFC 1144 §3.2.3).
            return None;
        }
        let numbers = match u32::from(seq) == last.payload && window == 0 && seq > 0 {
            true if ack == 0 => Numbers::Data,
            true if ack == seq => Numbers::Echoed,
            _ => Numbers::Plain { seq, ack },
        };
        let written_window = self.scaled(next.window).wrapping_sub(self.scaled(last.window));
        let id = next.id.wrapping_sub(last.id);
        Some(Delta { numbers, window, written_window, id, options, reserved })
    }

    /// A window as it is written.
    fn scaled(&self, window: u32) -> u16 {
        (window >> self.shift).min(u16::MAX.into()) as u16
    }
}

/// The scale of a connection whose first window is this: the least with which it fits.
fn shift(window: u32) -> u8 {
    (0..MOST_SHIFT).find(|shift| window >> shift <= u16::MAX.into()).unwrap_or(MOST_SHIFT)
}

/// RFC 7323 §2.3.
const MOST_SHIFT: u8 = 14;

/// Gets back the headers that the far end sent.
#[derive(Debug, Default)]
pub(super) struct Decompressor {
    contexts: Vec<Option<Received>>,
    /// When each context was last asked for.
    asked: Vec<Option<Instant>>,
}

/// A decompressor's context.
#[derive(Clone, Copy, Debug)]
struct Received {
    stream: Stream,
    fields: TcpFields,
    /// Whether headers can be got back with it.
    valid: bool,
}

/// How a header was got back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Receivers {
    /// As it was coded.
    AsSent,
    /// By the "twice" algorithm.
    Twice,
}

/// How long the answer to a request is awaited before it is asked for again. RFC 2507 §10.2 wants requests limited, and
/// names no time; this is a few round trips of the radio.
const REQUEST_AGAIN: Duration = Duration::from_millis(500);

impl Decompressor {
    pub fn receive(
        &mut self,
        now: Instant,
        cid: u8,
        stream: Stream,
        sent: &TcpFields,
        form: Form,
    ) -> Result<Receivers, ContextLost> {
        let place = usize::from(cid);
        if self.contexts.len() <= place {
            self.contexts.resize(place + 1, None);
            self.asked.resize(place + 1, None);
        }
        let context = &mut self.contexts[place];
        let known = context.as_ref().filter(|context| context.stream == stream);
        let got = match form {
            Form::Delta(delta) => known.filter(|context| context.valid).and_then(|context| {
                let once = context.fields.with(&delta, &context.fields, sent);
                if once.passes_checksum(sent) {
                    return Some((once, Receivers::AsSent));
                }
                // §10.1: as if the lost header had changed as much as this one.
                let twice = once.with(&delta, &context.fields, sent);
                twice.passes_checksum(sent).then_some((twice, Receivers::Twice))
            }),
            // Ports come from the context.
            Form::NoDelta => known.map(|_| (*sent, Receivers::AsSent)),
            Form::Full { .. } | Form::Regular | Form::NonTcp { .. } => Some((*sent, Receivers::AsSent)),
        };
        if let Some((fields, got)) = got {
            *context = Some(Received { stream, fields, valid: true });
            self.asked[place] = None;
            return Ok(got);
        }
        if let Some(context) = context {
            context.valid = false;
        }
        let asks = self.asked[place].is_none_or(|at| now >= at + REQUEST_AGAIN);
        if asks {
            self.asked[place] = Some(now);
        }
        Err(ContextLost { request: asks.then_some(cid) })
    }
}

impl TcpFields {
    /// These fields after a change. `before` is the header that data-sized changes are taken from; `sent` has the fields that are sent as
    /// they are.
    fn with(&self, delta: &Delta, before: &Self, sent: &Self) -> Self {
        let (seq, ack) = match delta.numbers {
            Numbers::Plain { seq, ack } => (seq.into(), ack.into()),
            Numbers::Data => (before.payload, 0),
            Numbers::Echoed => (before.payload, before.payload),
        };
        Self {
            id: self.id.wrapping_add(delta.id),
            seq: self.seq.wrapping_add(seq),
            ack: self.ack.wrapping_add(ack),
            window: self.window.wrapping_add(delta.window),
            options: if delta.options { sent.options } else { self.options },
            reserved: if delta.reserved { sent.reserved } else { self.reserved },
            ecn: if delta.reserved { sent.ecn } else { self.ecn },
            payload: sent.payload,
            ..*self
        }
    }
}
