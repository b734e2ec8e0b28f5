//! The inner process: hosts, programs, and the loop that waits for packets and for what the network does next.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration as WallDuration;

use lasthop_core::engine::{Duration, Instant};
use lasthop_core::measure::table::Table;
use lasthop_core::net::simulation::Progress;
use lasthop_core::scenario::session::Session;
use rustix::event::epoll;
use rustix::event::{EventfdFlags, eventfd};
use rustix::io::Errno;
use rustix::mount::{MountFlags, MountPropagationFlags, mount, mount_change};
use rustix::thread::{CapabilitySet, set_current_timer_slack};
use rustix::time::{TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create, timerfd_settime};

use super::clock::{Monotonic, cpu_seconds};
use super::host::{Drops, Namespace};
use super::program::{Running, drop_capabilities, warn_of_shared_variables};
use super::sys;
use super::tun::{INTERFACE, Tun};
use crate::bridge::Host;
use crate::capture::Capture;
use crate::clock::Clock;
use crate::limit::Limit;
use crate::plan::Plan;
use crate::recording::{self, Recorder};
use crate::results::{self, Verdict, Wall};
use crate::turn::{Ended, LiveError, Show, Turns};

/// How long programs that are asked to end may take for it.
const PATIENCE: WallDuration = WallDuration::from_secs(1);

/// The exit code of a strict run that was late.
const LATE: i32 = 3;

/// The exit code of a run that failed on its way: a recording or a capture could not be written, or a host's interface went away.
const FAILED: i32 = 1;

/// The loop begins a turn at least this often. So a bridge that does not get the processor notices it, also where the network has nothing to do; a
/// signal that comes just before the loop waits is heard; and orphans of programs do not pile up.
const HEARTBEAT: Duration = Duration::from_millis(10);

/// How often processes that have lost their parent are looked for: this process is their new one.
const ORPHANS: Duration = Duration::from_secs(1);

/// For how long the load of simulated flows is measured, in simulated and in wall time at most.
const COMPANY: Duration = Duration::from_secs(2);

/// The share of a core that simulated flows may take without a word.
const MUCH_COMPANY: f64 = 0.5;

const NO_WAIT: Timespec = Timespec { tv_sec: 0, tv_nsec: 0 };

/// A live run that was.
pub struct Outcome {
    /// Its exit code: that of the plan's own program; 1 if the recording or the capture could not be written.
    pub code: i32,
    /// Whether its figures can be trusted.
    pub verdict: Verdict,
    /// Its tables.
    pub tables: Vec<(&'static str, Table)>,
    /// How long it was, in simulated time.
    pub virtual_time: Duration,
    /// Transmissions that ended at the far side of a link.
    pub packet_hops: u64,
}

/// Runs the plan. Snapshots go to `show`.
///
/// # Errors
/// A sentence.
pub fn run(mut plan: Plan, show: Option<Show>) -> Result<Outcome, String> {
    let said = |what: &'static str| move |error: io::Error| format!("{what}: {error}");
    // The first process of a namespace gets no signals that it does not handle.
    sys::hear_signals();
    // What is mounted here stays here.
    mount_change("/", MountPropagationFlags::REC | MountPropagationFlags::PRIVATE)
        .map_err(|error| format!("mounts cannot be made private: {error}"))?;
    // Programs see their own processes; where the system's /proc is partly covered, the old one stays.
    let _ = mount("proc", "/proc", "proc", MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC, None);

    let mut devices = Vec::new();
    let mut drops = Vec::new();
    let mut congestion = Vec::new();
    let mut files = Vec::new();
    for (host, interface) in plan.hosts.iter_mut().zip(&plan.interfaces) {
        let namespace = Namespace::new(host, interface)?;
        host.addresses.clone_from(&namespace.addresses);
        congestion.push(format!("{} {}", host.node, namespace.congestion));
        files.push(namespace.file.try_clone().map_err(said("namespace"))?);
        let (tun, count) = namespace.split();
        devices.push(tun);
        drops.push(count);
    }
    let mut bridge = plan.bridge()?;
    let bell =
        eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK).map_err(|error| format!("eventfd: {error}"))?;
    let mut programs = Vec::new();
    for program in std::mem::take(&mut plan.programs) {
        let bell = bell.try_clone().map_err(said("eventfd"))?;
        let name = program.words[0].clone();
        let (number, host) = (program.host, plan.hosts[program.host].node.clone());
        let running = Running::prepare(program, &files[number], &plan.hosts, bell)
            .map_err(|error| format!("host \"{host}\" cannot be entered for {name}: {error}"))?;
        programs.push((name, running));
    }
    let realtime = plan.options.realtime.then(sys::be_realtime);
    if let Some(Err(error)) = &realtime {
        eprintln!("warning: no real-time priority: {error}; the run goes on without");
    }
    // Root writes results into folders of others too.
    drop_capabilities(CapabilitySet::DAC_OVERRIDE).map_err(said("capabilities cannot be dropped"))?;
    warn_of_company(&plan);
    warn_of_shared_variables(&plan.hosts);

