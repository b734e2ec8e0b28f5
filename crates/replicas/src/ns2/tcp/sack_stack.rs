//! The SACK blocks that the sink reports (`Sacker::append_ack`, ns-2.35 `tcp/tcp-sink.cc`): the
//! one with the segment just received first, then up to two earlier ones that it does not cover.

use lasthop_net::net::SackBlocks;

/// The blocks reported before, most recent first.
#[derive(Default)]
pub struct SackStack {
    blocks: [(i64, i64); SackBlocks::MAX],
    len: usize,
}

impl SackStack {
    /// Forgets all blocks.
    pub fn clear(&mut self) {
        self.len = 0;
    }

    /// The blocks to report. `fresh` is the block of the segment just received if that lies
    /// beyond the cumulative acknowledgement; otherwise what that segment joined ends at
    /// `covered`, and no block is remembered. Blocks beyond `seen` end the list.
    pub fn report(&mut self, fresh: Option<(i64, i64)>, covered: i64, seen: i64) -> SackBlocks {
        let mut report = SackBlocks::default();
        let recent = fresh.unwrap_or((0, covered));
        if let Some((start, end)) = fresh {
            report.push(start as u64, end as u64);
        }
        let mut k = 0;
        while report.len() < SackBlocks::MAX && k < self.len {
            let (start, end) = self.blocks[k];
            if end > seen + 1 {
                break;
            }
            if recent.0 <= start && recent.1 >= end {
                self.blocks.copy_within(k + 1..self.len, k);
                self.len -= 1;
                continue;
            }
            report.push(start as u64, end as u64);
            k += 1;
        }
        if let Some(block) = fresh {
            self.len = (self.len + 1).min(SackBlocks::MAX);
            self.blocks.copy_within(0..self.len - 1, 1);
            self.blocks[0] = block;
        }
        report
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recent_blocks_come_first_and_covered_ones_go() {
        let mut stack = SackStack::default();
        let mut report = |fresh, covered, seen| stack.report(fresh, covered, seen).iter(10).collect::<Vec<_>>();
        assert_eq!(report(Some((12, 13)), 0, 12), [(12, 13)]);
        assert_eq!(report(Some((15, 16)), 0, 15), [(15, 16), (12, 13)]);
        assert_eq!(report(Some((12, 14)), 0, 15), [(12, 14), (15, 16)]);
        assert_eq!(report(Some((18, 19)), 0, 18), [(18, 19), (12, 14), (15, 16)]);
        assert_eq!(report(None, 14, 18), [(18, 19), (15, 16)]);
    }
}
