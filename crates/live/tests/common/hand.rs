//! What tests of the loop share: a clock that is moved by hand, and a folder.

use std::cell::Cell;
use std::path::PathBuf;
use std::rc::Rc;

use lasthop_core::engine::Instant;
use lasthop_live::clock::Clock;

/// A clock that is moved by hand, in ns.
#[derive(Clone, Default)]
pub struct Hand(pub Rc<Cell<u64>>);

impl Clock for Hand {
    fn now(&self) -> Instant {
        Instant::from_nanos(self.0.get())
    }
}

/// A folder of its own, removed at the end.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn new() -> Self {
        use std::sync::atomic::{AtomicU32, Ordering};
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!("lasthop-live-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        Self(std::env::temp_dir().join(name))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