    let late = plan.scenario.live.late;
    if let Some(path) = &plan.options.pcap {
        let capture = Capture::new(path, &plan.hosts).map_err(|error| error.to_string())?;
        bridge.capture(capture);
    }
    let recorder = match &plan.options.record {
        Some(folder) => {
            let about = recording::about_run(&plan.scenario, plan.hosts.clone());
            Some(Recorder::new(folder, about).map_err(|error| error.to_string())?)
        }
        None => None,
    };
    set_current_timer_slack(std::num::NonZeroU64::new(1)).map_err(|error| format!("timer slack: {error}"))?;
    let clock = Monotonic::start();
    let cpu_before = cpu_seconds();
    let mut refused = None;
    for (name, running) in &mut programs {
        if let Err(error) = running.start() {
            eprintln!("{name}: {error}");
            refused = Some(running.code().unwrap_or(126));
            break;
        }
    }
    let mut turns = Turns::new(clock, devices, bridge, late, plan.options.strict, recorder);
    if let Some(show) = show {
        turns.watch(cpu_seconds, show);
    }
    let outcome = match refused {
        Some(code) => Ok(Some(code)),
        None => serve(&mut turns, clock, &bell, &programs, plan.has_own_program),
    };
    let wall = clock.now();
    let cpu = cpu_seconds() - cpu_before;
    let mut gone = None;
    let code = match outcome {
        Ok(code) => code,
        Err(error @ (LiveError::Late(..) | LiveError::Waited(..))) => {
            eprintln!("{error}");
            Some(LATE)
        }
        // Which file and why is said below. The tables are there all the same.
        Err(LiveError::Unwritten) => Some(FAILED),
        Err(LiveError::Device(number, error)) => {
            let host = plan.hosts[number].node.clone();
            eprintln!("host \"{host}\": {INTERFACE} cannot be used any more: {error}");
            gone = Some(host);
            Some(FAILED)
        }
        Err(error) => return Err(error.to_string()),
    };
    if plan.has_own_program && plan.options.time.is_none() && turns.is_over() {
        eprintln!("the run ends after {}: --for lets one last longer", plan.scenario.duration);
    }
    let ended = turns.end().map_err(|error| error.to_string())?;
    // What programs send from now on is not of the run.
    let lost = lost(&plan, &mut drops);
    let signal = sys::asked_to_stop();
    let asked = clock.now();
    programs.iter().for_each(|(_, running)| running.ask_to_end());
    let mut last_code = None;
    for (_, running) in &programs {
        let passed = WallDuration::from_nanos(clock.now().since(asked).as_nanos());
        last_code = running.wait(PATIENCE.saturating_sub(passed));
    }
    // A run that a signal ended is not one whose program did well, unless that says so itself: it is the last one.
    let of_signal = signal.filter(|_| plan.has_own_program).map(|signal| last_code.unwrap_or(128 + signal));
    let mut code = code.or(of_signal).unwrap_or(0);
    let Ended { bridge, lateness, recorder, pace, devices, capture } = ended;
    drop(devices);
    let verdict = match gone {
        Some(host) => Verdict::Gone(host),
        None => Verdict::of(&lateness, late, &lost, bridge.refused()).or_waited(pace.waited, pace.longest_wait),
    };
    let wall = Wall {
        wall_s: wall.as_secs_f64(),
        virtual_s: bridge.now().as_secs_f64(),
        turns: pace.turns,
        cpu_s: cpu,
        behind_s: pace.behind.as_secs_f64(),
        fell_behind: pace.fell_behind(),
        lost_before_the_bridge: lost.iter().map(|(_, packets)| packets).sum(),
        not_for_a_host: bridge.not_for_a_host(),
        refused: pace.refused,
        over_memory: bridge.refused(),
        realtime: matches!(realtime, Some(Ok(()))),
        kernel: rustix::system::uname().release().to_string_lossy().into_owned(),
        congestion: congestion.join(", "),
        verdict: verdict.to_string(),
    };
    let end = bridge.now();
    let packet_hops = bridge.session().simulation().core().counters().hops;
    let mut tables = results::tables(bridge, &lateness).map_err(|error| error.to_string())?;
    tables.push(("live", wall.table()));
    let recorded = recorder.map_or(Ok(()), |recorder| recorder.finish(end)).map_err(|error| error.to_string());
    for error in [capture.map_err(|error| error.to_string()), recorded].into_iter().filter_map(Result::err) {
        eprintln!("{error}");
        code = FAILED;
    }
    Ok(Outcome { code, verdict, tables, virtual_time: end.since(Instant::ZERO), packet_hops })
}

