//! Channel switching as EURANE, the UMTS extension of ns-2, does it (`tcs.cc`).
//!
//! Terminals start on dedicated channels. Each side looks at its backlog every 10 ms, and asks for
//! dedicated channels if it is much; then it looks away for 510 ms. Each side reports every 500 ms
//! how much it sent. If both sent little, a timer starts; if one sends much before it expires, it is
//! cancelled; when it expires the terminal goes to the common channels, and the timer starts
//! again by itself. A switch takes no time.

use std::collections::VecDeque;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use lasthop_net::engine::{Bytes, Duration, Instant};
use lasthop_net::net::Probe;
use lasthop_radio::radio::Direction;
use lasthop_radio::radio::attachment::{Attachment, Move, Service, Waiting};
use lasthop_radio::radio::umts::mapping::Transport;

use lasthop_radio::radio::umts::attachment::{AttachmentConfig, Cell};

/// Switching as in EURANE.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// What may wait at the RNC, rounded to 100 bytes, before it asks for dedicated channels.
    /// Default: 500 B.
    pub threshold: Bytes,
    /// What may wait at a terminal, the same. Default: 265 B.
    pub uplink_threshold: Bytes,
    /// How long both must have sent little. Default: 1 s.
    pub timer: Duration,
    /// What EURANE's scripts leave alone as a rule, and so do scenarios.
    #[serde(skip)]
    pub constants: Constants,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            threshold: Bytes::new(500),
            uplink_threshold: Bytes::new(265),
            timer: Duration::from_secs(1),
            constants: Constants::default(),
        }
    }
}

/// The other parameters of switching.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Constants {
    /// The time between two looks at the backlog (`BUFF_CHECK_INTERVAL_`).
    pub look: Duration,
    /// How much longer a side does not look after a request (`PENDING_TIME_AFTER_TRIGGER_`).
    pub pending: Duration,
    /// The time between two reports of the bits sent (`THP_REPORT_INTERVAL_`).
    pub report: Duration,
    /// Below this a side sent little, in units of 1024 bit/s (`DOWNSWITCH_THRESHOLD_`).
    pub low: u64,
    /// Above this a side sent much (`DOWNSWITCH_TIMER_THRESHOLD_`).
    pub high: u64,
}

impl Default for Constants {
    fn default() -> Self {
        let [look, pending, report] = [10, 500, 500].map(Duration::from_millis);
        Self { look, pending, report, low: 8, high: 16 }
    }
}

impl Constants {
    /// The rate of a side that sent this number of bits since the last report, in units of 1024 bit/s, rounded; half-way values down.
    fn rate(&self, bits: u64) -> u64 {
        ((bits as f64 / self.report.as_secs_f64()) as u64 + 511) / 1024
    }
}

impl AttachmentConfig for Config {
    fn build(&self, cell: &Cell) -> Box<dyn Attachment> {
        let terminals = (0..cell.terminals).map(|_| Terminal::new(&self.constants)).collect();
        Box::new(Eurane { config: self.clone(), terminals, moves: VecDeque::new(), moved: [0; 2] })
    }

    fn maps_to(&self) -> &'static [Transport] {
        &[Transport::Fach, Transport::Rach, Transport::Cpch, Transport::Dch]
    }
}

/// From the report of the Node B until it is acted on.
const REPORT_DELAY: Duration = Duration::from_micros(5);
/// What the timer takes longer than it is set to.
const TIMER_DELAY: Duration = Duration::from_micros(10);

/// The attachment.
struct Eurane {
    config: Config,
    terminals: Vec<Terminal>,
    moves: VecDeque<Move>,
    /// Commands to the common and to dedicated channels.
    moved: [u64; 2],
}

/// The state of a terminal.
struct Terminal {
    service: Service,
    /// When each side looks next at its backlog, down and up.
    look: [Instant; 2],
    /// When the bits sent are judged next.
    judge: Instant,
    /// Bits that each side sent since the last report.
    sent: [u64; 2],
    /// When the terminal goes to the common channels.
    expires: Option<Instant>,
}

