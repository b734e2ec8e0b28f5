//! From a cell of the scenario to its medium's parts.

use crate::engine::units::Amount;
use crate::net::loss::Loss;
use crate::net::transmitter;
use crate::net::{Core, End, Place};
use crate::profile::Profile;
use crate::radio::Direction;
use crate::radio::channel::{Channel, Losses};
use crate::radio::umts::iub::Iub;
use crate::radio::umts::medium::{OtherSystems, Shared};
use crate::radio::umts::power::loops::Plan;
use crate::radio::umts::power::{Loops, LoopsConfig};
use crate::radio::umts::roaming::{Area, Mobility, Power};
use crate::radio::umts::utran::Utran;
use crate::radio::umts::{Setup, attachment};

use crate::scenario::media::terminals_of;
use crate::scenario::registry::LossModel;

use super::{Cell, hs_dsch};

/// The set-up of a medium whose wake-ups come to `component`; `ends` are the RNCs and the terminals.
pub(super) fn setup(core: &mut Core, component: u32, ends: &[End], cell: &Cell, profile: Profile) -> Setup {
    let (rlc, pdcp) = (cell.rlc(profile), cell.pdcp.clone());
    let terminals: Vec<String> = terminals_of(&cell.name, cell.ues).collect();
    let places: Vec<[Place; 2]> = terminals
        .iter()
        .map(|name| Direction::BOTH.map(|direction| core.place(&format!("{name} {}", direction.name()))))
        .collect();
    let rncs = cell.rncs();
    let area = cell.mobility.as_ref().map(|mobility| Area::new(mobility, &rncs, &terminals, core.streams()));
    let dsch = cell.dsch.as_ref().map(|dsch| Shared { rate: dsch.channel(), order: dsch.order });
    let site = attachment::Cell {
        terminals: cell.ues,
        cells: cell.mobility.as_ref().map_or(1, Mobility::cells) as u32,
        fach: cell.fach,
        dch_down: cell.dch.down,
        dsch: dsch.map(|dsch| dsch.rate),
    };
    Setup {
        name: cell.name.clone(),
        fach: cell.fach,
        rach: cell.rach,
        rach_access: cell.rach_access,
        rach_aloha: cell.rach_aloha.clone(),
        dch: [cell.dch.down, cell.dch.up],
        dsch,
        hs_dsch: cell.hs_dsch.as_ref().map(|hs_dsch| hs_dsch::setup(cell, hs_dsch, profile)),
        cpch: cell.cpch.clone(),
        limit: cell.queue(profile),
        order: cell.fach_order,
        utran: utran(cell, area.as_ref(), rncs.len()),
        air: air(core, cell, area.as_ref(), &terminals),
        elsewhere: elsewhere(core, component, ends, cell, &terminals),
        area,
        spacing: cell.spacing,
        timing: cell.timing.as_ref().map(|timing| timing.config.build()),
        in_order: !profile.is_ns2(),
        loss_indication: cell.loss_indication.as_ref().map(|indication| indication.config().marker()),
        pdu_bits: rlc.config().pdu_bits(),
        attachment: cell.attachment.config().build(&site),
        rlc: Box::new(move |sends| rlc.config().build(sends)),
        pdcp: Box::new(move || pdcp.config().build()),
        terminals: places,
    }
}

/// The wires between RNCs and Node Bs.
fn utran(cell: &Cell, area: Option<&Area>, rncs: usize) -> Utran {
    let iub = || Iub::new(cell.iub.rate, cell.iub.delay);
    let (Some(area), Some(mobility)) = (area, &cell.mobility) else {
        return Utran::single(iub);
    };
    let mut rnc_of = vec![0; mobility.site.len()];
    for cell in area.all_cells() {
        rnc_of[cell.node_b as usize] = cell.rnc;
    }
    let node_bs = area.all_cells().iter().map(|cell| cell.node_b).collect();
    Utran::new(rncs, rnc_of, node_bs, iub, || Iub::new(mobility.iur.rate, mobility.iur.delay))
}

/// The air interface: by loss models, or by the ratio of signal to interference.
fn air(core: &Core, cell: &Cell, area: Option<&Area>, terminals: &[String]) -> Box<dyn Channel> {
    if let (Some(area), Some(Mobility { power: Power::Loops(loops), pilot, .. })) = (area, &cell.mobility) {
        let plan = Plan {
            cells: area.all_cells().iter().map(|cell| [cell.carrier, cell.node_b]).collect(),
            pilot: *pilot,
            common: [cell.fach, cell.rach],
            dedicated: [cell.dch.down, cell.dch.up],
        };
        return Box::new(loops_of(core, loops, plan, terminals));
    }
    let losses = |name: &String| {
        let loss = |model: &Option<LossModel>, direction: Direction| {
            let stream = core.stream(&format!("{name} {}", direction.name()), "loss");
            model.as_ref().map_or_else(Loss::default, |model| model.config().build(stream))
        };
        [loss(&cell.loss, Direction::Down), loss(&cell.uplink_loss, Direction::Up)]
    };
    Box::new(Losses::new(terminals.iter().map(losses).collect()))
}

fn loops_of(core: &Core, config: &LoopsConfig, plan: Plan, terminals: &[String]) -> Loops {
    let draws = |name: &String| Direction::BOTH.map(|way| core.stream(&format!("{name} {}", way.name()), "blocks"));
    Loops::new(config, plan, terminals.iter().map(draws).collect())
}

/// The transmitters of other systems.
fn elsewhere(core: &mut Core, component: u32, ends: &[End], cell: &Cell, terminals: &[String]) -> OtherSystems {
    let systems = cell.mobility.as_ref().map_or(&[][..], |mobility| &mobility.system);
    let ues = &ends[ends.len() - terminals.len()..];
    OtherSystems::new(core, component, ends[0], ues, systems.len() as u32, |core, terminal, number| {
        let system = &systems[number as usize];
        Direction::BOTH.map(|direction| transmitter::Setup {
            place: core.place(&format!("{} system[{number}] {}", terminals[terminal as usize], direction.name())),
            rate: if direction == Direction::Up { system.uplink_rate.unwrap_or(system.rate) } else { system.rate },
            delay: system.delay,
            reorder: false,
            queue: transmitter::Queue::Planned(Amount::Bytes(system.queue)),
            loss: Loss::default(),
        })
    })
}