/// Turns until the plan's own program ends, or all programs, or the scenario, or a signal asks for it; gives that program's exit code.
fn serve(
    turns: &mut Turns<Monotonic, Tun>,
    clock: Monotonic,
    bell: &OwnedFd,
    programs: &[(String, Running)],
    has_own_program: bool,
) -> Result<Option<i32>, LiveError> {
    let failed = |error: Errno| LiveError::Wait(error.into());
    let poll = epoll::create(epoll::CreateFlags::CLOEXEC).map_err(failed)?;
    let timer =
        timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK).map_err(failed)?;
    const RUNG: u64 = 1;
    let devices = turns.devices().iter().map(|tun| (tun.as_fd(), 0));
    for (file, data) in devices.chain([(timer.as_fd(), 0), (bell.as_fd(), RUNG)]) {
        epoll::add(&poll, file, epoll::EventData::new_u64(data), epoll::EventFlags::IN).map_err(failed)?;
    }
    let mut left = programs.len();
    let mut events = Vec::with_capacity(16);
    let mut set: Option<Instant> = None;
    let mut limit = Limit::default();
    let mut orphans = Instant::ZERO + ORPHANS;
    loop {
        let now = clock.now();
        let next_turn = limit.turn(now);
        turns.turn()?;
        if now >= orphans {
            sys::reap_orphans();
            orphans = now + ORPHANS;
        }
        if turns.is_over() || sys::asked_to_stop().is_some() {
            return Ok(None);
        }
        // At multiples of it, so that the timer is not set anew in each turn.
        let beat = Instant::ZERO + HEARTBEAT * (now.as_nanos() / HEARTBEAT.as_nanos() + 1);
        let due = turns.due().unwrap_or(beat).min(beat).min(turns.bridge().end());
        let is_soon = due <= next_turn.max(clock.now());
        if !is_soon && set != Some(due) {
            timerfd_settime(&timer, TimerfdTimerFlags::ABSTIME, &clock.setting(due)).map_err(failed)?;
            set = Some(due);
        }
        events.clear();
        match epoll::wait(&poll, rustix::buffer::spare_capacity(&mut events), is_soon.then_some(&NO_WAIT)) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(failed(error)),
        }
        // Packets that come meanwhile share the turn.
        if clock.now() < next_turn {
            clock.sleep_until(next_turn);
        }
        turns.overslept(clock.now().since(due.max(next_turn)));
        if events.iter().any(|event: &epoll::Event| event.data.u64() == RUNG) {
            let mut count = [0; 8];
            let _ = rustix::io::read(bell, &mut count);
            // The plan's own program is the last one.
            for (number, (_, running)) in programs.iter().enumerate() {
                let Some(code) = running.code() else { continue };
                left -= 1;
                if has_own_program && number + 1 == programs.len() {
                    return Ok(Some(code));
                }
            }
            if left == 0 {
                return Ok(None);
            }
        }
    }
}

/// How many packets of each host the kernel dropped. An interface that went away is spoken of elsewhere.
fn lost(plan: &Plan, drops: &mut [Drops]) -> Vec<(String, u64)> {
    let one = |(host, drops): (&Host, &mut Drops)| (host.node.clone(), drops.count().unwrap_or_default());
    plan.hosts.iter().zip(drops).map(one).collect()
}

/// Says so if the simulated flows alone take much of a core: measured without real packets, before time zero.
fn warn_of_company(plan: &Plan) {
    if plan.scenario.flow.is_empty() {
        return;
    }
    let Ok(mut session) = Session::new(&plan.scenario, plan.scenario.seed, None) else { return };
    let clock = Monotonic::start();
    while clock.now().since(Instant::ZERO) < COMPANY {
        // A few thousand events take about a millisecond.
        match session.advance_to(Instant::ZERO + COMPANY, 4_096) {
            Ok(Progress::Paused) => {}
            Ok(Progress::Reached) | Err(_) => break,
        }
    }
    let simulated = session.now().as_secs_f64();
    let share = clock.now().as_secs_f64() / simulated;
    if simulated > 0.0 && share > MUCH_COMPANY {
        eprintln!("the simulated flows alone take {:.0} % of a core here; real packets will be late", 100.0 * share);
    }
}