impl Terminal {
    fn new(constants: &Constants) -> Self {
        Self {
            service: Service::Dedicated,
            look: [Instant::ZERO + constants.look; 2],
            judge: Instant::ZERO + constants.report + REPORT_DELAY,
            sent: [0; 2],
            expires: None,
        }
    }

    fn next(&self) -> Instant {
        self.look[0].min(self.look[1]).min(self.judge).min(self.expires.unwrap_or(Instant::MAX))
    }
}

impl Eurane {
    fn command(&mut self, n: u32, service: Service) {
        // It is said again even if it changes nothing.
        self.moved[usize::from(service == Service::Dedicated)] += 1;
        self.terminals[n as usize].service = service;
        self.moves.push_back(Move { terminal: n, service });
    }

    /// A side looks at its backlog.
    fn look(&mut self, now: Instant, n: u32, direction: Direction, waiting: &dyn Waiting) {
        let unsent = waiting.unsent(n, direction);
        let bytes = unsent.sdus + unsent.unacknowledged;
        let threshold = match direction {
            Direction::Down => self.config.threshold,
            Direction::Up => self.config.uplink_threshold,
        };
        // Half-way values are rounded down.
        let much = (bytes + 49) / 100 * 100 > threshold.get();
        let Constants { look, pending, .. } = self.config.constants;
        self.terminals[n as usize].look[direction.index()] = now + look + if much { pending } else { Duration::ZERO };
        if much {
            self.command(n, Service::Dedicated);
        }
    }

    /// What both sides reported is judged.
    fn judge(&mut self, now: Instant, n: u32) {
        let terminal = &mut self.terminals[n as usize];
        let constants = &self.config.constants;
        terminal.judge = now + constants.report;
        let rates = terminal.sent.map(|bits| constants.rate(bits));
        terminal.sent = [0; 2];
        match terminal.expires {
            None if rates.iter().all(|rate| *rate < constants.low) => {
                terminal.expires = Some(now + self.config.timer + TIMER_DELAY);
            }
            Some(_) if rates.iter().any(|rate| *rate > constants.high) => terminal.expires = None,
            _ => {}
        }
    }
}

impl Attachment for Eurane {
    fn service(&self, terminal: u32) -> Service {
        self.terminals[terminal as usize].service
    }

    fn on_backlog(&mut self, _now: Instant, _terminal: u32, _direction: Direction, _waiting: &dyn Waiting) {}

    fn on_sent(&mut self, _now: Instant, terminal: u32, direction: Direction, bits: u32) {
        self.terminals[terminal as usize].sent[direction.index()] += u64::from(bits);
    }

    /// `TrChMeasurer` of the downlink stands at the Node B: it counts PDUs as they come there, and passes them on to one channel or the other.
    fn chooses_at_node_b(&self) -> bool {
        true
    }

    fn on_timeout(&mut self, now: Instant, waiting: &dyn Waiting) {
        for n in 0..self.terminals.len() as u32 {
            for direction in Direction::BOTH {
                if self.terminals[n as usize].look[direction.index()] <= now {
                    self.look(now, n, direction, waiting);
                }
            }
            if self.terminals[n as usize].judge <= now {
                self.judge(now, n);
            }
            let terminal = &mut self.terminals[n as usize];
            if terminal.expires.is_some_and(|at| at <= now) {
                terminal.expires = Some(now + self.config.timer + TIMER_DELAY);
                self.command(n, Service::Common);
            }
        }
    }

    fn next_timeout(&self) -> Option<Instant> {
        self.terminals.iter().map(Terminal::next).min()
    }

    fn poll(&mut self) -> Option<Move> {
        self.moves.pop_front()
    }

    fn sample(&self, _now: Instant, probe: &mut dyn Probe) {
        let dedicated = self.terminals.iter().filter(|terminal| terminal.service == Service::Dedicated).count();
        probe.value("dedicated", dedicated as f64);
        probe.value("commands_down", self.moved[0] as f64);
        probe.value("commands_up", self.moved[1] as f64);
    }

    fn sample_terminal(&self, _now: Instant, _terminal: u32, _probe: &mut dyn Probe) {}
}
