//! How long the last operations waited for a connection.

use std::time::Duration;

/// So many operations are looked back upon.
const REMEMBERED: usize = 256;

/// The waits of the last operations, in microseconds; the oldest is overwritten.
#[derive(Debug, Default)]
pub(super) struct Waits {
    recent: Vec<u32>,
    next: usize,
}

impl Waits {
    /// One more operation got its connection.
    pub(super) fn add(&mut self, wait: Duration) {
        let wait = u32::try_from(wait.as_micros()).unwrap_or(u32::MAX);
        if self.recent.len() < REMEMBERED {
            self.recent.push(wait);
        } else {
            self.recent[self.next] = wait;
            self.next = (self.next + 1) % REMEMBERED;
        }
    }

    /// What 95 of 100 of them waited at most.
    pub(super) fn p95(&self) -> Duration {
        let mut sorted = self.recent.clone();
        sorted.sort_unstable();
        let rank = (sorted.len() * 95).div_ceil(100);
        let wait = rank.checked_sub(1).and_then(|index| sorted.get(index));
        wait.map_or(Duration::ZERO, |&wait| {
            Duration::from_micros(u64::from(wait))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_95th_percentile_of_the_last_waits() {
        let mut waits = Waits::default();
        assert_eq!(waits.p95(), Duration::ZERO);
        for wait in (1..=100).rev() {
            waits.add(Duration::from_micros(wait));
        }
        assert_eq!(waits.p95(), Duration::from_micros(95));
        for _ in 0..REMEMBERED {
            waits.add(Duration::from_micros(7));
        }
        assert_eq!(
            waits.p95(),
            Duration::from_micros(7),
            "old ones are forgotten"
        );
        waits.add(Duration::from_secs(1 << 40));
        assert_eq!(waits.p95(), Duration::from_micros(7));
    }
}
