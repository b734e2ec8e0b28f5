//! Lines of PDUs on their way, in the order of arrival. Most enter at the back.

use std::collections::VecDeque;

/// How many at the back of a line are later than one that is about to enter.
#[inline]
pub(super) fn behind<T>(line: &VecDeque<T>, mut is_later: impl FnMut(&T) -> bool) -> usize {
    let mut count = 0;
    while count < line.len() && is_later(&line[line.len() - 1 - count]) {
        count += 1;
    }
    count
}

/// Enters one before this many others.
#[inline]
pub(super) fn enter<T>(line: &mut VecDeque<T>, one: T, behind: usize) {
    match behind {
        0 => line.push_back(one),
        _ => line.insert(line.len() - behind, one),
    }
}
