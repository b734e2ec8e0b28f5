//! The Python module `lasthop._core`: scenario text in, columns out, the interpreter's lock
//! released between. The Python package beside it does the rest.

mod capture;
mod controller;
mod endpoint;
mod errors;
mod learning;
mod live;
mod positions;
mod scenario;
mod session;
mod student;
mod table;

/// The compiled core of lasthop. Use the package `lasthop` instead.
#[pyo3::pymodule]
mod _core {
    #[pymodule_export]
    use crate::capture::segments;
    #[pymodule_export]
    use crate::controller::{Measurement, MediaMeasurement, MediaPacket};
    #[pymodule_export]
    use crate::endpoint::endpoint;
    #[pymodule_export]
    use crate::learning::Environments;
    #[pymodule_export]
    use crate::live::{LiveOutcome, live, live_enter, live_is_inside, live_replay};
    #[pymodule_export]
    use crate::positions::positions;
    #[pymodule_export]
    use crate::scenario::{Scenario, read, read_file, reference, schema, seconds, toml_as_json};
    #[pymodule_export]
    use crate::session::{Outcome, Session};
    #[pymodule_export]
    use crate::student::student;
    #[pymodule_export]
    use crate::table::Table;
}
